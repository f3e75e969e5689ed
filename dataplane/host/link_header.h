/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file link_header.h
 * A link-layer header to a next hop; link.h makes it.
 */
#ifndef CYGNETD_LINK_HEADER_H
#define CYGNETD_LINK_HEADER_H

#include <stdint.h>

#include <rte_ether.h>

/** Bytes of the longest link-layer header. */
#define LINK_HEADER_MAX 22u
_Static_assert(sizeof(struct rte_ether_hdr) + 8 <= LINK_HEADER_MAX, "two tags fit");

struct link_header {
	uint8_t len;
	uint8_t bytes[LINK_HEADER_MAX] __rte_aligned(2); /* as struct rte_ether_hdr */
};

#endif

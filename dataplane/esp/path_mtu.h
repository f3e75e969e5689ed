/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file path_mtu.h
 * The path MTU of an SA, learned from ICMP errors of routers and aged out.
 */
#ifndef CYGNETD_PATH_MTU_H
#define CYGNETD_PATH_MTU_H

#include "cygnet.h"

#define PATH_MTU_SHIFT	48 /* of the MTU in cygnet_sa.path_mtu; below it the time in seconds */
#define PATH_MTU_SECOND ((1ull << PATH_MTU_SHIFT) - 1)
#define PATH_MTU_FORGET 600u /* seconds (RFC 1191, 6.3; RFC 8201, 4) */

/**
 * The path MTU reported by a router.
 * @param stored  cygnet_sa.path_mtu
 * @param now     seconds of CLOCK_MONOTONIC
 * @return bytes; 0: none, or aged out
 */
static inline unsigned int path_mtu_reported(uint64_t stored, uint64_t now)
{
	return now - (stored & PATH_MTU_SECOND) < PATH_MTU_FORGET
		       ? (unsigned int)(stored >> PATH_MTU_SHIFT)
		       : 0;
}

/** path_mtu() of an SA with a reported path MTU. */
unsigned int path_mtu_limited(uint8_t af, uint64_t stored, unsigned int link);

/**
 * The path MTU of an outbound SA. Any lcore.
 * @param link  MTU of the outgoing interface, bytes
 * @return bytes, not more than link
 */
static inline unsigned int path_mtu(const struct cygnet_sa *sa, unsigned int link)
{
	uint64_t stored = __atomic_load_n(&sa->path_mtu, __ATOMIC_RELAXED);

	return stored ? path_mtu_limited(cygnet_sa_path(sa)->af, stored, link) : link;
}

/** The smallest path MTU of an address family, bytes. */
unsigned int path_mtu_least(uint8_t af);

#endif

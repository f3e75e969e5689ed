/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file fragment.h
 * One packet becomes several (RFC 791, 3.2).
 */
#ifndef CYGNETD_FRAGMENT_H
#define CYGNETD_FRAGMENT_H

#include "path/worker/worker.h"

/** As many parts as 64 KiB have at an MTU of 576. */
#define FRAGMENTS_MAX 128

/**
 * Cut a packet into parts. It is used up; DF is not looked at and not set in the parts.
 * One of IPv6 is cut for this host's kernel, or if it is this host that sends it: no
 * other router may (RFC 8200, 4.5).
 * @param m    data at its IP header
 * @param mtu  bytes of a part with its IP header at most
 * @return how many parts; 0: no memory or a silly MTU, and the packet has been dropped
 */
unsigned int fragment_packet(struct worker *w, struct rte_mbuf *m, unsigned int mtu,
			     struct rte_mbuf *parts[FRAGMENTS_MAX]);

/** The same for an IPv6 packet. */
unsigned int fragment6_packet(struct worker *w, struct rte_mbuf *m, unsigned int mtu,
			      struct rte_mbuf *parts[FRAGMENTS_MAX]);

#endif

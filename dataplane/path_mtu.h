/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file path_mtu.h
 * How long the packets of an outbound SA may be (RFC 4301, 8.2): what the link takes, or
 * what a router on the way has said in an ICMP error about one of them. It is kept in the
 * SA itself, where all workers see it. Such errors come from anybody: they count only if
 * they quote the head of a packet that we can have sent, can only make packets shorter,
 * not absurdly short, and are forgotten after ten minutes.
 */
#ifndef CYGNETD_PATH_MTU_H
#define CYGNETD_PATH_MTU_H

#include "cygnet.h"

struct headers;
struct rte_mbuf;
struct worker;

#define PATH_MTU_SHIFT 48	/* of cygnet_sa.path_mtu; below it the second */
#define PATH_MTU_SECOND ((1ull << PATH_MTU_SHIFT) - 1)
#define PATH_MTU_FORGET 600u	/* seconds (RFC 1191, 6.3; RFC 8201, 4) */

/**
 * What a router has said.
 * @param said  cygnet_sa.path_mtu
 * @param now   seconds of CLOCK_MONOTONIC
 * @return bytes; 0: nothing, or so long ago that it may be otherwise by now
 */
static inline unsigned int path_mtu_said(uint64_t said, uint64_t now)
{
	return now - (said & PATH_MTU_SECOND) < PATH_MTU_FORGET
		       ? (unsigned int)(said >> PATH_MTU_SHIFT) : 0;
}

/** path_mtu() of an SA of which a router has said something. */
unsigned int path_mtu_limited(uint8_t af, uint64_t said, unsigned int link);

/**
 * How long packets of an outbound SA may be on their way. Any lcore.
 * @param link  the MTU of the way out, bytes
 * @return bytes, not more than link
 */
static inline unsigned int path_mtu(const struct cygnet_sa *sa, unsigned int link)
{
	uint64_t said = __atomic_load_n(&sa->path_mtu, __ATOMIC_RELAXED);

	return said ? path_mtu_limited(cygnet_sa_path(sa)->af, said, link) : link;
}

/**
 * Look at an ICMP or ICMPv6 message to this host: if it says that a packet of an SA was
 * too big, and is plausible, the SA's path has that MTU from now on. The kernel is to
 * have the message as well: it may be about IKE.
 * @param m  data at its IP header, checked; no fragment
 */
void path_mtu_learn(struct worker *w, struct rte_mbuf *m, const struct headers *h);
/** Route and send a packet of an SA, ESP and all; in fragments if it is too long for the
 * path and may be cut: what is inside could not be shorter. Takes over the packet. */
void path_mtu_transmit(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa);

#endif

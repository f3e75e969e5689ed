/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file too_big.h
 * How long the packets of an outbound SA may be (RFC 4301, 8.2): what the link takes, or
 * what a router on the way has said in an ICMP error about one of them. It is kept in the
 * SA itself, where all workers see it. Any host can send such errors: they count only if
 * they quote the head of a packet that we can have sent, with one of the last four million
 * numbers of its SA, can only make packets shorter, not absurdly short, and are forgotten
 * after ten minutes.
 */
#ifndef CYGNETD_TOO_BIG_H
#define CYGNETD_TOO_BIG_H

#include <stdbool.h>

#include "cygnet.h"

struct headers;
struct rte_mbuf;
struct worker;

/**
 * Look at an ICMP or ICMPv6 message to this host: if it says that a packet of an SA was
 * too big, and is plausible, the SA's path has that MTU from now on. The kernel is to
 * have the message as well: it may be about IKE.
 * @param m  data at its IP header, checked; no fragment
 */
void too_big_learn(struct worker *w, struct rte_mbuf *m, const struct headers *h);
/** Whether a protected packet that is too long may leave in parts. */
bool too_big_may_cut(struct rte_mbuf *m);
/** Pass a protected packet to STAGE_ROUTE; in fragments if it is too long for the SA's path and may
 * be cut: the inner packet could not be shorter. Takes over the packet. */
void too_big_route(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa);

#endif

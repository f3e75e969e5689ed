/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file police.h
 * Policing: packets to the kernel are metered by class (srTCM, RFC 2697, which counts packets here), so that a
 * flood of one class leaves the others, and IKE of peers, their share. Rates are keys of cygnetd.conf, in packets a second; the burst is what half a second allows.
 *
 * Workers share no meter. A port's rate is divided among the workers that poll it; the rate of a
 * peer's address applies to each worker, and that of an SA to its owner. Only the worker itself calls these functions.
 */
#ifndef CYGNETD_POLICE_H
#define CYGNETD_POLICE_H

#include "ip/neigh_message.h"
#include "path/worker/worker.h"

/** Take over the rates of the configuration. After the ports, and when they or the settings have changed. */
void police_init(struct worker *w);
/**
 * Meter a frame or packet for the kernel.
 * @param class  not POLICE_PEER
 * @param frame  the data begins at the link-layer header
 * @return false: it is beyond the rate and has been dropped
 */
bool police_passes(struct worker *w, struct rte_mbuf *m, enum police_class class, bool frame);
/**
 * Meter a message of the link: ARP or the like (data at its Ethernet header), or link control of ICMPv6 (data at its
 * IP header). A neighbour in use (neigh_asked.h) has a few messages a second of its own, so that a flood of others does
 * not keep this host from hearing where its next hop is. As police_passes().
 * @param said  what the message says; NULL: it names no sender
 */
bool police_link(struct worker *w, struct rte_mbuf *m, const struct neigh_message *said,
		 bool frame);
/**
 * Meter a packet (data at its IP header) in front of STAGE_TO_KERNEL: what was decrypted by its SA, unless it is
 * metered already (packet()->policed). As police_passes().
 */
bool police_forwarded(struct worker *w, struct rte_mbuf *m);
/** Meter IKE (data at its IP header): by its source's address if that is a peer's. As police_passes(). */
bool police_ike(struct worker *w, struct rte_mbuf *m);
/** Meter a fragment (data at its IP header) that will be reassembled, unless it is from a peer. As
 * police_passes(). */
bool police_fragment(struct worker *w, struct rte_mbuf *m);

#endif

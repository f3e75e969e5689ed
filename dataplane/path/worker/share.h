/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file share.h
 * Outbound SAs that several workers protect packets with: each those that it receives, with a session of its own.
 *
 * An SA of many flows has packets at every worker, as a card distributes flows by a hash. Its owner (owner.h) could not
 * protect more than one worker can, and less than that, since each packet would come out of another core's caches. So an
 * owner to which other workers hand off SHARE_FROM packets in a second offers the SA: from then on it takes numbers by
 * atomic additions, and the SA's frames leave in their order (send_order.h). The others join when they next have a packet
 * for it. One that joins keeps its packets until the owner has protected those that it has handed off before, so that no
 * packet overtakes another one of its flow.
 *
 * An SA is offered, and joined, as long as there are sessions that share it (session.shared). Sessions are not more than they
 * were: a worker without a free one goes on handing off. An SA whose packets come in at one worker costs no atomic
 * operation.
 *
 * This is for outbound SAs: the packets of an inbound one are one flow, which a card gives to one worker. With crypto cores
 * workers do not share: they spread an SA's packets otherwise.
 */
#ifndef CYGNETD_SHARE_H
#define CYGNETD_SHARE_H

#include "path/worker/worker.h"

/** Packets handed off for an SA within a second that make its owner offer it. */
#define SHARE_FROM 64u

/** Another worker has handed off a packet for STAGE_FIT: it counts. Its SA's owner. */
void share_count(struct worker *w, struct rte_mbuf *m);
/** A packet for STAGE_FIT is about to be handed off: if its SA has been offered, this worker joins it. */
void share_want(struct worker *w, struct rte_mbuf *m);
/** Whether this worker shares the SA in packet()->sa and ->generation: then it protects the packet. */
bool share_has_joined(const struct worker *w, struct rte_mbuf *m);
/** Whether a packet before STAGE_FIT or STAGE_PROTECT is to go to its SA's owner after all, or wait until that is this worker: its
 * session, with which it shared the SA, has been released meanwhile. A new one would take numbers that others take, too. */
bool share_strays(const struct worker *w, struct rte_mbuf *m);
/** Offer, and join, what is to be. At the start of each turn, as move_turn(), and behind it. */
void share_turn(struct worker *w);
/** The worker ends. */
void share_end(struct worker *w);

/** A session of this worker has been made: it is shared if its SA is. */
void share_session_created(struct worker *w, struct session *s);
/** A session of this worker is about to be released. */
void share_session_released(struct worker *w, const struct session *s);

#endif

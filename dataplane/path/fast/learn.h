/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file learn.h
 * What the stages of the long way have decided about a packet is remembered for those of its flow
 * (flow.h), which have a short way from then on (shortcut.h).
 */
#ifndef CYGNETD_LEARN_H
#define CYGNETD_LEARN_H

#include <stdbool.h>

struct cygnet_sa;
struct flow;
struct rte_mbuf;
struct session;
struct worker;

/**
 * The flow of a packet that session s is to protect or unprotect. Worker of the SA, before the
 * packet is changed.
 * @param what  for learn_sa(), once the packet has been accepted
 * @return false: it says nothing about other packets
 */
bool learn_describe(const struct worker *w, struct rte_mbuf *m, struct session *s,
		    const struct cygnet_sa *sa, struct flow *what);
/** A packet of that flow was accepted: the next ones have a short way. */
void learn_sa(struct worker *w, const struct flow *what, struct cygnet_sa *sa);
/** A packet, as it came in, is on its way to the owner of its SA: so are those of its flow. Before
 * hand_over(). */
void learn_hand(struct worker *w, struct rte_mbuf *m);
/** A packet that another worker handed over was accepted by its SA: the next ones that are need no
 * longer way than shortcut_handed(). */
void learn_handed(struct worker *w, struct rte_mbuf *m, struct session *s, struct cygnet_sa *sa);
/** A packet, as it came in, is to leave as it is: so are those of its flow. */
void learn_forward(struct worker *w, struct rte_mbuf *m);

#endif

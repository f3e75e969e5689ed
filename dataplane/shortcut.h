/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file shortcut.h
 * The short way through the pipeline, for packets of flows about which everything is decided
 * (flow.h). It makes every check that is about one packet; what is out of the ordinary
 * in any of them goes the long way, as the first packet of each flow does.
 */
#ifndef CYGNETD_SHORTCUT_H
#define CYGNETD_SHORTCUT_H

#include "pipeline.h"

/** See whether what is remembered still holds; where it does not, what waits for a neighbour is
 * looked at again. Each turn of a worker, after its last quiescent state; frames from the wire look
 * once more. */
void shortcut_look(struct worker *w);
/** Frames from the wire side of a port, in order; those without a short way are given to
 * receive_frame(). Takes them over. */
void shortcut_receive(struct worker *w, struct rte_mbuf **m, unsigned int n, unsigned int port);
/** A packet came out of an SA (data at its IP header, checked). Takes it over: it goes on, by
 * whatever way, when shortcut_go_on() is called, with others that are open as well by then.
 * @param from  FLOW_FROM_SA()
 * @param port  that it had come by
 * @param bare  its struct packet says nothing */
void shortcut_opened(struct worker *w, struct rte_mbuf *m, struct cygnet_sa *sa, uint32_t from,
		     unsigned int port, bool bare);
/** They go on, as many as crypt_now() has room for if they are to be protected again;
 * crypt_now(). */
void shortcut_go_on(struct worker *w);

/**
 * The flow of a packet that session s is to protect or unprotect. Worker of the SA, before the
 * packet is changed.
 * @param what  for shortcut_learn_sa(), once the packet has been accepted
 * @return false: it says nothing about other packets
 */
bool shortcut_describe(const struct worker *w, struct rte_mbuf *m, struct session *s,
		       const struct cygnet_sa *sa, struct flow *what);
/** A packet of that flow was accepted: the next ones have a short way. */
void shortcut_learn_sa(struct worker *w, const struct flow *what, struct cygnet_sa *sa);
/** A packet, as it came in, is on its way to the owner of its SA: so are those of its flow. Before
 * hand_over(). */
void shortcut_learn_hand(struct worker *w, struct rte_mbuf *m);
/** A packet that another worker handed over was accepted by its SA: the next ones that are need no
 * longer way than shortcut_handed(). */
void shortcut_learn_handed(struct worker *w, struct rte_mbuf *m, struct session *s,
			   struct cygnet_sa *sa);
/** A packet that another worker has handed over, if there is a short way for it. Takes it over then.
 * @return false: do_stage() */
bool shortcut_handed(struct worker *w, struct rte_mbuf *m);
/** A packet, as it came in, is to leave as it is: so are those of its flow. */
void shortcut_learn_forward(struct worker *w, struct rte_mbuf *m);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file shortcut.h
 * The short way through the pipeline, for packets of flows about which everything is decided
 * (flow.h, learn.h). It makes every check that is about one packet; what is out of the ordinary
 * in any of them goes the long way, as the first packet of each flow does.
 */
#ifndef CYGNETD_SHORTCUT_H
#define CYGNETD_SHORTCUT_H

#include "path/pipeline.h"

/** See whether what is remembered still holds; where it does not, what waits for a neighbour is
 * looked at again. Each turn of a worker, after its last quiescent state; frames from the wire look
 * once more. */
void shortcut_look(struct worker *w);
/** Frames from the wire side of a port, in order; those without a short way are given to
 * receive_frame(). Takes them over. */
void shortcut_receive(struct worker *w, struct rte_mbuf **m, unsigned int n, unsigned int port);

/** opened.c: a packet came out of an SA (data at its IP header, checked). Takes it over: it goes on, by
 * whatever way, when shortcut_go_on() is called, with others that are open as well by then.
 * @param from  PACKET_FROM_SA()
 * @param port  that it had come by
 * @param bare  its struct packet says nothing */
void shortcut_opened(struct worker *w, struct rte_mbuf *m, struct cygnet_sa *sa, uint32_t from,
		     unsigned int port, bool bare);
/** opened.c: they go on, as many as crypt_now() has room for if they are to be protected again;
 * crypt_now(). */
void shortcut_go_on(struct worker *w);

/** Hand a packet of a known flow to the owner of its SA. */
void shortcut_hand(struct worker *w, struct rte_mbuf *m, const struct flow *f);
/** A packet that another worker has handed over, if there is a short way for it. Takes it over then.
 * @return false: do_stage() */
bool shortcut_handed(struct worker *w, struct rte_mbuf *m);

#endif

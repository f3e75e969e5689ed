/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file learn.h
 * The stages remember what they have decided about a packet for the next packets of its flow
 * (flow.h), which are known from then on (receive.h).
 */
#ifndef CYGNETD_LEARN_H
#define CYGNETD_LEARN_H

#include "path/worker/worker.h"

/**
 * Describe the flow of a packet that session s is to protect or unprotect. The worker of the SA,
 * before the packet is changed.
 * @param what,on  for learn_accepted(), once the packet has been accepted
 * @return false: other packets of the flow may be decided about differently
 */
bool learn_describe(const struct worker *w, struct rte_mbuf *m, struct session *s,
		    const struct cygnet_sa *sa, struct flow *what, struct flow_basis *on);
/** A packet was accepted by its SA: remember its flow or, if another worker has received it, the SA's
 * route. @param what,on  of learn_describe(); what may be NULL */
void learn_accepted(struct worker *w, struct rte_mbuf *m, struct session *s, struct cygnet_sa *sa,
		    const struct flow *what, const struct flow_basis *on);
/** A packet, as it came in, is to be handed off to the owner of its SA: remember that for its flow.
 * @param kind  FLOW_HANDOFF_OUT or FLOW_HANDOFF_IN */
void learn_handoff(struct worker *w, struct rte_mbuf *m, enum flow_kind kind);
/** A packet, as it came in, is to leave as it is: remember that for its flow. */
void learn_forward(struct worker *w, struct rte_mbuf *m);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file stages.h
 * The stages of a worker (worker/stage.h says what each does), in the order of a packet's way. Each
 * takes over n packets, STAGE_VECTOR at most. The dispatcher calls them, and nothing else.
 */
#ifndef CYGNETD_STAGES_H
#define CYGNETD_STAGES_H

#include "path/worker/worker.h"

/* from_wire.c, from_kernel.c: data at the Ethernet header, packet()->interface set */
void stage_from_wire(struct worker *w, struct rte_mbuf **m, unsigned int n);
void stage_from_kernel(struct worker *w, struct rte_mbuf **m, unsigned int n);
/* Data at the IP header, which is checked, from here on. */
/* reassemble.c: packet()->resume set */
void stage_reassemble(struct worker *w, struct rte_mbuf **m, unsigned int n);
/* local.c */
void stage_local(struct worker *w, struct rte_mbuf **m, unsigned int n);
/* forward.c */
void stage_forward(struct worker *w, struct rte_mbuf **m, unsigned int n);
/* decrypted.c: packet()->sa and ->generation name the SA */
void stage_decrypted(struct worker *w, struct rte_mbuf **m, unsigned int n);
/* outbound.c */
void stage_outbound(struct worker *w, struct rte_mbuf **m, unsigned int n);
void stage_find_sa(struct worker *w, struct rte_mbuf **m, unsigned int n);
/* fit.c, protect.c, unprotect.c: the same, and the SA is this worker's. The crypto batch has room
 * for n more packets. */
void stage_fit(struct worker *w, struct rte_mbuf **m, unsigned int n);
void stage_protect(struct worker *w, struct rte_mbuf **m, unsigned int n);
void stage_unprotect(struct worker *w, struct rte_mbuf **m, unsigned int n);
/* route.c */
void stage_route(struct worker *w, struct rte_mbuf **m, unsigned int n);
/* to_kernel.c */
void stage_to_kernel(struct worker *w, struct rte_mbuf **m, unsigned int n);
/* dispatch.c: frames that another worker has handed off */
void stage_tx(struct worker *w, struct rte_mbuf **m, unsigned int n);
void stage_tap(struct worker *w, struct rte_mbuf **m, unsigned int n);

#endif

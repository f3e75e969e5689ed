/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file to_sa.h
 * Packets that an SA is to protect or unprotect: to the worker of that SA.
 */
#ifndef CYGNETD_TO_SA_H
#define CYGNETD_TO_SA_H

#include "path/worker/worker.h"

/** Have a packet protected with an SA, by the worker that owns the SA. Takes over the packet. */
void to_sa(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa);
/** Have a packet (packet()->esp, ->seq set) unprotected with an SA, in the same way. */
void to_sa_in(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa);

#endif

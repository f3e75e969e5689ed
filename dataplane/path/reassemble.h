/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file reassemble.h
 * Several packets become one (RFC 791, 3.2).
 */
#ifndef CYGNETD_REASSEMBLE_H
#define CYGNETD_REASSEMBLE_H

#include "ip/headers.h"
#include "path/worker/worker.h"

/** Fragments at most that a worker keeps while they are put together. */
#define REASSEMBLY_PACKETS (3 * 1024u)
/** Fragments of a packet travel close together: how long for the next one. */
#define REASSEMBLY_WAIT_MS 500u

/** What a worker keeps of packets that are not whole yet.
 * @param wait_ms  as long as a packet's next fragment is waited for
 * @param dropped  counts fragments that did not become a packet
 * @return NULL: no memory */
struct reassembly *reassembly_create(unsigned int wait_ms, uint64_t *dropped);
void reassembly_free(struct reassembly *r);
/** The worker that puts the packet of a fragment together. */
unsigned int reassembly_owner(const struct worker *w, struct rte_mbuf *m, const struct headers *h);
/** Have a fragment of plaintext put together with the others of its packet. Takes it over.
 * @param then  the stage of the whole packet: STAGE_FORWARD, or STAGE_OUTBOUND if it comes from the
 *		kernel */
void reassemble_plain(struct worker *w, struct rte_mbuf *m, enum stage then);
/** Drop what has waited too long; call it now and then. */
void reassembly_expire(struct worker *w);

#endif

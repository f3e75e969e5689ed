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
 * @return NULL: no memory, or no random numbers */
struct reassembly *reassembly_create(unsigned int wait_ms, uint64_t *dropped);
void reassembly_free(struct reassembly *r);
/** Put a fragment together with the others of its packet, or hand it off to the worker that does.
 * Takes it over.
 * @param h     of headers_read()
 * @param then  the stage that another worker gives the whole packet to: STAGE_LOCAL, STAGE_FORWARD, or
 *		STAGE_OUTBOUND if it comes from the kernel
 * @return the packet if this fragment has completed it here. The caller goes on with it where the fragment
 *	   was, so that it stays in front of later packets; it is no fragment any more.
 *	   NULL: fragments are missing, it has been handed off, or it was dropped */
struct rte_mbuf *reassemble(struct worker *w, struct rte_mbuf *m, const struct headers *h,
			    enum stage then);
/** Drop what has waited too long; call it now and then. */
void reassembly_expire(struct worker *w);

#endif

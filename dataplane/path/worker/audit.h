/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file audit.h
 * Drops that are auditable events (RFC 4301, 4.4.1 and 5.2; RFC 4302 and 4303, 3.3.3 and 3.4.2 to
 * 3.4.4), and how many of them a worker records: in AUDIT_SECONDS a few of each reason, and fewer of one
 * SA or, without an SA, of one source address.
 */
#ifndef CYGNETD_WORKER_AUDIT_H
#define CYGNETD_WORKER_AUDIT_H

#include "path/worker/worker.h"

/** Records of one reason, and of one cause, in AUDIT_SECONDS. */
#define AUDIT_OF_REASON 16u
#define AUDIT_OF_CAUSE	2u

/**
 * Drop a packet, and record it if reason is an auditable event.
 * @param m    data at its IP header, packet()->interface is set
 * @param sa   the packet's SA; NULL: none
 * @param seq  sequence number of a protected packet, with the high bits
 */
void audit_drop(struct worker *w, struct rte_mbuf *m, enum drop_reason reason,
		const struct cygnet_sa *sa, uint64_t seq);
/** Drop a packet for an SPI that is not in the SAD, and record it. Parameters as in audit_drop().
 * @param proto  IPPROTO_ESP or IPPROTO_AH
 * @param seq    low half of the number, host byte order */
void audit_drop_unknown(struct worker *w, struct rte_mbuf *m, uint8_t proto, rte_be32_t spi,
			uint32_t seq);

#endif

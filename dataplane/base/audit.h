/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file audit.h
 * Auditable events (RFC 4301, 4.4.1 and 5.2; RFC 4302 and 4303, 3.3.3 and 3.4.2 to 3.4.4). A worker queues
 * a record (path/worker/audit.h limits how many), the control thread logs it and keeps it for cygnetctl
 * watch. A record never has a key.
 */
#ifndef CYGNETD_AUDIT_H
#define CYGNETD_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/drop.h"
#include "cygnet.h"

/** Length of the intervals in which records are counted, seconds. */
#define AUDIT_SECONDS 10u

/** A packet that was dropped, or how many packets have no record. */
struct audit_record {
	enum drop_reason reason;
	uint64_t left_out; /* 0: the record is of a packet; else packets without a record, for reason */
	uint64_t seq;	   /* if has_seq: with the high bits inferred, where the SA has them */
	struct cygnet_flow flow; /* addresses and protocol; ports if has_ports */
	uint32_t flow_label;	 /* of IPv6 */
	uint32_t spi;		 /* network byte order; 0: none */
	uint32_t sa, reqid;	 /* if has_sa: index in the SAD */
	struct cygnet_path path; /* if has_path: of the SA, where flow is that of an inner packet */
	uint8_t has_seq, has_sa, has_path;
	uint8_t worker;
	char port[32]; /* that the packet came in by */
};

/** Queue a record. Any lcore; never blocks. @return false: there is no room */
bool audit_raise(const struct audit_record *record);

/* --- control thread only --- */

/** @return 0 or -ENOMEM, logged */
int audit_init(void);
void audit_free(void);
/** Log queued records, and, every AUDIT_SECONDS, how many packets have none (stats.h: unaudited). */
void audit_post(void);

#endif

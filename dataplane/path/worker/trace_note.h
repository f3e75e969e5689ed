/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file trace_note.h
 * What the stages do with the packet of a trace (path/trace.h), which passes them on a worker of its
 * own: worker.trace is not NULL there. Where a stage would change what others can see, it notes
 * instead what it would do. Packets of known flows never meet such a place. All functions: the thread
 * of the trace alone, from a stage.
 */
#ifndef CYGNETD_TRACE_NOTE_H
#define CYGNETD_TRACE_NOTE_H

#include <rte_common.h>

#include "base/drop.h"
#include "esp/session.h"
#include "host/neigh.h"
#include "host/route.h"
#include "ip/icmp.h"

struct worker;

/** A detail, with the NUL: DPDK's telemetry takes strings of 128 bytes. */
#define TRACE_DETAIL 128u
#define TRACE_STEPS  16u

struct trace_step {
	const char *stage; /* stage_name[] */
	char decision[32];
	char detail[TRACE_DETAIL];
};

struct trace {
	const char *stage; /* that runs: stage_name[] */
	unsigned int n;
	struct trace_step step[TRACE_STEPS];
	const char *verdict;	 /* sent, to-kernel, waits, dropped, decrypted, unknown */
	enum drop_reason reason; /* dropped; waits: for which it is dropped in the end */
	int interface;		 /* index in interfaces[] that it leaves by; -1: none */
	char detail[TRACE_DETAIL];
	bool prepared;		/* a crypto device would have the packet now */
	struct cygnet_sa sa;	/* of the packet: a copy without keys, in which stages count */
	struct session session; /* of that SA, on no device */
};

/** Note what the stage has decided. @param decision  one word, or few */
void trace_note(struct trace *t, const char *decision, const char *format, ...)
	__rte_format_printf(3, 4);
/** Note what the packet waits for, and settle the verdict. @param reason  for which it is dropped in
 * the end */
void trace_wait(struct trace *t, enum drop_reason reason, const char *what);
/** The same: until the MAC address of a neighbour is known. */
void trace_wait_neighbour(struct trace *t, const struct neigh *neigh);
/** Note which policy decides. @param policy  NULL: none; @param passed  whether the packet passes */
void trace_policy(struct trace *t, const struct cygnet_policy *policy, bool passed);
/** Note an ICMP error, which is not sent. @param mtu  with ICMP_TOO_BIG */
void trace_icmp(struct trace *t, enum icmp_why why, unsigned int mtu);
/** Note which SA the packet is for. */
void trace_sa(struct trace *t, const struct cygnet_sa *sa);
/** Note how the packet leaves. @param hop  packet_route() */
void trace_route(struct trace *t, struct rte_mbuf *m, const struct next_hop *hop);
/** As session_get(): a copy of the SA, of which others see no change, and a session that no device
 * has. @param sa  its SA; receives the copy */
enum drop_reason trace_session(struct trace *t, struct rte_mbuf *m, struct cygnet_sa **sa,
			       struct session **s);
/** As fragment_packet(), but the first part is the only one. */
unsigned int trace_fragment(struct worker *w, struct rte_mbuf *m, unsigned int mtu,
			    struct rte_mbuf **parts);

#endif

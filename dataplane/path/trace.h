/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file trace.h
 * cygnetctl trace: where a packet would go and why. A packet is made and passes the functions by which
 * the stages decide; it is not sent, and nothing is changed: no sequence number, use time, counter,
 * event or solicitation.
 */
#ifndef CYGNETD_TRACE_H
#define CYGNETD_TRACE_H

#include "base/drop.h"
#include "path/trace_flow.h"

/** A detail, with the NUL: DPDK's telemetry takes strings of 128 bytes. */
#define TRACE_DETAIL 128u
#define TRACE_STEPS 12u

/* Name, what it means. */
#define TRACE_VERDICTS(X) \
	X(SENT, "sent") \
	X(TO_KERNEL, "to-kernel") \
	X(WAITS, "waits") \
	X(DROPPED, "dropped") \
	X(DECRYPTED, "decrypted") \
	X(UNKNOWN, "unknown")

enum trace_verdict {
#define X(name, text) TRACE_##name,
	TRACE_VERDICTS(X)
#undef X
};

struct trace_step {
	const char *stage;	/* as in path/worker/stage.h */
	char decision[32];
	char detail[TRACE_DETAIL];
};

struct trace {
	unsigned int n;
	struct trace_step step[TRACE_STEPS];
	enum trace_verdict verdict;
	enum drop_reason reason; /* dropped; waits: for which it is dropped in the end */
	int interface;		/* index in interfaces[] that it leaves by; -1: none */
	char detail[TRACE_DETAIL];
};

/** Name of a verdict in the output. */
const char *trace_verdict_name(enum trace_verdict verdict);

/** Follow a packet. One thread at a time, under control_lock(). */
void trace_run(const struct trace_flow *flow, struct trace *trace);

#endif

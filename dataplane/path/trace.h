/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file trace.h
 * cygnetctl trace: where a packet would go and why. A packet is made and passes the stages on a worker
 * of its own, whose sinks are closed (path/worker/trace_note.h): it is not sent, and nothing that
 * others see is changed: no sequence number, use time, counter, event or solicitation. No crypto
 * device gets it.
 */
#ifndef CYGNETD_TRACE_H
#define CYGNETD_TRACE_H

#include "path/trace_flow.h"
#include "path/worker/trace_note.h"

/** Follow a packet. One thread at a time, under control_lock(). @return what became of it; valid until
 * the lock is released */
const struct trace *trace_run(const struct trace_flow *flow);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file event_log.h
 * The last events that the control thread has posted for charon (the event ring in the shared file has
 * one reader, charon), and audit records, kept for cygnetctl watch.
 */
#ifndef CYGNETD_EVENT_LOG_H
#define CYGNETD_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/audit.h"
#include "cygnet.h"

/** Events that are kept. */
#define EVENT_LOG 1024u

struct logged_event {
	uint32_t number;  /* counts from 0 */
	uint64_t time_ms; /* since 1970 */
	bool is_audit;
	union {
		struct cygnet_event event;
		struct audit_record audit; /* if is_audit */
	};
};

/** What is logged, by kind. */
#define EVENT_KINDS(X) \
	X(ACQUIRE, "acquire") \
	X(SOFT, "expire-soft") \
	X(HARD, "expire-hard") \
	X(MAPPING, "mapping") \
	X(AUDIT, "audit")

enum event_kind {
#define X(name, text) EVENT_KIND_##name,
	EVENT_KINDS(X)
#undef X
		EVENT_KIND_COUNT
};

/** The text of each kind. */
extern const char *const event_kind_name[EVENT_KIND_COUNT];

/** Add an event. Any thread that may block. */
void event_log_add(const struct cygnet_event *event);
/** Add an audit record. Any thread that may block. */
void event_log_add_audit(const struct audit_record *record);
/** Read how many there have been of each kind. Any thread that may block. */
void event_log_counts(uint64_t counts[EVENT_KIND_COUNT]);
/** @return the number that the next event will have. Any thread that may block */
uint32_t event_log_next(void);
/**
 * Read the first event that is kept and has this number or a later one. Any thread that may block.
 * @return false: there is none yet
 */
bool event_log_read(uint32_t number, struct logged_event *logged);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/event_log.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct logged_event kept[EVENT_LOG];
static uint32_t next;
static uint64_t counts[EVENT_KIND_COUNT];

const char *const event_kind_name[EVENT_KIND_COUNT] = {
#define X(name, text) [EVENT_KIND_##name] = text,
	EVENT_KINDS(X)
#undef X
};

static enum event_kind kind_of(const struct logged_event *logged)
{
	if (logged->is_audit)
		return EVENT_KIND_AUDIT;
	switch (logged->event.type) {
	case CYGNET_EVENT_EXPIRE:
		return logged->event.hard ? EVENT_KIND_HARD : EVENT_KIND_SOFT;
	case CYGNET_EVENT_MAPPING:
		return EVENT_KIND_MAPPING;
	default:
		return EVENT_KIND_ACQUIRE;
	}
}

static void add(struct logged_event logged)
{
	logged.time_ms = clock_read_us(CLOCK_REALTIME) / 1000;
	pthread_mutex_lock(&lock);
	logged.number = next;
	kept[next % EVENT_LOG] = logged;
	next++;
	counts[kind_of(&logged)]++;
	pthread_mutex_unlock(&lock);
}

void event_log_add(const struct cygnet_event *event)
{
	add((struct logged_event){.event = *event});
}

void event_log_add_audit(const struct audit_record *record)
{
	add((struct logged_event){.is_audit = true, .audit = *record});
}

void event_log_counts(uint64_t copy[EVENT_KIND_COUNT])
{
	pthread_mutex_lock(&lock);
	memcpy(copy, counts, sizeof(counts));
	pthread_mutex_unlock(&lock);
}

uint32_t event_log_next(void)
{
	uint32_t number;

	pthread_mutex_lock(&lock);
	number = next;
	pthread_mutex_unlock(&lock);
	return number;
}

bool event_log_read(uint32_t number, struct logged_event *logged)
{
	uint32_t oldest;
	bool found;

	pthread_mutex_lock(&lock);
	oldest = next < EVENT_LOG ? 0 : next - EVENT_LOG;
	if (number < oldest)
		number = oldest;
	found = number < next;
	if (found)
		*logged = kept[number % EVENT_LOG];
	pthread_mutex_unlock(&lock);
	return found;
}

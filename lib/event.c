/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event ring. One producer (a thread of the dataplane), one consumer (a thread
 * of the writer). The producer writes an entry before it advances the tail, so
 * that a process that dies loses at most the event that it was handling. */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "layout.h"

static int futex_wait(uint32_t *word, uint32_t value, const struct timespec *timeout)
{
	/* Not FUTEX_WAIT_PRIVATE: the word is shared between processes. */
	return syscall(SYS_futex, word, FUTEX_WAIT, value, timeout, NULL, 0) < 0 ? -errno : 0;
}

static void signal_consumer(struct header *h)
{
	add_ordered(&h->event_signal, 1);
	if (load_ordered(&h->event_waiting))
		syscall(SYS_futex, &h->event_signal, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

EXPORT int cygnet_event_post(struct cygnet_db *db, const struct cygnet_event *event)
{
	struct header *h = db->header;
	uint32_t tail = h->event_tail;

	if (tail - load_acquire(&h->event_head) >= LAYOUT_EVENTS)
		return -ENOBUFS;
	db->events[tail % LAYOUT_EVENTS] = *event;
	/* The consumer must see the entry before the new tail. */
	store_release(&h->event_tail, tail + 1);
	signal_consumer(h);
	return 0;
}

static bool take(struct cygnet_db *db, struct cygnet_event *event)
{
	struct header *h = db->header;
	uint32_t head = load_relaxed(&h->event_head), tail;

	for (;;) {
		tail = load_acquire(&h->event_tail);
		/* More events than entries: the file is damaged. Drop all events. */
		if (tail - head > LAYOUT_EVENTS)
			store_release(&h->event_head, head = tail);
		if (head == tail)
			return false;
		*event = db->events[head % LAYOUT_EVENTS];
		/* The producer may overwrite the entry after this store. If it fails,
		 * cygnet_db_flush() has dropped the event, and head is its new value. */
		if (replace_release(&h->event_head, &head, head + 1))
			return true;
	}
}

static bool woken(struct cygnet_db *db)
{
	uint32_t wakes = load_acquire(&db->header->event_wakes);

	if (wakes == db->wakes_seen)
		return false;
	db->wakes_seen = wakes;
	return true;
}

static int wait_signal(struct header *h, uint32_t signal, int timeout_ms)
{
	struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000l};
	int err;

	err = futex_wait(&h->event_signal, signal, timeout_ms < 0 ? NULL : &timeout);
	return err == -EAGAIN ? 0 : err;
}

EXPORT int cygnet_event_wait(struct cygnet_db *db, struct cygnet_event *event, int timeout_ms)
{
	struct header *h = db->header;
	int err = 0;

	for (;;) {
		/* Read before the ring is, so that an event posted after take() changes the
		 * word and futex_wait() returns at once. */
		uint32_t signal = load_ordered(&h->event_signal);

		if (take(db, event))
			return 0;
		if (woken(db))
			return -EINTR;
		if (err)
			return err;
		store_ordered(&h->event_waiting, 1);
		err = wait_signal(h, signal, timeout_ms);
		store_ordered(&h->event_waiting, 0);
	}
}

EXPORT void cygnet_event_wake(struct cygnet_db *db)
{
	add_ordered(&db->header->event_wakes, 1);
	signal_consumer(db->header);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/event_log.h"
#include "base/log.h"
#include "base/rate.h"
#include "base/sadb.h"

#define EVENTS 4096u

struct cygnet_db *sadb;
int sadb_charon;
uint64_t sadb_charon_gone;

static struct rte_ring *events;
static struct cygnet_event unposted; /* dequeued while the event ring was full */
static bool have_unposted;

_Static_assert(sizeof(struct cygnet_event) % 4 == 0,
	       "rte_ring elements are multiples of four bytes");

bool event_raise(const struct cygnet_event *event)
{
	return rte_ring_mp_enqueue_elem(events, (void *)(uintptr_t)event, sizeof(*event)) == 0;
}

static int charon_pid(void)
{
	struct cygnet_db_info info;

	cygnet_db_info(sadb, &info);
	return info.charon_pid;
}

static void note_charon(int pid)
{
	__atomic_store_n(&sadb_charon, pid, __ATOMIC_RELAXED);
	__atomic_store_n(&sadb_charon_gone, pid ? 0 : clock_read_us(CLOCK_MONOTONIC) / 1000000,
			 __ATOMIC_RELAXED);
}

static void forget_events_of_another_charon(void)
{
	int now = charon_pid();

	if (now == sadb_charon)
		return;
	note_charon(now);
	have_unposted = false;
	while (rte_ring_sc_dequeue_elem(events, &unposted, sizeof(unposted)) == 0)
		;
}

/* Hosts can cause many acquires: cygnetctl watch has all, the log some. */
#define ACQUIRES_LOGGED 10u /* in a second */

static void log_acquire(uint32_t reqid)
{
	static struct rate logged;

	if (rate_allows(&logged, ACQUIRES_LOGGED))
		log_about(RTE_LOG_INFO, (struct log_about){.reqid = reqid},
			  "has no SA for a packet: asking charon for one");
}

static void log_event(const struct cygnet_event *event)
{
	char addr[INET6_ADDRSTRLEN] = "?";

	switch (event->type) {
	case CYGNET_EVENT_ACQUIRE:
		log_acquire(event->reqid);
		break;
	case CYGNET_EVENT_EXPIRE:
		log_sa(RTE_LOG_INFO, event->id.spi, "%s limit reached, told charon",
		       event->hard ? "hard" : "soft");
		break;
	case CYGNET_EVENT_MAPPING:
		inet_ntop(event->id.af, &event->new_addr, addr, sizeof(addr));
		log_sa(RTE_LOG_INFO, event->id.spi, "packets come from %s[%u] now, told charon",
		       addr, ntohs(event->new_port));
		break;
	}
}

void events_post(void)
{
	forget_events_of_another_charon();
	for (;;) {
		if (!have_unposted && rte_ring_sc_dequeue_elem(events, &unposted, sizeof(unposted)))
			return;
		have_unposted = cygnet_event_post(sadb, &unposted) != 0;
		if (have_unposted)
			return;
		event_log_add(&unposted);
		log_event(&unposted);
	}
}

int events_init(void)
{
	events = rte_ring_create_elem("events", sizeof(struct cygnet_event), EVENTS, SOCKET_ID_ANY,
				      RING_F_SC_DEQ);
	if (!events) {
		log_error("no memory for the event queue");
		return -ENOMEM;
	}
	note_charon(charon_pid());
	return 0;
}

void events_free(void)
{
	rte_ring_free(events);
	events = NULL;
}

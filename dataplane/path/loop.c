/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/nap.h"
#include "base/policy_stats.h"
#include "base/sadb.h"
#include "base/settings.h"
#include "crypto/core.h"
#include "crypto/device/engine.h"
#include "crypto/device/pool.h"
#include "crypto/device/sessions.h"
#include "host/link.h"
#include "host/route.h"
#include "ip/priority.h"
#include "path/dispatch.h"
#include "path/early.h"
#include "path/fast/fast.h"
#include "path/inbox.h"
#include "path/loop.h"
#include "path/reassemble.h"
#include "path/refresh.h"
#include "path/sa_session.h"
#include "path/sa_wait.h"
#include "path/worker/capture.h"
#include "path/worker/fetch.h"
#include "path/worker/handoff.h"
#include "path/worker/neigh_wait.h"
#include "path/worker/move.h"
#include "path/worker/owner.h"
#include "path/worker/police.h"
#include "path/worker/send_order.h"
#include "path/worker/share.h"
#include "path/worker/tx.h"

#define INBOX	     4096u
#define INBOX_BURSTS 4u	   /* before the ports are polled: these packets have cost more already */
#define SWEEP_TURNS  1024u /* of the loop between two sweeps of the sessions */
#define IDLE_TURNS   1000u /* without a packet before the sessions are swept as well */
#define DRAIN_TURNS  2000000u /* for a device that does not answer any more */

bool workers_stopping;

static bool may_share(const struct conf *conf, unsigned int n)
{
	return n > 1 && !conf->ncrypto_cores;
}

static int init_orders(uint32_t slots)
{
	return send_orders_init(slots, engines_only_cpu() ? SEND_CALLED : SEND_QUEUED);
}

static int init_worker(struct worker *w, const struct conf *conf, unsigned int id, unsigned int n)
{
	struct cygnet_db_info info;
	char name[RTE_MEMPOOL_NAMESIZE];
	int err;

	*w = (struct worker){
		.id = id,
		.workers = n,
		.settings = settings_now(),
		.packets = packet_pool[id],
		.stats = &stats[id],
	};
	cygnet_db_info(sadb, &info);
	snprintf(name, sizeof(name), "inbox%u", id);
	w->inbox = rte_ring_create(name, INBOX, SOCKET_ID_ANY, RING_F_SC_DEQ);
	w->sas_most = sessions_of_worker(info.geometry.sas, conf->sessions, n);
	w->may_share = may_share(conf, n);
	w->sessions = sessions_create(info.geometry.sas, w->sas_most, &sa_session_events, w);
	w->reassembly = reassembly_create(REASSEMBLY_WAIT_MS, &w->stats->drop[DROP_REASSEMBLY]);
	err = fast_create(w, conf->flows);
	if (!err)
		err = random_fill(&w->fragment_ids.key, sizeof(w->fragment_ids.key));
	if (!err)
		err = random_fill(&w->audit.key, sizeof(w->audit.key));
	if (!err)
		err = crypto_open(&w->crypto, id, w->stats);
	if (!err)
		err = crypto_lane_init(&w->crypto);
	return w->inbox && w->sessions && w->reassembly ? err : -ENOMEM;
}

int workers_init(const struct conf *conf, unsigned int n)
{
	struct cygnet_db_info info;
	int err;

	cygnet_db_info(sadb, &info);
	owners_reset(info.geometry.sas);
	err = policy_stats_init(n, info.geometry.policies);
	if (err) {
		log_error("no memory for the counters of %u policies", info.geometry.policies);
		return err;
	}
	if (may_share(conf, n) && init_orders(info.geometry.sas)) {
		log_error("no memory for the order of packets of shared SAs");
		workers_free();
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < n; i++) {
		err = init_worker(&workers[i], conf, i, n);
		if (err) {
			log_error("worker %u does not start: %s", i, strerror(-err));
			workers_free();
			return err;
		}
	}
	return 0;
}

void workers_report(void)
{
	for (unsigned int i = 0; i < workers[0].workers; i++)
		sessions_report(workers[i].sessions);
}

void workers_free(void)
{
	for (unsigned int i = 0; i < CONF_MAX_WORKERS; i++) {
		struct worker *w = &workers[i];
		struct rte_mbuf *m;

		while (w->inbox && rte_ring_sc_dequeue(w->inbox, (void **)&m) == 0)
			rte_pktmbuf_free(m);
		rte_ring_free(w->inbox);
		reassembly_free(w->reassembly);
		sessions_free(w->sessions);
		fast_free(w);
		crypto_lane_free(&w->crypto);
		crypto_close(&w->crypto);
		*w = (struct worker){0};
	}
	send_orders_free();
	policy_stats_free();
}

/* --- packets in --- */

static bool owns_queue(const struct worker *w, unsigned int device, uint16_t queue)
{
	return devices[device].queues == 1 ? device % w->workers == w->id
					   : queue % w->workers == w->id;
}

/* Without the path of known flows. */
static void to_stages(struct worker *w, struct rte_mbuf **m, unsigned int n, unsigned int interface)
{
	for (unsigned int i = 0; i < n; i++)
		frame_received(w, STAGE_FROM_WIRE, m[i], interface);
	dispatch(w);
}

/* Frames that have come in by an interface one after the other, in order. */
static void receive_by(struct worker *w, struct rte_mbuf **m, unsigned int n,
		       unsigned int interface)
{
	uint64_t began = dispatch_began(w);
	struct fast_burst burst;
	bool all;

	if (unlikely(w->capture != NULL))
		capture_received(w, m, n, interface);
	if (unlikely(__atomic_load_n(&interfaces[interface].dscp_of_priority, __ATOMIC_RELAXED)))
		priority_to_dscp(m, n);
	if (!fast_serves(w)) {
		to_stages(w, m, n, interface);
		return;
	}
	fast_lookup(w, &burst, m, n, interface);
	do {
		unsigned int before = burst.next;

		all = fast_receive(w, &burst);
		dispatch_count(w, STAGE_KNOWN, burst.next - before, began);
		dispatch(w);
		began = dispatch_began(w);
	} while (!all);
}

/* Frames of a burst. */
static void receive(struct worker *w, const struct device *device, struct rte_mbuf **m,
		    unsigned int n)
{
	unsigned int interface;

	refresh_changes(w);
	if (likely(link_sort(device, m, n, &interface))) {
		receive_by(w, m, n, interface);
		return;
	}
	for (unsigned int from = 0, some; from < n; from += some) {
		some = link_run(m + from, n - from);
		receive_by(w, m + from, some, m[from]->port);
	}
}

static unsigned int poll_wire(struct worker *w, unsigned int index)
{
	const struct device *device = &devices[index];
	struct rte_mbuf *m[BURST];
	unsigned int got = 0;

	for (uint16_t q = 0; q < device->queues; q++) {
		uint16_t n;

		if (!owns_queue(w, index, q) || !crypto_has_room(&w->crypto))
			continue;
		n = rte_eth_rx_burst(device->id, q, m, BURST);
		/* Buffers of a device's pool come in a circle, and other workers have had those of a
		 * shared pool. */
		if (packet_pool_device || w->workers > 1)
			fetch_received(m, n);
		offload_received(&w->crypto.offload, n, BURST);
		if (n)
			receive(w, device, m, n);
		got += n;
	}
	return got;
}

static unsigned int poll_tap(struct worker *w, unsigned int index)
{
	struct rte_mbuf *m[BURST];
	uint16_t n;

	if (tap_owner(w, index) != w->id || !crypto_has_room(&w->crypto))
		return 0;
	n = rte_eth_rx_burst(interfaces[index].tap.id, 0, m, BURST);
	offload_received(&w->crypto.offload, n, BURST);
	for (uint16_t i = 0; i < n; i++)
		frame_received(w, STAGE_FROM_KERNEL, m[i], index);
	if (n)
		dispatch(w);
	return n;
}

static bool poll_some(struct worker *w, struct crypto_poll *poll)
{
	uint64_t began = dispatch_began(w);
	unsigned int before = poll->moved;
	bool more = crypto_poll(&w->crypto, poll);

	if (poll->moved > before)
		dispatch_count(w, STAGE_QUEUES, poll->moved - before, began);
	return more;
}

static unsigned int poll_crypto(struct worker *w)
{
	struct crypto_poll poll = {0};

	/* Packets of the batch, and of earlier bursts, are before what goes into a queue. */
	dispatch(w);
	while (poll_some(w, &poll))
		dispatch(w);
	/* A device that is lost or stalled may have failed packets without giving any back. */
	dispatch(w);
	return poll.moved;
}

/* --- the loop --- */

/* Count the turn before this one. worker.now is the TSC as refresh_turn() has just read it, so that
 * counting costs no further read of it. A nap follows a turn without packets and is not counted. */
static void count_turn(struct worker *w)
{
	__atomic_store_n(&w->stats->turns, w->stats->turns + 1,
			 __ATOMIC_RELEASE); /* move.c, share.c, watchdog.c */
	if (w->moved)
		w->stats->busy_cycles += w->now - w->turn_began;
	w->turn_began = w->now;
}

/* What need not be done in each turn. */
static void sweep(struct worker *w)
{
	sessions_sweep(w->sessions);
	reassembly_expire(w);
}

/* One turn. @return packets that moved */
static unsigned int turn(struct worker *w, bool receiving, bool sweeps)
{
	unsigned int moved = 0, bursts = 0, n;

	w->count_stages = __atomic_load_n(&stats_stages_asked, __ATOMIC_RELAXED) > clock_seconds();
	capture_refresh(w);
	refresh_devices(w);
	move_turn(w);
	share_turn(w);
	refresh_turn(w);
	count_turn(w);
	if (sweeps)
		sweep(w);
	if (w->nwaiting)
		send_order_turn(w);
	do {
		n = inbox_poll(w);
		moved += n;
	} while (n == BURST && ++bursts < INBOX_BURSTS);
	for (unsigned int d = 0; w->devices >> d && receiving; d++)
		if (w->devices >> d & 1)
			moved += poll_wire(w, d);
	for (unsigned int i = 0; w->present >> i && receiving; i++)
		if (w->present >> i & 1)
			moved += poll_tap(w, i);
	moved += poll_crypto(w);
	if (w->neigh_wait.n)
		neigh_wait_expire(w);
	if (w->early.n && crypto_has_room(&w->crypto)) {
		early_turn(w);
		dispatch(w);
	}
	if (w->sa_wait.n) {
		sa_wait_retry(w);
		dispatch(w);
	}
	send_order_flush(w);
	tx_flush(w);
	handoff_flush(w);
	if (offload_enabled && offload_is_over(&w->crypto.offload, w->crypto.in_flight))
		offload_turn(&w->crypto.offload, w->crypto.in_flight,
			     !crypto_has_room(&w->crypto) || offload_starves(w->packets));
	/* No pointer into SAD, SPD or FIB is held any more. */
	cygnet_reader_quiescent(sadb, w->id);
	route_reader_quiescent(w->id);
	w->moved = moved;
	return moved;
}

/* Packets in flight come back and leave; so do packets that other workers hand off. */
static void drain(struct worker *w)
{
	unsigned int quiet = 0;

	for (unsigned int i = 0; i < DRAIN_TURNS && quiet < 1000; i++)
		quiet = turn(w, false, false) || w->crypto.in_flight || w->nwaiting ? 0 : quiet + 1;
	/* A quiescent state has been passed since the last one. */
	refresh_turn(w);
	crypto_drain(&w->crypto);
	dispatch(w);
	neigh_wait_drop(w);
	sa_wait_drop(w);
	early_drop(w);
	owner_drop(w);
	share_end(w);
	send_order_flush(w);
	tx_flush_all(w);
	handoff_flush(w);
	if (w->crypto.in_flight)
		log_warn("worker %u: %u packets never came back from the crypto device", w->id,
			 w->crypto.in_flight);
}

int worker_main(void *arg)
{
	struct worker *w = &workers[(uintptr_t)arg];
	unsigned int idle = 0, turns = 0;
	bool sweeps = false;

	tx_init(w);
	police_init(w);
	if (cygnet_reader_online(sadb, w->id)) {
		log_error("worker %u cannot read the SAD", w->id);
		return -1;
	}
	route_reader_online(w->id);
	while (!__atomic_load_n(&workers_stopping, __ATOMIC_ACQUIRE)) {
		idle = turn(w, true, sweeps) || w->crypto.in_flight || w->nwaiting ? 0 : idle + 1;
		sweeps = ++turns % SWEEP_TURNS == 0 || idle == IDLE_TURNS;
		if (idle >= NAP_TURNS && (w->settings & SETTING_IDLE_SLEEP))
			rte_delay_us_sleep(IDLE_NAP_US);
	}
	drain(w);
	__atomic_store_n(&w->capture, NULL, __ATOMIC_RELEASE);
	cygnet_reader_offline(sadb, w->id);
	route_reader_offline(w->id);
	return 0;
}

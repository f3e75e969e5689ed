/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "base/log.h"
#include "base/sadb.h"
#include "crypto/device/engine.h"
#include "crypto/device/pool.h"
#include "crypto/device/sessions.h"
#include "esp/esp.h"
#include "host/port.h"
#include "path/fast/shortcut.h"
#include "path/pipeline.h"
#include "path/reassemble.h"
#include "path/worker.h"

#define INBOX 4096u
#define OPS 12287u
#define SWEEP_TURNS 1024u	/* of the loop between two sweeps of the sessions */
#define IDLE_TURNS 1000u	/* without a packet before the sessions are swept as well */
#define DRAIN_TURNS 2000000u	/* for a device that does not answer any more */

struct worker workers[CONF_MAX_WORKERS];
bool workers_stopping;

static int init_worker(struct worker *w, const struct conf *conf, unsigned int id, unsigned int n)
{
	struct cygnet_db_info info;
	char name[RTE_MEMPOOL_NAMESIZE];

	*w = (struct worker){
		.id = id,
		.workers = n,
		.idle_sleep = conf->idle_sleep,
		.drop_no_policy = conf->drop_no_policy,
		.pass_hairpin = conf->pass_hairpin,
		.packets = packet_pool[id],
		.stats = &stats[id],
	};
	transmit_init(w);
	cygnet_db_info(sadb, &info);
	snprintf(name, sizeof(name), "inbox%u", id);
	w->inbox = rte_ring_create(name, INBOX, SOCKET_ID_ANY, RING_F_SC_DEQ);
	snprintf(name, sizeof(name), "ops%u", id);
	w->ops = rte_crypto_op_pool_create(name, RTE_CRYPTO_OP_TYPE_SYMMETRIC, OPS, 128,
					   sizeof(struct esp_job), SOCKET_ID_ANY);
	w->sessions = sessions_create(info.geometry.sas,
				      sessions_of_worker(info.geometry.sas, conf->sessions, n),
				      &w->flows.epoch);
	w->reassembly = reassembly_create(REASSEMBLY_WAIT_MS, &w->stats->drop[DROP_REASSEMBLY]);
	if (conf->flows && flows_create(&w->flows, conf->flows))
		return -ENOMEM;
	return w->inbox && w->ops && w->sessions && w->reassembly ? 0 : -ENOMEM;
}

int workers_init(const struct conf *conf, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		int err = init_worker(&workers[i], conf, i, n);

		if (err) {
			log_error("no memory for worker %u", i);
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
		flows_free(&w->flows);
		rte_mempool_free(w->ops);
		*w = (struct worker){0};
	}
}

void do_stage(struct worker *w, struct rte_mbuf *m)
{
	switch (packet(m)->stage) {
	case STAGE_ESP_OUT:
	case STAGE_ESP_IN:
		protect(w, m);
		break;
	case STAGE_REASSEMBLE:
		reassemble(w, m);
		break;
	case STAGE_TX:
		transmit_frame(w, m);
		break;
	case STAGE_TAP:
		transmit_to_kernel(w, m);
		break;
	}
}

static unsigned int poll_inbox(struct worker *w)
{
	struct rte_mbuf *m[BURST];
	unsigned int n;

	if (!crypt_has_room(w))
		return 0;
	n = rte_ring_sc_dequeue_burst(w->inbox, (void **)m, BURST, NULL);
	offload_received(&w->offload, n, BURST);
	/* They come out of another core's caches: all at a time, not one after the other. */
	for (unsigned int i = 0; i < n; i++)
		packet_prefetch(m[i]);
	for (unsigned int i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
	for (unsigned int i = 0; i < n; i++)
		if (!shortcut_handed(w, m[i]))
			do_stage(w, m[i]);
	return n;
}

static bool owns_queue(const struct worker *w, const struct port *port, unsigned int index,
		       uint16_t queue)
{
	return port->queues == 1 ? index % w->workers == w->id : queue % w->workers == w->id;
}

static unsigned int poll_wire(struct worker *w, unsigned int index)
{
	const struct port *port = &ports[index];
	struct rte_mbuf *m[BURST];
	unsigned int got = 0;

	for (uint16_t q = 0; q < port->queues; q++) {
		uint16_t n;

		if (!owns_queue(w, port, index, q) || !crypt_has_room(w))
			continue;
		n = rte_eth_rx_burst(port->id, q, m, BURST);
		packet_pool_fetch(m, n);
		offload_received(&w->offload, n, BURST);
		shortcut_receive(w, m, n, index);
		got += n;
	}
	return got;
}

static unsigned int poll_tap(struct worker *w, unsigned int index)
{
	struct rte_mbuf *m[BURST];
	uint16_t n;

	if (tap_owner(w, index) != w->id || !crypt_has_room(w))
		return 0;
	n = rte_eth_rx_burst(ports[index].tap_id, 0, m, BURST);
	offload_received(&w->offload, n, BURST);
	for (uint16_t i = 0; i < n; i++)
		receive_from_kernel(w, m[i], index);
	return n;
}

/* One turn of the loop. @return packets that moved */
static unsigned int turn(struct worker *w, bool receive)
{
	unsigned int moved;

	shortcut_look(w);
	moved = poll_inbox(w);

	for (unsigned int p = 0; p < nports && receive; p++)
		moved += poll_wire(w, p) + poll_tap(w, p);
	moved += crypt_poll(w);
	if (w->pending.n)
		pending_expire(w);
	if (w->hold.n)
		hold_retry(w);
	transmit_flush(w);
	handover_flush(w);
	if (offload_enabled && offload_is_over(&w->offload, w->in_flight))
		offload_turn(&w->offload, w->in_flight,
			     !crypt_has_room(w) || offload_starves(w->packets));
	/* No pointer into SAD, SPD or FIB is held any more. */
	cygnet_reader_quiescent(sadb, w->id);
	route_reader_quiescent(w->id);
	return moved;
}

/* Packets that the crypto devices have, also those that nobody waits for. */
static uint32_t at_devices(const struct worker *w)
{
	uint32_t n = w->in_flight;

	for (unsigned int d = 0; d < engine_devices; d++)
		n += w->late[d];
	return n;
}

/* What is in flight comes back and goes out; what others hand over too. */
static void drain(struct worker *w)
{
	unsigned int quiet = 0;

	for (unsigned int i = 0; i < DRAIN_TURNS && quiet < 1000; i++)
		quiet = turn(w, false) || at_devices(w) ? 0 : quiet + 1;
	crypt_drain(w);
	pending_drop(w);
	hold_drop(w);
	transmit_flush(w);
	if (at_devices(w))
		log_warn("worker %u: %u packets never came back from the crypto device", w->id,
			 at_devices(w));
}

int worker_main(void *arg)
{
	struct worker *w = &workers[(uintptr_t)arg];
	unsigned int idle = 0, turns = 0;

	if (cygnet_reader_online(sadb, w->id)) {
		log_error("worker %u cannot read the SAD", w->id);
		return -1;
	}
	route_reader_online(w->id);
	while (!__atomic_load_n(&workers_stopping, __ATOMIC_ACQUIRE)) {
		idle = turn(w, true) || w->in_flight ? 0 : idle + 1;
		if (++turns % SWEEP_TURNS == 0 || idle == IDLE_TURNS) {
			sessions_sweep(w->sessions);
			reassembly_expire(w);
		}
		if (idle >= NAP_TURNS && w->idle_sleep)
			rte_delay_us_sleep(IDLE_NAP_US);
	}
	drain(w);
	cygnet_reader_offline(sadb, w->id);
	route_reader_offline(w->id);
	return 0;
}

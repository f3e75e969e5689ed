/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Through the queues of the crypto devices and back. The packets of an SA may be at several
 * devices at once, which finish in any order: each waits in its SA's queue until those before
 * it are back (WireGuard's two queues). What a device did not do: failover.h. */
#include <string.h>

#include <rte_cryptodev.h>

#include "base/sadb.h"
#include "crypto/crypto_core.h"
#include "crypto/device/engine.h"
#include "crypto/device/op.h"
#include "crypto/device/sessions.h"
#include "crypto/failover.h"
#include "host/port.h"
#include "path/pipeline.h"

#define BURSTS 8u   /* that a device gives back in a turn */
/* Of a device that collects, thousands come back at once. In one go they would take so long that
 * the ports' queues overflow; as many as there can be ports that receive keep pace. */
#define FEW_BURSTS 2u

static void append(struct session *s, struct rte_mbuf *m)
{
	packet(m)->next = NULL;
	packet(m)->called = packet(m)->back = 0;
	s->in_flight++;
	if (s->head)
		packet(s->tail)->next = m;
	else
		s->head = m;
	s->tail = m;
}

void crypt_insert(struct session *s, struct rte_mbuf *m)
{
	struct rte_mbuf **at = &s->head;

	while (*at && packet(*at)->called)
		at = &packet(*at)->next;
	if (!*at)
		s->tail = m;
	packet(m)->next = *at;
	packet(m)->called = 1;
	packet(m)->back = 0;
	s->in_flight++;
	*at = m;
}

void crypt_release(struct worker *w, struct rte_mbuf *m, unsigned int status)
{
	struct session *s = packet(m)->session;

	packet(m)->back = 1;
	packet(m)->status = (uint8_t)status;
	while (s->head && packet(s->head)->back) {
		struct packet *p;

		m = s->head;
		p = packet(m);
		s->head = p->next;
		s->in_flight--;
		protect_finish(w, m, s, cygnet_sa_get(sadb, p->sa, p->generation));
	}
}

/* Bring a device's batch to it. What its queue does not take waits, bounded. An empty batch
 * makes a device go that collects some. */
static void submit(struct worker *w, unsigned int device)
{
	struct op_batch *batch = &w->submit[device];
	uint16_t sent = rte_cryptodev_enqueue_burst(engine_device[device].id, (uint16_t)w->id,
						    batch->op, (uint16_t)batch->n);

	if (!batch->n)
		w->going[device] = w->at[device];
	w->in_flight += sent;
	batch->n -= sent;
	w->refusing &= ~(1u << device);
	w->refusing |= (uint32_t)(batch->n > 0) << device;
	memmove(batch->op, batch->op + sent, batch->n * sizeof(batch->op[0]));
}

bool crypt_put(struct worker *w, struct rte_crypto_op *op, const struct cygnet_sa *sa,
	       unsigned int device)
{
	struct op_batch *batch = &w->submit[device];
	struct packet *p = packet(op->sym->m_src);
	void *crypto = session_on(p->session, sa, device);

	if (!crypto)
		return false;
	if (batch->n == RTE_DIM(batch->op))
		submit(w, device);
	if (batch->n == RTE_DIM(batch->op))
		return false;
	rte_crypto_op_attach_sym_session(op, crypto);
	p->tried |= (uint16_t)(1u << device);
	batch->op[batch->n++] = op;
	if (!w->at[device]++)
		w->answered[device] = rte_get_tsc_cycles();
	return true;
}

/* @return DROP_NONE, or why no queue took the packet */
static enum drop_reason enqueue(struct worker *w, struct rte_mbuf *m, const struct esp_job *job,
				const struct cygnet_sa *sa, unsigned int device)
{
	struct packet *p = packet(m);
	const struct session *s = p->session;
	struct rte_crypto_op *op = crypto_op_alloc(w->ops, m, job, s->form);

	if (!op)
		return DROP_NO_BUFFER;
	p->tried = p->failed_at = 0;
	if (!s->shunned && !failover_is_stalled(w, device) && crypt_put(w, op, sa, device))
		return DROP_NONE;
	if (failover_put(w, op, sa, device))
		return DROP_NONE;
	crypto_op_free(op);
	return DROP_ENGINE_FULL;
}

void crypt_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa)
{
	struct session *s = packet(m)->session;
	unsigned int device = s->device;
	enum drop_reason reason;

	if (offload_enabled) {
		device = offload_packet(&w->offload, s->algorithm, rte_pktmbuf_data_len(m), w->at,
					w->refusing, w->stalled);
		if (device == OFFLOAD_NONE)
			device = s->device;
	}
	if (w->lane.size && crypto_batch_add(w, m, sa, device)) {
		append(s, m);
		return;
	}
	if (crypt_now_add(w, m, sa, device))
		return;
	reason = enqueue(w, m, crypt_job(w), sa, device);
	if (reason != DROP_NONE)
		drop(w, m, reason);
	else
		append(s, m);
}

bool crypt_has_room(const struct worker *w)
{
	for (unsigned int d = 0; d < engine_devices; d++)
		if (w->submit[d].n > RTE_DIM(w->submit[d].op) - BURST && !failover_is_stalled(w, d))
			return false;
	return true;
}

void crypt_wait(struct worker *w, struct rte_mbuf *m, enum rte_crypto_op_status status)
{
	crypt_insert(packet(m)->session, m);
	crypt_release(w, m, status);
}

static void finish(struct worker *w, struct rte_crypto_op *op, unsigned int device)
{
	struct stats_device *stats_device = &w->stats->device[device];
	struct rte_mbuf *m = op->sym->m_src;
	unsigned int status;

	w->at[device]--;
	w->going[device] -= w->going[device] > 0;
	status = failover_judge(w, op, device);
	if (status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED)
		return;
	if (status == RTE_CRYPTO_OP_STATUS_SUCCESS) {
		stats_device->bytes += rte_pktmbuf_data_len(m);
		stats_device->decrypted += packet(m)->session->inbound;
		stats_device->encrypted += !packet(m)->session->inbound;
	}
	crypto_op_free(op);
	crypt_release(w, m, status);
}

static unsigned int poll_device(struct worker *w, unsigned int device)
{
	unsigned int bursts = engine_device[device].at_once ? BURSTS : RTE_MAX(FEW_BURSTS, nports);
	struct rte_crypto_op *op[BURST];
	unsigned int done = 0, back = 0;
	uint16_t n, own;

	/* As many as have been put there in a turn, and those that come again. */
	do {
		/* Of what came of the last ones, that is before what went into a queue. */
		done += crypt_now(w);
		n = rte_cryptodev_dequeue_burst(engine_device[device].id, (uint16_t)w->id, op,
						BURST);
		own = crypt_late(w, device, op, n);
		w->in_flight -= own;
		done += own;
		back += n;
		crypto_op_prefetch(op, own);
		for (uint16_t i = 0; i < own; i++)
			finish(w, op[i], device);
	} while (n == BURST && done < bursts * BURST);
	failover_watch(w, device, back);
	return done;
}

/* A packet is back from a crypto core. What comes after one that that has failed to do goes by the
 * worker's own queue. */
static void finish_batched(struct worker *w, const struct crypto_batch *b, unsigned int i)
{
	struct stats_device *stats_device = &w->stats->device[b->todo[i].device];
	struct rte_mbuf *m = b->todo[i].m;
	struct session *s = packet(m)->session;

	if (b->status[i] == RTE_CRYPTO_OP_STATUS_SUCCESS) {
		stats_device->bytes += rte_pktmbuf_data_len(m);
		stats_device->decrypted += s->inbound;
		stats_device->encrypted += !s->inbound;
	} else if (b->status[i] == RTE_CRYPTO_OP_STATUS_ERROR) {
		stats_device->failed++;
		failover_shun(s, b->todo[i].device);
		if (failover_retry(w, m, &b->job[i], b->todo[i].device))
			return;
	}
	crypt_release(w, m, b->status[i]);
}

/* What another core has had, and is read or written now: headers, and an inner packet's trailer. */
static void fetch_done(const struct crypto_todo *todo, const struct esp_job *job)
{
	rte_prefetch0_write(todo->m);
	rte_prefetch0_write(todo->data);
	if (!packet(todo->m)->session->inbound)
		return;
	rte_prefetch0_write(todo->data + job->text_at);
	rte_prefetch0(todo->data + job->text_at + job->text_len - 1);
}

static unsigned int poll_crypto_cores(struct worker *w)
{
	const struct crypto_batch *b;
	unsigned int done = 0;

	crypto_batch_send(w);
	while ((b = crypto_batch_back(w))) {
		/* Of what came of the last ones, that is before what went to other cores. */
		done += crypt_now(w) + b->n;
		w->in_flight -= b->n;
		w->stats->crypto_cores += b->n;
		for (unsigned int i = 0; i < b->n; i++)
			fetch_done(&b->todo[i], &b->job[i]);
		for (unsigned int i = 0; i < b->n; i++)
			finish_batched(w, b, i);
		crypto_batch_reuse(w);
	}
	return done;
}

unsigned int crypt_poll(struct worker *w)
{
	unsigned int done = crypt_now(w) + (w->lane.size ? poll_crypto_cores(w) : 0);

	for (unsigned int d = 0; d < engine_devices; d++) {
		if (!w->at[d] && !w->late[d])
			continue;
		if (engine_lost(d))
			failover_move_away(w, d);
		/* An empty one too where there is little, and nothing to wait for: batches
		 * grow with the load. */
		if (w->submit[d].n || (!w->going[d] && w->at[d] <= BURST))
			submit(w, d);
		done += poll_device(w, d);
	}
	/* What has been opened goes on in the turn in which its SA was there. */
	return done + crypt_now(w);
}

void crypt_drain(struct worker *w)
{
	crypt_now(w);
	for (unsigned int d = 0; d < engine_devices; d++) {
		struct op_batch *batch = &w->submit[d];

		for (unsigned int i = 0; i < batch->n; i++) {
			struct rte_mbuf *m = batch->op[i]->sym->m_src;

			w->at[d]--;
			crypto_op_free(batch->op[i]);
			crypt_release(w, m, RTE_CRYPTO_OP_STATUS_NOT_PROCESSED);
		}
		batch->n = 0;
	}
	crypt_now(w);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Through the queues of the crypto devices and back. The packets of an SA may be at several
 * devices at once, which finish in any order: each waits in its SA's queue until those before
 * it are back (WireGuard's two queues). What a failing device did not do, another does. */
#include <string.h>

#include <rte_cryptodev.h>

#include "control.h"
#include "crypto_core.h"
#include "crypto_op.h"
#include "engine.h"
#include "pipeline.h"
#include "port.h"

#define BURSTS 8u   /* that a device gives back in a turn */
/* Of a device that collects, thousands come back at once. In one go they would take so long that
 * the ports' queues overflow; as many as there can be ports that receive keep pace. */
#define FEW_BURSTS 2u
#define OPS_AHEAD 8u
#define FAILURES 16 /* in a row that another device did not have: it is the device */
/* In which a device gives nothing back, before others get the packets that come: few can wait for it.
 * No batch takes as long, not even on a processor that others keep busy. */
#define STALL_MS 250u

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

/* In front of what went into a queue after it, behind those that were called for before it. */
static void insert(struct session *s, struct rte_mbuf *m)
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

/* A packet is back, for good. It and those that only waited for it go on. */
static void release(struct worker *w, struct rte_mbuf *m, unsigned int status)
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

/* @return false if the device does not take the SA, or no more packets now */
static bool put(struct worker *w, struct rte_crypto_op *op, const struct cygnet_sa *sa,
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

static bool is_stalled(const struct worker *w, unsigned int device)
{
	return w->stalled >> device & 1;
}

/* Any device that has not had the packet yet; one that is stalled if there is no other. */
static bool put_anywhere(struct worker *w, struct rte_crypto_op *op, const struct cygnet_sa *sa)
{
	const struct packet *p = packet(op->sym->m_src);

	for (unsigned int d = 0; d < engine_devices; d++)
		if (!((p->tried | w->stalled) >> d & 1) && put(w, op, sa, d))
			return true;
	for (unsigned int d = 0; d < engine_devices; d++)
		if (is_stalled(w, d) && !(p->tried >> d & 1) && put(w, op, sa, d))
			return true;
	return false;
}

/* One, and fetch those that will be next: with many packets at a device they are in no cache. */
static struct rte_crypto_op *alloc_op(struct worker *w)
{
	const struct rte_mempool_cache *cache = rte_mempool_default_cache(w->ops, rte_lcore_id());

	if (cache && cache->len > OPS_AHEAD) {
		char *next = cache->objs[cache->len - 1 - OPS_AHEAD];

		for (unsigned int line = 0; line < CRYPTO_OP_BYTES; line += RTE_CACHE_LINE_SIZE)
			rte_prefetch0(next + line);
	}
	return rte_crypto_op_alloc(w->ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
}

/* Whether a device has the session that has not lost packets of it. */
static bool has_other(const struct session *s)
{
	for (unsigned int d = 0; d < engine_devices; d++)
		if (s->at[d] && !(s->shunned >> d & 1) && !engine_lost(d))
			return true;
	return false;
}

/* Where a device has lost packets of an SA that others have yet to do. */
static bool put_elsewhere(struct worker *w, struct rte_crypto_op *op, const struct cygnet_sa *sa,
			  unsigned int device)
{
	struct packet *p = packet(op->sym->m_src);
	struct session *s = p->session;

	p->tried = s->shunned;
	p->failed_at = s->to_blame;
	if ((!(s->shunned >> device & 1) && put(w, op, sa, device)) || put_anywhere(w, op, sa)) {
		s->to_blame = 0;
		return true;
	}
	if (has_other(s))
		return false; /* it is full, for now */
	p->tried = p->failed_at = s->shunned = s->to_blame = 0;
	return put(w, op, sa, device);
}

/* @return DROP_NONE, or why no queue took the packet */
static enum drop_reason enqueue(struct worker *w, struct rte_mbuf *m, const struct esp_job *job,
				const struct cygnet_sa *sa, unsigned int device)
{
	struct rte_crypto_op *op = alloc_op(w);
	struct packet *p = packet(m);
	struct session *s = p->session;

	if (!op)
		return DROP_NO_BUFFER;
	*crypto_op_job(op) = *job;
	crypto_op_describe(op, m, s->form);
	p->tried = p->failed_at = 0;
	if (s->shunned ? put_elsewhere(w, op, sa, device)
		       : !is_stalled(w, device) && put(w, op, sa, device))
		return DROP_NONE;
	if ((offload_enabled || engine_lost(device) || is_stalled(w, device)) &&
	    put_anywhere(w, op, sa))
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
		if (w->submit[d].n > RTE_DIM(w->submit[d].op) - BURST && !is_stalled(w, d))
			return false;
	return true;
}

/* Whether another device may do a packet that one has failed to do. To encrypt what may have been
 * encrypted would be to decrypt it, in counter mode. What has come in shows by its ICV whether
 * it is what was sent. */
static bool is_intact(const struct session *s, unsigned int device)
{
	return s->inbound || engine_device[device].keeps;
}

/* Whether another device does what one did not. */
static bool again(struct worker *w, struct rte_crypto_op *op, unsigned int device)
{
	struct packet *p = packet(op->sym->m_src);

	if (engine_devices < 2)
		return false;
	if (!is_intact(p->session, device)) {
		/* The next packets of the SA go elsewhere, and show whose fault it was. */
		session_shun(p->session, device);
		p->session->to_blame |= p->failed_at;
		return false;
	}
	op->status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	return put_anywhere(w, op, cygnet_sa_get(sadb, p->sa, p->generation));
}

/* The same for a packet that it had otherwise than by this worker's queue. */
static bool retry(struct worker *w, struct rte_mbuf *m, const struct esp_job *job,
		  unsigned int device)
{
	struct packet *p = packet(m);
	struct rte_crypto_op *op;

	if (!p->session->inbound)
		return false;
	op = alloc_op(w);
	if (!op)
		return false;
	*crypto_op_job(op) = *job;
	crypto_op_describe(op, m, p->session->form);
	p->tried = p->failed_at = (uint16_t)(1u << device);
	if (put_anywhere(w, op, cygnet_sa_get(sadb, p->sa, p->generation)))
		return true;
	crypto_op_free(op);
	return false;
}

/* What a device has not given back it may still write. Whether that is in the copy shows by its
 * ICV. @return NULL: there is none, and the packet is gone */
static struct rte_mbuf *own(struct worker *w, struct rte_mbuf *m)
{
	struct rte_mbuf *copy;

	if (rte_mbuf_refcnt_read(m) == 1)
		return m;
	copy = packet_move(m, m->pool);
	if (copy && copy->nb_segs == 1)
		return copy;
	drop(w, copy ? copy : m, DROP_ENGINE_FAILED);
	return NULL;
}

void crypt_again(struct worker *w, struct rte_mbuf *m, const struct esp_job *job,
		 unsigned int device)
{
	m = own(w, m);
	if (!m)
		return;
	insert(packet(m)->session, m);
	if (!retry(w, m, job, device))
		release(w, m, RTE_CRYPTO_OP_STATUS_ERROR);
}

void crypt_wait(struct worker *w, struct rte_mbuf *m, enum rte_crypto_op_status status)
{
	insert(packet(m)->session, m);
	release(w, m, status);
}

/* A packet that one device did: it is not the packet's fault that others failed. */
static void blame(struct worker *w, uint16_t failed_at)
{
	for (unsigned int d = 0; failed_at && d < engine_devices; d++)
		if (failed_at >> d & 1 && ++w->failures[d] >= FAILURES)
			engine_take_out(d);
}

/* @return the status that it leaves with; NOT_PROCESSED: another device has it now */
static unsigned int judge(struct worker *w, struct rte_crypto_op *op, unsigned int device)
{
	struct stats_device *stats_device = &w->stats->device[device];
	struct packet *p = packet(op->sym->m_src);

	if (op->status == RTE_CRYPTO_OP_STATUS_SUCCESS ||
	    op->status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED) {
		w->failures[device] = 0;
		blame(w, p->failed_at);
		/* It may have been authentic until another device failed it. */
		return op->status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED && p->failed_at
			       ? RTE_CRYPTO_OP_STATUS_ERROR : op->status;
	}
	stats_device->failed++;
	/* Arguments that one does not take may suit another. */
	if (op->status == RTE_CRYPTO_OP_STATUS_ERROR ||
	    op->status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED)
		p->failed_at |= (uint16_t)(1u << device);
	if (again(w, op, device))
		return RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	return RTE_CRYPTO_OP_STATUS_ERROR;
}

static void finish(struct worker *w, struct rte_crypto_op *op, unsigned int device)
{
	struct stats_device *stats_device = &w->stats->device[device];
	struct rte_mbuf *m = op->sym->m_src;
	unsigned int status;

	w->at[device]--;
	w->going[device] -= w->going[device] > 0;
	status = judge(w, op, device);
	if (status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED)
		return;
	if (status == RTE_CRYPTO_OP_STATUS_SUCCESS) {
		stats_device->bytes += rte_pktmbuf_data_len(m);
		stats_device->decrypted += packet(m)->session->inbound;
		stats_device->encrypted += !packet(m)->session->inbound;
	}
	crypto_op_free(op);
	release(w, m, status);
}

/* What waits for a device that is lost, which has never had it. */
static void move_away(struct worker *w, unsigned int device)
{
	struct op_batch *batch = &w->submit[device];
	unsigned int n = batch->n;

	batch->n = 0;
	for (unsigned int i = 0; i < n; i++) {
		struct rte_crypto_op *op = batch->op[i];
		struct rte_mbuf *m = op->sym->m_src;
		const struct packet *p = packet(m);

		w->at[device]--;
		if (put_anywhere(w, op, cygnet_sa_get(sadb, p->sa, p->generation)))
			continue;
		crypto_op_free(op);
		release(w, m, RTE_CRYPTO_OP_STATUS_ERROR);
	}
}

/* What has been at a device for long has left the caches. */
static void fetch(struct rte_crypto_op *const *op, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = op[i]->sym->m_src;

		rte_prefetch0(m);
		rte_prefetch0(packet(m));
		rte_prefetch0((char *)packet(m) + RTE_CACHE_LINE_SIZE);
	}
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(op[i]->sym->m_src, void *));
}

static unsigned int poll_device(struct worker *w, unsigned int device)
{
	unsigned int bursts = engine_device[device].at_once ? BURSTS : RTE_MAX(FEW_BURSTS, nports);
	struct rte_crypto_op *op[BURST];
	unsigned int done = 0;
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
		fetch(op, own);
		for (uint16_t i = 0; i < own; i++)
			finish(w, op[i], device);
	} while (n == BURST && done < bursts * BURST);
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
		session_shun(s, b->todo[i].device);
		if (retry(w, m, &b->job[i], b->todo[i].device))
			return;
	}
	release(w, m, b->status[i]);
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

/* Note whether a device gives something back. */
static void watch(struct worker *w, unsigned int device, unsigned int done)
{
	uint64_t now = rte_get_tsc_cycles();
	uint64_t most = rte_get_tsc_hz() / 1000 * STALL_MS;

	if (done || !w->at[device]) {
		w->answered[device] = now;
		w->stalled &= ~(1u << device);
	} else if (now - w->answered[device] > most) {
		w->stalled |= 1u << device;
	}
}

unsigned int crypt_poll(struct worker *w)
{
	unsigned int done = crypt_now(w) + (w->lane.size ? poll_crypto_cores(w) : 0);

	for (unsigned int d = 0; d < engine_devices; d++) {
		unsigned int back;

		if (!w->at[d] && !w->late[d])
			continue;
		if (engine_lost(d))
			move_away(w, d);
		/* An empty one too where there is little, and nothing to wait for: batches
		 * grow with the load. */
		if (w->submit[d].n || (!w->going[d] && w->at[d] <= BURST))
			submit(w, d);
		back = poll_device(w, d);
		watch(w, d, back);
		done += back;
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
			release(w, m, RTE_CRYPTO_OP_STATUS_NOT_PROCESSED);
		}
		batch->n = 0;
	}
	crypt_now(w);
}

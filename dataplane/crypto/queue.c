/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <rte_cryptodev.h>
#include <rte_cycles.h>

#include "base/sadb.h"
#include "crypto/device/op.h"
#include "crypto/device/sessions.h"
#include "crypto/failover.h"
#include "crypto/order.h"
#include "crypto/queue.h"
#include "host/interface.h"

#define BURSTS 8u /* that a device gives back in a turn */
/* Of a device that collects, thousands come back at once. In one go they would take so long that
 * the ports' queues overflow; as many as there can be ports that receive keep pace. */
#define FEW_BURSTS 2u

/* Bring a device's op batch to its queue. What the queue does not take waits, bounded. An empty batch
 * makes a device go that collects some. */
static void submit(struct crypto_worker *c, unsigned int device)
{
	struct op_batch *batch = &c->submit[device];
	uint16_t sent = rte_cryptodev_enqueue_burst(engine_device[device].id, (uint16_t)c->id,
						    batch->op, (uint16_t)batch->n);

	if (!batch->n)
		c->going[device] = c->pending[device];
	c->in_flight += sent;
	batch->n -= sent;
	c->refusing &= ~(1u << device);
	c->refusing |= (uint32_t)(batch->n > 0) << device;
	memmove(batch->op, batch->op + sent, batch->n * sizeof(batch->op[0]));
}

/* @param sa  NULL: only if the device has the session
 * @return false if the device does not take the SA, or no more packets now */
static bool put(struct crypto_worker *c, struct rte_crypto_op *op, const struct cygnet_sa *sa,
		unsigned int device)
{
	struct op_batch *batch = &c->submit[device];
	struct packet *p = packet(op->sym->m_src);
	void *crypto = session_on(p->session, sa, device);

	if (!crypto)
		return false;
	if (batch->n == RTE_DIM(batch->op))
		submit(c, device);
	if (batch->n == RTE_DIM(batch->op))
		return false;
	rte_crypto_op_attach_sym_session(op, crypto);
	p->failover.avoid |= (uint16_t)(1u << device);
	batch->op[batch->n++] = op;
	if (!c->pending[device]++)
		failover_answered(&c->failover, device, rte_get_tsc_cycles());
	return true;
}

/* Put an operation into the op batch of any device that may have its packet. */
static bool put_anywhere(struct crypto_worker *c, struct rte_crypto_op *op,
			 const struct cygnet_sa *sa)
{
	uint32_t refused = packet(op->sym->m_src)->failover.avoid;
	unsigned int d;

	while ((d = failover_next(&c->failover, refused)) != FAILOVER_NONE) {
		if (put(c, op, sa, d))
			return true;
		refused |= 1u << d;
	}
	return false;
}

/* Put a packet again whose device must not get it any more. */
static bool put_again(struct crypto_worker *c, struct rte_crypto_op *op)
{
	const struct packet *p = packet(op->sym->m_src);

	op->status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	return put_anywhere(c, op, cygnet_sa_get(sadb, p->sa, p->generation));
}

static bool put_new(struct crypto_worker *c, struct rte_crypto_op *op, const struct cygnet_sa *sa,
		    unsigned int device)
{
	const struct session *s = packet(op->sym->m_src)->session;

	if (!failover_avoids(&c->failover, s, device) && put(c, op, sa, device))
		return true;
	return failover_may_move(&c->failover, s, device) && put_anywhere(c, op, sa);
}

enum drop_reason queue_submit(struct crypto_worker *c, struct rte_mbuf *m, struct session *s,
			      const struct cygnet_sa *sa, unsigned int device)
{
	struct rte_crypto_op *op = crypto_op_alloc(c->ops, m, crypto_job(c), s->form);

	if (!op)
		return DROP_NO_BUFFER;
	failover_begin(packet(m), s);
	if (put_new(c, op, sa, device) ||
	    (failover_forgive(packet(m), s) && put_new(c, op, sa, device))) {
		failover_begun(s);
		return DROP_NONE;
	}
	crypto_op_free(op);
	return DROP_ENGINE_FULL;
}

bool queue_retry(struct crypto_worker *c, struct rte_mbuf *m, const struct esp_job *job,
		 unsigned int device)
{
	struct packet *p = packet(m);
	struct rte_crypto_op *op;

	if (!failover_may_retry(p->session, device))
		return false;
	op = crypto_op_alloc(c->ops, m, job, p->session->form);
	if (!op)
		return false;
	p->failover.avoid = p->failover.blame = (uint16_t)(1u << device);
	if (put_again(c, op))
		return true;
	crypto_op_free(op);
	return false;
}

/* Packets in the op batch of a device that is lost or stalled, which has never had them, go to other
 * devices. If there is none they stay with a stalled device, and are lost with a lost one. */
static void move_away(struct crypto_worker *c, unsigned int device)
{
	struct op_batch *batch = &c->submit[device];
	unsigned int n = batch->n;

	batch->n = 0;
	c->pending[device] -= n;
	for (unsigned int i = 0; i < n; i++) {
		struct rte_crypto_op *op = batch->op[i];
		struct rte_mbuf *m = op->sym->m_src;

		if (put_again(c, op))
			continue;
		if (engine_lost(device)) {
			crypto_op_free(op);
			order_release(c, m, RTE_CRYPTO_OP_STATUS_ERROR);
			continue;
		}
		batch->op[batch->n++] = op;
		c->pending[device]++;
	}
}

static void finish(struct crypto_worker *c, struct rte_crypto_op *op, unsigned int device)
{
	struct rte_mbuf *m = op->sym->m_src;
	unsigned int status;

	c->pending[device]--;
	c->going[device] -= c->going[device] > 0;
	if (failover_is_failure(op)) {
		c->stats->device[device].failed++;
		if (failover_failed(op, device) && put_again(c, op))
			return;
		status = RTE_CRYPTO_OP_STATUS_ERROR;
	} else {
		status = failover_done(&c->failover, op, device);
	}
	if (status == RTE_CRYPTO_OP_STATUS_SUCCESS)
		crypto_count(c, device, packet(m)->session->inbound, 1, rte_pktmbuf_data_len(m));
	crypto_op_free(op);
	order_release(c, m, status);
}

/* @return false: the device has no packets of this worker */
static bool begin(struct crypto_worker *c, struct crypto_poll *poll)
{
	unsigned int d = poll->device;

	if (!c->pending[d])
		return false;
	if (engine_lost(d))
		move_away(c, d);
	/* An empty batch too where there are few packets, and none that the device has begun: batches
	 * grow with the load. */
	if (c->submit[d].n || (!c->going[d] && c->pending[d] <= CRYPTO_BURST))
		submit(c, d);
	poll->begun = true;
	poll->back = 0;
	return true;
}

static void end(struct crypto_worker *c, struct crypto_poll *poll)
{
	if (failover_watch(&c->failover, poll->device, c->pending[poll->device] && !poll->back))
		move_away(c, poll->device);
	poll->begun = false;
}

bool queue_poll(struct crypto_worker *c, struct crypto_poll *poll)
{
	unsigned int d = poll->device;
	unsigned int bursts = engine_device[d].at_once ? BURSTS : RTE_MAX(FEW_BURSTS, ninterfaces);
	struct rte_crypto_op *op[CRYPTO_BURST];
	uint16_t n;

	if (!poll->begun && !begin(c, poll))
		return false;
	/* As many as have been put there in a turn, and packets that were put there again. */
	if (poll->back >= bursts * CRYPTO_BURST || poll->back % CRYPTO_BURST) {
		end(c, poll);
		return false;
	}
	n = rte_cryptodev_dequeue_burst(engine_device[d].id, (uint16_t)c->id, op, CRYPTO_BURST);
	c->in_flight -= n;
	poll->moved += n;
	poll->back += n;
	crypto_op_prefetch(op, n);
	for (uint16_t i = 0; i < n; i++)
		finish(c, op[i], d);
	if (n)
		return true;
	end(c, poll);
	return false;
}

void crypto_drain(struct crypto_worker *c)
{
	for (unsigned int d = 0; d < engine_devices; d++) {
		struct op_batch *batch = &c->submit[d];

		for (unsigned int i = 0; i < batch->n; i++) {
			struct rte_mbuf *m = batch->op[i]->sym->m_src;

			c->pending[d]--;
			crypto_op_free(batch->op[i]);
			order_release(c, m, RTE_CRYPTO_OP_STATUS_NOT_PROCESSED);
		}
		batch->n = 0;
	}
}

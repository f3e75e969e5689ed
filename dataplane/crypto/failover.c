/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sadb.h"
#include "crypto/device/engine.h"
#include "crypto/device/op.h"
#include "crypto/failover.h"
#include "crypto/order.h"
#include "crypto/queue.h"

/* Consecutive failures of packets that another device completed; then the device is lost. */
#define FAILURES 16
/* A device that has given no packet back for so long gets no more: other devices get the next packets. No
 * batch takes as long, not even on a processor that others keep busy. */
#define STALL_MS 250u

/* --- which device is to blame --- */

void failover_shun(struct session *s, unsigned int device)
{
	s->by_queue = true;
	if (s->inbound)
		return;
	s->shunned |= (uint16_t)(1u << device);
	s->to_blame |= (uint16_t)(1u << device);
}

/* A packet that one device did: it is not the packet's fault that others failed. */
static void blame(struct crypto_worker *c, uint16_t failed_at)
{
	for (unsigned int d = 0; failed_at && d < engine_devices; d++)
		if (failed_at >> d & 1 && ++c->failures[d] >= FAILURES)
			engine_take_out(d);
}

/* --- which device has the packet next --- */

/* Any device that has not had the packet yet; one that is stalled if there is no other. */
static bool put_anywhere(struct crypto_worker *c, struct rte_crypto_op *op, const struct cygnet_sa *sa)
{
	const struct packet *p = packet(op->sym->m_src);

	for (unsigned int d = 0; d < engine_devices; d++)
		if (!((p->tried | c->stalled) >> d & 1) && queue_put(c, op, sa, d))
			return true;
	for (unsigned int d = 0; d < engine_devices; d++)
		if (failover_is_stalled(c, d) && !(p->tried >> d & 1) && queue_put(c, op, sa, d))
			return true;
	return false;
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
static bool put_elsewhere(struct crypto_worker *c, struct rte_crypto_op *op, const struct cygnet_sa *sa,
			  unsigned int device)
{
	struct packet *p = packet(op->sym->m_src);
	struct session *s = p->session;

	p->tried = s->shunned;
	p->failed_at = s->to_blame;
	if ((!(s->shunned >> device & 1) && queue_put(c, op, sa, device)) ||
	    put_anywhere(c, op, sa)) {
		s->to_blame = 0;
		return true;
	}
	if (has_other(s))
		return false; /* it is full, for now */
	p->tried = p->failed_at = s->shunned = s->to_blame = 0;
	return queue_put(c, op, sa, device);
}

bool failover_put(struct crypto_worker *c, struct rte_crypto_op *op, const struct cygnet_sa *sa,
		  unsigned int device)
{
	if (packet(op->sym->m_src)->session->shunned && put_elsewhere(c, op, sa, device))
		return true;
	return (offload_enabled || engine_lost(device) || failover_is_stalled(c, device)) &&
	       put_anywhere(c, op, sa);
}

void failover_move_away(struct crypto_worker *c, unsigned int device)
{
	struct op_batch *batch = &c->submit[device];
	unsigned int n = batch->n;

	batch->n = 0;
	c->at[device] -= n;
	for (unsigned int i = 0; i < n; i++) {
		struct rte_crypto_op *op = batch->op[i];
		struct rte_mbuf *m = op->sym->m_src;
		const struct packet *p = packet(m);

		if (put_anywhere(c, op, cygnet_sa_get(sadb, p->sa, p->generation)))
			continue;
		if (engine_lost(device)) {
			crypto_op_free(op);
			order_release(c, m, RTE_CRYPTO_OP_STATUS_ERROR);
			continue;
		}
		batch->op[batch->n++] = op;
		c->at[device]++;
	}
}

void failover_watch(struct crypto_worker *c, unsigned int device, unsigned int done)
{
	uint64_t now = rte_get_tsc_cycles();
	int64_t most = (int64_t)(rte_get_tsc_hz() / 1000 * STALL_MS);

	if (done || !c->at[device]) {
		c->answered[device] = now;
		c->stalled &= ~(1u << device);
	} else if ((int64_t)(now - c->answered[device]) > most && !failover_is_stalled(c, device)) {
		c->stalled |= 1u << device;
		failover_move_away(c, device);
	}
}

/* --- packets that a device has had --- */

/* Whether another device may do a packet that one has failed to do: failover.h's invariant. What a
 * device has not done with it has a reference to. */
static bool is_intact(const struct rte_mbuf *m, const struct session *s, unsigned int device)
{
	return s->inbound ? rte_mbuf_refcnt_read(m) == 1 : engine_device[device].keeps;
}

/* Whether another device does what one did not. */
static bool again(struct crypto_worker *c, struct rte_crypto_op *op, unsigned int device)
{
	struct packet *p = packet(op->sym->m_src);

	if (engine_devices < 2)
		return false;
	if (!is_intact(op->sym->m_src, p->session, device)) {
		/* The next packets of the SA go elsewhere, and show whose fault it was. */
		failover_shun(p->session, device);
		p->session->to_blame |= p->failed_at;
		return false;
	}
	op->status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	return put_anywhere(c, op, cygnet_sa_get(sadb, p->sa, p->generation));
}

unsigned int failover_did(struct crypto_worker *c, const struct rte_crypto_op *op)
{
	blame(c, packet(op->sym->m_src)->failed_at);
	/* It may have been authentic until another device failed it. */
	return op->status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED ? RTE_CRYPTO_OP_STATUS_ERROR
							      : op->status;
}

unsigned int failover_failed(struct crypto_worker *c, struct rte_crypto_op *op, unsigned int device)
{
	c->stats->device[device].failed++;
	/* Arguments that one does not take may suit another. */
	if (op->status == RTE_CRYPTO_OP_STATUS_ERROR ||
	    op->status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED)
		packet(op->sym->m_src)->failed_at |= (uint16_t)(1u << device);
	if (again(c, op, device))
		return RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	return RTE_CRYPTO_OP_STATUS_ERROR;
}

bool failover_retry(struct crypto_worker *c, struct rte_mbuf *m, const struct esp_job *job,
		    unsigned int device)
{
	struct packet *p = packet(m);
	struct rte_crypto_op *op;

	if (!p->session->inbound)
		return false;
	op = crypto_op_alloc(c->ops, m, job, p->session->form);
	if (!op)
		return false;
	p->tried = p->failed_at = (uint16_t)(1u << device);
	if (put_anywhere(c, op, cygnet_sa_get(sadb, p->sa, p->generation)))
		return true;
	crypto_op_free(op);
	return false;
}

/* What a device has not given back it may still write. Whether that is in the copy shows by its
 * ICV. @return NULL: there is none, and the packet is gone */
static struct rte_mbuf *own(struct crypto_worker *c, struct rte_mbuf *m)
{
	struct rte_mbuf *copy;

	if (rte_mbuf_refcnt_read(m) == 1)
		return m;
	copy = packet_move(m, m->pool);
	if (copy && copy->nb_segs == 1)
		return copy;
	packet_drop(c->stats, copy ? copy : m, DROP_ENGINE_FAILED);
	return NULL;
}

void crypto_retry(struct crypto_worker *c, struct rte_mbuf *m, const struct esp_job *job,
		    unsigned int device)
{
	m = own(c, m);
	if (!m)
		return;
	order_insert(m);
	if (!failover_retry(c, m, job, device))
		order_release(c, m, RTE_CRYPTO_OP_STATUS_ERROR);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crypto/failover.h"

/* Consecutive failures of packets that another device completed; then the device is lost. */
#define FAILURES 16
/* A device that has given no packet back for so long gets no more: other devices get the next packets. No
 * batch takes as long, not even on a processor that others keep busy. */
#define STALL_MS 250u

/* --- which device has a packet next --- */

bool failover_may_move(const struct crypto_worker *c, const struct session *s, unsigned int device)
{
	return s->shunned || offload_enabled || engine_lost(device) || failover_is_stalled(c, device);
}

unsigned int failover_next(const struct crypto_worker *c, uint32_t refused)
{
	uint32_t left = ((1u << engine_devices) - 1) & ~refused;

	if (left & ~c->stalled)
		return rte_bsf32(left & ~c->stalled);
	return left ? rte_bsf32(left) : FAILOVER_NONE;
}

bool failover_forgive(struct packet *p, struct session *s)
{
	if (!s->shunned)
		return false;
	for (unsigned int d = 0; d < engine_devices; d++)
		if (s->at[d] && !(s->shunned >> d & 1) && !engine_lost(d))
			return false; /* it is full, for now */
	p->tried = p->failed_at = s->shunned = s->to_blame = 0;
	return true;
}

bool failover_watch(struct crypto_worker *c, unsigned int device, unsigned int done)
{
	uint64_t now = rte_get_tsc_cycles();
	int64_t most = (int64_t)(rte_get_tsc_hz() / 1000 * STALL_MS);

	if (done || !c->at[device]) {
		c->answered[device] = now;
		c->stalled &= ~(1u << device);
	} else if ((int64_t)(now - c->answered[device]) > most && !failover_is_stalled(c, device)) {
		c->stalled |= 1u << device;
		return true;
	}
	return false;
}

/* --- packets that a device has had --- */

/* The next packets of the SA go elsewhere, and show whose fault it was. */
static void shun(struct session *s, unsigned int device)
{
	s->by_queue = true;
	if (s->inbound)
		return;
	s->shunned |= (uint16_t)(1u << device);
	s->to_blame |= (uint16_t)(1u << device);
}

void failover_by_call(struct crypto_worker *c, struct session *s, unsigned int device)
{
	c->stats->device[device].failed++;
	shun(s, device);
}

/* A packet that one device did: it is not the packet's fault that others failed. */
static void blame(struct crypto_worker *c, uint16_t failed_at)
{
	for (unsigned int d = 0; failed_at && d < engine_devices; d++)
		if (failed_at >> d & 1 && ++c->failures[d] >= FAILURES)
			engine_take_out(d);
}

unsigned int failover_did(struct crypto_worker *c, const struct rte_crypto_op *op)
{
	blame(c, packet(op->sym->m_src)->failed_at);
	/* It may have been authentic until another device failed it. */
	return op->status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED ? RTE_CRYPTO_OP_STATUS_ERROR
							      : op->status;
}

unsigned int failover_failed(struct crypto_worker *c, const struct rte_crypto_op *op,
			     unsigned int device)
{
	struct packet *p = packet(op->sym->m_src);

	c->stats->device[device].failed++;
	/* Arguments that one does not take may suit another. */
	if (op->status == RTE_CRYPTO_OP_STATUS_ERROR ||
	    op->status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED)
		p->failed_at |= (uint16_t)(1u << device);
	if (engine_devices < 2)
		return RTE_CRYPTO_OP_STATUS_ERROR;
	if (failover_may_retry(p->session, device))
		return FAILOVER_AGAIN;
	shun(p->session, device);
	p->session->to_blame |= p->failed_at;
	return RTE_CRYPTO_OP_STATUS_ERROR;
}

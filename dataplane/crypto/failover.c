/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_cycles.h>

#include "crypto/auto/offload.h"
#include "crypto/failover.h"

#define FAILURES 16 /* consecutive ones for which a device is to blame; then it is lost */
/* No batch takes as long, not even on a processor that other programs keep busy. */
#define STALL_MS 250u

bool failover_watch(struct failover *f, unsigned int device, bool silent)
{
	uint64_t now = rte_get_tsc_cycles();
	int64_t most = (int64_t)(rte_get_tsc_hz() / 1000 * STALL_MS);

	if (!silent) {
		failover_answered(f, device, now);
		f->stalled &= ~(1u << device);
		return false;
	}
	if ((int64_t)(now - f->device[device].answered) <= most || failover_is_stalled(f, device))
		return false;
	f->stalled |= 1u << device;
	return true;
}

/* --- new packets --- */

bool failover_may_move(const struct failover *f, const struct session *s, unsigned int device)
{
	return s->failover.avoid || offload_enabled || engine_lost(device) ||
	       failover_is_stalled(f, device);
}

bool failover_forgive(struct packet *p, struct session *s)
{
	if (!s->failover.avoid)
		return false;
	for (unsigned int d = 0; d < engine_devices; d++)
		if (s->crypto[d] && !(s->failover.avoid >> d & 1) && !engine_lost(d))
			return false; /* it is full, for now */
	p->failover = s->failover = (struct failover_masks){0};
	return true;
}

unsigned int failover_next(const struct failover *f, uint32_t refused)
{
	uint32_t left = ((1u << engine_devices) - 1) & ~refused;

	if (left & ~f->stalled)
		return rte_bsf32(left & ~f->stalled);
	return left ? rte_bsf32(left) : FAILOVER_NONE;
}

/* --- packets that a device has had --- */

void failover_shun(struct session *s, unsigned int device)
{
	s->by_queue = true;
	if (s->inbound)
		return;
	s->failover.avoid |= (uint16_t)(1u << device);
	s->failover.blame |= (uint16_t)(1u << device);
}

bool failover_failed(const struct rte_crypto_op *op, unsigned int device)
{
	struct packet *p = packet(op->sym->m_src);

	/* Arguments that one device does not support another one may. */
	if (op->status == RTE_CRYPTO_OP_STATUS_ERROR ||
	    op->status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED)
		p->failover.blame |= (uint16_t)(1u << device);
	if (engine_devices < 2)
		return false;
	if (failover_may_retry(p->session, device))
		return true;
	failover_shun(p->session, device);
	p->session->failover.blame |= p->failover.blame;
	return false;
}

unsigned int failover_blame(struct failover *f, const struct rte_crypto_op *op)
{
	uint16_t blame = packet(op->sym->m_src)->failover.blame;

	for (unsigned int d = 0; d < engine_devices; d++)
		if (blame >> d & 1 && ++f->device[d].failures >= FAILURES)
			engine_take_out(d);
	/* It may have been authentic until another device failed it. */
	return op->status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED ? RTE_CRYPTO_OP_STATUS_ERROR
							      : op->status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "crypto/core.h"
#include "crypto/crypto.h"
#include "crypto/device/op.h"
#include "crypto/device/sessions.h"
#include "crypto/failover.h"
#include "crypto/order.h"
#include "crypto/queue.h"
#include "crypto/sync_queue.h"

#define OPS 12287u

int crypto_open(struct crypto_worker *c, unsigned int id, struct stats *counters)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	c->id = id;
	c->stats = counters;
	snprintf(name, sizeof(name), "ops%u", id);
	c->ops = rte_crypto_op_pool_create(name, RTE_CRYPTO_OP_TYPE_SYMMETRIC, OPS, 128,
					   sizeof(struct esp_job), SOCKET_ID_ANY);
	return c->ops ? 0 : -ENOMEM;
}

/* Nonces begin with salts, which are part of keys. */
void crypto_close(struct crypto_worker *c)
{
	rte_mempool_free(c->ops);
	explicit_bzero(c, sizeof(*c));
}

static unsigned int choose(struct crypto_worker *c, struct rte_mbuf *m, const struct session *s)
{
	unsigned int device = OFFLOAD_NONE;

	if (offload_enabled)
		device = offload_packet(&c->offload, s->algorithm, rte_pktmbuf_data_len(m),
					c->pending, c->refusing, c->failover.stalled);
	return device == OFFLOAD_NONE ? s->device : device;
}

/* @return false: the device cannot do the packet when it is called */
static bool add_to_batch(struct crypto_worker *c, struct rte_mbuf *m, struct session *s,
			 const struct cygnet_sa *sa, unsigned int device)
{
	/* Packets in a queue leave first, and packets that are back from it but have not gone on. */
	if (!s->by_call || s->head || c->ready || s->by_queue || !engine_device[device].at_once ||
	    crypto_batch_is_full(&c->batch) || !crypto_may_call(c, s, device) ||
	    ((!s->crypto[device] || engine_lost(device)) && !session_on(s, sa, device)))
		return false;
	crypto_batch_add(&c->batch, m, s, device);
	s->in_flight++;
	return true;
}

enum drop_reason crypto_submit(struct crypto_worker *c, struct rte_mbuf *m, struct session *s,
			       const struct cygnet_sa *sa)
{
	unsigned int device = choose(c, m, s);
	enum drop_reason reason;

	packet(m)->session = s;
	if (c->lane.size && crypto_core_add(c, m, s, sa, device)) {
		order_append(m);
		return DROP_NONE;
	}
	if (add_to_batch(c, m, s, sa, device))
		return DROP_NONE;
	reason = queue_submit(c, m, s, sa, device);
	if (reason == DROP_NONE)
		order_append(m);
	return reason;
}

void crypto_run(struct crypto_worker *c)
{
	const struct crypto_executor self = {(uint16_t)c->id, c->ops, c};

	crypto_execute(&self, &c->batch);
}

enum rte_crypto_op_status crypto_batch_status(struct crypto_worker *c, unsigned int i)
{
	struct crypto_batch *b = &c->batch;
	enum rte_crypto_op_status status = crypto_vectors_status(&b->v, i);

	if (status == RTE_CRYPTO_OP_STATUS_SUCCESS ||
	    (status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED && b->s[i]->inbound))
		return status;
	c->stats->device[b->device[i]].failed++;
	failover_shun(b->s[i], b->device[i]);
	return RTE_CRYPTO_OP_STATUS_ERROR;
}

void crypto_retry(struct crypto_worker *c, struct rte_mbuf *m, const struct esp_job *job,
		  unsigned int device)
{
	order_insert(m);
	if (!queue_retry(c, m, job, device))
		order_release(c, m, RTE_CRYPTO_OP_STATUS_ERROR);
}

bool crypto_returned(struct crypto_worker *c, unsigned int i)
{
	struct crypto_batch *b = &c->batch;
	enum rte_crypto_op_status status = crypto_batch_status(c, i);
	struct session *s = b->s[i];
	struct rte_mbuf *m = b->m[i];

	if (status == RTE_CRYPTO_OP_STATUS_SUCCESS)
		crypto_count(c, b->device[i], s->inbound, 1, rte_pktmbuf_data_len(m));
	packet(m)->status = (uint8_t)status;
	s->in_flight--;
	if (status == RTE_CRYPTO_OP_STATUS_ERROR && s->inbound) {
		crypto_retry(c, m, &b->job[i], b->device[i]);
		return false;
	}
	if (!order_waits(s))
		return true;
	crypto_wait(c, m, status);
	return false;
}

bool crypto_poll(struct crypto_worker *c, struct crypto_poll *poll)
{
	if (c->lane.size && crypto_core_poll(c, poll))
		return true;
	for (; poll->device < engine_devices; poll->device++)
		if ((poll->begun || c->pending[poll->device]) && queue_poll(c, poll))
			return true;
	return false;
}

bool crypto_has_room(const struct crypto_worker *c)
{
	const unsigned int most = RTE_DIM(c->submit[0].op) - CRYPTO_BURST;

	/* pending[] alone tells of most devices: it is one cache line. */
	for (unsigned int d = 0; d < engine_devices; d++)
		if (c->pending[d] > most && c->submit[d].n > most &&
		    !failover_is_stalled(&c->failover, d))
			return false;
	return true;
}

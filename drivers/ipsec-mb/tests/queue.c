/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "queue.h"

static struct rte_mempool *pool;

void queue_open(void)
{
	pool = rte_crypto_op_pool_create("operations", RTE_CRYPTO_OP_TYPE_SYMMETRIC, 4095, 0, 16,
					 SOCKET_ID_ANY);
	CHECK(pool);
}

void queue_close(void)
{
	CHECK(rte_mempool_full(pool));
	rte_mempool_free(pool);
}

struct rte_crypto_op *queue_operation(void *session, const void *iv, size_t iv_len)
{
	struct rte_crypto_op *op = rte_crypto_op_alloc(pool, RTE_CRYPTO_OP_TYPE_SYMMETRIC);

	CHECK(op);
	CHECK(rte_crypto_op_attach_sym_session(op, session) == 0);
	memcpy(rte_crypto_op_ctod_offset(op, uint8_t *, IV_OFFSET), iv, iv_len);
	return op;
}

void queue_run(const struct device *dev, struct rte_crypto_op **ops, unsigned int n,
	       enum rte_crypto_op_status *status)
{
	struct rte_crypto_op *back[QUEUE_MOST + 1];

	CHECK(rte_cryptodev_enqueue_burst(dev->id, 0, ops, n) == n);
	CHECK(rte_cryptodev_dequeue_burst(dev->id, 0, back, RTE_DIM(back)) == n);
	for (unsigned int i = 0; i < n; i++) {
		CHECK(back[i] == ops[i]);
		status[i] = back[i]->status;
		rte_crypto_op_free(back[i]);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file qp.h
 * Queue pairs: an operation is done when it is enqueued, and waits in a ring until it is fetched.
 * One thread at a time enqueues, and one dequeues.
 */
#ifndef MB_QP_H
#define MB_QP_H

#include <cryptodev_pmd.h>
#include <rte_ring.h>

struct mb_qp {
	struct rte_cryptodev_stats stats; /* first: qp_stats.h */
	struct rte_ring *done;
	const struct mb_driver *driver;
	uint8_t scratch[] __rte_cache_aligned; /* the driver's */
};

/** @return 0, -ENOMEM, what the driver says, or rte_ring_create(); not for more than 2^30 descriptors */
int mb_qp_setup(struct rte_cryptodev *dev, uint16_t id, const struct rte_cryptodev_qp_conf *conf,
		int socket);
int mb_qp_release(struct rte_cryptodev *dev, uint16_t id);

/* cryptodev's burst functions. */
uint16_t mb_qp_enqueue(void *qp, struct rte_crypto_op **ops, uint16_t n);
uint16_t mb_qp_dequeue(void *qp, struct rte_crypto_op **ops, uint16_t n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file qp.h
 * Queue pairs. An operation is processed when it is enqueued, and stays in a ring until it is
 * dequeued. One thread at a time may enqueue, and one may dequeue.
 */
#ifndef MB_QP_H
#define MB_QP_H

#include <cryptodev_pmd.h>
#include <rte_ring.h>

struct mb_qp {
	struct rte_cryptodev_stats stats; /* must be first, see qp_stats.h */
	struct rte_ring *done;		  /* processed operations */
	const struct mb_driver *driver;
	uint8_t scratch[] __rte_cache_aligned; /* the driver's working memory */
};

/** Implements queue_pair_setup. conf->nb_descriptors must be at most 2^30.
 * @return 0, -ENOMEM, or -errno of scratch_open() or rte_ring_create() */
int mb_qp_setup(struct rte_cryptodev *dev, uint16_t id, const struct rte_cryptodev_qp_conf *conf,
		int socket);
/** Implements queue_pair_release. @return 0 */
int mb_qp_release(struct rte_cryptodev *dev, uint16_t id);

/* The burst functions of struct rte_cryptodev. */
uint16_t mb_qp_enqueue(void *qp, struct rte_crypto_op **ops, uint16_t n);
uint16_t mb_qp_dequeue(void *qp, struct rte_crypto_op **ops, uint16_t n);

#endif

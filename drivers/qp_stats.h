/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file qp_stats.h
 * Statistics of a crypto device: the sums over its queue pairs. The data of a queue pair must begin
 * with a struct rte_cryptodev_stats. Called by the control thread; the counters are read without
 * synchronisation with the threads that write them.
 */
#ifndef CYGNET_QP_STATS_H
#define CYGNET_QP_STATS_H

#include <string.h>

#include <cryptodev_pmd.h>

/** Implements stats_get of struct rte_cryptodev_ops. */
static inline void qp_stats_get(struct rte_cryptodev *dev, struct rte_cryptodev_stats *stats)
{
	for (uint16_t i = 0; i < dev->data->nb_queue_pairs; i++) {
		const struct rte_cryptodev_stats *qp = dev->data->queue_pairs[i];

		if (qp == NULL)
			continue;
		stats->enqueued_count += qp->enqueued_count;
		stats->dequeued_count += qp->dequeued_count;
		stats->enqueue_err_count += qp->enqueue_err_count;
		stats->dequeue_err_count += qp->dequeue_err_count;
	}
}

/** Implements stats_reset of struct rte_cryptodev_ops. */
static inline void qp_stats_reset(struct rte_cryptodev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_queue_pairs; i++) {
		struct rte_cryptodev_stats *qp = dev->data->queue_pairs[i];

		if (qp)
			memset(qp, 0, sizeof(*qp));
	}
}

#endif

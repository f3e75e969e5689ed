/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "operation.h"
#include "qp.h"
#include "text.h"

int gcm_qp_setup(struct rte_cryptodev *dev, uint16_t id, const struct rte_cryptodev_qp_conf *conf,
		 int socket)
{
	char name[RTE_RING_NAMESIZE];
	struct gcm_qp *qp;

	if (dev->data->queue_pairs[id])
		gcm_qp_release(dev, id);
	qp = rte_zmalloc_socket("gcm_qp", sizeof(*qp), RTE_CACHE_LINE_SIZE, socket);
	if (qp == NULL)
		return -ENOMEM;
	snprintf(name, sizeof(name), "gcm%u_%u", dev->data->dev_id, id);
	qp->done = rte_ring_create(name, conf->nb_descriptors, socket,
				   RING_F_EXACT_SZ | RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (qp->done == NULL) {
		rte_free(qp);
		return -rte_errno;
	}
	dev->data->queue_pairs[id] = qp;
	return 0;
}

int gcm_qp_release(struct rte_cryptodev *dev, uint16_t id)
{
	struct gcm_qp *qp = dev->data->queue_pairs[id];

	if (qp) {
		rte_ring_free(qp->done);
		rte_free(qp);
	}
	dev->data->queue_pairs[id] = NULL;
	return 0;
}

uint16_t gcm_qp_enqueue(void *queue_pair, struct rte_crypto_op **ops, uint16_t n)
{
	struct gcm_qp *qp = queue_pair;
	struct gcm_scratch scratch;
	uint16_t room = (uint16_t)RTE_MIN(rte_ring_free_count(qp->done), (unsigned int)n);

	for (uint16_t i = 0; i < room; i++)
		gcm_operation(ops[i], &scratch);
	gcm_scratch_wipe(&scratch);
	rte_ring_sp_enqueue_bulk(qp->done, (void **)ops, room, NULL);
	qp->stats.enqueued_count += room;
	qp->stats.enqueue_err_count += n - room;
	return room;
}

uint16_t gcm_qp_dequeue(void *queue_pair, struct rte_crypto_op **ops, uint16_t n)
{
	struct gcm_qp *qp = queue_pair;
	uint16_t got = (uint16_t)rte_ring_sc_dequeue_burst(qp->done, (void **)ops, n, NULL);

	for (uint16_t i = 0; i < got; i++)
		qp->stats.dequeue_err_count += ops[i]->status != RTE_CRYPTO_OP_STATUS_SUCCESS;
	qp->stats.dequeued_count += got;
	return got;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "device.h"

static int open_qp(struct mb_qp *qp, const char *name, uint32_t descriptors, int socket)
{
	int err;

	qp->done = rte_ring_create(name, descriptors, socket,
				   RING_F_EXACT_SZ | RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (qp->done == NULL)
		return -rte_errno;
	err = qp->driver->scratch_open ? qp->driver->scratch_open(qp->scratch) : 0;
	if (err)
		rte_ring_free(qp->done);
	return err;
}

int mb_qp_setup(struct rte_cryptodev *dev, uint16_t id, const struct rte_cryptodev_qp_conf *conf,
		int socket)
{
	const struct mb_driver *driver = ((struct mb_device *)dev->data->dev_private)->driver;
	char name[RTE_RING_NAMESIZE];
	struct mb_qp *qp;
	int err;

	mb_qp_release(dev, id);
	qp = rte_zmalloc_socket("mb_qp", sizeof(*qp) + driver->scratch_size, RTE_CACHE_LINE_SIZE,
				socket);
	if (qp == NULL)
		return -ENOMEM;
	qp->driver = driver;
	snprintf(name, sizeof(name), "mb%u_%u", dev->data->dev_id, id);
	err = open_qp(qp, name, conf->nb_descriptors, socket);
	if (err) {
		rte_free(qp);
		return err;
	}
	dev->data->queue_pairs[id] = qp;
	return 0;
}

int mb_qp_release(struct rte_cryptodev *dev, uint16_t id)
{
	struct mb_qp *qp = dev->data->queue_pairs[id];

	if (qp) {
		if (qp->driver->scratch_close)
			qp->driver->scratch_close(qp->scratch);
		rte_ring_free(qp->done);
		rte_free(qp);
	}
	dev->data->queue_pairs[id] = NULL;
	return 0;
}

uint16_t mb_qp_enqueue(void *queue_pair, struct rte_crypto_op **ops, uint16_t n)
{
	struct mb_qp *qp = queue_pair;
	uint16_t room = (uint16_t)RTE_MIN(rte_ring_free_count(qp->done), (unsigned int)n);

	qp->driver->work(qp->scratch, ops, room);
	rte_ring_sp_enqueue_bulk(qp->done, (void **)ops, room, NULL);
	qp->stats.enqueued_count += room;
	qp->stats.enqueue_err_count += n - room;
	return room;
}

uint16_t mb_qp_dequeue(void *queue_pair, struct rte_crypto_op **ops, uint16_t n)
{
	struct mb_qp *qp = queue_pair;
	uint16_t got = (uint16_t)rte_ring_sc_dequeue_burst(qp->done, (void **)ops, n, NULL);

	for (uint16_t i = 0; i < got; i++)
		qp->stats.dequeue_err_count += ops[i]->status != RTE_CRYPTO_OP_STATUS_SUCCESS;
	qp->stats.dequeued_count += got;
	return got;
}

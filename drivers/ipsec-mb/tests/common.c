/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <cryptodev_pmd.h>
#include <rte_bus_vdev.h>

#include "interpose.h"
#include "common.h"
#include "packet.h"

void common_wiped_sessions(const struct device *dev, const struct suite *suite)
{
	unsigned int size = rte_cryptodev_sym_get_private_session_size(dev->id), set = 0;
	struct rte_cryptodev *driver = rte_cryptodev_pmd_get_dev(dev->id);
	void *session = suite_session(dev, suite, true);
	const uint8_t *private;

	CHECK(session);
	private = CRYPTODEV_GET_SYM_SESS_PRIV(session);
	CHECK((uintptr_t) private % 64 == 0);
	for (unsigned int i = 0; i < size; i++)
		set += private[i] != 0;
	CHECK(set > 256);
	/* DPDK zeroes the session later; the driver must have wiped it before. */
	driver->dev_ops->sym_session_clear(driver, session);
	for (unsigned int i = 0; i < size; i++)
		CHECK(private[i] == 0);
	session_free(dev, session);
}

/* Without AES-NI the time of ipsec_mb's AES depends on the key, so the device is refused. */
void common_refused_devices(void)
{
	unsigned int managers = managers_open;

	log_begin();
	no_aesni = true;
	CHECK(rte_vdev_init(DRIVER "_none", NULL) == -ENOTSUP);
	no_aesni = false;
	CHECK(log_end("this CPU has no AES-NI") == 1);
	log_begin();
	CHECK(rte_vdev_init(DRIVER "_bad", "max_nb_queue_pairs=x") < 0);
	CHECK(rte_vdev_init(DRIVER "_bad", "no_such_key=1") < 0);
	CHECK(log_end(DRIVER "_bad: invalid arguments") == 2);
	CHECK(rte_cryptodev_count() == 1);
	CHECK(managers_open == managers);
}

void common_full_queue(const struct device *dev, void *session,
		       void (*describe)(struct rte_crypto_op *op))
{
	struct rte_crypto_op *ops[DESCRIPTORS + 8], *back[DESCRIPTORS + 8];
	struct rte_cryptodev_stats stats;
	struct rte_mempool *pool = rte_crypto_op_pool_create("many", RTE_CRYPTO_OP_TYPE_SYMMETRIC,
							     4095, 0, 16, SOCKET_ID_ANY);
	static const uint8_t text[64];
	struct rte_mbuf *m = packet_make(text, sizeof(text), 1);

	CHECK(pool);
	rte_cryptodev_stats_reset(dev->id);
	for (unsigned int i = 0; i < RTE_DIM(ops); i++) {
		ops[i] = rte_crypto_op_alloc(pool, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
		CHECK(ops[i]);
		ops[i]->sym->m_src = m;
		describe(ops[i]);
		/* The first operation has no session. */
		if (i)
			CHECK(rte_crypto_op_attach_sym_session(ops[i], session) == 0);
	}
	CHECK(rte_cryptodev_enqueue_burst(dev->id, 0, ops, RTE_DIM(ops)) == DESCRIPTORS);
	CHECK(rte_cryptodev_enqueue_burst(dev->id, 0, ops + DESCRIPTORS, 8) == 0);
	CHECK(rte_cryptodev_dequeue_burst(dev->id, 0, back, 8) == 8);
	CHECK(rte_cryptodev_enqueue_burst(dev->id, 0, ops + DESCRIPTORS, 8) == 8);
	CHECK(rte_cryptodev_dequeue_burst(dev->id, 0, back + 8, RTE_DIM(ops)) == DESCRIPTORS);
	CHECK(!memcmp(ops, back, sizeof(ops)));
	for (unsigned int i = 0; i < RTE_DIM(ops); i++)
		CHECK(ops[i]->status ==
		      (i ? RTE_CRYPTO_OP_STATUS_SUCCESS : RTE_CRYPTO_OP_STATUS_INVALID_SESSION));
	CHECK(rte_cryptodev_stats_get(dev->id, &stats) == 0);
	CHECK(stats.enqueued_count == RTE_DIM(ops) && stats.dequeued_count == RTE_DIM(ops));
	CHECK(stats.enqueue_err_count == 16 && stats.dequeue_err_count == 1);
	rte_mempool_put_bulk(pool, (void **)ops, RTE_DIM(ops));
	rte_mempool_free(pool);
	rte_pktmbuf_free(m);
}

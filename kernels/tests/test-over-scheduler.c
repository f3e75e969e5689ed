/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DPDK's crypto_scheduler over two devices of the driver, in each of its modes: one session serves
 * both, and results are compared with OpenSSL. The devices are PoCL's first one twice, or with two vdevs'
 * arguments, for GPUs, those two.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus_vdev.h>

#include "harness.h"
#include "operations.h"
#include "reference.h"

#define POCL   "/etc/OpenCL/vendors/pocl.icd"
#define OVER   "crypto_scheduler_test"
#define MANY   60 /* operations of a round */
#define ROUNDS 20

static const char *const workers[] = {DRIVER "_a", DRIVER "_b"};
static const char *arguments[] = {"device=0", "device=0"}; /* of their vdevs */

static unsigned int done_by(const char *worker)
{
	struct rte_cryptodev_stats stats;

	CHECK(rte_cryptodev_stats_get(rte_cryptodev_get_dev_id(worker), &stats) == 0);
	return stats.dequeued_count;
}

/* Scheduled devices are configured, started and stopped by the scheduler. */
static void over_open(struct device *dev, const char *mode)
{
	struct rte_cryptodev_config config = {.nb_queue_pairs = 1};
	struct rte_cryptodev_qp_conf qp = {.nb_descriptors = 256};
	char args[256];

	for (unsigned int i = 0; i < RTE_DIM(workers); i++) {
		snprintf(args, sizeof(args), "chunk=64,sched=none,%s", arguments[i]);
		CHECK(rte_vdev_init(workers[i], args) == 0);
	}
	snprintf(dev->name, sizeof(dev->name), OVER);
	snprintf(args, sizeof(args), "worker=%s,worker=%s,%s", workers[0], workers[1], mode);
	CHECK(rte_vdev_init(dev->name, args) == 0);
	dev->id = rte_cryptodev_get_dev_id(dev->name);
	CHECK(rte_cryptodev_configure(dev->id, &config) == 0);
	/* Only now the scheduler knows how large a session is. */
	dev->sessions = rte_cryptodev_sym_session_pool_create(
		"scheduled", 8, rte_cryptodev_sym_get_private_session_size(dev->id), 0, 0,
		SOCKET_ID_ANY);
	CHECK(dev->sessions != NULL);
	qp.mp_session = dev->sessions;
	CHECK(rte_cryptodev_queue_pair_setup(dev->id, 0, &qp, SOCKET_ID_ANY) == 0);
	CHECK(rte_cryptodev_start(dev->id) == 0);
}

static void over_close(struct device *dev)
{
	CHECK(rte_mempool_full(dev->sessions));
	rte_cryptodev_stop(dev->id);
	CHECK(rte_cryptodev_close(dev->id) == 0);
	CHECK(rte_vdev_uninit(dev->name) == 0);
	for (unsigned int i = 0; i < RTE_DIM(workers); i++)
		CHECK(rte_vdev_uninit(workers[i]) == 0);
	rte_mempool_free(dev->sessions);
}

static void round_of(const struct device *dev, const struct suite *suite, void *session)
{
	static uint8_t expected[MANY][LEN + DIGEST + 64];
	struct rte_crypto_op *op[MANY], *back[MANY];
	unsigned int sent = 0, done = 0;
	uint64_t deadline = 0;

	for (unsigned int i = 0; i < MANY; i++) {
		uint8_t *iv;

		op[i] = make_op(session);
		iv = rte_crypto_op_ctod_offset(op[i], uint8_t *, IV_OFFSET);
		memcpy(expected[i], rte_pktmbuf_mtod(op[i]->sym->m_src, uint8_t *), LEN);
		reference_cipher(suite->cipher, suite->key, suite->key_len, iv, expected[i], LEN);
		reference_auth(suite->auth, suite->mac_key, suite->mac_key_len, NULL, expected[i],
			       LEN, expected[i] + LEN);
	}
	while (done < MANY) {
		unsigned int n = 0, got;

		if (sent < MANY)
			n = rte_cryptodev_enqueue_burst(dev->id, 0, op + sent, MANY - sent);
		got = rte_cryptodev_dequeue_burst(dev->id, 0, back + done, MANY - done);
		expect_progress(n + got, &deadline);
		sent += n;
		done += got;
	}
	for (unsigned int i = 0; i < MANY; i++) {
		CHECK(op[i]->status == RTE_CRYPTO_OP_STATUS_SUCCESS);
		CHECK(memcmp(rte_pktmbuf_mtod(op[i]->sym->m_src, uint8_t *), expected[i],
			     LEN + DIGEST) == 0);
		free_op(op[i]);
	}
}

/* @param shared  both devices get operations */
static void mode(const char *args, bool shared)
{
	struct suite suite = esp_template;
	struct device dev;
	void *session;

	printf("%s\n", args);
	fflush(stdout);
	over_open(&dev, args);
	suite_keys(&suite);
	session = suite_session(&dev, &suite, true);
	CHECK(session != NULL);
	for (unsigned int i = 0; i < ROUNDS; i++)
		round_of(&dev, &suite, session);
	CHECK(done_by(workers[0]) + done_by(workers[1]) == ROUNDS * MANY);
	CHECK(!shared || (done_by(workers[0]) && done_by(workers[1])));
	session_free(&dev, session);
	over_close(&dev);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		arguments[0] = argv[1];
		arguments[1] = argv[2];
	} else if (access(POCL, R_OK)) {
		printf("%s: there is no PoCL here\n", POCL);
		return 77; /* skipped, for make check */
	} else {
		CHECK(setenv("OCL_ICD_VENDORS", POCL, 1) == 0);
	}
	harness_lcores = 3;
	harness_start();
	operations_open();
	mode("mode=round-robin,ordering=disable", true);
	mode("mode=round-robin,ordering=enable", true);
	mode("mode=packet-size-distr,mode_param=threshold:64,ordering=disable", false);
	mode("mode=fail-over,ordering=disable", false);
	mode("mode=multi-core,corelist=1;2,ordering=disable", true);
	operations_close();
	harness_stop();
	printf("all as expected\n");
	return 0;
}

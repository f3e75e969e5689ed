/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two devices of OpenCL in one process, a vdev for each, by index and by name. PoCL shows the
 * processor as two devices of different kinds: one works in the thread that asks, the other in
 * threads of its own. With two vdevs' arguments, for GPUs, it is those two.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_errno.h>

#include "faults.h"
#include "harness.h"
#include "operations.h"
#include "reference.h"

#define POCL   "/etc/OpenCL/vendors/pocl.icd"
#define FIRST  "basic"
#define SECOND "pthread"
#define MANY   40 /* operations */
#define FEW    24 /* descriptors */

/* The hardware that a DPDK device reports. */
static const char *runs_on(const struct device *dev)
{
	struct rte_cryptodev_info info;

	rte_cryptodev_info_get(dev->id, &info);
	return rte_dev_bus_info(info.device);
}

/* Take what has completed on each device, in order. @param done  index of its next operation */
static unsigned int collect(const struct device *dev, struct rte_crypto_op *const *op,
			    unsigned int *done)
{
	struct rte_crypto_op *back;
	unsigned int got = 0;

	for (unsigned int d = 0; d < 2; d++) {
		if (done[d] >= MANY || !rte_cryptodev_dequeue_burst(dev[d].id, 0, &back, 1))
			continue;
		CHECK(back == op[done[d]]);
		done[d] += 2;
		got++;
	}
	return got;
}

/* Operations on both devices alternately, with packets of both in flight, compared with OpenSSL. */
static void work(const struct device *dev, struct suite *suites, void **sessions)
{
	static uint8_t expected[MANY][LEN + 64];
	struct rte_crypto_op *op[MANY];
	unsigned int done[2] = {0, 1};
	uint64_t deadline = 0;

	for (unsigned int i = 0; i < MANY; i++) {
		const struct suite *suite = &suites[i % 2];
		uint8_t *iv, *data;

		op[i] = make_op(sessions[i % 2]);
		iv = rte_crypto_op_ctod_offset(op[i], uint8_t *, IV_OFFSET);
		data = rte_pktmbuf_mtod(op[i]->sym->m_src, uint8_t *);
		memcpy(expected[i], data, LEN);
		reference_cipher(suite->cipher, suite->key, suite->key_len, iv, expected[i], LEN);
		reference_auth(suite->auth, suite->mac_key, suite->mac_key_len, NULL, expected[i],
			       LEN, expected[i] + LEN);
		/* A device without a free chunk refuses an operation until others are dequeued. */
		while (!rte_cryptodev_enqueue_burst(dev[i % 2].id, 0, &op[i], 1))
			expect_progress(collect(dev, op, done), &deadline);
	}
	while (done[0] < MANY || done[1] < MANY)
		expect_progress(collect(dev, op, done), &deadline);
	for (unsigned int i = 0; i < MANY; i++) {
		CHECK(op[i]->status == RTE_CRYPTO_OP_STATUS_SUCCESS);
		CHECK(memcmp(rte_pktmbuf_mtod(op[i]->sym->m_src, uint8_t *), expected[i],
			     LEN + DIGEST) == 0);
		free_op(op[i]);
	}
}

static void swap(void **sessions)
{
	void *first = sessions[0];

	sessions[0] = sessions[1];
	sessions[1] = first;
}

static void swap_suites(struct suite *suites)
{
	struct suite first = suites[0];

	suites[0] = suites[1];
	suites[1] = first;
}

/* Each device has the requested hardware, processes the sessions of both, and continues when the other
 * one fails. @param name  beginning of both names */
static void both(const char *first, const char *second, const char *const name[2])
{
	struct suite suites[2] = {esp_template, esp_template};
	struct device dev[2];
	void *sessions[2];

	printf("%s, %s\n", first, second);
	fflush(stdout);
	suites[1].auth = OCL_AUTH_HMAC_SHA256;
	device_open_sized(&dev[0], first, 1, FEW);
	device_open_sized(&dev[1], second, 1, FEW);
	for (unsigned int d = 0; d < 2; d++) {
		CHECK(strncmp(runs_on(&dev[d]), name[d], strlen(name[d])) == 0);
		suite_keys(&suites[d]);
		sessions[d] = suite_session(&dev[d], &suites[d], true);
		CHECK(sessions[d] != NULL);
	}
	work(dev, suites, sessions);
	swap(sessions);
	swap_suites(suites);
	work(dev, suites, sessions);
	log_begin();
	fault_error = true;
	round_trip(&dev[0], 0, sessions[0], 20, RTE_CRYPTO_OP_STATUS_ERROR);
	fault_error = false;
	round_trip(&dev[1], 0, sessions[1], 20, RTE_CRYPTO_OP_STATUS_SUCCESS);
	round_trip(&dev[1], 0, sessions[0], 20, RTE_CRYPTO_OP_STATUS_SUCCESS);
	round_trip(&dev[0], 0, sessions[0], 20, RTE_CRYPTO_OP_STATUS_ERROR);
	CHECK(log_end("is given up") == 1);
	/* By the other device than the one that it was made on. */
	for (unsigned int d = 0; d < 2; d++)
		session_free(&dev[d], sessions[d]);
	for (unsigned int d = 0; d < 2; d++)
		device_close(&dev[d]);
}

/* A device that is opened later knows the sessions that there are, and they outlive the device that they
 * were made on. Another number of sessions is refused. */
static void late(const char *first, const char *second)
{
	struct suite suites[2] = {esp_template, esp_template};
	struct device dev[2];
	void *sessions[2];
	char args[128];

	device_open(&dev[0], first, 1);
	for (unsigned int i = 0; i < 2; i++) {
		suite_keys(&suites[i]);
		sessions[i] = suite_session(&dev[0], &suites[i], true);
		CHECK(sessions[i] != NULL);
	}
	snprintf(args, sizeof(args), "%s,max_sessions=3", second);
	log_begin();
	CHECK(rte_vdev_init(DRIVER "_bad", args) < 0);
	CHECK(log_end("max_sessions=3: the devices of this driver share their sessions") == 1);
	device_open(&dev[1], second, 1);
	work(dev, suites, sessions);
	rte_cryptodev_stop(dev[0].id);
	CHECK(rte_cryptodev_close(dev[0].id) == 0);
	CHECK(rte_vdev_uninit(dev[0].name) == 0);
	for (unsigned int i = 0; i < 2; i++) {
		round_trip(&dev[1], 0, sessions[i], 20, RTE_CRYPTO_OP_STATUS_SUCCESS);
		session_free(&dev[1], sessions[i]);
	}
	CHECK(rte_mempool_full(dev[0].sessions));
	rte_mempool_free(dev[0].sessions);
	device_close(&dev[1]);
}

/* The upload of a session to one of the devices fails: it is lost, and the session works on the other
 * one. */
static void one_upload(const char *first, const char *second)
{
	struct suite suite = esp_template;
	struct device dev[2];
	void *session;

	device_open(&dev[0], first, 1);
	device_open(&dev[1], second, 1);
	suite_keys(&suite);
	log_begin();
	fault_after = 1; /* the device that was opened last comes first */
	session = suite_session(&dev[1], &suite, true);
	fault_after = -1;
	CHECK(session != NULL);
	CHECK(log_end("is given up") == 1);
	round_trip(&dev[1], 0, session, 20, RTE_CRYPTO_OP_STATUS_SUCCESS);
	round_trip(&dev[0], 0, session, 20, RTE_CRYPTO_OP_STATUS_ERROR);
	CHECK(suite_session(&dev[0], &suite, true) == NULL && rte_errno == EIO);
	session_free(&dev[1], session);
	for (unsigned int d = 0; d < 2; d++)
		device_close(&dev[d]);
}

/* The message names the argument and lists the devices. */
static void none(const char *which, const char *const name[2])
{
	char args[64], named[64], first[32], second[32];
	const char *const words[] = {named, first, second};

	snprintf(args, sizeof(args), "device=%s,chunk=64", which);
	snprintf(named, sizeof(named), "device=%s matches none of 2:", which);
	snprintf(first, sizeof(first), "  0: %s", name[0]);
	snprintf(second, sizeof(second), "  1: %s", name[1]);
	for (unsigned int i = 0; i < RTE_DIM(words); i++) {
		log_begin();
		CHECK(rte_vdev_init(DRIVER "_bad", args) < 0);
		CHECK(log_end(words[i]) == 1);
	}
	CHECK(rte_cryptodev_get_dev_id(DRIVER "_bad") < 0);
}

/* PoCL 3 names the devices as POCL_DEVICES does, PoCL 4 and later "cpu-minimal" and "cpu".
 * @param processor  of 64 bytes: the word that follows the names of PoCL 4
 * @return whether it is PoCL 3 */
static bool has_old_names(char *processor)
{
	struct device dev;
	bool old;

	device_open(&dev, "device=0", 1);
	old = strncmp(runs_on(&dev), FIRST "-", strlen(FIRST "-")) == 0;
	snprintf(processor, 64, "%s", old ? "" : runs_on(&dev) + strlen("cpu-minimal-"));
	processor[strcspn(processor, "-,")] = '\0';
	device_close(&dev);
	return old;
}

/* Both of PoCL's devices, whose names are constant in a release. */
static int pocl(void)
{
	static const char *const names[2][2] = {{"cpu-minimal-", "cpu-"}, {FIRST "-", SECOND "-"}};
	static const char *const first[2] = {"device=cpu-minimal,memory=staged,sched=length",
					     "device=" FIRST ",memory=staged,sched=length"};
	char processor[64], second[96];
	bool old;

	if (access(POCL, R_OK)) {
		printf("%s: there is no PoCL here\n", POCL);
		return 77; /* skipped, for make check */
	}
	CHECK(setenv("OCL_ICD_VENDORS", POCL, 1) == 0);
	CHECK(setenv("POCL_DEVICES", FIRST " " SECOND, 1) == 0);
	harness_start();
	operations_open();
	old = has_old_names(processor);
	snprintf(second, sizeof(second), "device=%s%s,sched=none", old ? "PTHREAD" : "CPU-",
		 processor);
	both("device=0,sched=length", "device=1,memory=staged", names[old]);
	both(first[old], second, names[old]);
	/* Each of the first operations takes a chunk of four, until there is no chunk left. */
	both("device=0,chunk=4,wait_us=0", "device=1,chunk=4,wait_us=0", names[old]);
	late("device=0,memory=staged", "device=1");
	one_upload("device=0", "device=1");
	none("2", names[old]);
	none("no such device", names[old]);
	operations_close();
	harness_stop();
	printf("all as expected\n");
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const any[] = {"", ""};

	if (argc != 3)
		return pocl();
	harness_start();
	operations_open();
	both(argv[1], argv[2], any);
	operations_close();
	harness_stop();
	printf("all as expected\n");
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_eal.h>
#include <rte_lcore.h>

#include "harness.h"

#define SESSIONS 4096

void harness_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
	fflush(NULL);
	rmdir(rte_eal_get_runtime_dir());
	abort();
}

/* With dlopen instead of EAL's -d, which refuses folders that others may write
 * to: a build below /tmp shall be testable, too. */
static void load_driver(void)
{
	const char *path = getenv("CYGNET_PMD");

	if (path == NULL)
		path = BUILT_PMD;
	if (dlopen(path, RTLD_NOW | RTLD_GLOBAL) == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
}

void harness_start(void)
{
	char lcore[32], prefix[32];
	const char *argv[] = {"test",	      "--no-huge",     "-m",   "384",	      "--no-pci",
			      "--no-shconf",  "--no-telemetry", "--file-prefix", prefix,
			      "--log-level",  "warning",	"--lcores",	 lcore};

	load_driver();
	snprintf(prefix, sizeof(prefix), "cyg-test-%d", getpid());
	snprintf(lcore, sizeof(lcore), "0@%d", sched_getcpu());
	CHECK(rte_eal_init(RTE_DIM(argv), (char **)(uintptr_t)argv) >= 0);
}

void harness_stop(void)
{
	char dir[256];

	snprintf(dir, sizeof(dir), "%s", rte_eal_get_runtime_dir());
	CHECK(rte_eal_cleanup() == 0);
	rmdir(dir);
}

uint64_t rnd(void)
{
	static __thread uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x * 0x2545f4914f6cdd1d;
}

uint32_t rnd_below(uint32_t n)
{
	return (rnd() >> 32) % n;
}

void rnd_fill(void *p, size_t len)
{
	uint8_t *bytes = p;

	for (; len >= 8; len -= 8, bytes += 8) {
		uint64_t x = rnd();

		memcpy(bytes, &x, 8);
	}
	for (; len; len--)
		*bytes++ = rnd() >> 56;
}

void device_open(struct device *dev, const char *args, unsigned int queue_pairs)
{
	static int serial;
	struct rte_cryptodev_config config = {.nb_queue_pairs = queue_pairs};
	struct rte_cryptodev_qp_conf qp = {.nb_descriptors = DESCRIPTORS};
	char pool[40];

	snprintf(dev->name, sizeof(dev->name), DRIVER "%d", serial++);
	CHECK(rte_vdev_init(dev->name, args) == 0);
	dev->id = rte_cryptodev_get_dev_id(dev->name);
	dev->queue_pairs = queue_pairs;
	snprintf(pool, sizeof(pool), "sess_%s", dev->name);
	dev->sessions = rte_cryptodev_sym_session_pool_create(
		pool, SESSIONS, rte_cryptodev_sym_get_private_session_size(dev->id), 0, 0,
		SOCKET_ID_ANY);
	CHECK(dev->sessions != NULL);
	CHECK(rte_cryptodev_configure(dev->id, &config) == 0);
	for (unsigned int i = 0; i < queue_pairs; i++)
		CHECK(rte_cryptodev_queue_pair_setup(dev->id, i, &qp, SOCKET_ID_ANY) == 0);
	CHECK(rte_cryptodev_start(dev->id) == 0);
}

void device_close(struct device *dev)
{
	CHECK(rte_mempool_full(dev->sessions));
	rte_cryptodev_stop(dev->id);
	CHECK(rte_cryptodev_close(dev->id) == 0);
	CHECK(rte_vdev_uninit(dev->name) == 0);
	rte_mempool_free(dev->sessions);
}

void suite_keys(struct suite *suite)
{
	rnd_fill(suite->key, sizeof(suite->key));
	rnd_fill(suite->mac_key, sizeof(suite->mac_key));
	suite->key_len = 16 + 8 * rnd_below(3);
	suite->mac_key_len = 1 + rnd_below(suite->hash > 32 ? 128 : 64);
}

static struct rte_crypto_sym_xform aead(const struct suite *suite, bool encrypt)
{
	return (struct rte_crypto_sym_xform){
		.type = RTE_CRYPTO_SYM_XFORM_AEAD,
		.aead = {
			.algo = RTE_CRYPTO_AEAD_AES_GCM,
			.op = encrypt ? RTE_CRYPTO_AEAD_OP_ENCRYPT : RTE_CRYPTO_AEAD_OP_DECRYPT,
			.key = {.data = suite->key, .length = suite->key_len},
			.iv = {.offset = IV_OFFSET, .length = 12},
			.digest_length = suite->digest_len,
			.aad_length = suite->aad_len,
		},
	};
}

static struct rte_crypto_sym_xform cipher(const struct suite *suite, bool encrypt)
{
	return (struct rte_crypto_sym_xform){
		.type = RTE_CRYPTO_SYM_XFORM_CIPHER,
		.cipher = {
			.algo = RTE_CRYPTO_CIPHER_AES_CBC,
			.op = encrypt ? RTE_CRYPTO_CIPHER_OP_ENCRYPT : RTE_CRYPTO_CIPHER_OP_DECRYPT,
			.key = {.data = suite->key, .length = suite->key_len},
			.iv = {.offset = IV_OFFSET, .length = 16},
		},
	};
}

static struct rte_crypto_sym_xform auth(const struct suite *suite, bool encrypt)
{
	return (struct rte_crypto_sym_xform){
		.type = RTE_CRYPTO_SYM_XFORM_AUTH,
		.auth = {
			.algo = suite->hash == 20 ? RTE_CRYPTO_AUTH_SHA1_HMAC :
				suite->hash == 32 ? RTE_CRYPTO_AUTH_SHA256_HMAC :
				suite->hash == 48 ? RTE_CRYPTO_AUTH_SHA384_HMAC :
						    RTE_CRYPTO_AUTH_SHA512_HMAC,
			.op = encrypt ? RTE_CRYPTO_AUTH_OP_GENERATE : RTE_CRYPTO_AUTH_OP_VERIFY,
			.key = {.data = suite->mac_key, .length = suite->mac_key_len},
			.digest_length = suite->digest_len,
		},
	};
}

void *suite_session(const struct device *dev, const struct suite *suite, bool encrypt)
{
	struct rte_crypto_sym_xform a = auth(suite, encrypt), c = cipher(suite, encrypt);
	struct rte_crypto_sym_xform g = aead(suite, encrypt), *first;

	if (suite->cipher == AES_GCM)
		first = &g;
	else if (suite->cipher == NO_CIPHER)
		first = &a;
	else
		first = encrypt || !suite->hash ? &c : &a;
	if (suite->cipher == AES_CBC && suite->hash)
		first->next = encrypt ? &a : &c;
	return rte_cryptodev_sym_session_create(dev->id, first, dev->sessions);
}

void session_free(const struct device *dev, void *session)
{
	CHECK(rte_cryptodev_sym_session_free(dev->id, session) == 0);
}

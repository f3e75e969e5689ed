/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_log.h>

#include "../../testing/slowdown.h"
#include "harness.h"

/* A device that was given up keeps its OpenCL objects, because it may still work. On a busy
 * machine PoCL and LLVM end before they have freed everything. */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
	return "leak:libpocl\nleak:libLLVM\nleak:operator new\n";
}

#define SESSIONS 4096

/* The reason comes last, behind earlier output. */
static void tell_failure(const char *file, int line, const char *what)
{
	fflush(NULL);
	fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
	rmdir(rte_eal_get_runtime_dir());
}

void harness_fail(const char *file, int line, const char *what)
{
	tell_failure(file, line, what);
	abort();
}

/* dlopen() instead of EAL's -d, which refuses folders that other users can write to, such as a
 * build below /tmp. */
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

unsigned int harness_lcores = 1;

/* One lcore stays on its processor; several share all processors that this process may use. */
static void name_lcores(char *text, size_t len)
{
	cpu_set_t cpus;
	int used;

	if (harness_lcores == 1) {
		snprintf(text, len, "0@%d", sched_getcpu());
		return;
	}
	CHECK(sched_getaffinity(0, sizeof(cpus), &cpus) == 0);
	used = snprintf(text, len, "(0-%u)@(", harness_lcores - 1);
	for (int cpu = 0; cpu < CPU_SETSIZE && used < (int)len; cpu++) {
		if (CPU_ISSET(cpu, &cpus))
			used += snprintf(text + used, len - used, "%d,", cpu);
	}
	CHECK(used < (int)len);
	text[used - 1] = ')';
}

void harness_start(void)
{
	char lcore[512], prefix[32];
	const char *argv[] = {"test",
			      "--no-huge",
			      "-m",
			      "512",
			      "--no-pci",
			      "--no-shconf",
			      "--no-telemetry",
			      "--file-prefix",
			      prefix,
			      "--log-level",
			      "warning",
			      "--lcores",
			      lcore};

	load_driver();
	snprintf(prefix, sizeof(prefix), "cyg-test-%d", getpid());
	name_lcores(lcore, sizeof(lcore));
	CHECK(rte_eal_init(RTE_DIM(argv), (char **)(uintptr_t)argv) >= 0);
}

void harness_stop(void)
{
	char dir[256];

	snprintf(dir, sizeof(dir), "%s", rte_eal_get_runtime_dir());
	CHECK(rte_eal_cleanup() == 0);
	rmdir(dir);
}

static uint64_t seed(void)
{
	const char *number = getenv("CYGNET_SEED");

	return 88172645463325252 + (number ? strtoull(number, NULL, 0) : 0) * 0x9e3779b97f4a7c15;
}

uint64_t rnd(void)
{
	static __thread uint64_t x;

	if (x == 0)
		x = seed();
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

static struct {
	FILE *stream;
	char *text;
	size_t size;
} logged;

void log_begin(void)
{
	logged.stream = open_memstream(&logged.text, &logged.size);
	CHECK(logged.stream != NULL);
	rte_openlog_stream(logged.stream);
}

unsigned int log_end(const char *words)
{
	unsigned int n = 0;

	rte_openlog_stream(NULL);
	fclose(logged.stream);
	for (const char *p = logged.text; (p = strstr(p, words)); p++)
		n++;
	fputs(logged.text, stderr);
	free(logged.text);
	return n;
}

void expect_progress(unsigned int n, uint64_t *deadline)
{
	static __thread uint64_t last;
	uint64_t now = rte_get_tsc_cycles(), most = rte_get_tsc_hz() / 10;

	if (n || *deadline == 0)
		*deadline = now + 30 * rte_get_tsc_hz() * slowdown();
	else if (now - last > most)
		*deadline += now - last - most;
	last = now;
	if (now >= *deadline) {
		/* Not as after a crash: the test is run once more. Other threads may still poll. */
		tell_failure(__FILE__, __LINE__, "progress within the time");
		_exit(EXIT_FAILURE);
	}
	if (n == 0)
		rte_delay_us_sleep(20);
}

void device_open(struct device *dev, const char *args, unsigned int queue_pairs)
{
	device_open_sized(dev, args, queue_pairs, DESCRIPTORS);
}

void device_open_sized(struct device *dev, const char *args, unsigned int queue_pairs,
		       uint32_t descriptors)
{
	static int serial;
	struct rte_cryptodev_config config = {.nb_queue_pairs = queue_pairs};
	struct rte_cryptodev_qp_conf qp = {.nb_descriptors = descriptors};
	char pool[RTE_MEMPOOL_NAMESIZE];

	snprintf(dev->name, sizeof(dev->name), DRIVER "%d", serial++);
	CHECK(rte_vdev_init(dev->name, args) == 0);
	dev->id = rte_cryptodev_get_dev_id(dev->name);
	dev->queue_pairs = queue_pairs;
	snprintf(pool, sizeof(pool), "sessions%u", dev->id);
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

bool device_has(const char *args)
{
	bool has = rte_vdev_init(DRIVER "_try", args) == 0;

	if (has)
		CHECK(rte_vdev_uninit(DRIVER "_try") == 0);
	else
		printf("%s: not on this device\n", args);
	return has;
}

static uint32_t random_aes_key_len(void)
{
	return 16 + 8 * rnd_below(3);
}

static uint32_t random_mac_key_len(enum ocl_auth auth)
{
	switch (auth) {
	case OCL_AUTH_NONE:
		return 0;
	case OCL_AUTH_AES_XCBC:
		return 16;
	case OCL_AUTH_AES_GMAC:
		return random_aes_key_len();
	case OCL_AUTH_HMAC_SHA384:
	case OCL_AUTH_HMAC_SHA512:
		return 1 + rnd_below(128);
	default:
		return 1 + rnd_below(64);
	}
}

void suite_keys(struct suite *suite)
{
	rnd_fill(suite->key, sizeof(suite->key));
	rnd_fill(suite->mac_key, sizeof(suite->mac_key));
	suite->key_len = suite->cipher == OCL_CIPHER_NONE		 ? 0
			 : suite->cipher == OCL_CIPHER_3DES_CBC		 ? 24
			 : suite->cipher == OCL_CIPHER_CHACHA20_POLY1305 ? 32
									 : random_aes_key_len();
	suite->mac_key_len = random_mac_key_len(suite->auth);
}

/* The truncated lengths common in IPsec. */
static uint32_t random_digest_len(const struct suite *suite)
{
	static const uint8_t usual[OCL_AUTHS] = {0, 12, 12, 16, 24, 32, 12, 16};
	static const uint8_t whole[OCL_AUTHS] = {0, 16, 20, 32, 48, 64, 16, 16};

	switch (suite->cipher) {
	case OCL_CIPHER_AES_GCM:
		return rnd_below(2) ? 16 : 8 + 4 * rnd_below(2);
	case OCL_CIPHER_AES_CCM:
		return rnd_below(2) ? 16 : 4 + 2 * rnd_below(6);
	case OCL_CIPHER_CHACHA20_POLY1305:
		return 16;
	default:
		if (suite->auth == OCL_AUTH_NONE || rnd_below(2))
			return usual[suite->auth];
		return suite->auth >= OCL_AUTH_AES_XCBC ? whole[suite->auth] - 4 * rnd_below(2)
							: 1 + rnd_below(whole[suite->auth]);
	}
}

static uint32_t random_iv_len(const struct suite *suite)
{
	switch (suite->cipher) {
	case OCL_CIPHER_NONE:
		return suite->auth == OCL_AUTH_AES_GMAC ? 12 : 0;
	case OCL_CIPHER_3DES_CBC:
		return 8;
	case OCL_CIPHER_AES_CBC:
	case OCL_CIPHER_AES_CTR:
		return 16;
	case OCL_CIPHER_AES_CCM:
		return 7 + rnd_below(7);
	default:
		return 12;
	}
}

void suite_randomize(struct suite *suite)
{
	static const uint8_t aads[] = {8, 12, 0, 20, 46, 61};

	suite_keys(suite);
	suite->digest_len = random_digest_len(suite);
	suite->iv_len = random_iv_len(suite);
	suite->aad_len = suite_is_aead(suite) ? aads[rnd_below(sizeof(aads))] : 0;
	suite->null_auth = suite->auth == OCL_AUTH_NONE && !suite_is_aead(suite) && rnd_below(2);
	suite->null_cipher = suite->cipher == OCL_CIPHER_NONE &&
			     (rnd_below(2) || suite->auth == OCL_AUTH_NONE) &&
			     suite->auth != OCL_AUTH_AES_GMAC;
	suite->swapped = suite->cipher && suite->auth && rnd_below(4) == 0;
}

static struct rte_crypto_sym_xform aead_xform(const struct suite *suite, bool encrypt)
{
	return (struct rte_crypto_sym_xform){
		.type = RTE_CRYPTO_SYM_XFORM_AEAD,
		.aead =
			{
				.algo = suite->cipher == OCL_CIPHER_AES_GCM
						? RTE_CRYPTO_AEAD_AES_GCM
					: suite->cipher == OCL_CIPHER_AES_CCM
						? RTE_CRYPTO_AEAD_AES_CCM
						: RTE_CRYPTO_AEAD_CHACHA20_POLY1305,
				.op = encrypt ? RTE_CRYPTO_AEAD_OP_ENCRYPT
					      : RTE_CRYPTO_AEAD_OP_DECRYPT,
				.key = {.data = suite->key, .length = suite->key_len},
				.iv = {.offset = IV_OFFSET, .length = suite->iv_len},
				.digest_length = suite->digest_len,
				.aad_length = suite->aad_len,
			},
	};
}

static struct rte_crypto_sym_xform cipher_xform(const struct suite *suite, bool encrypt)
{
	return (struct rte_crypto_sym_xform){
		.type = RTE_CRYPTO_SYM_XFORM_CIPHER,
		.cipher =
			{
				.algo = suite->cipher == OCL_CIPHER_NONE ? RTE_CRYPTO_CIPHER_NULL
					: suite->cipher == OCL_CIPHER_AES_CBC
						? RTE_CRYPTO_CIPHER_AES_CBC
					: suite->cipher == OCL_CIPHER_AES_CTR
						? RTE_CRYPTO_CIPHER_AES_CTR
						: RTE_CRYPTO_CIPHER_3DES_CBC,
				.op = encrypt ? RTE_CRYPTO_CIPHER_OP_ENCRYPT
					      : RTE_CRYPTO_CIPHER_OP_DECRYPT,
				.key = {.data = suite->key, .length = suite->key_len},
				.iv = {.offset = IV_OFFSET, .length = suite->iv_len},
			},
	};
}

static struct rte_crypto_sym_xform auth_xform(const struct suite *suite, bool encrypt)
{
	static const enum rte_crypto_auth_algorithm algos[OCL_AUTHS] = {
		[OCL_AUTH_NONE] = RTE_CRYPTO_AUTH_NULL,
		[OCL_AUTH_HMAC_MD5] = RTE_CRYPTO_AUTH_MD5_HMAC,
		[OCL_AUTH_HMAC_SHA1] = RTE_CRYPTO_AUTH_SHA1_HMAC,
		[OCL_AUTH_HMAC_SHA256] = RTE_CRYPTO_AUTH_SHA256_HMAC,
		[OCL_AUTH_HMAC_SHA384] = RTE_CRYPTO_AUTH_SHA384_HMAC,
		[OCL_AUTH_HMAC_SHA512] = RTE_CRYPTO_AUTH_SHA512_HMAC,
		[OCL_AUTH_AES_XCBC] = RTE_CRYPTO_AUTH_AES_XCBC_MAC,
		[OCL_AUTH_AES_GMAC] = RTE_CRYPTO_AUTH_AES_GMAC,
	};

	return (struct rte_crypto_sym_xform){
		.type = RTE_CRYPTO_SYM_XFORM_AUTH,
		.auth =
			{
				.algo = algos[suite->auth],
				.op = encrypt ? RTE_CRYPTO_AUTH_OP_GENERATE
					      : RTE_CRYPTO_AUTH_OP_VERIFY,
				.key = {.data = suite->mac_key, .length = suite->mac_key_len},
				.iv = {.offset = IV_OFFSET,
				       .length = suite->auth == OCL_AUTH_AES_GMAC ? suite->iv_len
										  : 0},
				.digest_length = suite->digest_len,
			},
	};
}

void suite_xforms(const struct suite *suite, bool encrypt, struct xforms *xforms)
{
	bool cipher = suite->cipher || suite->null_cipher, auth = suite->auth || suite->null_auth;
	struct rte_crypto_sym_xform *c = &xforms->chain[0], *a = &xforms->chain[1];

	xforms->first = c;
	if (suite_is_aead(suite)) {
		*c = aead_xform(suite, encrypt);
		return;
	}
	*c = cipher_xform(suite, encrypt);
	*a = auth_xform(suite, encrypt);
	if (!cipher || (auth && encrypt == suite->swapped))
		xforms->first = a;
	if (cipher && auth)
		xforms->first->next = xforms->first == a ? c : a;
}

void *suite_session(const struct device *dev, const struct suite *suite, bool encrypt)
{
	struct xforms xforms;

	suite_xforms(suite, encrypt, &xforms);
	return rte_cryptodev_sym_session_create(dev->id, xforms.first, dev->sessions);
}

void session_free(const struct device *dev, void *session)
{
	CHECK(rte_cryptodev_sym_session_free(dev->id, session) == 0);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver's manners: arguments, capabilities, sessions that come and go under
 * traffic, several queue pairs, bounded waiting, and devices that fail.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_bus_vdev.h>
#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_errno.h>

#include "failing.h"
#include "faults.h"
#include "harness.h"
#include "operations.h"
#include "reference.h"
#include "secrets.h"
#include "waiting.h"

#define USUAL 65536u /* default number of sessions of a device */
#define MANY  66048u

/* Each argument is refused, and the message names the error. */
static void bad_arguments(void)
{
	static const char *const bad[] = {
		"device=no such thing",
		"device=64",
		"device=",
		"chunk=0",
		"chunk=x",
		"chunk=-1",
		"chunk=1000000",
		"lanes=9",
		"wait_us=",
		"wait_us=5us",
		"busy_wait_us=1000001",
		"under_way=63",
		"max_sessions=0",
		"max_sessions=2097153",
		"memory=paper",
		"tables=two",
		"launches=two",
		"max_nb_queue_pairs=0",
		"timeout_ms=0",
		"no_such_key",
		"chunk",
		"sched=some",
		"bins=0",
	};

	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		char *args;

		/* Among valid arguments. */
		CHECK(asprintf(&args, "lanes=1,%s,granularity=64", bad[i]) > 0);
		log_begin();
		CHECK(rte_vdev_init(DRIVER "_bad", args) < 0);
		CHECK(log_end(bad[i]) == 1);
		CHECK(rte_cryptodev_get_dev_id(DRIVER "_bad") < 0);
		free(args);
	}
	CHECK(rte_vdev_init(DRIVER "_bad", "chunk=16384,bins=1") < 0);
	/* The CPU would accept it, but the stack of its thread is too small for 2,048 work-items
	 * of this kernel. */
	CHECK(rte_vdev_init(DRIVER "_bad", "chunk=8192,bins=4") < 0);
	/* The device supports such work-groups, but not for this kernel. */
	fault_launch = true;
	log_begin();
	CHECK(rte_vdev_init(DRIVER "_bad", "chunk=128,bins=2") < 0);
	CHECK(log_end("work-groups of 64, which chunk=128 and bins=2 make") == 1);
	fault_launch = false;
}

static void good_arguments(void)
{
	struct rte_cryptodev_info info;
	struct device dev;

	device_open(&dev,
		    "device=0,chunk=64,lanes=4,wait_us=0,max_sessions=7,max_nb_queue_pairs=3,"
		    "timeout_ms=60000,memory=staged,socket_id=0,tables=one",
		    2);
	rte_cryptodev_info_get(dev.id, &info);
	CHECK(info.sym.max_nb_sessions == 7);
	CHECK(info.max_nb_queue_pairs == 3);
	CHECK(rte_cryptodev_queue_pair_count(dev.id) == 2);
	device_close(&dev);
}

/* The maximum of sessions: limited by the device's memory; unused ones take no time. */
static void most_sessions(void)
{
	struct rte_cryptodev_info info;
	struct device dev;

	fault_memory = 1u << 30;
	log_begin();
	CHECK(rte_vdev_init(DRIVER "_bad", "max_sessions=2097152") < 0);
	CHECK(log_end("max_sessions=2097152: no table of 1280 MiB") == 1);
	CHECK(rte_cryptodev_get_dev_id(DRIVER "_bad") < 0);
	fault_memory = 0;
	device_open(&dev, "max_sessions=2097152", 1);
	rte_cryptodev_info_get(dev.id, &info);
	CHECK(info.sym.max_nb_sessions == 2097152);
	device_close(&dev);
}

/* All algorithms that ESP and AH require; sizes in bytes. */
static const struct offer {
	enum rte_crypto_sym_xform_type type;
	int algo;
	uint16_t key, digest, iv, aad;
} offers[] = {
/* clang-format off */
#define CIPHER(name, key, iv) {RTE_CRYPTO_SYM_XFORM_CIPHER, RTE_CRYPTO_CIPHER_##name, key, 0, iv, 0}
#define AUTH(name, key, digest, iv) {RTE_CRYPTO_SYM_XFORM_AUTH, RTE_CRYPTO_AUTH_##name, key, digest, iv, 0}
#define AEAD(name, key, digest, iv)                                                                \
	{RTE_CRYPTO_SYM_XFORM_AEAD, RTE_CRYPTO_AEAD_##name, key, digest, iv, 8},                   \
		{RTE_CRYPTO_SYM_XFORM_AEAD, RTE_CRYPTO_AEAD_##name, key, digest, iv, 12}
	/* clang-format on */
	CIPHER(NULL, 0, 0),	      CIPHER(AES_CBC, 16, 16),
	CIPHER(AES_CBC, 24, 16),      CIPHER(AES_CBC, 32, 16),
	CIPHER(AES_CTR, 16, 16),      CIPHER(AES_CTR, 24, 16),
	CIPHER(AES_CTR, 32, 16),      CIPHER(3DES_CBC, 24, 8),
	AUTH(NULL, 0, 0, 0),	      AUTH(MD5_HMAC, 16, 12, 0),
	AUTH(MD5_HMAC, 16, 16, 0),    AUTH(SHA1_HMAC, 20, 12, 0),
	AUTH(SHA1_HMAC, 20, 20, 0),   AUTH(SHA256_HMAC, 32, 12, 0),
	AUTH(SHA256_HMAC, 32, 16, 0), AUTH(SHA384_HMAC, 48, 24, 0),
	AUTH(SHA512_HMAC, 64, 32, 0), AUTH(AES_XCBC_MAC, 16, 12, 0),
	AUTH(AES_GMAC, 16, 16, 12),   AUTH(AES_GMAC, 24, 16, 12),
	AUTH(AES_GMAC, 32, 16, 12),   AEAD(AES_GCM, 16, 8, 12),
	AEAD(AES_GCM, 16, 12, 12),    AEAD(AES_GCM, 16, 16, 12),
	AEAD(AES_GCM, 24, 16, 12),    AEAD(AES_GCM, 32, 8, 12),
	AEAD(AES_GCM, 32, 16, 12),    AEAD(AES_CCM, 16, 8, 11),
	AEAD(AES_CCM, 16, 12, 11),    AEAD(AES_CCM, 24, 16, 11),
	AEAD(AES_CCM, 32, 16, 11),    AEAD(CHACHA20_POLY1305, 32, 16, 12),
#undef CIPHER
#undef AUTH
#undef AEAD
};

static int offered(const struct device *dev, const struct offer *o)
{
	struct rte_cryptodev_sym_capability_idx which = {.type = o->type};
	const struct rte_cryptodev_symmetric_capability *c;

	which.algo.cipher = (enum rte_crypto_cipher_algorithm)o->algo;
	c = rte_cryptodev_sym_capability_get(dev->id, &which);
	if (!c)
		return -1;
	switch (o->type) {
	case RTE_CRYPTO_SYM_XFORM_CIPHER:
		return rte_cryptodev_sym_capability_check_cipher(c, o->key, o->iv);
	case RTE_CRYPTO_SYM_XFORM_AUTH:
		return rte_cryptodev_sym_capability_check_auth(c, o->key, o->digest, o->iv);
	default:
		return rte_cryptodev_sym_capability_check_aead(c, o->key, o->digest, o->aad, o->iv);
	}
}

static void capabilities(const struct device *dev)
{
	const struct offer odd =
		{RTE_CRYPTO_SYM_XFORM_AEAD, RTE_CRYPTO_AEAD_AES_GCM, 32, 10, 12, 12};
	struct rte_cryptodev_info info;

	rte_cryptodev_info_get(dev->id, &info);
	CHECK(info.feature_flags & RTE_CRYPTODEV_FF_SYMMETRIC_CRYPTO);
	CHECK(info.feature_flags & RTE_CRYPTODEV_FF_SYM_OPERATION_CHAINING);
	CHECK(info.feature_flags & RTE_CRYPTODEV_FF_OOP_LB_IN_LB_OUT);
	CHECK(!(info.feature_flags & RTE_CRYPTODEV_FF_IN_PLACE_SGL));
	CHECK(info.sym.max_nb_sessions == USUAL);
	for (unsigned int i = 0; i < RTE_DIM(offers); i++) {
		if (offered(dev, &offers[i]))
			printf("offer %u: type %d, algorithm %d\n", i, offers[i].type,
			       offers[i].algo);
		CHECK(!offered(dev, &offers[i]));
	}
	CHECK(offered(dev, &odd));
}

/* A transform of these sizes. */
static struct rte_crypto_sym_xform sized(const struct rte_cryptodev_symmetric_capability *c,
					 uint16_t key, uint16_t digest, uint16_t iv)
{
	static uint8_t key_bytes[256];
	struct rte_crypto_sym_xform x = {.type = c->xform_type};

	CHECK(key <= sizeof(key_bytes));
	switch (c->xform_type) {
	case RTE_CRYPTO_SYM_XFORM_CIPHER:
		x.cipher.algo = c->cipher.algo;
		x.cipher.key.data = key_bytes;
		x.cipher.key.length = key;
		x.cipher.iv.offset = IV_OFFSET;
		x.cipher.iv.length = iv;
		break;
	case RTE_CRYPTO_SYM_XFORM_AUTH:
		x.auth.algo = c->auth.algo;
		x.auth.key.data = key_bytes;
		x.auth.key.length = key;
		x.auth.iv.offset = IV_OFFSET;
		x.auth.iv.length = iv;
		x.auth.digest_length = digest;
		break;
	default:
		x.aead.algo = c->aead.algo;
		x.aead.key.data = key_bytes;
		x.aead.key.length = key;
		x.aead.iv.offset = IV_OFFSET;
		x.aead.iv.length = iv;
		x.aead.digest_length = digest;
		x.aead.aad_length = c->aead.aad_size.max;
	}
	return x;
}

static void try_sizes(const struct device *dev, const struct rte_cryptodev_symmetric_capability *c,
		      uint16_t key, uint16_t digest, uint16_t iv, bool offered)
{
	struct rte_crypto_sym_xform x = sized(c, key, digest, iv);
	void *session = rte_cryptodev_sym_session_create(dev->id, &x, dev->sessions);

	if ((session != NULL) != offered)
		printf("transform %d, algorithm %d: key %u, digest %u, IV %u\n", c->xform_type,
		       (int)x.auth.algo, key, digest, iv);
	CHECK((session != NULL) == offered);
	if (session)
		session_free(dev, session);
	else
		CHECK(rte_errno == EINVAL);
}

/* The driver accepts all that its capabilities say, and nothing more. */
static void offered_sizes(const struct device *dev)
{
	static const struct rte_crypto_param_range none;
	const struct rte_cryptodev_capabilities *c;
	struct rte_cryptodev_info info;

	rte_cryptodev_info_get(dev->id, &info);
	for (c = info.capabilities; c->op != RTE_CRYPTO_OP_TYPE_UNDEFINED; c++) {
		const struct rte_cryptodev_symmetric_capability *sym = &c->sym;
		bool cipher = sym->xform_type == RTE_CRYPTO_SYM_XFORM_CIPHER;
		bool auth = sym->xform_type == RTE_CRYPTO_SYM_XFORM_AUTH;
		const struct rte_crypto_param_range *key = cipher ? &sym->cipher.key_size
							   : auth ? &sym->auth.key_size
								  : &sym->aead.key_size,
						    *digest = cipher ? &none
							      : auth ? &sym->auth.digest_size
								     : &sym->aead.digest_size,
						    *iv = cipher ? &sym->cipher.iv_size
							  : auth ? &sym->auth.iv_size
								 : &sym->aead.iv_size;

		try_sizes(dev, sym, key->min, digest->min, iv->min, true);
		try_sizes(dev, sym, key->max, digest->max, iv->max, true);
		if (key->max)
			try_sizes(dev, sym, key->max + 1, digest->max, iv->max, false);
		if (digest->max)
			try_sizes(dev, sym, key->max, digest->max + 1, iv->max, false);
		if (digest->increment > 1)
			try_sizes(dev, sym, key->max, digest->min + 1, iv->max, false);
		if (iv->max) {
			try_sizes(dev, sym, key->max, digest->max, iv->max + 1, false);
			try_sizes(dev, sym, key->max, digest->max, iv->min - 1, false);
		}
	}
	CHECK(rte_mempool_full(dev->sessions));
}

/* Transforms outside the capabilities are refused, and leave nothing behind. */
static void bad_sessions(const struct device *dev)
{
	struct suite suite = esp_template;
	struct rte_crypto_sym_xform auth = {
		.type = RTE_CRYPTO_SYM_XFORM_AUTH,
		.auth = {.algo = RTE_CRYPTO_AUTH_SHA1_HMAC,
			 .op = RTE_CRYPTO_AUTH_OP_GENERATE,
			 .key = {.data = suite.mac_key, .length = 20},
			 .digest_length = 12},
	};
	struct rte_crypto_sym_xform cipher = {
		.next = &auth,
		.type = RTE_CRYPTO_SYM_XFORM_CIPHER,
		.cipher = {.algo = RTE_CRYPTO_CIPHER_AES_CBC,
			   .op = RTE_CRYPTO_CIPHER_OP_ENCRYPT,
			   .key = {.data = suite.key, .length = 16},
			   .iv = {.offset = IV_OFFSET, .length = 16}},
	};
	void *session = rte_cryptodev_sym_session_create(dev->id, &cipher, dev->sessions);

#define REFUSED(change, undo, error) \
	do { \
		change; \
		CHECK(rte_cryptodev_sym_session_create(dev->id, &cipher, dev->sessions) == NULL); \
		CHECK(rte_errno == (error)); \
		undo; \
	} while (0)

	CHECK(session != NULL);
	session_free(dev, session);
	REFUSED(cipher.cipher.key.length = 15, cipher.cipher.key.length = 16, EINVAL);
	REFUSED(cipher.cipher.iv.length = 12, cipher.cipher.iv.length = 16, EINVAL);
	REFUSED(cipher.cipher.algo = RTE_CRYPTO_CIPHER_DES_CBC,
		cipher.cipher.algo = RTE_CRYPTO_CIPHER_AES_CBC, ENOTSUP);
	REFUSED(auth.auth.digest_length = 21, auth.auth.digest_length = 12, EINVAL);
	REFUSED(auth.auth.digest_length = 0, auth.auth.digest_length = 12, EINVAL);
	REFUSED(auth.auth.key.length = 65, auth.auth.key.length = 20, EINVAL);
	REFUSED(auth.auth.algo = RTE_CRYPTO_AUTH_SM3, auth.auth.algo = RTE_CRYPTO_AUTH_SHA1_HMAC,
		ENOTSUP);
	REFUSED(auth.auth.algo = RTE_CRYPTO_AUTH_AES_GMAC,
		auth.auth.algo = RTE_CRYPTO_AUTH_SHA1_HMAC, ENOTSUP);
	/* Decrypt and generate, encrypt and verify, three in a row. */
	REFUSED(cipher.cipher.op = RTE_CRYPTO_CIPHER_OP_DECRYPT,
		cipher.cipher.op = RTE_CRYPTO_CIPHER_OP_ENCRYPT, ENOTSUP);
	REFUSED(auth.auth.op = RTE_CRYPTO_AUTH_OP_VERIFY,
		auth.auth.op = RTE_CRYPTO_AUTH_OP_GENERATE, ENOTSUP);
	REFUSED(auth.next = &auth, auth.next = NULL, ENOTSUP);
	CHECK(rte_mempool_full(dev->sessions));
#undef REFUSED
}

/* A table of 7 sessions can be filled repeatedly, and each session is wiped on the device. */
static void full_table(void)
{
	struct suite suite = esp_template;
	void *sessions[7];
	struct device dev;

	device_open(&dev, "max_sessions=7", 1);
	for (int round = 0; round < 3; round++) {
		unsigned int before = wipes;

		for (unsigned int i = 0; i < RTE_DIM(sessions); i++) {
			suite_keys(&suite);
			sessions[i] = suite_session(&dev, &suite, i & 1);
			CHECK(sessions[i] != NULL);
		}
		CHECK(suite_session(&dev, &suite, true) == NULL && rte_errno == ENOSPC);
		for (unsigned int i = 0; i < RTE_DIM(sessions); i++)
			session_free(&dev, sessions[i]);
		CHECK(wipes == before + RTE_DIM(sessions));
	}
	device_close(&dev);
}

struct worker {
	const struct device *dev;
	uint16_t qp;
};

/* Each round creates a session, uses it at once, and frees it. */
static void *come_and_go(void *arg)
{
	const struct worker *worker = arg;

	for (int i = 0; i < 200; i++) {
		struct suite suite = esp_template;
		void *session;

		suite_keys(&suite);
		session = suite_session(worker->dev, &suite, true);
		CHECK(session != NULL);
		round_trip(worker->dev, worker->qp, session, 1 + rnd_below(32),
			   RTE_CRYPTO_OP_STATUS_SUCCESS);
		session_free(worker->dev, session);
	}
	return NULL;
}

static void sessions_under_traffic(const struct device *dev)
{
	struct worker workers[3];
	pthread_t threads[RTE_DIM(workers)];

	for (unsigned int i = 0; i < RTE_DIM(workers); i++) {
		workers[i] = (struct worker){dev, i};
		CHECK(pthread_create(&threads[i], NULL, come_and_go, &workers[i]) == 0);
	}
	for (unsigned int i = 0; i < RTE_DIM(workers); i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

/* One packet, compared with OpenSSL. */
static void check_session(const struct device *dev, const struct suite *suite, void *session)
{
	struct rte_crypto_op *op = make_op(session), *back;
	uint8_t *iv = rte_crypto_op_ctod_offset(op, uint8_t *, IV_OFFSET), expected[LEN + 64];

	memcpy(expected, rte_pktmbuf_mtod(op->sym->m_src, uint8_t *), LEN);
	reference_cipher(suite->cipher, suite->key, suite->key_len, iv, expected, LEN);
	reference_auth(suite->auth, suite->mac_key, suite->mac_key_len, NULL, expected, LEN,
		       expected + LEN);
	CHECK(rte_cryptodev_enqueue_burst(dev->id, 0, &op, 1) == 1);
	take_all(dev, 0, &back, 1);
	CHECK(memcmp(rte_pktmbuf_mtod(op->sym->m_src, uint8_t *), expected, LEN + DIGEST) == 0);
	free_op(op);
}

/* The first packet of a new session is encrypted with its key. */
static void first_packet(const struct device *dev)
{
	for (int i = 0; i < 500; i++) {
		struct suite suite = esp_template;
		void *session;

		suite_keys(&suite);
		session = suite_session(dev, &suite, true);
		check_session(dev, &suite, session);
		session_free(dev, session);
	}
}

/* Count the used entries of the device's session table. @return whether one of them has this key */
static unsigned int entries_in_use(const struct suite *suite, bool *found)
{
	static const struct ocl_session zero;
	struct ocl_session *table;
	unsigned int n = 0;
	uint32_t word;
	size_t size;

	memcpy(&word, suite->key, sizeof(word));
	word = rte_be_to_cpu_32(word);
	table = read_back(&size);
	CHECK(table != NULL && size >= MANY * sizeof(*table));
	*found = false;
	for (size_t i = 0; i < size / sizeof(*table); i++) {
		n += memcmp(&table[i], &zero, sizeof(zero)) != 0;
		*found = *found || table[i].round_key[0] == word;
	}
	free(table);
	return n;
}

/* More sessions than the default, each with its own key. Then half of them are freed, then the
 * others: the device's table has exactly the sessions in use. */
static void many_sessions(void)
{
	struct suite *suites = calloc(MANY, sizeof(*suites));
	void **sessions = calloc(MANY, sizeof(*sessions));
	struct rte_cryptodev_info info;
	struct device dev;
	bool found;

	CHECK(suites && sessions);
	/* As on a GPU: chunks are uploaded too, but they are smaller. */
	noted = MANY * sizeof(struct ocl_session);
	device_open(&dev, "memory=staged,max_sessions=66048", 1);
	rte_cryptodev_info_get(dev.id, &info);
	CHECK(info.sym.max_nb_sessions == MANY);
	rte_mempool_free(dev.sessions);
	dev.sessions = rte_cryptodev_sym_session_pool_create(
		"many", MANY + 1, rte_cryptodev_sym_get_private_session_size(dev.id), 0, 0,
		SOCKET_ID_ANY);
	CHECK(dev.sessions != NULL);
	for (unsigned int i = 0; i < MANY; i++) {
		suites[i] = esp_template;
		suite_keys(&suites[i]);
		sessions[i] = suite_session(&dev, &suites[i], true);
		CHECK(sessions[i] != NULL);
	}
	CHECK(suite_session(&dev, &suites[0], true) == NULL && rte_errno == ENOSPC);
	for (unsigned int i = 0; i < MANY; i += MANY / 128)
		check_session(&dev, &suites[i], sessions[i]);
	CHECK(entries_in_use(&suites[MANY - 1], &found) == MANY && found);
	for (unsigned int i = 1; i < MANY; i += 2)
		session_free(&dev, sessions[i]);
	CHECK(entries_in_use(&suites[MANY - 1], &found) == MANY / 2 && !found);
	for (unsigned int i = 0; i < MANY; i += MANY / 128)
		check_session(&dev, &suites[i], sessions[i]);
	for (unsigned int i = 0; i < MANY; i += 2)
		session_free(&dev, sessions[i]);
	CHECK(entries_in_use(&suites[0], &found) == 0 && !found);
	device_close(&dev);
	free(suites);
	free(sessions);
}

/* HMAC's padded keys and the transforms' keys are nowhere in memory once the session exists. */
static void expect_no_source(const struct sightings *seen)
{
	CHECK(seen->key == 0 && seen->mac_key == 0);
	CHECK(seen->inner == 0 && seen->outer == 0);
}

/* A session's keys are in the memory of host and device as long as it exists, and nowhere
 * afterwards, also if its device was lost. */
static void wiped(const char *args, bool lost)
{
	struct suite suite = esp_template;
	uint64_t deadline = 0;
	struct secrets secrets;
	struct sightings seen;
	struct device dev;
	void *session;

	device_open(&dev, args, 1);
	suite_keys(&suite);
	suite.mac_key_len = 20;
	session = suite_session(&dev, &suite, true);
	secrets_take(&secrets, &suite);
	CHECK(session != NULL);
	round_trip(&dev, 0, session, 8, RTE_CRYPTO_OP_STATUS_SUCCESS);
	seen = secrets_find(&secrets);
	CHECK(seen.round_key > 0);
	expect_no_source(&seen);
	fault_launch = lost;
	if (lost)
		round_trip(&dev, 0, session, 8, RTE_CRYPTO_OP_STATUS_ERROR);
	fault_launch = false;
	session_free(&dev, session);
	/* The device's copy is overwritten by a later upload. */
	while (seen.round_key > 0) {
		seen = secrets_find(&secrets);
		expect_no_source(&seen);
		expect_progress(0, &deadline);
	}
	device_close(&dev);
}

/* A session of another driver is refused. */
static void foreign_session(const struct device *dev)
{
	struct device other = {.name = "crypto_null_foreign"};
	struct suite suite = {.null_cipher = true};
	void *session;

	CHECK(rte_vdev_init(other.name, NULL) == 0);
	other.id = rte_cryptodev_get_dev_id(other.name);
	other.sessions = rte_cryptodev_sym_session_pool_create(
		"foreign", 1,
		RTE_MAX(rte_cryptodev_sym_get_private_session_size(dev->id),
			rte_cryptodev_sym_get_private_session_size(other.id)),
		0, 0, SOCKET_ID_ANY);
	CHECK(other.sessions != NULL);
	session = suite_session(&other, &suite, true);
	CHECK(session != NULL);
	round_trip(dev, 0, session, 2, RTE_CRYPTO_OP_STATUS_INVALID_SESSION);
	session_free(&other, session);
	CHECK(rte_vdev_uninit(other.name) == 0);
	rte_mempool_free(other.sessions);
}

/* A freed session is refused. */
static void freed_session(const struct device *dev)
{
	struct suite suite = esp_template;
	void *session;

	suite_keys(&suite);
	session = suite_session(dev, &suite, true);
	session_free(dev, session);
	round_trip(dev, 0, session, 2, RTE_CRYPTO_OP_STATUS_INVALID_SESSION);
}

/* A session is freed while one of its operations is left over for the next launch. */
static void freed_under_way(void)
{
	struct suite suite = esp_template, other = esp_template;
	struct rte_crypto_op *op[2], *back[2];
	void *session, *gone;
	struct device dev;

	device_open(&dev, "sched=all,chunk=32,bins=1,wait_us=1000000", 1);
	other.auth = OCL_AUTH_HMAC_SHA256;
	suite_keys(&suite);
	suite_keys(&other);
	session = suite_session(&dev, &suite, true);
	gone = suite_session(&dev, &other, true);
	op[0] = make_op(session);
	op[1] = make_op(gone);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op, 2) == 2);
	session_free(&dev, gone);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, NULL, 0) == 0); /* goes */
	take_all(&dev, 0, back, 2);
	CHECK(back[0] == op[0] && back[0]->status == RTE_CRYPTO_OP_STATUS_SUCCESS);
	CHECK(back[1] == op[1] && back[1]->status == RTE_CRYPTO_OP_STATUS_INVALID_SESSION);
	free_op(op[0]);
	free_op(op[1]);
	session_free(&dev, session);
	device_close(&dev);
}

/* Two bins and three algorithms: an operation that finds no bin is the first of the next launch, also if
 * others follow, and is dequeued in order of arrival. The device accepts three launches, so the statuses
 * tell which operations were in the fourth. The first launch has one operation. It and the second keep the
 * device busy, so that the third, which takes the last chunk, is launched only by an empty burst. */
static void leftover_first(void)
{
	static const enum ocl_auth auths[] = {OCL_AUTH_HMAC_SHA1, OCL_AUTH_HMAC_MD5,
					      OCL_AUTH_HMAC_SHA256};
	static const unsigned int comes[] = {0, 0, 1, 2, 0, 1};
	struct rte_crypto_op *op[RTE_DIM(comes)], *back[RTE_DIM(comes)];
	void *sessions[RTE_DIM(auths)];
	struct device dev;

	device_open_sized(&dev, "memory=staged,sched=all,chunk=64,bins=2,timeout_ms=60000", 1,
			  3 * 64);
	for (unsigned int i = 0; i < RTE_DIM(auths); i++) {
		struct suite suite = esp_template;

		suite.auth = auths[i];
		suite_keys(&suite);
		sessions[i] = suite_session(&dev, &suite, true);
		CHECK(sessions[i] != NULL);
	}
	for (unsigned int i = 0; i < RTE_DIM(comes); i++)
		op[i] = make_op(sessions[comes[i]]);
	fault_after = 3 * 3; /* upload, kernel, download */
	fault_hang = true;   /* the device is busy until all have arrived */
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op, 1) == 1);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, NULL, 0) == 0); /* goes */
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op + 1, 3) == 3);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, NULL, 0) == 0);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op + 4, 2) == 2);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, NULL, 0) == 0);
	fault_hang = false;
	take_all(&dev, 0, back, RTE_DIM(comes));
	fault_after = -1;
	for (unsigned int i = 0; i < RTE_DIM(comes); i++) {
		CHECK(back[i] == op[i]);
		CHECK(back[i]->status ==
		      (i == 5 ? RTE_CRYPTO_OP_STATUS_ERROR : RTE_CRYPTO_OP_STATUS_SUCCESS));
		free_op(back[i]);
	}
	for (unsigned int i = 0; i < RTE_DIM(auths); i++)
		session_free(&dev, sessions[i]);
	device_close(&dev);
}

/* More chunks in flight than the mailbox of the persistent kernel has room for, of one packet each. After
 * its start there are no further launches and copies. Each chunk beyond is posted when it is the oldest, on
 * a busy machine after a time slice of the kernel and one of this thread; not after thousands of polls. */
static void full_mailbox(void)
{
	static struct rte_crypto_op *op[OCL_LETTERS + 40], *back[RTE_DIM(op)];
	struct suite suite = esp_template;
	unsigned int before, moved;
	struct device dev;
	void *session;

	if (rte_vdev_init(DRIVER "_try", "memory=persistent") < 0) {
		printf("  not on this device\n");
		return;
	}
	CHECK(rte_vdev_uninit(DRIVER "_try") == 0);
	device_open(&dev, "memory=persistent,chunk=1,timeout_ms=600000", 1);
	before = launches;
	moved = transfers;
	suite_keys(&suite);
	session = suite_session(&dev, &suite, true);
	for (unsigned int i = 0; i < RTE_DIM(op); i++)
		op[i] = make_op(session);
	CHECK(rte_cryptodev_enqueue_burst(dev.id, 0, op, RTE_DIM(op)) == RTE_DIM(op));
	take_all(&dev, 0, back, RTE_DIM(op));
	for (unsigned int i = 0; i < RTE_DIM(op); i++) {
		CHECK(back[i] == op[i] && back[i]->status == RTE_CRYPTO_OP_STATUS_SUCCESS);
		free_op(back[i]);
	}
	for (unsigned int i = 0; i < 40; i++)
		round_trip(&dev, 0, session, 64, RTE_CRYPTO_OP_STATUS_SUCCESS);
	session_free(&dev, session);
	CHECK(launches == before && transfers == moved);
	device_close(&dev);
}

/* CPUs that this process may use, before EAL binds this thread to one. */
static unsigned int processors(void)
{
	cpu_set_t set;

	CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
	return CPU_COUNT(&set);
}

int main(void)
{
	bool two = processors() > 1;
	struct device dev;

	harness_start();
	operations_open();
	RUN(bad_arguments());
	RUN(good_arguments());
	RUN(most_sessions());
	RUN(full_table());
	RUN(many_sessions());
	RUN(wiped("memory=staged", false));
	RUN(wiped("memory=staged", true));
	if (device_has("memory=persistent"))
		RUN(wiped("memory=persistent", false));
	waiting(two);
	device_open(&dev, NULL, 3);
	RUN(capabilities(&dev));
	RUN(offered_sizes(&dev));
	RUN(bad_sessions(&dev));
	RUN(first_packet(&dev));
	RUN(sessions_under_traffic(&dev));
	RUN(foreign_session(&dev));
	RUN(freed_session(&dev));
	RUN(freed_under_way());
	RUN(leftover_first());
	RUN(failing_devices(&dev));
	device_close(&dev);
	RUN(failing_uploads());
	RUN(full_mailbox());
	operations_close();
	harness_stop();
	printf("all as expected\n");
	return 0;
}

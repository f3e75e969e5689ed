/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of crypto_ipsec_mb_chain: published vectors, random texts compared with OpenSSL, threads, refused
 * sessions and operations, and a faulty library. Random texts are processed by synchronous calls and
 * through a queue pair, of one kind and of several, and some are forged.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../batch.h"
#include "interpose.h"
#include "job.h"
#include "keysets.h"
#include "common.h"
#include "refused.h"
#include "faulty_library.h"
#include "vectors.h"

#define TEXTS 20000 /* default number of random texts */

static struct job jobs[MOST_JOBS];
static enum rte_crypto_op_status status[MOST_JOBS];

static const struct shape bare;

/* --- published vectors --- */

/* Check a vector by call and through the queue pair, in both directions.
 * @param plain, cipher, iv  of the cipher; may be NULL
 * @param digest             of the hash; may be NULL */
static void vector(const struct device *dev, struct keys *keys, const uint8_t *plain,
		   const uint8_t *cipher, uint32_t len, const uint8_t *iv, const uint8_t *digest)
{
	keys_open(dev, keys);
	for (unsigned int i = 0; i < 4; i++) {
		bool encrypt = i & 1;
		struct job *job = &jobs[0];
		const uint8_t *sealed = encrypt ? job->after : job->before;

		job_fill(job, keys, encrypt, bare, len, plain, iv);
		/* The expected result, made by OpenSSL, is the published one. */
		CHECK(!cipher || !memcmp(sealed + job->offset, cipher, len));
		CHECK(!digest || !memcmp(sealed + job->icv_at, digest, keys->suite.digest_len));
		job_lay(job);
		runs[i / 2](dev, job, 1, status);
		job_check(job, status[0]);
	}
	keys_close(dev, keys);
}

static bool cipher_vector(const struct device *dev, const struct cipher_vector *v)
{
	uint8_t iv[16], plain[256], cipher[256];
	struct keys keys;
	uint32_t len;

	if (v->algorithm != OCL_CIPHER_AES_CBC && v->algorithm != OCL_CIPHER_AES_CTR)
		return false;
	suite_chain(&keys.suite, v->algorithm, 0, OCL_AUTH_HMAC_SHA256, true);
	keys.suite.key_len = unhex(v->key, keys.suite.key, sizeof(keys.suite.key));
	CHECK(unhex(v->iv, iv, sizeof(iv)) == 16);
	len = unhex(v->plain, plain, sizeof(plain));
	CHECK(unhex(v->cipher, cipher, sizeof(cipher)) == len);
	vector(dev, &keys, plain, cipher, len, iv, NULL);
	return true;
}

static bool auth_vector(const struct device *dev, const struct auth_vector *v)
{
	uint8_t message[256], digest[64];
	struct keys keys;
	uint32_t len;

	if (v->auth < OCL_AUTH_HMAC_SHA1 || v->auth > OCL_AUTH_HMAC_SHA512)
		return false;
	suite_chain(&keys.suite, OCL_CIPHER_NONE, 0, v->auth, true);
	/* With the digest truncated as by IPsec, and with the full one if it is published. */
	if (unhex(v->digest, digest, sizeof(digest)) < keys.suite.digest_len)
		return false;
	keys.suite.mac_key_len = unhex(v->key, keys.suite.mac_key, sizeof(keys.suite.mac_key));
	len = unhex(v->message, message, sizeof(message));
	vector(dev, &keys, message, message, len, NULL, digest);
	suite_chain(&keys.suite, OCL_CIPHER_NONE, 0, v->auth, false);
	if (strlen(v->digest) < 2 * keys.suite.digest_len)
		return true;
	keys.suite.mac_key_len = unhex(v->key, keys.suite.mac_key, sizeof(keys.suite.mac_key));
	vector(dev, &keys, message, message, len, NULL, digest);
	return true;
}

static void vectors(const struct device *dev)
{
	unsigned int ciphers = 0, auths = 0;

	for (size_t i = 0; i < RTE_DIM(cipher_vectors); i++)
		ciphers += cipher_vector(dev, &cipher_vectors[i]);
	for (size_t i = 0; i < RTE_DIM(auth_vectors); i++)
		auths += auth_vector(dev, &auth_vectors[i]);
	CHECK(ciphers >= 19 && auths >= 18);
	printf("%u published vectors of ciphers, %u of HMAC\n", ciphers, auths);
}

/* --- compared with OpenSSL --- */

/* Mostly the length of an Ethernet packet, sometimes up to that of the longest IP packet. */
static uint32_t random_len(const struct suite *suite)
{
	const uint32_t unit = suite_unit(suite), any = rnd_below(64);
	const uint32_t most = any == 0 ? 65000 : any < 16 ? 2048 : 256;

	return unit * (1 + rnd_below(most / unit));
}

static void any_job(struct job *job, const struct keys *keys, bool encrypt, struct shape shape)
{
	job_fill(job, keys, encrypt, shape, random_len(&keys->suite), NULL, NULL);
	if (!encrypt && rnd_below(4) == 0)
		job_forge(job, rnd_below(8 * keys->suite.digest_len));
	job_lay(job);
}

static void check_all(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		job_check(&jobs[i], status[i]);
}

/* Texts of one session and one shape. */
static void random_call(const struct device *dev, const struct keys *keys, unsigned int n)
{
	const struct shape shape = shape_random();
	bool encrypt = rnd_below(2);

	for (unsigned int i = 0; i < n; i++)
		any_job(&jobs[i], keys, encrypt, shape);
	jobs_call(dev, jobs, n, status);
	check_all(n);
}

/* Texts of all sessions; or of a few, so that batches have several texts. */
static void random_burst(const struct device *dev, const struct keys keys[KEYSETS], unsigned int n)
{
	const unsigned int kinds = rnd_below(2) ? KEYSETS : 1 + rnd_below(4);
	const unsigned int first = rnd_below(KEYSETS);

	for (unsigned int i = 0; i < n; i++)
		any_job(&jobs[i], &keys[(first + rnd_below(kinds)) % KEYSETS], rnd_below(2),
			shape_random());
	jobs_enqueue(dev, jobs, n, status);
	check_all(n);
}

static void random_texts(const struct device *dev, unsigned int texts)
{
	for (unsigned int done = 0; done < texts;) {
		struct keys keys[KEYSETS];

		keysets_open(dev, keys);
		for (unsigned int i = 0; i < KEYSETS && done < texts; i++) {
			unsigned int n = 1 + (rnd_below(2) ? rnd_below(16) : rnd_below(MOST_JOBS));

			random_call(dev, &keys[i], n);
			random_burst(dev, keys, n);
			done += 2 * n;
		}
		keysets_close(dev, keys);
	}
	printf("%u random texts\n", texts);
}

/* Texts of the maximum and of the minimum length, in a packet with nothing but text and ICV. */
static void longest_and_shortest(const struct device *dev)
{
	for (unsigned int kind = 0; kind < KEYSETS; kind++) {
		struct keys keys;
		uint32_t unit, room;

		keyset_open(dev, &keys, kind);
		unit = suite_unit(&keys.suite);
		room = RTE_MIN(PACKET - keys.suite.digest_len, CHAIN_LONGEST);
		for (unsigned int i = 0; i < 8; i++) {
			uint32_t len = i & 4 ? room / unit * unit : unit;

			job_fill_bare(&jobs[0], &keys, i & 1, bare, len);
			job_lay(&jobs[0]);
			runs[i / 2 % 2](dev, jobs, 1, status);
			check_all(1);
		}
		keys_close(dev, &keys);
	}
}

/* A wrong bit anywhere in the ICV is detected. */
static void every_icv_bit(const struct device *dev)
{
	for (unsigned int kind = 0; kind < 16; kind++) {
		struct keys keys;

		keyset_open(dev, &keys, kind);
		for (unsigned int bit = 0; bit < 8 * keys.suite.digest_len; bit++) {
			job_fill(&jobs[bit % 64], &keys, false, bare, 32, NULL, NULL);
			job_forge(&jobs[bit % 64], bit);
			job_lay(&jobs[bit % 64]);
			if ((bit + 1) % 32)
				continue;
			runs[bit / 32 % 2](dev, jobs + bit % 64 - 31, 32, status);
			for (unsigned int i = 0; i < 32; i++)
				job_check(&jobs[bit % 64 - 31 + i], status[i]);
		}
		keys_close(dev, &keys);
	}
}

/* One forged text at any position: only this one is not decrypted. */
static void one_forged(const struct device *dev)
{
	const unsigned int n = CHAIN_BATCH + 3;
	struct keys keys;

	for (unsigned int round = 0; round < 2 * n; round++) {
		keyset_open(dev, &keys, round);
		for (unsigned int i = 0; i < n; i++) {
			job_fill(&jobs[i], &keys, false, bare, 16 * (1 + rnd_below(8)), NULL, NULL);
			if (i == round / 2)
				job_forge(&jobs[i], rnd_below(8 * keys.suite.digest_len));
			job_lay(&jobs[i]);
		}
		runs[round % 2](dev, jobs, n, status);
		check_all(n);
		keys_close(dev, &keys);
	}
}

/* --- threads --- */

#define BURSTS 30u
#define BURST  24u

struct caller {
	const struct device *dev;
	const struct keys *keys;
	pthread_t thread;
};

static void *call(void *data)
{
	const struct caller *caller = data;
	struct job *own = calloc(BURST, sizeof(*own));
	enum rte_crypto_op_status own_status[BURST];

	CHECK(own);
	for (unsigned int burst = 0; burst < BURSTS; burst++) {
		const struct shape shape = shape_random();

		for (unsigned int i = 0; i < BURST; i++)
			any_job(&own[i], caller->keys, burst & 1, shape);
		jobs_call(caller->dev, own, BURST, own_status);
		for (unsigned int i = 0; i < BURST; i++)
			job_check(&own[i], own_status[i]);
	}
	free(own);
	return NULL;
}

/* Pairs of threads that use the same sessions. Their managers are freed when they end. */
static void threads(const struct device *dev)
{
	const unsigned int managers = managers_open;

	for (unsigned int round = 0; round < 8; round++) {
		struct caller callers[2];
		struct keys keys;

		keyset_open(dev, &keys, 8 + 6 * round);
		for (unsigned int i = 0; i < RTE_DIM(callers); i++) {
			callers[i] = (struct caller){.dev = dev, .keys = &keys};
			CHECK(!pthread_create(&callers[i].thread, NULL, call, &callers[i]));
		}
		for (unsigned int i = 0; i < RTE_DIM(callers); i++)
			CHECK(!pthread_join(callers[i].thread, NULL));
		CHECK(managers_open == managers);
		keys_close(dev, &keys);
	}
}

/* A thread that gets no manager: all texts of its call fail, and a later call succeeds. */
static void *without_manager(void *data)
{
	const struct caller *caller = data;
	struct job *own = calloc(2, sizeof(*own));
	struct call made;

	CHECK(own);
	for (unsigned int i = 0; i < 2; i++) {
		job_fill(&own[i], caller->keys, true, bare, 64, NULL, NULL);
		job_lay(&own[i]);
	}
	call_describe(&made, caller->dev, own, 2);
	no_aesni = true;
	CHECK(call_make(&made) == 0);
	no_aesni = false;
	for (unsigned int i = 0; i < 2; i++) {
		CHECK(made.err[i] == ENOTSUP);
		CHECK(packet_holds(own[i].m, own[i].before, own[i].total));
	}
	CHECK(call_make(&made) == 2);
	for (unsigned int i = 0; i < 2; i++)
		job_check(&own[i], RTE_CRYPTO_OP_STATUS_SUCCESS);
	free(own);
	return NULL;
}

static void refused_thread(const struct device *dev)
{
	const unsigned int managers = managers_open;
	struct caller caller = {.dev = dev};
	struct keys keys;

	keyset_open(dev, &keys, 8);
	caller.keys = &keys;
	log_begin();
	CHECK(!pthread_create(&caller.thread, NULL, without_manager, &caller));
	CHECK(!pthread_join(caller.thread, NULL));
	CHECK(log_end("this CPU has no AES-NI") == 1);
	CHECK(managers_open == managers);
	keys_close(dev, &keys);
}

/* --- the device --- */

static void wiped(const struct device *dev)
{
	struct suite suite;

	suite_chain(&suite, OCL_CIPHER_AES_CBC, 32, OCL_AUTH_HMAC_SHA512, false);
	common_wiped_sessions(dev, &suite);
}

static uint8_t queue_icv[64];

static void describe(struct rte_crypto_op *op)
{
	op->sym->auth.data.length = 64;
	op->sym->auth.digest.data = queue_icv;
}

static void queue(const struct device *dev)
{
	struct keys keys;

	suite_chain(&keys.suite, OCL_CIPHER_NONE, 0, OCL_AUTH_HMAC_SHA512, false);
	keys_open(dev, &keys);
	common_full_queue(dev, keys.session[1], describe);
	keys_close(dev, &keys);
}

static void device_info(const struct device *dev)
{
	struct rte_cryptodev_info info;

	rte_cryptodev_info_get(dev->id, &info);
	CHECK(info.max_nb_queue_pairs == 3);
	CHECK(info.feature_flags & RTE_CRYPTODEV_FF_SYM_CPU_CRYPTO);
	CHECK(info.feature_flags & RTE_CRYPTODEV_FF_SYM_OPERATION_CHAINING);
	/* One of the device, and one of each queue pair. */
	CHECK(managers_open == 1 + 2);
}

int main(int argc, char **argv)
{
	struct device dev;

	harness_start();
	device_open(&dev, "max_nb_queue_pairs=3", 2);
	jobs_open();
	device_info(&dev);
	vectors(&dev);
	random_texts(&dev, argc > 1 ? (unsigned int)atoi(argv[1]) : TEXTS);
	longest_and_shortest(&dev);
	every_icv_bit(&dev);
	one_forged(&dev);
	refused_sessions(&dev);
	refused_calls(&dev);
	refused_operations(&dev);
	queue(&dev);
	wiped(&dev);
	unprocessed_texts(&dev);
	icv_is_wiped(&dev);
	threads(&dev);
	refused_thread(&dev);
	common_refused_devices();
	jobs_close();
	device_close(&dev);
	/* The manager of this thread is freed when it ends. */
	CHECK(managers_open == 1);
	harness_stop();
	return 0;
}

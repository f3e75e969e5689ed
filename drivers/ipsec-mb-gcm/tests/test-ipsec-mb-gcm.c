/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of crypto_ipsec_mb_gcm: published vectors, random texts compared with OpenSSL, and refused
 * sessions and operations. Random texts are processed by synchronous calls and through a queue pair,
 * with one and several segments, in place and out of place, and some are forged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cryptodev_pmd.h>
#include <rte_cycles.h>

#include "../pmd.h"
#include "../session.h"
#include "job.h"
#include "common.h"
#include "interpose.h"
#include "vectors.h"

#define TEXTS 20000 /* default number of random texts */

typedef void (*jobs_run)(const struct device *dev, void *session, struct job *jobs, unsigned int n,
			 enum rte_crypto_op_status *status);

static const jobs_run runs[] = {jobs_call, jobs_enqueue};

static struct job jobs[MOST_JOBS];

/* --- published vectors --- */

static void vector(const struct device *dev, const struct aead_vector *v)
{
	struct keys keys = {.suite = {.cipher = OCL_CIPHER_AES_GCM, .iv_len = 12}};
	uint8_t iv[12], aad[64], plain[256], cipher[256], tag[16];
	uint32_t len = unhex(v->plain, plain, sizeof(plain));
	enum rte_crypto_op_status status;

	keys.suite.key_len = unhex(v->key, keys.suite.key, sizeof(keys.suite.key));
	keys.suite.aad_len = unhex(v->aad, aad, sizeof(aad));
	keys.suite.digest_len = unhex(v->tag, tag, sizeof(tag));
	CHECK(unhex(v->iv, iv, sizeof(iv)) == 12 &&
	      unhex(v->cipher, cipher, sizeof(cipher)) == len);
	keys_open(dev, &keys);
	for (unsigned int i = 0; i < 4; i++) {
		bool encrypt = i & 1;
		struct job *job = &jobs[0];

		job_fill(job, &keys.suite, encrypt, plain, len, iv, aad);
		/* The expected result, made by OpenSSL, is the published one. */
		CHECK(!memcmp((encrypt ? job->after : job->before) + job->offset, cipher, len));
		CHECK(!memcmp(job->icv_after + MARGIN, tag, keys.suite.digest_len));
		job_lay(job, 1, 0);
		runs[i / 2](dev, keys.session[encrypt], job, 1, &status);
		job_check(job, status);
	}
	keys_close(dev, &keys);
}

static void vectors(const struct device *dev)
{
	unsigned int n = 0;

	for (size_t i = 0; i < RTE_DIM(aead_vectors); i++) {
		if (aead_vectors[i].algorithm != OCL_CIPHER_AES_GCM)
			continue;
		vector(dev, &aead_vectors[i]);
		n++;
	}
	CHECK(n >= 18);
	printf("%u published vectors\n", n);
}

/* --- compared with OpenSSL --- */

static uint32_t random_len(void)
{
	return rnd_below(4) ? rnd_below(300) : rnd_below(MAX_TEXT + 1);
}

static unsigned int random_segments(void)
{
	return rnd_below(2) ? 1 : 1 + rnd_below(6);
}

static void burst(const struct device *dev, const struct keys *keys, unsigned int n)
{
	enum rte_crypto_op_status status[MOST_JOBS];
	bool encrypt = rnd_below(2), in_place = rnd_below(2);

	for (unsigned int i = 0; i < n; i++) {
		job_fill(&jobs[i], &keys->suite, encrypt, NULL, random_len(), NULL, NULL);
		if (!encrypt && rnd_below(4) == 0)
			job_forge(&jobs[i], rnd_below(8 * keys->suite.digest_len));
		job_lay(&jobs[i], random_segments(), in_place ? 0 : random_segments());
	}
	runs[rnd_below(2)](dev, keys->session[encrypt], jobs, n, status);
	for (unsigned int i = 0; i < n; i++)
		job_check(&jobs[i], status[i]);
}

static void random_texts(const struct device *dev, unsigned int texts)
{
	for (unsigned int done = 0; done < texts;) {
		struct keys keys = {.suite.cipher = OCL_CIPHER_AES_GCM};

		suite_randomize(&keys.suite);
		if (rnd_below(8) == 0)
			keys.suite.aad_len = rnd_below(LONG_AAD + 1);
		keys_open(dev, &keys);
		for (unsigned int i = 0; i < 16; i++) {
			unsigned int n = 1 + rnd_below(MOST_JOBS);

			burst(dev, &keys, n);
			done += n;
		}
		keys_close(dev, &keys);
	}
	printf("%u random texts\n", texts);
}

/* A wrong bit anywhere in the ICV is detected. */
static void every_icv_bit(const struct device *dev)
{
	for (uint32_t len = 8; len <= 16; len += 4) {
		struct keys keys = {.suite = {.cipher = OCL_CIPHER_AES_GCM}};

		suite_randomize(&keys.suite);
		keys.suite.digest_len = len;
		keys_open(dev, &keys);
		for (unsigned int bit = 0; bit < 8 * len; bit++) {
			enum rte_crypto_op_status status;

			job_fill(&jobs[0], &keys.suite, false, NULL, 64, NULL, NULL);
			job_forge(&jobs[0], bit);
			job_lay(&jobs[0], 1 + bit % 2, 0);
			runs[bit / 2 % 2](dev, keys.session[0], jobs, 1, &status);
			job_check(&jobs[0], status);
		}
		keys_close(dev, &keys);
	}
}

/* --- refused --- */

static void refused_sessions(const struct device *dev)
{
	const struct suite good = {
		.cipher = OCL_CIPHER_AES_GCM,
		.key_len = 16,
		.digest_len = 16,
		.aad_len = 8,
		.iv_len = 12,
	};
	struct suite bad[7];
	void *session = suite_session(dev, &good, true);

	CHECK(session);
	session_free(dev, session);
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		bad[i] = good;
	bad[0].cipher = OCL_CIPHER_AES_CCM;
	bad[1].cipher = OCL_CIPHER_AES_CBC;
	bad[2].key_len = 20;
	bad[3].digest_len = 4;
	bad[4].digest_len = 20;
	bad[5].iv_len = 16;
	bad[6].aad_len = LONG_AAD + 1;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		CHECK(!suite_session(dev, &bad[i], true));
}

/* Calls with an offset, or with a destination that is too short, change nothing. */
static void refused_calls(const struct device *dev, const struct keys *keys)
{
	union rte_crypto_sym_ofs part = {.ofs.cipher.head = 4};
	uint8_t text[100] = {1}, to[100] = {2}, icv[16] = {3}, iv[12] = {0}, aad[LONG_AAD] = {0};
	uint8_t icv_before[16], to_before[100];
	struct rte_crypto_vec from_vec = {.base = text, .len = 100},
			      to_vec = {.base = to, .len = 99};
	struct rte_crypto_sgl from_sgl = {.vec = &from_vec, .num = 1},
			      to_sgl = {.vec = &to_vec, .num = 1};
	struct rte_crypto_va_iova_ptr iv_at = {.va = iv}, aad_at = {.va = aad},
				      icv_at = {.va = icv};
	int32_t status = 0;
	struct rte_crypto_sym_vec vec = {
		.num = 1,
		.src_sgl = &from_sgl,
		.dest_sgl = &to_sgl,
		.iv = &iv_at,
		.aad = &aad_at,
		.digest = &icv_at,
		.status = &status,
	};

	memcpy(icv_before, icv, sizeof(icv));
	memcpy(to_before, to, sizeof(to));
	CHECK(!rte_cryptodev_sym_cpu_crypto_process(dev->id, keys->session[1], part, &vec));
	CHECK(status == ENOTSUP);
	part.raw = 0;
	CHECK(!rte_cryptodev_sym_cpu_crypto_process(dev->id, keys->session[1], part, &vec));
	CHECK(status == EINVAL);
	CHECK(!memcmp(icv, icv_before, sizeof(icv)) && !memcmp(to, to_before, sizeof(to)));
}

enum { IV, AAD, ICV, TEXT, NONE, PARTS };

/* Calls with a NULL address fail, because ipsec_mb would do nothing and return no error. Empty parts
 * may have a NULL address. */
static void null_in_call(const struct device *dev, const struct keys *keys, bool encrypt, int part,
			 uint32_t pieces)
{
	uint8_t text[100] = {1}, icv[16] = {3}, iv[12] = {0}, aad[LONG_AAD] = {0};
	const uint32_t len = part == NONE ? 0 : sizeof(text) / 2;
	uint8_t *const base = part == NONE || part == TEXT ? NULL : text;
	struct rte_crypto_vec piece[2] = {
		{.base = base, .len = len},
		{.base = text + 50, .len = len},
	};
	struct rte_crypto_sgl sgl = {.vec = piece, .num = pieces};
	struct rte_crypto_va_iova_ptr iv_at = {.va = part == IV ? NULL : iv};
	struct rte_crypto_va_iova_ptr aad_at = {.va = part == AAD ? NULL : aad};
	struct rte_crypto_va_iova_ptr icv_at = {.va = part == ICV ? NULL : icv};
	int32_t status = EIO;
	struct rte_crypto_sym_vec vec = {
		.num = 1,
		.src_sgl = &sgl,
		.iv = &iv_at,
		.aad = &aad_at,
		.digest = &icv_at,
		.status = &status,
	};
	bool fine = part == NONE || (part == AAD && !keys->suite.aad_len);

	rte_cryptodev_sym_cpu_crypto_process(dev->id, keys->session[encrypt],
					     (union rte_crypto_sym_ofs){0}, &vec);
	CHECK(status == (!fine ? EINVAL : encrypt ? 0 : EBADMSG));
	CHECK(fine || (text[0] == 1 && text[50] == 0 && icv[0] == 3));
}

/* Operations with a NULL address fail. */
static void null_in_operation(const struct device *dev, const struct keys *keys, bool encrypt,
			      int part)
{
	struct rte_mempool *pool = rte_crypto_op_pool_create("null", RTE_CRYPTO_OP_TYPE_SYMMETRIC,
							     63, 0, 16, SOCKET_ID_ANY);
	uint8_t text[100] = {1}, icv[16] = {3}, aad[LONG_AAD] = {0};
	struct rte_mbuf *m = packet_make(text, sizeof(text), 1);
	bool fine = part == IV || (part == AAD && !keys->suite.aad_len);
	struct rte_crypto_op *op, *back;

	CHECK(pool);
	op = rte_crypto_op_alloc(pool, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
	CHECK(op && rte_crypto_op_attach_sym_session(op, keys->session[encrypt]) == 0);
	memset(rte_crypto_op_ctod_offset(op, uint8_t *, IV_OFFSET), 0, 12);
	op->type = part == NONE ? RTE_CRYPTO_OP_TYPE_UNDEFINED : RTE_CRYPTO_OP_TYPE_SYMMETRIC;
	op->sym->m_src = part == TEXT ? NULL : m;
	op->sym->aead.data.length = sizeof(text);
	op->sym->aead.aad.data = part == AAD ? NULL : aad;
	op->sym->aead.digest.data = part == ICV ? NULL : icv;
	CHECK(rte_cryptodev_enqueue_burst(dev->id, 0, &op, 1) == 1);
	CHECK(rte_cryptodev_dequeue_burst(dev->id, 0, &back, 1) == 1 && back == op);
	CHECK(op->status == (!fine     ? RTE_CRYPTO_OP_STATUS_INVALID_ARGS
			     : encrypt ? RTE_CRYPTO_OP_STATUS_SUCCESS
				       : RTE_CRYPTO_OP_STATUS_AUTH_FAILED));
	CHECK(fine || (packet_holds(m, text, sizeof(text)) && icv[0] == 3));
	rte_mempool_put(pool, op);
	rte_mempool_free(pool);
	rte_pktmbuf_free(m);
}

static void null_addresses(const struct device *dev, uint32_t aad_len)
{
	struct keys keys = {.suite.cipher = OCL_CIPHER_AES_GCM};

	suite_randomize(&keys.suite);
	keys.suite.aad_len = aad_len;
	keys_open(dev, &keys);
	for (int part = 0; part < PARTS; part++) {
		for (unsigned int i = 0; i < 4; i++)
			null_in_call(dev, &keys, i & 1, part, 1 + i / 2);
		for (unsigned int i = 0; i < 2; i++)
			null_in_operation(dev, &keys, i & 1, part);
	}
	keys_close(dev, &keys);
}

/* Simulates a faulty ipsec_mb, which does nothing from the second text on. */
static struct gcm_library library;
static aes_gcm_enc_dec_t in_use; /* for a text in one segment */
static unsigned int texts;

static void idle_once(const struct gcm_key_data *key, struct gcm_context_data *context, uint8_t *to,
		      const uint8_t *from, uint64_t len, const uint8_t *iv, const uint8_t *aad,
		      uint64_t aad_len, uint8_t *icv, uint64_t icv_len)
{
	if (texts++ == 0)
		in_use(key, context, to, from, len, iv, aad, aad_len, icv, icv_len);
}

static void idle_finalize(const struct gcm_key_data *key, struct gcm_context_data *context,
			  uint8_t *icv, uint64_t icv_len)
{
	if (texts++ == 0)
		library.finalize[1](key, context, icv, icv_len);
}

/* The library computes no ICV for the second text. The ICV of the first text, which would be correct
 * for the second one, must not be used. */
static void stale_icv(const struct device *dev, const struct keys *keys, unsigned int segments)
{
	struct gcm_session *s = CRYPTODEV_GET_SYM_SESS_PRIV(keys->session[0]);
	const struct gcm_library *own = s->library;
	const aes_gcm_enc_dec_t once = s->once, vaes = s->own;
	struct gcm_library idle = *own;
	enum rte_crypto_op_status status[2];

	library = *own;
	in_use = s->own_below > 64 ? vaes : once;
	idle.finalize[1] = idle_finalize;
	s->library = &idle;
	s->once = s->own = idle_once;
	texts = 0;
	job_fill(&jobs[0], &keys->suite, false, NULL, 64, NULL, NULL);
	jobs[1] = jobs[0];
	jobs[1].forged = true;
	job_lay(&jobs[0], segments, 0);
	job_lay(&jobs[1], segments, 0);
	jobs_call(dev, keys->session[0], jobs, 2, status);
	s->library = own;
	s->once = once;
	s->own = vaes;
	job_check(&jobs[0], status[0]);
	CHECK(status[1] == RTE_CRYPTO_OP_STATUS_AUTH_FAILED);
	rte_pktmbuf_free(jobs[1].src);
}

/* Operations whose range exceeds the packet, or has too many segments. */
static void refused_operations(const struct device *dev, const struct keys *keys)
{
	static const struct {
		unsigned int segments;
		uint32_t beyond; /* the packet's end */
		enum rte_crypto_op_status status;
	} cases[] = {
		{1, 0, RTE_CRYPTO_OP_STATUS_SUCCESS},
		{64, 0, RTE_CRYPTO_OP_STATUS_SUCCESS},
		{65, 0, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
		{1, 1, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
		{3, 7, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
		{2, UINT32_MAX - 300, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct job *job = &jobs[0];
		enum rte_crypto_op_status status;

		job_fill(job, &keys->suite, true, NULL, 300, NULL, NULL);
		job->src = job->dst = packet_make_even(job->before, 300, cases[i].segments);
		job->offset = 0;
		job->len += cases[i].beyond;
		jobs_enqueue(dev, keys->session[1], job, 1, &status);
		CHECK(status == cases[i].status);
		rte_pktmbuf_free(job->src);
	}
}

static uint8_t queue_aad[LONG_AAD], queue_icv[16];

static void describe(struct rte_crypto_op *op)
{
	op->sym->aead.data.length = 64;
	op->sym->aead.digest.data = queue_icv;
	op->sym->aead.aad.data = queue_aad;
}

static void refused(const struct device *dev)
{
	struct keys keys = {.suite.cipher = OCL_CIPHER_AES_GCM};

	refused_sessions(dev);
	suite_randomize(&keys.suite);
	keys_open(dev, &keys);
	refused_calls(dev, &keys);
	refused_operations(dev, &keys);
	common_full_queue(dev, keys.session[1], describe);
	stale_icv(dev, &keys, 1);
	stale_icv(dev, &keys, 3);
	keys_close(dev, &keys);
	null_addresses(dev, 12);
	null_addresses(dev, 0);
}

static void wiped(const struct device *dev)
{
	struct suite suite = {.cipher = OCL_CIPHER_AES_GCM};

	suite_randomize(&suite);
	common_wiped_sessions(dev, &suite);
}

static void device_info(const struct device *dev)
{
	struct rte_cryptodev_info info;

	rte_cryptodev_info_get(dev->id, &info);
	CHECK(info.max_nb_queue_pairs == 3);
	CHECK(info.feature_flags & RTE_CRYPTODEV_FF_SYM_CPU_CRYPTO);
}

static bool has_vaes;

/* Takes longer than any function, also on a slow machine and with sanitizers, and does nothing else. */
static void slow_once(const struct gcm_key_data *key __rte_unused,
		      struct gcm_context_data *context __rte_unused, uint8_t *to __rte_unused,
		      const uint8_t *from __rte_unused, uint64_t len __rte_unused,
		      const uint8_t *iv __rte_unused, const uint8_t *aad __rte_unused,
		      uint64_t aad_len __rte_unused, uint8_t *icv __rte_unused,
		      uint64_t icv_len __rte_unused)
{
	rte_delay_us_block(200);
}

/* A library that is slower than our functions, where the CPU has their instructions. */
static void use_slow(IMB_MGR *mgr)
{
	has_vaes = vaes_is_there(mgr);
	if (has_vaes)
		mgr->gcm128_enc = mgr->gcm128_dec = slow_once;
}

static uint32_t own_below(const struct device *dev)
{
	const struct gcm_pmd *pmd = rte_cryptodev_pmd_get_dev(dev->id)->data->dev_private;

	return pmd->own_below;
}

static void try_device(unsigned int number)
{
	struct device dev;

	device_open(&dev, "max_nb_queue_pairs=3", 2);
	CHECK(!manager_initialised || own_below(&dev) == (has_vaes ? UINT32_MAX : 0));
	if (own_below(&dev))
		printf("ipsec_mb processes texts of %u bytes and more\n", own_below(&dev));
	else
		printf("this device does not use vaes.c\n");
	jobs_open();
	device_info(&dev);
	vectors(&dev);
	random_texts(&dev, number);
	every_icv_bit(&dev);
	refused(&dev);
	wiped(&dev);
	common_refused_devices();
	jobs_close();
	device_close(&dev);
}

int main(int argc, char **argv)
{
	unsigned int number = argc > 1 ? (unsigned int)atoi(argv[1]) : TEXTS;

	harness_start();
	try_device(number);
	manager_initialised = use_slow;
	try_device(number);
	harness_stop();
	return 0;
}

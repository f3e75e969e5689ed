/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <cryptodev_pmd.h>

#include "../batch.h"
#include "interpose.h"
#include "job.h"
#include "keysets.h"
#include "qp.h"
#include "reference.h"
#include "faulty_library.h"

#define TEXTS 5u

static struct job jobs[TEXTS];

static struct chain_batch *queue_batch(const struct device *dev)
{
	struct mb_qp *qp = rte_cryptodev_pmd_get_dev(dev->id)->data->queue_pairs[0];

	return (struct chain_batch *)qp->scratch;
}

/* --- a library that does not process all texts --- */

static submit_cipher_burst_t real_cipher;
static submit_hash_burst_t real_hash;
static uint32_t does;	/* number of texts that the library processes */
static bool counts_all; /* it returns n nevertheless */
static bool says_all;	/* it returns n, and sets the status of all jobs to completed */

static uint32_t idle_cipher(IMB_MGR *mgr, IMB_JOB *job, const uint32_t n,
			    const IMB_CIPHER_MODE mode, const IMB_CIPHER_DIRECTION direction,
			    const IMB_KEY_SIZE_BYTES key_len)
{
	uint32_t done = does ? real_cipher(mgr, job, RTE_MIN(does, n), mode, direction, key_len)
			     : 0;

	return counts_all ? n : done;
}

static uint32_t idle_hash(IMB_MGR *mgr, IMB_JOB *job, const uint32_t n, const IMB_HASH_ALG hash)
{
	uint32_t done = does ? real_hash(mgr, job, RTE_MIN(does, n), hash) : 0;

	for (uint32_t i = done; says_all && i < n; i++)
		job[i].status = IMB_STATUS_COMPLETED;
	return says_all || counts_all ? n : done;
}

static enum idle { CIPHER, HASH, BOTH } idle;
static unsigned int resets; /* number of times that a manager was initialised again */

static void set_idle(IMB_MGR *mgr)
{
	if (idle != HASH)
		mgr->submit_cipher_burst_nocheck = idle_cipher;
	if (idle != CIPHER)
		mgr->submit_hash_burst_nocheck = idle_hash;
}

static void idle_again(IMB_MGR *mgr)
{
	resets++;
	set_idle(mgr);
}

static void make_idle(IMB_MGR *mgr, enum idle which)
{
	real_cipher = mgr->submit_cipher_burst_nocheck;
	real_hash = mgr->submit_hash_burst_nocheck;
	idle = which;
	manager_initialised = idle_again;
	set_idle(mgr);
}

static void make_right(IMB_MGR *mgr)
{
	manager_initialised = NULL;
	mgr->submit_cipher_burst_nocheck = real_cipher;
	mgr->submit_hash_burst_nocheck = real_hash;
}

static void fill(const struct keys *keys, bool encrypt)
{
	for (unsigned int i = 0; i < TEXTS; i++) {
		job_fill(&jobs[i], keys, encrypt, (struct shape){.head = 8}, 64, NULL, NULL);
		job_lay(&jobs[i]);
	}
}

/* Forge the first text, so that it need not be decrypted. */
static void forge_first(void)
{
	rte_pktmbuf_free(jobs[0].m);
	job_forge(&jobs[0], 0);
	job_lay(&jobs[0]);
}

/* If the library does not process all texts, all fail, and the driver resets the manager, which may
 * still hold jobs. Forged texts need not be decrypted. */
static void fails(const struct device *dev, const struct keys *keys, bool encrypt, enum idle which)
{
	struct chain_batch *batch = queue_batch(dev);
	enum rte_crypto_op_status status[TEXTS];
	bool forged = !encrypt && which == CIPHER;
	bool done = does >= TEXTS - forged;
	unsigned int before = resets;

	fill(keys, encrypt);
	if (forged)
		forge_first();
	make_idle(batch->mgr, which);
	jobs_enqueue(dev, jobs, TEXTS, status);
	make_right(batch->mgr);
	CHECK(done == (resets == before));
	CHECK(!forged || status[0] == RTE_CRYPTO_OP_STATUS_AUTH_FAILED);
	/* All texts fail, also those that the library has processed. */
	for (unsigned int i = forged; i < TEXTS; i++)
		CHECK(status[i] ==
		      (done ? RTE_CRYPTO_OP_STATUS_SUCCESS : RTE_CRYPTO_OP_STATUS_ERROR));
	for (unsigned int i = 0; i < TEXTS; i++)
		rte_pktmbuf_free(jobs[i].m);
}

/* Verify texts, and then the same texts with a library that computes no ICV. Neither the ICVs of the
 * first pass, which would be correct, nor the zeros that they were wiped with, may verify. */
static void stale_tags(const struct device *dev, const struct keys *keys)
{
	struct chain_batch *batch = queue_batch(dev);
	enum rte_crypto_op_status status[TEXTS];

	fill(keys, false);
	jobs_enqueue(dev, jobs, TEXTS, status);
	for (unsigned int i = 0; i < TEXTS; i++) {
		job_check(&jobs[i], status[i]);
		if (i & 1 && i >= does)
			memset(jobs[i].before + jobs[i].icv_at, 0, keys->suite.digest_len);
		job_lay(&jobs[i]);
	}
	make_idle(batch->mgr, HASH);
	jobs_enqueue(dev, jobs, TEXTS, status);
	make_right(batch->mgr);
	for (unsigned int i = 0; i < TEXTS; i++)
		if (i < does)
			rte_pktmbuf_free(jobs[i].m);
		else
			job_expect(&jobs[i], status[i],
				   says_all ? RTE_CRYPTO_OP_STATUS_AUTH_FAILED
					    : RTE_CRYPTO_OP_STATUS_ERROR);
	/* Later texts are processed. */
	fill(keys, false);
	jobs_enqueue(dev, jobs, TEXTS, status);
	for (unsigned int i = 0; i < TEXTS; i++)
		job_check(&jobs[i], status[i]);
}

void unprocessed_texts(const struct device *dev)
{
	static const enum idle idles[] = {CIPHER, HASH, BOTH};
	struct keys keys[KEYSETS];

	keysets_open(dev, keys);
	for (does = 0; does < TEXTS; does++) {
		for (unsigned int k = 0; k < KEYSETS; k++) {
			for (unsigned int i = 0; i < 4 * RTE_DIM(idles); i++) {
				counts_all = i & 2;
				if (keys[k].suite.cipher || idles[i / 4] != CIPHER)
					fails(dev, &keys[k], i & 1, idles[i / 4]);
			}
			counts_all = false;
			for (int all = 0; all < 2; all++) {
				says_all = all;
				stale_tags(dev, &keys[k]);
			}
			says_all = false;
		}
	}
	keysets_close(dev, keys);
}

/* --- memory --- */

static bool holds(const void *memory, size_t size, const uint8_t *bytes, size_t n)
{
	return memmem(memory, size, bytes, n);
}

/* Search the first 8 bytes of a digest, as bytes and as big-endian words of 32 and of 64 bits. */
static void check_gone(const struct chain_batch *batch, const uint8_t *digest)
{
	uint8_t as_is[8], words[8], word[8];

	memcpy(as_is, digest, 8);
	for (unsigned int i = 0; i < 8; i++) {
		words[i] = digest[i ^ 3];
		word[i] = digest[7 - i];
	}
	CHECK(!holds(batch, sizeof(*batch), as_is, 8));
	CHECK(!holds(batch->mgr, imb_get_mb_mgr_size(), as_is, 8));
	CHECK(!holds(batch->mgr, imb_get_mb_mgr_size(), words, 8));
	CHECK(!holds(batch->mgr, imb_get_mb_mgr_size(), word, 8));
}

void icv_is_wiped(const struct device *dev)
{
	for (unsigned int kind = 0; kind < KEYSETS; kind++) {
		enum rte_crypto_op_status status[TEXTS];
		uint8_t digest[TEXTS][64];
		struct keys keys;

		keyset_open(dev, &keys, kind);
		fill(&keys, false);
		for (unsigned int i = 0; i < TEXTS; i++) {
			memcpy(digest[i], jobs[i].before + jobs[i].icv_at, keys.suite.digest_len);
			rte_pktmbuf_free(jobs[i].m);
			job_forge(&jobs[i], 0);
			job_lay(&jobs[i]);
		}
		jobs_enqueue(dev, jobs, TEXTS, status);
		for (unsigned int i = 0; i < TEXTS; i++) {
			job_check(&jobs[i], status[i]);
			check_gone(queue_batch(dev), digest[i]);
		}
		keys_close(dev, &keys);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <cryptodev_pmd.h>

#include "../bunch.h"
#include "interpose.h"
#include "job.h"
#include "keysets.h"
#include "qp.h"
#include "reference.h"
#include "unreliable.h"

#define TEXTS 5u

static struct job jobs[TEXTS];

static struct chain_bunch *queue_bunch(const struct device *dev)
{
	struct mb_qp *qp = rte_cryptodev_pmd_get_dev(dev->id)->data->queue_pairs[0];

	return (struct chain_bunch *)qp->scratch;
}

/* --- where it does less than it is told --- */

static submit_cipher_burst_t real_cipher;
static submit_hash_burst_t real_hash;
static uint32_t does; /* so many of them */
static bool counts_all, says_all; /* says that it has done n; of each text as well */

static uint32_t idle_cipher(IMB_MGR *mgr, IMB_JOB *job, const uint32_t n, const IMB_CIPHER_MODE mode,
			    const IMB_CIPHER_DIRECTION direction, const IMB_KEY_SIZE_BYTES key_len)
{
	uint32_t done = does ? real_cipher(mgr, job, RTE_MIN(does, n), mode, direction, key_len) : 0;

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
static unsigned int begun; /* managers, anew */

static void set_idle(IMB_MGR *mgr)
{
	if (idle != HASH)
		mgr->submit_cipher_burst_nocheck = idle_cipher;
	if (idle != CIPHER)
		mgr->submit_hash_burst_nocheck = idle_hash;
}

static void idle_again(IMB_MGR *mgr)
{
	begun++;
	set_idle(mgr);
}

static void make_idle(IMB_MGR *mgr, enum idle which)
{
	real_cipher = mgr->submit_cipher_burst_nocheck;
	real_hash = mgr->submit_hash_burst_nocheck;
	idle = which;
	manager_begins = idle_again;
	set_idle(mgr);
}

static void make_right(IMB_MGR *mgr)
{
	manager_begins = NULL;
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

/* The first, forged, for that reason. */
static void forge_first(void)
{
	rte_pktmbuf_free(jobs[0].m);
	job_forge(&jobs[0], 0);
	job_lay(&jobs[0]);
}

/* None of them goes well where the library does not do all. What is not authentic it need not decrypt. What
 * it may have kept of them is thrown away, or it would come back among the next ones. */
static void fails(const struct device *dev, const struct keys *keys, bool encrypt, enum idle which)
{
	struct chain_bunch *bunch = queue_bunch(dev);
	enum rte_crypto_op_status status[TEXTS];
	bool forged = !encrypt && which == CIPHER;
	bool done = does >= TEXTS - forged;
	unsigned int before = begun;

	fill(keys, encrypt);
	if (forged)
		forge_first();
	make_idle(bunch->mgr, which);
	jobs_enqueue(dev, jobs, TEXTS, status);
	make_right(bunch->mgr);
	CHECK(done == (begun == before));
	CHECK(!forged || status[0] == RTE_CRYPTO_OP_STATUS_AUTH_FAILED);
	/* The others neither: which of them it has done is not asked. */
	for (unsigned int i = forged; i < TEXTS; i++)
		CHECK(status[i] == (done ? RTE_CRYPTO_OP_STATUS_SUCCESS : RTE_CRYPTO_OP_STATUS_ERROR));
	for (unsigned int i = 0; i < TEXTS; i++)
		rte_pktmbuf_free(jobs[i].m);
}

/* The texts verify. Then the same again, where no tag is computed, though the library may say so: those
 * of before, which are right, must not be taken for it, nor the zeros that they have been wiped with. */
static void stale_tags(const struct device *dev, const struct keys *keys)
{
	struct chain_bunch *bunch = queue_bunch(dev);
	enum rte_crypto_op_status status[TEXTS];

	fill(keys, false);
	jobs_enqueue(dev, jobs, TEXTS, status);
	for (unsigned int i = 0; i < TEXTS; i++) {
		job_check(&jobs[i], status[i]);
		if (i & 1 && i >= does)
			memset(jobs[i].before + jobs[i].icv_at, 0, keys->suite.digest_len);
		job_lay(&jobs[i]);
	}
	make_idle(bunch->mgr, HASH);
	jobs_enqueue(dev, jobs, TEXTS, status);
	make_right(bunch->mgr);
	for (unsigned int i = 0; i < TEXTS; i++)
		if (i < does)
			rte_pktmbuf_free(jobs[i].m);
		else
			job_expect(&jobs[i], status[i],
				   says_all ? RTE_CRYPTO_OP_STATUS_AUTH_FAILED :
					      RTE_CRYPTO_OP_STATUS_ERROR);
	/* And then all is well again. */
	fill(keys, false);
	jobs_enqueue(dev, jobs, TEXTS, status);
	for (unsigned int i = 0; i < TEXTS; i++)
		job_check(&jobs[i], status[i]);
}

void not_worked_on(const struct device *dev)
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

/* --- what is left --- */

static bool holds(const void *memory, size_t size, const uint8_t *bytes, size_t n)
{
	return memmem(memory, size, bytes, n);
}

/* Eight bytes of it in any order that the library may have them in: as words of 32 or 64 bits. */
static void check_gone(const struct chain_bunch *bunch, const uint8_t *digest)
{
	uint8_t as_is[8], words[8], word[8];

	memcpy(as_is, digest, 8);
	for (unsigned int i = 0; i < 8; i++) {
		words[i] = digest[i ^ 3];
		word[i] = digest[7 - i];
	}
	CHECK(!holds(bunch, sizeof(*bunch), as_is, 8));
	CHECK(!holds(bunch->mgr, imb_get_mb_mgr_size(), as_is, 8));
	CHECK(!holds(bunch->mgr, imb_get_mb_mgr_size(), words, 8));
	CHECK(!holds(bunch->mgr, imb_get_mb_mgr_size(), word, 8));
}

void nothing_left(const struct device *dev)
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
			check_gone(queue_bunch(dev), digest[i]);
		}
		keys_close(dev, &keys);
	}
}

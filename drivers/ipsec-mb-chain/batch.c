/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "batch.h"
#include "device.h"
#include "icv.h"

int chain_batch_open(struct chain_batch *batch, const struct mb_driver *driver)
{
	batch->n = 0;
	batch->mgr = mb_manager_open(driver);
	return batch->mgr ? 0 : -rte_errno;
}

void chain_batch_close(struct chain_batch *batch)
{
	mb_manager_close(batch->mgr);
	explicit_bzero(batch, sizeof(*batch));
}

/* Whether the library can process a text: it does not check its arguments. */
static bool is_valid(const struct chain_session *s, const struct chain_text *text)
{
	if (!text->start || !text->icv || !text->len || text->len > CHAIN_LONGEST)
		return false;
	if (s->kind.cipher == IMB_CIPHER_NULL)
		return true;
	/* The encrypted range must be inside the authenticated one. */
	return text->iv && text->cipher_len && text->cipher_len % s->unit == 0 &&
	       (uint64_t)text->head + text->cipher_len <= text->len;
}

int chain_batch_add(struct chain_batch *batch, const struct chain_session *s,
		    const struct chain_text *text)
{
	unsigned int i = batch->n;
	IMB_JOB *job = &batch->job[i];

	if (unlikely(!is_valid(s, text)))
		return EINVAL;
	if (i == 0)
		batch->like = s;
	batch->n++;
	batch->icv[i] = text->icv;
	job->enc_keys = s->round_keys;
	job->dec_keys = s->round_keys;
	job->key_len_in_bytes = s->kind.key_len;
	job->src = text->start;
	job->dst = text->start + text->head;
	job->cipher_start_src_offset_in_bytes = text->head;
	job->msg_len_to_cipher_in_bytes = text->cipher_len;
	job->iv = text->iv;
	job->iv_len_in_bytes = 16;
	job->hash_start_src_offset_in_bytes = 0;
	job->msg_len_to_hash_in_bytes = text->len;
	job->auth_tag_output_len_in_bytes = s->digest_len;
	job->u.HMAC._hashed_auth_key_xor_ipad = (const uint8_t *)s->inner;
	job->u.HMAC._hashed_auth_key_xor_opad = (const uint8_t *)s->outer;
	if (s->kind.direction == IMB_DIR_ENCRYPT) {
		job->auth_tag_output = text->icv;
		return 0;
	}
	job->auth_tag_output = batch->tag[i];
	mb_icv_invert(batch->tag[i], text->icv, s->digest_len);
	return 0;
}

/* Reset the status of the first n jobs, which the library sets when a cipher or a hash is done. */
static void begin(struct chain_batch *batch, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		batch->job[i].status = IMB_STATUS_BEING_PROCESSED;
}

/* @param done  number of jobs that the library says it has processed
 * @return      whether these are the first n jobs, and each is completed */
static bool all_done(struct chain_batch *batch, uint32_t done, unsigned int n)
{
	bool all = done == n;

	for (unsigned int i = 0; i < n; i++)
		all = all && batch->job[i].status == IMB_STATUS_COMPLETED;
	/* If the library still holds a job, a later call would return it. Reset the manager. */
	if (unlikely(!all))
		init_mb_mgr_auto(batch->mgr, NULL);
	return all;
}

static bool cipher(struct chain_batch *batch, unsigned int n)
{
	const struct chain_kind *kind = &batch->like->kind;
	uint32_t done;

	if (kind->cipher == IMB_CIPHER_NULL || n == 0)
		return true;
	begin(batch, n);
	done = IMB_SUBMIT_CIPHER_BURST_NOCHECK(batch->mgr, batch->job, n,
					       (IMB_CIPHER_MODE)kind->cipher,
					       (IMB_CIPHER_DIRECTION)kind->direction,
					       (IMB_KEY_SIZE_BYTES)kind->key_len);
	return all_done(batch, done, n);
}

static bool hash(struct chain_batch *batch)
{
	uint32_t done;

	begin(batch, batch->n);
	done = IMB_SUBMIT_HASH_BURST_NOCHECK(batch->mgr, batch->job, batch->n,
					     (IMB_HASH_ALG)batch->like->kind.hash);
	return all_done(batch, done, batch->n);
}

static void encrypt(struct chain_batch *batch)
{
	bool done = cipher(batch, batch->n) && hash(batch);

	memset(batch->status, done ? 0 : EIO, batch->n);
}

static bool is_authentic(const struct chain_batch *batch, unsigned int i, const IMB_JOB *job)
{
	return mb_icv_equal(batch->tag[i], batch->icv[i],
			    (unsigned int)job->auth_tag_output_len_in_bytes);
}

/* Compare the ICVs, and move the jobs of authentic texts to the front, to be decrypted. The last job
 * takes the place of a forged one, so that a forged text costs one copy of a job.
 * @param[out] which  index of the text of each of these jobs
 * @return            number of authentic texts */
static unsigned int verify(struct chain_batch *batch, uint8_t *which)
{
	unsigned int good = batch->n, i = 0;

	for (unsigned int k = 0; k < good; k++)
		which[k] = (uint8_t)k;
	while (i < good) {
		bool authentic = is_authentic(batch, which[i], &batch->job[i]);

		batch->status[which[i]] = authentic ? 0 : EBADMSG;
		if (authentic) {
			i++;
		} else if (i < --good) {
			which[i] = which[good];
			batch->job[i] = batch->job[good];
		}
	}
	return good;
}

/* Decrypts only texts that are authentic. */
static void decrypt(struct chain_batch *batch)
{
	uint8_t which[CHAIN_BATCH];
	unsigned int good = 0;

	if (hash(batch))
		good = verify(batch, which);
	else
		memset(batch->status, EIO, batch->n);
	explicit_bzero(batch->tag, batch->n * sizeof(batch->tag[0]));
	if (!cipher(batch, good))
		for (unsigned int i = 0; i < good; i++)
			batch->status[which[i]] = EIO;
}

void chain_batch_work(struct chain_batch *batch)
{
	if (batch->n == 0)
		return;
	if (batch->like->kind.direction == IMB_DIR_ENCRYPT)
		encrypt(batch);
	else
		decrypt(batch);
	batch->n = 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "bunch.h"
#include "device.h"
#include "icv.h"

int chain_bunch_open(struct chain_bunch *bunch, const struct mb_driver *driver)
{
	bunch->n = 0;
	bunch->mgr = mb_manager_open(driver);
	return bunch->mgr ? 0 : -rte_errno;
}

void chain_bunch_close(struct chain_bunch *bunch)
{
	mb_manager_close(bunch->mgr);
	explicit_bzero(bunch, sizeof(*bunch));
}

/* Whether the library, which does not look, can work on it. */
static bool is_whole(const struct chain_session *s, const struct chain_text *text)
{
	if (!text->at || !text->icv || !text->len || text->len > CHAIN_LONGEST)
		return false;
	if (s->kind.cipher == IMB_CIPHER_NULL)
		return true;
	/* All that is encrypted is authenticated, too. */
	return text->iv && text->cipher_len && text->cipher_len % s->unit == 0 &&
	       (uint64_t)text->head + text->cipher_len <= text->len;
}

int chain_bunch_add(struct chain_bunch *bunch, const struct chain_session *s,
		    const struct chain_text *text)
{
	unsigned int i = bunch->n;
	IMB_JOB *job = &bunch->job[i];

	if (unlikely(!is_whole(s, text)))
		return EINVAL;
	if (i == 0)
		bunch->like = s;
	bunch->n++;
	bunch->icv[i] = text->icv;
	job->enc_keys = s->round_keys;
	job->dec_keys = s->round_keys;
	job->key_len_in_bytes = s->kind.key_len;
	job->src = text->at;
	job->dst = text->at + text->head;
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
	job->auth_tag_output = bunch->tag[i];
	mb_icv_spoil(bunch->tag[i], text->icv, s->digest_len);
	return 0;
}

/* The library says of each text when it is done, be it with a cipher or a hash. */
static void begin(struct chain_bunch *bunch, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		bunch->job[i].status = IMB_STATUS_BEING_PROCESSED;
}

/* @param done  how many it says it has done. @return whether these are the first n, all of them */
static bool all_done(struct chain_bunch *bunch, uint32_t done, unsigned int n)
{
	bool all = done == n;

	for (unsigned int i = 0; i < n; i++)
		all = all && bunch->job[i].status == IMB_STATUS_COMPLETED;
	/* One that it has kept would come back among others, and count as one of them. */
	if (unlikely(!all))
		init_mb_mgr_auto(bunch->mgr, NULL);
	return all;
}

static bool cipher(struct chain_bunch *bunch, unsigned int n)
{
	const struct chain_kind *kind = &bunch->like->kind;
	uint32_t done;

	if (kind->cipher == IMB_CIPHER_NULL || n == 0)
		return true;
	begin(bunch, n);
	done = IMB_SUBMIT_CIPHER_BURST_NOCHECK(bunch->mgr, bunch->job, n,
					       (IMB_CIPHER_MODE)kind->cipher,
					       (IMB_CIPHER_DIRECTION)kind->direction,
					       (IMB_KEY_SIZE_BYTES)kind->key_len);
	return all_done(bunch, done, n);
}

static bool hash(struct chain_bunch *bunch)
{
	uint32_t done;

	begin(bunch, bunch->n);
	done = IMB_SUBMIT_HASH_BURST_NOCHECK(bunch->mgr, bunch->job, bunch->n,
					     (IMB_HASH_ALG)bunch->like->kind.hash);
	return all_done(bunch, done, bunch->n);
}

static void encrypt(struct chain_bunch *bunch)
{
	bool done = cipher(bunch, bunch->n) && hash(bunch);

	memset(bunch->status, done ? 0 : EIO, bunch->n);
}

static bool is_authentic(const struct chain_bunch *bunch, unsigned int i, const IMB_JOB *job)
{
	return mb_icv_same(bunch->tag[i], bunch->icv[i],
			   (unsigned int)job->auth_tag_output_len_in_bytes);
}

/* What is authentic comes first, to be decrypted. Who forges has one job moved with each text, not all
 * that are behind it. @return how many; which[] says which they were */
static unsigned int verify(struct chain_bunch *bunch, uint8_t *which)
{
	unsigned int good = bunch->n, i = 0;

	for (unsigned int k = 0; k < good; k++)
		which[k] = (uint8_t)k;
	while (i < good) {
		bool authentic = is_authentic(bunch, which[i], &bunch->job[i]);

		bunch->status[which[i]] = authentic ? 0 : EBADMSG;
		if (authentic) {
			i++;
		} else if (i < --good) {
			which[i] = which[good];
			bunch->job[i] = bunch->job[good];
		}
	}
	return good;
}

/* Only what is authentic. */
static void decrypt(struct chain_bunch *bunch)
{
	uint8_t which[CHAIN_BUNCH];
	unsigned int good = 0;

	if (hash(bunch))
		good = verify(bunch, which);
	else
		memset(bunch->status, EIO, bunch->n);
	explicit_bzero(bunch->tag, bunch->n * sizeof(bunch->tag[0]));
	if (!cipher(bunch, good))
		for (unsigned int i = 0; i < good; i++)
			bunch->status[which[i]] = EIO;
}

void chain_bunch_work(struct chain_bunch *bunch)
{
	if (bunch->n == 0)
		return;
	if (bunch->like->kind.direction == IMB_DIR_ENCRYPT)
		encrypt(bunch);
	else
		decrypt(bunch);
	bunch->n = 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "bunch.h"
#include "device.h"

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
	return text->iv && text->cipher_len && text->cipher_len % s->unit == 0 &&
	       text->head <= CHAIN_LONGEST && text->cipher_len <= CHAIN_LONGEST;
}

/* Another tag than the one it shall be compared with: whatever the library does or does not do, only
 * one that it has computed now can be the same. */
static void spoil_tag(uint8_t *tag, const uint8_t *than, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		tag[i] = (uint8_t)~than[i];
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
	bunch->digest_len[i] = s->digest_len;
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
	job->status = IMB_STATUS_BEING_PROCESSED;
	if (s->kind.direction == IMB_DIR_ENCRYPT) {
		job->auth_tag_output = text->icv;
		return 0;
	}
	job->auth_tag_output = bunch->tag[i];
	spoil_tag(bunch->tag[i], text->icv, s->digest_len);
	return 0;
}

static void cipher(struct chain_bunch *bunch, unsigned int n)
{
	const struct chain_kind *kind = &bunch->like->kind;

	if (kind->cipher != IMB_CIPHER_NULL && n)
		IMB_SUBMIT_CIPHER_BURST_NOCHECK(bunch->mgr, bunch->job, n,
						(IMB_CIPHER_MODE)kind->cipher,
						(IMB_CIPHER_DIRECTION)kind->direction,
						(IMB_KEY_SIZE_BYTES)kind->key_len);
}

static void hash(struct chain_bunch *bunch)
{
	IMB_SUBMIT_HASH_BURST_NOCHECK(bunch->mgr, bunch->job, bunch->n,
				      (IMB_HASH_ALG)bunch->like->kind.hash);
}

static void encrypt(struct chain_bunch *bunch)
{
	IMB_STATUS all = IMB_STATUS_COMPLETED_AUTH;

	if (bunch->like->kind.cipher != IMB_CIPHER_NULL)
		all |= IMB_STATUS_COMPLETED_CIPHER;
	cipher(bunch, bunch->n);
	hash(bunch);
	for (unsigned int i = 0; i < bunch->n; i++)
		bunch->status[i] = (bunch->job[i].status & all) == all ? 0 : EIO;
}

/* In constant time. */
static bool same_tag(const uint8_t *a, const uint8_t *b, unsigned int len)
{
	uint8_t differ = 0;

	for (unsigned int i = 0; i < len; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

/* What is authentic moves up, to be decrypted. @return how many; which[] says which they were */
static unsigned int verify(struct chain_bunch *bunch, uint8_t *which)
{
	unsigned int good = 0;

	for (unsigned int i = 0; i < bunch->n; i++) {
		const IMB_JOB *job = &bunch->job[i];

		if (!(job->status & IMB_STATUS_COMPLETED_AUTH)) {
			bunch->status[i] = EIO;
		} else if (!same_tag(bunch->tag[i], bunch->icv[i], bunch->digest_len[i])) {
			bunch->status[i] = EBADMSG;
		} else {
			bunch->status[i] = 0;
			which[good] = (uint8_t)i;
			if (good != i)
				bunch->job[good] = *job;
			good++;
		}
	}
	return good;
}

/* Only what is authentic. */
static void decrypt(struct chain_bunch *bunch)
{
	uint8_t which[CHAIN_BUNCH];
	unsigned int good;

	hash(bunch);
	good = verify(bunch, which);
	explicit_bzero(bunch->tag, bunch->n * sizeof(bunch->tag[0]));
	if (bunch->like->kind.cipher == IMB_CIPHER_NULL)
		return;
	cipher(bunch, good);
	for (unsigned int i = 0; i < good; i++)
		if (!(bunch->job[i].status & IMB_STATUS_COMPLETED_CIPHER))
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

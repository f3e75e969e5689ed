/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "ipsec-mb/operation.h"
#include "job.h"
#include "keysets.h"
#include "queue.h"
#include "refused.h"

/* --- sessions --- */

enum { ENCRYPT_GENERATE, VERIFY_DECRYPT };

/* Fill in a valid chain, for the caller to make it invalid. */
static void chain(struct rte_crypto_sym_xform x[3], const struct suite *suite, int order)
{
	struct xforms good;
	const bool encrypt = order == ENCRYPT_GENERATE;

	suite_xforms(suite, encrypt, &good);
	x[0] = *good.first;
	x[1] = *good.first->next;
	x[0].next = &x[1];
	x[2] = x[1];
	x[2].next = NULL;
}

static void refuse(const struct device *dev, struct rte_crypto_sym_xform *x, int why)
{
	rte_errno = 0;
	CHECK(!rte_cryptodev_sym_session_create(dev->id, x, dev->sessions));
	CHECK(rte_errno == why);
}

static void refused_chains(const struct device *dev, const struct suite *suite)
{
	struct rte_crypto_sym_xform x[3];

	chain(x, suite, ENCRYPT_GENERATE);
	x[1].next = &x[2];
	refuse(dev, x, ENOTSUP); /* three */
	chain(x, suite, VERIFY_DECRYPT);
	x[1].next = &x[2];
	refuse(dev, x, ENOTSUP);
	chain(x, suite, ENCRYPT_GENERATE);
	x[0].next = NULL;
	refuse(dev, x, ENOTSUP); /* a cipher alone */
	x[0].next = &x[0];
	refuse(dev, x, ENOTSUP); /* two ciphers */
	chain(x, suite, VERIFY_DECRYPT);
	x[1] = x[0];
	x[1].next = NULL;
	refuse(dev, x, ENOTSUP); /* two hashes */
	chain(x, suite, ENCRYPT_GENERATE);
	x[1].auth.op = RTE_CRYPTO_AUTH_OP_VERIFY;
	refuse(dev, x, ENOTSUP);
	chain(x, suite, ENCRYPT_GENERATE);
	x[0].cipher.op = RTE_CRYPTO_CIPHER_OP_DECRYPT;
	refuse(dev, x, ENOTSUP); /* decrypt, then generate */
	chain(x, suite, VERIFY_DECRYPT);
	x[0].auth.op = RTE_CRYPTO_AUTH_OP_GENERATE;
	refuse(dev, x, ENOTSUP);
	chain(x, suite, VERIFY_DECRYPT);
	x[1].cipher.op = RTE_CRYPTO_CIPHER_OP_ENCRYPT;
	refuse(dev, x, ENOTSUP); /* encrypt after verify */
}

/* Chains that authenticate the plaintext. */
static void refused_orders(const struct device *dev, struct suite suite)
{
	suite.swapped = true;
	for (int encrypt = 0; encrypt < 2; encrypt++) {
		rte_errno = 0;
		CHECK(!suite_session(dev, &suite, encrypt) && rte_errno == ENOTSUP);
	}
}

static void refused_algorithms(const struct device *dev, const struct suite *suite)
{
	struct rte_crypto_sym_xform x[3];

	chain(x, suite, ENCRYPT_GENERATE);
	x[0].cipher.algo = RTE_CRYPTO_CIPHER_AES_ECB;
	refuse(dev, x, ENOTSUP);
	x[0].cipher.algo = RTE_CRYPTO_CIPHER_NULL;
	refuse(dev, x, ENOTSUP);
	chain(x, suite, ENCRYPT_GENERATE);
	x[1].auth.algo = RTE_CRYPTO_AUTH_SHA224_HMAC;
	refuse(dev, x, ENOTSUP);
	x[1].auth.algo = RTE_CRYPTO_AUTH_SHA1; /* without a key */
	refuse(dev, x, ENOTSUP);
	x[1].auth.algo = RTE_CRYPTO_AUTH_NULL;
	refuse(dev, x, ENOTSUP);
	chain(x, suite, ENCRYPT_GENERATE);
	x[0].type = RTE_CRYPTO_SYM_XFORM_AEAD;
	x[0].next = NULL;
	refuse(dev, x, ENOTSUP);
}

static void refused_lengths(const struct device *dev, const struct suite *suite)
{
	static const uint16_t keys[] = {0, 8, 15, 17, 20, 31, 33, 64}, ivs[] = {0, 8, 12, 15, 17};
	const uint16_t block = suite->auth >= OCL_AUTH_HMAC_SHA384 ? 128 : 64;
	const uint16_t whole = suite->digest_len;
	const uint16_t truncated = suite->auth == OCL_AUTH_HMAC_SHA1 ? 12 : whole / 2;
	struct rte_crypto_sym_xform x[3];

	for (unsigned int i = 0; i < RTE_DIM(keys); i++) {
		chain(x, suite, VERIFY_DECRYPT);
		x[1].cipher.key.length = keys[i];
		refuse(dev, x, EINVAL);
	}
	for (unsigned int i = 0; i < RTE_DIM(ivs); i++) {
		chain(x, suite, ENCRYPT_GENERATE);
		x[0].cipher.iv.length = ivs[i];
		refuse(dev, x, EINVAL);
	}
	chain(x, suite, ENCRYPT_GENERATE);
	x[1].auth.key.length = 0;
	refuse(dev, x, EINVAL);
	x[1].auth.key.length = block + 1;
	refuse(dev, x, EINVAL);
	for (uint16_t len = 0; len < 300; len++) {
		chain(x, suite, ENCRYPT_GENERATE);
		x[1].auth.digest_length = len;
		if (len != whole && len != truncated)
			refuse(dev, x, EINVAL);
	}
}

void refused_sessions(const struct device *dev)
{
	for (enum ocl_auth auth = OCL_AUTH_HMAC_SHA1; auth <= OCL_AUTH_HMAC_SHA512; auth++) {
		struct suite suite;

		suite_chain(&suite, auth & 1 ? OCL_CIPHER_AES_CBC : OCL_CIPHER_AES_CTR, 0, auth,
			    false);
		refused_chains(dev, &suite);
		refused_orders(dev, suite);
		refused_algorithms(dev, &suite);
		refused_lengths(dev, &suite);
	}
}

/* --- texts --- */

#define TEXT  96u
#define HEAD  16u
#define TAIL  4u
#define SKIP  4u
#define SPARE 8u

static struct job jobs[3];

static void fill(const struct keys *keys, bool encrypt)
{
	const struct shape shape = {.skip = SKIP, .head = HEAD, .tail = TAIL, .spare = SPARE};

	for (unsigned int i = 0; i < RTE_DIM(jobs); i++) {
		job_fill(&jobs[i], keys, encrypt, shape, TEXT, NULL, NULL);
		job_lay(&jobs[i]);
	}
}

/* Make a call, whose first and last text must succeed. @return status of the middle text */
static int32_t call_middle(struct call *call)
{
	call_make(call);
	for (unsigned int i = 0; i < RTE_DIM(jobs); i++)
		job_expect(&jobs[i], mb_operation_status(call->err[i]),
			   i == 1 ? mb_operation_status(call->err[1])
				  : RTE_CRYPTO_OP_STATUS_SUCCESS);
	return call->err[1];
}

#define VALID (-1) /* the length is valid for this cipher: not tested */

static const struct invalid_text {
	enum { NO_BASE, NO_IV, NO_ICV, PIECES, LENGTH } what;
	uint32_t value;
	int32_t none, cbc, ctr; /* expected status, by cipher */
} invalid_texts[] = {
	{NO_BASE, 0, EINVAL, EINVAL, EINVAL},
	{NO_IV, 0, 0, EINVAL, EINVAL},
	{NO_ICV, 0, EINVAL, EINVAL, EINVAL},
	{PIECES, 0, ENOTSUP, ENOTSUP, ENOTSUP},
	{PIECES, 2, ENOTSUP, ENOTSUP, ENOTSUP},
	{LENGTH, SKIP + HEAD + TEXT + TAIL + SPARE, 0, 0, 0},
	{LENGTH, SKIP + HEAD + TEXT - 1 + TAIL + SPARE, VALID, EINVAL, VALID},
	{LENGTH, SKIP + HEAD + TAIL + SPARE, VALID, EINVAL, EINVAL},
	{LENGTH, SKIP + HEAD + TAIL + SPARE - 1, VALID, EINVAL, EINVAL},
	{LENGTH, SKIP + SPARE, EINVAL, EINVAL, EINVAL},
	{LENGTH, SKIP + SPARE - 1, EINVAL, EINVAL, EINVAL},
	{LENGTH, 0, EINVAL, EINVAL, EINVAL},
	/* Longer than CHAIN_LONGEST, as a multiple of a block; and longer than 16 bits. */
	{LENGTH, SKIP + HEAD + 65504 + TAIL + SPARE, EINVAL, EINVAL, EINVAL},
	{LENGTH, SKIP + HEAD + 65536 + TEXT + TAIL + SPARE, EINVAL, EINVAL, EINVAL},
	{LENGTH, UINT32_MAX, EINVAL, EINVAL, EINVAL},
};

static void spoil_call(struct call *call, const struct invalid_text *invalid)
{
	static struct rte_crypto_vec two[2];
	struct rte_crypto_vec *piece = &call->piece[1];

	switch (invalid->what) {
	case NO_BASE:
		piece->base = NULL;
		break;
	case NO_IV:
		call->iv[1].va = NULL;
		break;
	case NO_ICV:
		call->icv[1].va = NULL;
		break;
	case PIECES:
		two[0] = two[1] = *piece;
		two[0].len = 60;
		two[1].base = (uint8_t *)piece->base + 60;
		two[1].len -= 60;
		call->sgl[1] = (struct rte_crypto_sgl){.vec = two, .num = invalid->value};
		break;
	case LENGTH:
		piece->len = invalid->value;
		break;
	}
}

static void refused_call(const struct device *dev, const struct keys *keys,
			 const struct invalid_text *invalid)
{
	const enum ocl_cipher cipher = keys->suite.cipher;
	const int32_t err = cipher == OCL_CIPHER_NONE	   ? invalid->none
			    : cipher == OCL_CIPHER_AES_CBC ? invalid->cbc
							   : invalid->ctr;

	if (err == VALID)
		return;
	for (int encrypt = 0; encrypt < 2; encrypt++) {
		struct call call;

		fill(keys, encrypt);
		call_describe(&call, dev, jobs, RTE_DIM(jobs));
		spoil_call(&call, invalid);
		CHECK(call_middle(&call) == err);
	}
}

/* Make a call that must fail all texts with the same status. */
static void refused_wholly(struct call *call, int32_t err)
{
	CHECK(!call_make(call));
	for (unsigned int i = 0; i < RTE_DIM(jobs); i++) {
		CHECK(call->err[i] == err);
		job_expect(&jobs[i], mb_operation_status(err), mb_operation_status(err));
	}
}

static void out_of_place(const struct device *dev, const struct keys *keys)
{
	struct call call, other;

	fill(keys, true);
	call_describe(&call, dev, jobs, RTE_DIM(jobs));
	call_describe(&other, dev, jobs, RTE_DIM(jobs));
	call.vec.dest_sgl = other.sgl;
	refused_wholly(&call, ENOTSUP);
}

/* The encrypted range exceeds the authenticated one. */
static void beyond_auth(const struct device *dev, const struct keys *keys, int head, int tail)
{
	struct call call;

	fill(keys, true);
	call_describe(&call, dev, jobs, RTE_DIM(jobs));
	call.ofs.ofs.cipher.head = (uint16_t)(call.ofs.ofs.cipher.head + head);
	call.ofs.ofs.cipher.tail = (uint16_t)(call.ofs.ofs.cipher.tail + tail);
	refused_wholly(&call, EINVAL);
}

/* Without a cipher its offsets and IV are ignored. */
static void without_cipher(const struct device *dev, const struct keys *keys)
{
	static const uint16_t outside[] = {0, 1, UINT16_MAX};

	for (unsigned int i = 0; i < 2 * RTE_DIM(outside); i++) {
		struct call call;

		fill(keys, i & 1);
		call_describe(&call, dev, jobs, RTE_DIM(jobs));
		call.ofs.ofs.cipher.head = call.ofs.ofs.cipher.tail = outside[i / 2];
		call.vec.iv = NULL;
		CHECK(call_middle(&call) == 0);
	}
}

void refused_calls(const struct device *dev)
{
	static const enum ocl_cipher ciphers[] = {OCL_CIPHER_NONE, OCL_CIPHER_AES_CBC,
						  OCL_CIPHER_AES_CTR};

	for (unsigned int i = 0; i < RTE_DIM(ciphers); i++) {
		struct keys keys;

		suite_chain(&keys.suite, ciphers[i], 0, OCL_AUTH_HMAC_SHA1, true);
		keys_open(dev, &keys);
		for (unsigned int j = 0; j < RTE_DIM(invalid_texts); j++)
			refused_call(dev, &keys, &invalid_texts[j]);
		out_of_place(dev, &keys);
		if (ciphers[i]) {
			beyond_auth(dev, &keys, -(int)HEAD - 1, (int)HEAD + 1);
			beyond_auth(dev, &keys, (int)TAIL + 1, -(int)TAIL - 1);
		} else {
			without_cipher(dev, &keys);
		}
		keys_close(dev, &keys);
	}
}

/* --- operations --- */

static const struct invalid_operation {
	enum {
		UNCHANGED,
		SESSION,
		SESSIONLESS,
		ASYMMETRIC,
		PACKET_NONE,
		PACKET_OTHER,
		DIGEST_NONE,
		CIPHER_AT,
		CIPHER_LEN,
		AUTH_AT,
		AUTH_LEN,
		SEGMENTED
	} what;
	uint32_t value;
	enum rte_crypto_op_status status;
} invalid_operations[] = {
	{UNCHANGED, 0, RTE_CRYPTO_OP_STATUS_SUCCESS},
	{SESSION, 0, RTE_CRYPTO_OP_STATUS_INVALID_SESSION},
	{SESSIONLESS, 0, RTE_CRYPTO_OP_STATUS_INVALID_SESSION},
	{ASYMMETRIC, 0, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{PACKET_NONE, 0, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{PACKET_OTHER, 0, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{DIGEST_NONE, 0, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{CIPHER_AT, 3, RTE_CRYPTO_OP_STATUS_INVALID_ARGS}, /* before the authenticated range */
	{CIPHER_AT, 0, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{CIPHER_AT, 500, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{CIPHER_AT, UINT32_MAX, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{CIPHER_AT, UINT32_MAX - TEXT + 1,
	 RTE_CRYPTO_OP_STATUS_INVALID_ARGS}, /* the end wraps to 0 */
	{CIPHER_LEN, 0, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{CIPHER_LEN, TEXT - 1,
	 RTE_CRYPTO_OP_STATUS_INVALID_ARGS}, /* not a multiple of CBC's block */
	{CIPHER_LEN, 512, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{CIPHER_LEN, 65536, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{CIPHER_LEN, UINT32_MAX, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{CIPHER_LEN, UINT32_MAX - 15, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{AUTH_AT, 500, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{AUTH_AT, UINT32_MAX, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{AUTH_LEN, 0, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	/* The encrypted range exceeds the authenticated one. */
	{AUTH_LEN, HEAD + TEXT - 1, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{AUTH_LEN, 500, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{AUTH_LEN, 65536, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{AUTH_LEN, UINT32_MAX, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
	{AUTH_LEN, UINT32_MAX - 3, RTE_CRYPTO_OP_STATUS_INVALID_ARGS}, /* the end wraps to 0 */
	{SEGMENTED, 0, RTE_CRYPTO_OP_STATUS_INVALID_ARGS},
};

static void spoil_operation(struct rte_crypto_op *op, struct rte_mbuf *other,
			    const struct invalid_operation *invalid)
{
	struct rte_crypto_sym_op *sym = op->sym;

	switch (invalid->what) {
	case UNCHANGED:
	case SEGMENTED:
		break;
	case SESSION:
		sym->session = NULL;
		break;
	case SESSIONLESS:
		op->sess_type = RTE_CRYPTO_OP_SESSIONLESS;
		break;
	case ASYMMETRIC:
		op->type = RTE_CRYPTO_OP_TYPE_ASYMMETRIC;
		break;
	case PACKET_NONE:
		sym->m_src = NULL;
		break;
	case PACKET_OTHER:
		sym->m_dst = other;
		break;
	case DIGEST_NONE:
		sym->auth.digest.data = NULL;
		break;
	case CIPHER_AT:
		sym->cipher.data.offset = invalid->value;
		break;
	case CIPHER_LEN:
		sym->cipher.data.length = invalid->value;
		break;
	case AUTH_AT:
		sym->auth.data.offset = invalid->value;
		break;
	case AUTH_LEN:
		sym->auth.data.length = invalid->value;
		break;
	}
}

static void refused_operation(const struct device *dev, const struct keys *keys, bool encrypt,
			      const struct invalid_operation *invalid)
{
	struct rte_crypto_op *ops[3];
	enum rte_crypto_op_status status[3];
	struct rte_mbuf *other;

	fill(keys, encrypt);
	other = packet_make(jobs[1].before, jobs[1].total, 1);
	if (invalid->what == SEGMENTED) {
		rte_pktmbuf_free(jobs[1].m);
		jobs[1].m = packet_make_even(jobs[1].before, jobs[1].total, 2);
	}
	for (unsigned int i = 0; i < RTE_DIM(jobs); i++)
		ops[i] = job_operation(&jobs[i]);
	ops[1]->sym->m_dst = NULL;
	spoil_operation(ops[1], other, invalid);
	queue_run(dev, ops, RTE_DIM(jobs), status);
	for (unsigned int i = 0; i < RTE_DIM(jobs); i++)
		job_expect(&jobs[i], status[i],
			   i == 1 ? invalid->status : RTE_CRYPTO_OP_STATUS_SUCCESS);
	CHECK(packet_holds(other, jobs[1].before, jobs[1].total));
	rte_pktmbuf_free(other);
}

void refused_operations(const struct device *dev)
{
	struct keys keys;

	suite_chain(&keys.suite, OCL_CIPHER_AES_CBC, 0, OCL_AUTH_HMAC_SHA256, true);
	keys_open(dev, &keys);
	for (unsigned int i = 0; i < RTE_DIM(invalid_operations); i++)
		for (int encrypt = 0; encrypt < 2; encrypt++)
			refused_operation(dev, &keys, encrypt, &invalid_operations[i]);
	keys_close(dev, &keys);
}

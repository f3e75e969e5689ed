/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "keys.h"
#include "log.h"
#include "pmd.h"
#include "session.h"

/* The parts of a session, from one transform or two. */
struct plan {
	struct ocl_session entry; /* keys: wipe */
	struct ocl_session_priv priv;
};

struct cipher {
	enum rte_crypto_cipher_algorithm algo;
	enum ocl_cipher label;
	uint8_t block, iv_len; /* bytes */
};

static const struct cipher ciphers[] = {
	{RTE_CRYPTO_CIPHER_NULL, OCL_CIPHER_NONE, 1, 0},
	{RTE_CRYPTO_CIPHER_AES_CBC, OCL_CIPHER_AES_CBC, 16, 16},
	{RTE_CRYPTO_CIPHER_AES_CTR, OCL_CIPHER_AES_CTR, 1, 16},
	{RTE_CRYPTO_CIPHER_3DES_CBC, OCL_CIPHER_3DES_CBC, 8, 8},
};

struct auth {
	enum rte_crypto_auth_algorithm algo;
	enum ocl_auth label;
	uint8_t min_digest, max_digest, step; /* bytes */
	uint8_t iv_len;			      /* bytes */
};

static const struct auth auths[] = {
	{RTE_CRYPTO_AUTH_NULL, OCL_AUTH_NONE, 0, 0, 1, 0},
	{RTE_CRYPTO_AUTH_MD5_HMAC, OCL_AUTH_HMAC_MD5, 1, 16, 1, 0},
	{RTE_CRYPTO_AUTH_SHA1_HMAC, OCL_AUTH_HMAC_SHA1, 1, 20, 1, 0},
	{RTE_CRYPTO_AUTH_SHA256_HMAC, OCL_AUTH_HMAC_SHA256, 1, 32, 1, 0},
	{RTE_CRYPTO_AUTH_SHA384_HMAC, OCL_AUTH_HMAC_SHA384, 1, 48, 1, 0},
	{RTE_CRYPTO_AUTH_SHA512_HMAC, OCL_AUTH_HMAC_SHA512, 1, 64, 1, 0},
	{RTE_CRYPTO_AUTH_AES_XCBC_MAC, OCL_AUTH_AES_XCBC, 12, 16, 4, 0},
	{RTE_CRYPTO_AUTH_AES_GMAC, OCL_AUTH_AES_GMAC, 8, 16, 4, 12},
};

static const struct cipher *find_cipher(enum rte_crypto_cipher_algorithm algo)
{
	for (size_t i = 0; i < RTE_DIM(ciphers); i++) {
		if (ciphers[i].algo == algo)
			return &ciphers[i];
	}
	return NULL;
}

static const struct auth *find_auth(enum rte_crypto_auth_algorithm algo)
{
	for (size_t i = 0; i < RTE_DIM(auths); i++) {
		if (auths[i].algo == algo)
			return &auths[i];
	}
	return NULL;
}

static void plan_digest(struct plan *plan, uint32_t len, bool verify)
{
	plan->priv.digest_len = len;
	plan->priv.verify = verify;
	plan->entry.digest_len = len;
	plan->entry.verify = verify;
}

static int plan_cipher(struct plan *plan, const struct cipher *cipher,
		       const struct rte_crypto_cipher_xform *xform)
{
	plan->priv.block = cipher->block;
	if (cipher->label == OCL_CIPHER_NONE)
		return 0;
	if (xform->iv.length != cipher->iv_len)
		return -EINVAL;
	plan->priv.iv_offset = xform->iv.offset;
	plan->priv.iv_len = cipher->iv_len;
	return keys_set_cipher(&plan->entry, xform->key.data, xform->key.length);
}

static int plan_auth(struct plan *plan, const struct auth *auth,
		     const struct rte_crypto_auth_xform *xform)
{
	if (auth->label == OCL_AUTH_NONE)
		return 0;
	if (xform->digest_length < auth->min_digest || xform->digest_length > auth->max_digest ||
	    xform->digest_length % auth->step)
		return -EINVAL;
	plan->priv.auth = true;
	if (auth->iv_len) {
		if (xform->iv.length != auth->iv_len)
			return -EINVAL;
		plan->priv.iv_offset = xform->iv.offset;
		plan->priv.iv_len = auth->iv_len;
	}
	plan_digest(plan, xform->digest_length, xform->op == RTE_CRYPTO_AUTH_OP_VERIFY);
	return keys_set_auth(&plan->entry, xform->key.data, xform->key.length);
}

/* At most one of each; the first says which is first. */
static int find_xforms(const struct rte_crypto_sym_xform *first,
		       const struct rte_crypto_cipher_xform **cipher,
		       const struct rte_crypto_auth_xform **auth)
{
	for (const struct rte_crypto_sym_xform *x = first; x; x = x->next) {
		if (x->type == RTE_CRYPTO_SYM_XFORM_CIPHER && *cipher == NULL)
			*cipher = &x->cipher;
		else if (x->type == RTE_CRYPTO_SYM_XFORM_AUTH && *auth == NULL)
			*auth = &x->auth;
		else
			return -ENOTSUP;
	}
	return 0;
}

/* Cipher, authentication or both in either order: encrypt and generate, or decrypt and verify. */
static int plan_chain(struct plan *plan, const struct rte_crypto_sym_xform *first)
{
	const struct rte_crypto_cipher_xform *cipher_xform = NULL;
	const struct rte_crypto_auth_xform *auth_xform = NULL;
	const struct cipher *cipher = &ciphers[0];
	const struct auth *auth = &auths[0];
	uint32_t flags = 0;
	int err;

	err = find_xforms(first, &cipher_xform, &auth_xform);
	if (err)
		return err;
	if (cipher_xform)
		cipher = find_cipher(cipher_xform->algo);
	if (auth_xform)
		auth = find_auth(auth_xform->algo);
	if (cipher == NULL || auth == NULL)
		return -ENOTSUP;
	/* There is one IV, and one place for AES keys that the cipher does not share. */
	if (auth->label == OCL_AUTH_AES_GMAC && cipher->label != OCL_CIPHER_NONE)
		return -ENOTSUP;
	if (cipher_xform && auth_xform &&
	    (cipher_xform->op == RTE_CRYPTO_CIPHER_OP_DECRYPT) !=
		    (auth_xform->op == RTE_CRYPTO_AUTH_OP_VERIFY))
		return -ENOTSUP;
	if (cipher->label != OCL_CIPHER_NONE && cipher_xform->op == RTE_CRYPTO_CIPHER_OP_DECRYPT)
		flags |= OCL_DECRYPT;
	if (cipher->label != OCL_CIPHER_NONE && auth->label != OCL_AUTH_NONE &&
	    first->type == RTE_CRYPTO_SYM_XFORM_AUTH)
		flags |= OCL_AUTH_FIRST;
	plan->entry.label = OCL_LABEL(cipher->label, auth->label, flags);
	if (cipher_xform)
		err = plan_cipher(plan, cipher, cipher_xform);
	if (auth_xform && !err)
		err = plan_auth(plan, auth, auth_xform);
	return err;
}

struct aead {
	enum rte_crypto_aead_algorithm algo;
	enum ocl_cipher label;
	uint8_t min_digest, max_digest, step; /* bytes */
	uint8_t min_iv, max_iv;		      /* bytes */
	uint8_t iv_skip, aad_skip;	      /* bytes DPDK wants to be free before either */
};

static const struct aead aeads[] = {
	{RTE_CRYPTO_AEAD_AES_GCM, OCL_CIPHER_AES_GCM, 8, 16, 4, 12, 12, 0, 0},
	{RTE_CRYPTO_AEAD_AES_CCM, OCL_CIPHER_AES_CCM, 4, 16, 2, 7, 13, 1, 18},
	{RTE_CRYPTO_AEAD_CHACHA20_POLY1305, OCL_CIPHER_CHACHA20_POLY1305, 16, 16, 1, 12, 12, 0, 0},
};

static const struct aead *find_aead(enum rte_crypto_aead_algorithm algo)
{
	for (size_t i = 0; i < RTE_DIM(aeads); i++) {
		if (aeads[i].algo == algo)
			return &aeads[i];
	}
	return NULL;
}

static int plan_aead(struct plan *plan, const struct rte_crypto_aead_xform *xform)
{
	const struct aead *aead = find_aead(xform->algo);
	bool decrypt = xform->op == RTE_CRYPTO_AEAD_OP_DECRYPT;

	if (aead == NULL)
		return -ENOTSUP;
	if (xform->iv.length < aead->min_iv || xform->iv.length > aead->max_iv ||
	    xform->aad_length > OCL_MAX_AAD || xform->digest_length < aead->min_digest ||
	    xform->digest_length > aead->max_digest || xform->digest_length % aead->step)
		return -EINVAL;
	plan->priv.aead = true;
	plan->priv.block = 1;
	plan->priv.iv_offset = xform->iv.offset + aead->iv_skip;
	plan->priv.iv_len = xform->iv.length;
	plan->priv.aad_len = xform->aad_length;
	plan->priv.aad_skip = aead->aad_skip;
	plan->entry.nonce_len = xform->iv.length;
	plan->entry.label = OCL_LABEL(aead->label, OCL_AUTH_NONE, decrypt ? OCL_DECRYPT : 0);
	plan_digest(plan, xform->digest_length, decrypt);
	return keys_set_cipher(&plan->entry, xform->key.data, xform->key.length);
}

unsigned int ocl_session_size(struct rte_cryptodev *dev __rte_unused)
{
	return sizeof(struct ocl_session_priv);
}

int ocl_session_configure(struct rte_cryptodev *dev, struct rte_crypto_sym_xform *xform,
			  struct rte_cryptodev_sym_session *session)
{
	struct ocl_pmd *pmd = dev->data->dev_private;
	struct ocl_session_priv *priv = CRYPTODEV_GET_SYM_SESS_PRIV(session);
	struct plan plan = {0};
	int err;

	if (xform->type == RTE_CRYPTO_SYM_XFORM_AEAD)
		err = xform->next ? -ENOTSUP : plan_aead(&plan, &xform->aead);
	else
		err = plan_chain(&plan, xform);
	if (!err)
		err = ocl_store_add(pmd->store, &pmd->table, &plan.entry, &plan.priv.slot,
				    &plan.priv.upload);
	if (!err) {
		plan.priv.label = plan.entry.label;
		plan.priv.store = pmd->store;
		*priv = plan.priv;
	}
	explicit_bzero(&plan, sizeof(plan));
	return err;
}

void ocl_session_clear(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session)
{
	struct ocl_pmd *pmd = dev->data->dev_private;
	struct ocl_session_priv *priv = CRYPTODEV_GET_SYM_SESS_PRIV(session);

	if (priv->store != pmd->store)
		return;
	ocl_store_remove(pmd->store, priv->slot);
	memset(priv, 0, sizeof(*priv));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "keys.h"
#include "log.h"
#include "pmd.h"
#include "session.h"

/* What a session is built from, gathered from one or two transforms. */
struct plan {
	struct ocl_session entry; /* keys: wipe */
	struct ocl_session_priv priv;
};

static int plan_cipher(struct plan *plan, const struct rte_crypto_cipher_xform *xform)
{
	if (xform->algo != RTE_CRYPTO_CIPHER_AES_CBC)
		return -ENOTSUP;
	if (xform->iv.length != OCL_CBC_IV_LEN)
		return -EINVAL;
	plan->priv.iv_offset = xform->iv.offset;
	plan->priv.iv_len = OCL_CBC_IV_LEN;
	return keys_set_aes(&plan->entry, xform->key.data, xform->key.length);
}

static int plan_digest(struct plan *plan, uint32_t len, uint32_t max, bool verify)
{
	if (len == 0 || len > max)
		return -EINVAL;
	plan->priv.digest_len = len;
	plan->priv.verify = verify;
	plan->entry.digest_len = len;
	plan->entry.verify = verify;
	return 0;
}

static int plan_auth(struct plan *plan, const struct rte_crypto_auth_xform *xform)
{
	static const uint8_t digests[OCL_AUTHS] = {
		[OCL_AUTH_HMAC_SHA1] = 20,
		[OCL_AUTH_HMAC_SHA256] = 32,
		[OCL_AUTH_HMAC_SHA384] = 48,
		[OCL_AUTH_HMAC_SHA512] = 64,
	};
	int err;

	err = plan_digest(plan, xform->digest_length, digests[OCL_LABEL_AUTH(plan->entry.label)],
			  xform->op == RTE_CRYPTO_AUTH_OP_VERIFY);
	if (!err)
		err = keys_set_hmac(&plan->entry, xform->key.data, xform->key.length);
	return err;
}

static int auth_label(enum rte_crypto_auth_algorithm algo)
{
	switch (algo) {
	case RTE_CRYPTO_AUTH_SHA1_HMAC:
		return OCL_AUTH_HMAC_SHA1;
	case RTE_CRYPTO_AUTH_SHA256_HMAC:
		return OCL_AUTH_HMAC_SHA256;
	case RTE_CRYPTO_AUTH_SHA384_HMAC:
		return OCL_AUTH_HMAC_SHA384;
	case RTE_CRYPTO_AUTH_SHA512_HMAC:
		return OCL_AUTH_HMAC_SHA512;
	default:
		return -ENOTSUP;
	}
}

/* Cipher, authentication or the two in the order of ESP: encrypt, then
 * authenticate; authenticate, then decrypt. */
static int plan_chain(struct plan *plan, const struct rte_crypto_sym_xform *first)
{
	const struct rte_crypto_cipher_xform *cipher = NULL;
	const struct rte_crypto_auth_xform *auth = NULL;
	bool decrypt = false;
	int label = 0, err = 0;

	for (const struct rte_crypto_sym_xform *x = first; x; x = x->next) {
		if (x->type == RTE_CRYPTO_SYM_XFORM_CIPHER && cipher == NULL)
			cipher = &x->cipher;
		else if (x->type == RTE_CRYPTO_SYM_XFORM_AUTH && auth == NULL)
			auth = &x->auth;
		else
			return -ENOTSUP;
	}
	if (cipher)
		decrypt = cipher->op == RTE_CRYPTO_CIPHER_OP_DECRYPT;
	if (cipher && auth) {
		bool verify = auth->op == RTE_CRYPTO_AUTH_OP_VERIFY;

		if (verify != decrypt || (first->type == RTE_CRYPTO_SYM_XFORM_AUTH) != decrypt)
			return -ENOTSUP;
	}
	if (auth) {
		label = auth_label(auth->algo);
		if (label < 0)
			return label;
	}
	plan->entry.label = OCL_LABEL(cipher ? OCL_CIPHER_AES_CBC : OCL_CIPHER_NONE, (u32)label,
				      decrypt);
	if (cipher)
		err = plan_cipher(plan, cipher);
	if (auth && !err)
		err = plan_auth(plan, auth);
	return err;
}

static int plan_aead(struct plan *plan, const struct rte_crypto_aead_xform *xform)
{
	bool decrypt = xform->op == RTE_CRYPTO_AEAD_OP_DECRYPT;
	int err;

	if (xform->algo != RTE_CRYPTO_AEAD_AES_GCM)
		return -ENOTSUP;
	if (xform->iv.length != OCL_GCM_IV_LEN || xform->aad_length > OCL_MAX_AAD ||
	    (xform->digest_length != 8 && xform->digest_length != 12 &&
	     xform->digest_length != 16))
		return -EINVAL;
	plan->priv.iv_offset = xform->iv.offset;
	plan->priv.iv_len = OCL_GCM_IV_LEN;
	plan->priv.aad_len = xform->aad_length;
	plan->entry.label = OCL_LABEL(OCL_CIPHER_AES_GCM, OCL_AUTH_NONE, decrypt);
	err = plan_digest(plan, xform->digest_length, 16, decrypt);
	if (!err)
		err = keys_set_aes(&plan->entry, xform->key.data, xform->key.length);
	return err;
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
		err = ocl_table_put(&pmd->table, &plan.entry, &plan.priv.slot, &plan.priv.upload);
	if (!err) {
		plan.priv.label = plan.entry.label;
		plan.priv.pmd = pmd;
		*priv = plan.priv;
	}
	explicit_bzero(&plan, sizeof(plan));
	return err;
}

void ocl_session_clear(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session)
{
	struct ocl_pmd *pmd = dev->data->dev_private;
	struct ocl_session_priv *priv = CRYPTODEV_GET_SYM_SESS_PRIV(session);

	if (priv->pmd != pmd)
		return;
	ocl_table_clear(&pmd->table, priv->slot);
	memset(priv, 0, sizeof(*priv));
}

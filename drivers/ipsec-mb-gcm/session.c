/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "pmd.h"
#include "session.h"

static int check(const struct rte_crypto_sym_xform *xform)
{
	const struct rte_crypto_aead_xform *aead = &xform->aead;

	if (xform->type != RTE_CRYPTO_SYM_XFORM_AEAD || xform->next ||
	    aead->algo != RTE_CRYPTO_AEAD_AES_GCM)
		return -ENOTSUP;
	if (aead->key.length != 16 && aead->key.length != 24 && aead->key.length != 32)
		return -EINVAL;
	if (aead->digest_length != 8 && aead->digest_length != 12 && aead->digest_length != 16)
		return -EINVAL;
	return aead->iv.length == GCM_IV_LEN && aead->aad_length <= GCM_MAX_AAD ? 0 : -EINVAL;
}

unsigned int gcm_session_size(struct rte_cryptodev *dev __rte_unused)
{
	return sizeof(struct gcm_session);
}

int gcm_session_configure(struct rte_cryptodev *dev, struct rte_crypto_sym_xform *xform,
			  struct rte_cryptodev_sym_session *session)
{
	const struct gcm_pmd *pmd = dev->data->dev_private;
	struct gcm_session *s = CRYPTODEV_GET_SYM_SESS_PRIV(session);
	int err = check(xform);

	if (err)
		return err;
	s->library = &pmd->library[xform->aead.key.length / 8 - 2];
	s->decrypt = xform->aead.op == RTE_CRYPTO_AEAD_OP_DECRYPT;
	s->once = s->library->once[s->decrypt];
	s->own = s->decrypt ? vaes_decrypt : vaes_encrypt;
	s->own_below = pmd->own_below;
	s->aad_len = xform->aead.aad_length;
	s->iv_offset = xform->aead.iv.offset;
	s->icv_len = (uint8_t)xform->aead.digest_length;
	s->library->expand(xform->aead.key.data, &s->key.library);
	if (pmd->own_below)
		vaes_expand(&s->key, xform->aead.key.length);
	return 0;
}

void gcm_session_clear(struct rte_cryptodev *dev __rte_unused,
		       struct rte_cryptodev_sym_session *session)
{
	explicit_bzero(CRYPTODEV_GET_SYM_SESS_PRIV(session), sizeof(struct gcm_session));
}

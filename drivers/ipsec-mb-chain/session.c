/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "device.h"
#include "hash.h"
#include "session.h"

/* The transforms of a session, independent of their order. */
struct chain {
	const struct rte_crypto_cipher_xform *cipher; /* NULL: there is none */
	const struct rte_crypto_auth_xform *auth;
	const struct chain_hash *hash;
};

static bool encrypts(const struct rte_crypto_cipher_xform *cipher)
{
	return cipher->op == RTE_CRYPTO_CIPHER_OP_ENCRYPT;
}

static bool generates(const struct rte_crypto_auth_xform *auth)
{
	return auth->op == RTE_CRYPTO_AUTH_OP_GENERATE;
}

/* Accepts: encrypt and then generate; verify and then decrypt; generate or verify alone.
 * @return 0 or -ENOTSUP */
static int parse(struct chain *chain, const struct rte_crypto_sym_xform *x)
{
	const struct rte_crypto_sym_xform *second = x->next;

	*chain = (struct chain){0};
	if (x->type == RTE_CRYPTO_SYM_XFORM_AUTH) {
		chain->auth = &x->auth;
		if (second && (second->type != RTE_CRYPTO_SYM_XFORM_CIPHER || second->next ||
			       generates(&x->auth) || encrypts(&second->cipher)))
			return -ENOTSUP;
		chain->cipher = second ? &second->cipher : NULL;
	} else {
		if (x->type != RTE_CRYPTO_SYM_XFORM_CIPHER || !second || second->next ||
		    second->type != RTE_CRYPTO_SYM_XFORM_AUTH || !encrypts(&x->cipher) ||
		    !generates(&second->auth))
			return -ENOTSUP;
		chain->cipher = &x->cipher;
		chain->auth = &second->auth;
	}
	chain->hash = chain_hash_find(chain->auth->algo);
	return chain->hash ? 0 : -ENOTSUP;
}

static int check_auth(const struct chain *chain)
{
	const struct rte_crypto_auth_xform *auth = chain->auth;

	if (auth->key.length == 0 || auth->key.length > chain->hash->block)
		return -EINVAL;
	return auth->digest_length == chain->hash->digest ||
			       auth->digest_length == chain->hash->truncated
		       ? 0
		       : -EINVAL;
}

static int check_cipher(const struct rte_crypto_cipher_xform *cipher)
{
	if (cipher == NULL)
		return 0;
	if (cipher->algo != RTE_CRYPTO_CIPHER_AES_CBC && cipher->algo != RTE_CRYPTO_CIPHER_AES_CTR)
		return -ENOTSUP;
	if (cipher->key.length != 16 && cipher->key.length != 24 && cipher->key.length != 32)
		return -EINVAL;
	return cipher->iv.length == 16 ? 0 : -EINVAL;
}

/* For decryption with CBC the round keys differ from those for encryption. */
static void set_cipher(struct chain_session *s, const IMB_MGR *mgr,
		       const struct rte_crypto_cipher_xform *cipher)
{
	const keyexp_t expand[] = {mgr->keyexp_128, mgr->keyexp_192, mgr->keyexp_256};
	bool cbc = cipher->algo == RTE_CRYPTO_CIPHER_AES_CBC, decrypt = cbc && !encrypts(cipher);
	uint8_t others[sizeof(s->round_keys)] __rte_aligned(16);

	expand[cipher->key.length / 8 - 2](cipher->key.data, decrypt ? others : s->round_keys,
					   decrypt ? s->round_keys : others);
	explicit_bzero(others, sizeof(others));
	s->kind.cipher = cbc ? IMB_CIPHER_CBC : IMB_CIPHER_CNTR;
	s->kind.key_len = (uint8_t)cipher->key.length;
	s->iv_offset = cipher->iv.offset;
	s->unit = cbc ? 16 : 1;
}

unsigned int chain_session_size(struct rte_cryptodev *dev __rte_unused)
{
	return sizeof(struct chain_session);
}

int chain_session_configure(struct rte_cryptodev *dev, struct rte_crypto_sym_xform *xform,
			    struct rte_cryptodev_sym_session *session)
{
	const struct mb_device *device = dev->data->dev_private;
	struct chain_session *s = CRYPTODEV_GET_SYM_SESS_PRIV(session);
	struct chain chain;
	int err = parse(&chain, xform);

	if (!err)
		err = check_auth(&chain);
	if (!err)
		err = check_cipher(chain.cipher);
	if (err)
		return err;
	s->kind.cipher = IMB_CIPHER_NULL;
	s->kind.hash = (uint8_t)chain.hash->hash;
	s->kind.direction = generates(chain.auth) ? IMB_DIR_ENCRYPT : IMB_DIR_DECRYPT;
	s->digest_len = (uint8_t)chain.auth->digest_length;
	if (chain.cipher)
		set_cipher(s, device->mgr, chain.cipher);
	chain_hash_key(chain.hash, device->mgr, chain.auth->key.data, chain.auth->key.length, s);
	return 0;
}

void chain_session_clear(struct rte_cryptodev *dev __rte_unused,
			 struct rte_cryptodev_sym_session *session)
{
	explicit_bzero(CRYPTODEV_GET_SYM_SESS_PRIV(session), sizeof(struct chain_session));
}

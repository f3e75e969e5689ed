/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <string.h>

#include <rte_common.h>

#include "crypto/device/op.h"
#include "crypto/device/suite.h"
#include "esp/esp_common.h"

#define KEYS_MAX 3u

/* RFC 3602, 2451 and 2405 (CBC), 3686 (CTR), 4106 (GCM), 4309 (CCM), 7634 (ChaCha20),
 * 4543 (GMAC), 2410 (NULL). Lengths in bytes. */
static const struct cipher {
	enum suite_form form;
	int algorithm;	   /* enum rte_crypto_{cipher,aead,auth}_algorithm; 0: not supported */
	uint8_t iv_len;	   /* on the wire */
	uint8_t nonce_len; /* the device's IV */
	uint8_t align;	   /* the ciphertext is a multiple of this */
	uint8_t salt_len;
	uint8_t key_len[KEYS_MAX];
} ciphers[CYGNET_CIPHERS] = {
	[CYGNET_CIPHER_NULL] = {SUITE_AUTH, RTE_CRYPTO_CIPHER_NULL, 0, 0, 4, 0, {0}},
	[CYGNET_CIPHER_AES_CBC] =
		{SUITE_CHAIN, RTE_CRYPTO_CIPHER_AES_CBC, 16, 16, 16, 0, {16, 24, 32}},
	[CYGNET_CIPHER_3DES_CBC] = {SUITE_CHAIN, RTE_CRYPTO_CIPHER_3DES_CBC, 8, 8, 8, 0, {24}},
	[CYGNET_CIPHER_DES_CBC] = {SUITE_CHAIN, RTE_CRYPTO_CIPHER_DES_CBC, 8, 8, 8, 0, {8}},
	[CYGNET_CIPHER_AES_CTR] =
		{SUITE_CHAIN, RTE_CRYPTO_CIPHER_AES_CTR, 8, 16, 4, 4, {16, 24, 32}},
	[CYGNET_CIPHER_AES_GCM] = {SUITE_AEAD, RTE_CRYPTO_AEAD_AES_GCM, 8, 12, 4, 4, {16, 24, 32}},
	[CYGNET_CIPHER_AES_CCM] = {SUITE_AEAD, RTE_CRYPTO_AEAD_AES_CCM, 8, 11, 4, 3, {16, 24, 32}},
	[CYGNET_CIPHER_CHACHA20_POLY1305] =
		{SUITE_AEAD, RTE_CRYPTO_AEAD_CHACHA20_POLY1305, 8, 12, 4, 4, {32}},
	[CYGNET_CIPHER_AES_GMAC] = {SUITE_AUTH, RTE_CRYPTO_AUTH_AES_GMAC, 8, 12, 4, 4, {16, 24, 32}},
};
#define COMBINED_ICV 16 /* default length, bytes */

/* RFC 2404, 2403 (MD5), 4868 (SHA-2), 3566 (XCBC), 4494 (CMAC). */
static const struct auth {
	enum rte_crypto_auth_algorithm algorithm;
	uint8_t key_len, icv_len; /* default lengths, bytes */
} auths[CYGNET_AUTHS] = {
	[CYGNET_AUTH_HMAC_SHA1] = {RTE_CRYPTO_AUTH_SHA1_HMAC, 20, 12},
	[CYGNET_AUTH_HMAC_SHA256] = {RTE_CRYPTO_AUTH_SHA256_HMAC, 32, 16},
	[CYGNET_AUTH_HMAC_SHA384] = {RTE_CRYPTO_AUTH_SHA384_HMAC, 48, 24},
	[CYGNET_AUTH_HMAC_SHA512] = {RTE_CRYPTO_AUTH_SHA512_HMAC, 64, 32},
	[CYGNET_AUTH_HMAC_MD5] = {RTE_CRYPTO_AUTH_MD5_HMAC, 16, 12},
	[CYGNET_AUTH_AES_XCBC] = {RTE_CRYPTO_AUTH_AES_XCBC_MAC, 16, 12},
	[CYGNET_AUTH_AES_CMAC] = {RTE_CRYPTO_AUTH_AES_CMAC, 16, 12},
};

static bool combined(unsigned int cipher)
{
	return ciphers[cipher].form == SUITE_AEAD || cipher == CYGNET_CIPHER_AES_GMAC;
}

bool suite_known(const struct cygnet_sa *sa)
{
	if (sa->cipher >= CYGNET_CIPHERS || sa->auth >= CYGNET_AUTHS ||
	    !ciphers[sa->cipher].algorithm || sa->salt_len != ciphers[sa->cipher].salt_len ||
	    sa->cipher_key_len + sa->salt_len > CYGNET_KEY_MAX ||
	    sa->auth_key_len > CYGNET_KEY_MAX || sa->icv_len < 8 || sa->icv_len > ESP_ICV_MAX)
		return false;
	/* AH encrypts nothing. */
	if (sa->proto == IPPROTO_AH && ciphers[sa->cipher].form != SUITE_AUTH)
		return false;
	return combined(sa->cipher) ? sa->auth == CYGNET_AUTH_NONE : auths[sa->auth].algorithm != 0;
}

bool suite_approved(uint8_t cipher, uint8_t auth)
{
	static const uint32_t approved_ciphers = 1u << CYGNET_CIPHER_NULL |
						 1u << CYGNET_CIPHER_AES_CBC |
						 1u << CYGNET_CIPHER_AES_CTR |
						 1u << CYGNET_CIPHER_AES_GCM |
						 1u << CYGNET_CIPHER_AES_CCM |
						 1u << CYGNET_CIPHER_AES_GMAC;
	static const uint32_t approved_auths = 1u << CYGNET_AUTH_NONE |
					       1u << CYGNET_AUTH_HMAC_SHA1 |
					       1u << CYGNET_AUTH_HMAC_SHA256 |
					       1u << CYGNET_AUTH_HMAC_SHA384 |
					       1u << CYGNET_AUTH_HMAC_SHA512 |
					       1u << CYGNET_AUTH_AES_CMAC;

	return cipher < CYGNET_CIPHERS && auth < CYGNET_AUTHS &&
	       approved_ciphers >> cipher & approved_auths >> auth & 1;
}

bool suite_lengths(struct cygnet_sa *sa, unsigned int key)
{
	const struct cipher *c = &ciphers[sa->cipher];
	const struct auth *a = &auths[sa->auth];

	if (key >= KEYS_MAX || (key && !c->key_len[key]))
		return false;
	sa->cipher_key_len = c->key_len[key];
	sa->salt_len = c->salt_len;
	sa->auth_key_len = a->key_len;
	sa->icv_len = combined(sa->cipher) ? COMBINED_ICV : a->icv_len;
	return suite_known(sa);
}

/* Whether the SA's packets may be processed by a call (DPDK's "CPU crypto"). When called with AES-XCBC or
 * AES-CMAC, ipsec_mb of DPDK 22.11 uses the cipher key of an earlier packet. It does not verify a MAC
 * without a cipher either. */
static bool can_call(const struct cygnet_sa *sa)
{
	switch (ciphers[sa->cipher].form) {
	case SUITE_AEAD:
		return sa->cipher != CYGNET_CIPHER_AES_CCM;
	case SUITE_CHAIN:
		return sa->auth != CYGNET_AUTH_AES_XCBC && sa->auth != CYGNET_AUTH_AES_CMAC;
	case SUITE_AUTH:
		return false;
	}
	return false;
}

/* The part of a chain's range that is authenticated but not encrypted: the header in front, and the high
 * half of the sequence number behind. The range of an AEAD is encrypted as a whole. */
static uint64_t chain_ofs(const struct session *s)
{
	union rte_crypto_sym_ofs ofs = {.raw = 0};

	if (s->form == SUITE_CHAIN) {
		ofs.ofs.cipher.head = (uint16_t)esp_chain_head(s);
		ofs.ofs.cipher.tail = (uint16_t)esn_len(s);
	}
	return ofs.raw;
}

void suite_describe(struct session *s, const struct cygnet_sa *sa)
{
	const struct cipher *c = &ciphers[sa->cipher];
	uint8_t *salt = (uint8_t *)&s->salt;

	s->form = c->form;
	s->iv_len = c->iv_len;
	s->align = c->align;
	s->icv_len = sa->icv_len;
	s->gcm = sa->cipher == CYGNET_CIPHER_AES_GCM;
	s->by_call = can_call(sa);
	s->salted = c->salt_len;
	s->esn_inside = s->esn && !s->ah && sa->cipher == CYGNET_CIPHER_AES_GMAC;
	/* CCM: cryptodev requires a byte in front of the nonce, and 18 in front of the AAD. */
	memcpy(salt + sizeof(s->salt) - c->salt_len, sa->cipher_key + sa->cipher_key_len,
	       c->salt_len);
	s->aad_at = sa->cipher == CYGNET_CIPHER_AES_CCM ? 18 : 0;
	s->chain_ofs = chain_ofs(s);
}

static void aead(struct rte_crypto_sym_xform *x, const struct cygnet_sa *sa)
{
	x->type = RTE_CRYPTO_SYM_XFORM_AEAD;
	x->aead.op = sa->flags & CYGNET_SA_INBOUND ? RTE_CRYPTO_AEAD_OP_DECRYPT
						   : RTE_CRYPTO_AEAD_OP_ENCRYPT;
	x->aead.algo = (enum rte_crypto_aead_algorithm)ciphers[sa->cipher].algorithm;
	x->aead.key.data = sa->cipher_key;
	x->aead.key.length = sa->cipher_key_len;
	x->aead.iv.offset = CRYPTO_OP_IV;
	x->aead.iv.length = ciphers[sa->cipher].nonce_len;
	x->aead.digest_length = sa->icv_len;
	x->aead.aad_length = sa->flags & CYGNET_SA_ESN ? 12 : 8;
}

static void cipher(struct rte_crypto_sym_xform *x, const struct cygnet_sa *sa)
{
	x->type = RTE_CRYPTO_SYM_XFORM_CIPHER;
	x->cipher.op = sa->flags & CYGNET_SA_INBOUND ? RTE_CRYPTO_CIPHER_OP_DECRYPT
						     : RTE_CRYPTO_CIPHER_OP_ENCRYPT;
	x->cipher.algo = (enum rte_crypto_cipher_algorithm)ciphers[sa->cipher].algorithm;
	x->cipher.key.data = sa->cipher_key;
	x->cipher.key.length = sa->cipher_key_len;
	x->cipher.iv.offset = CRYPTO_OP_IV;
	x->cipher.iv.length = ciphers[sa->cipher].nonce_len;
}

static void auth(struct rte_crypto_sym_xform *x, const struct cygnet_sa *sa)
{
	bool gmac = sa->cipher == CYGNET_CIPHER_AES_GMAC;

	x->type = RTE_CRYPTO_SYM_XFORM_AUTH;
	x->auth.op = sa->flags & CYGNET_SA_INBOUND ? RTE_CRYPTO_AUTH_OP_VERIFY
						   : RTE_CRYPTO_AUTH_OP_GENERATE;
	x->auth.algo = gmac ? RTE_CRYPTO_AUTH_AES_GMAC : auths[sa->auth].algorithm;
	x->auth.key.data = gmac ? sa->cipher_key : sa->auth_key;
	x->auth.key.length = gmac ? sa->cipher_key_len : sa->auth_key_len;
	x->auth.iv.offset = CRYPTO_OP_IV;
	x->auth.iv.length = ciphers[sa->cipher].form == SUITE_AUTH ? ciphers[sa->cipher].nonce_len
								   : 0;
	x->auth.digest_length = sa->icv_len;
}

void suite_transforms(struct rte_crypto_sym_xform x[2], const struct cygnet_sa *sa)
{
	bool inbound = sa->flags & CYGNET_SA_INBOUND;

	memset(x, 0, 2 * sizeof(x[0]));
	switch (ciphers[sa->cipher].form) {
	case SUITE_AEAD:
		aead(&x[0], sa);
		break;
	case SUITE_AUTH:
		auth(&x[0], sa);
		break;
	case SUITE_CHAIN: /* encrypt, then authenticate; inbound authenticate, then decrypt */
		cipher(&x[inbound], sa);
		auth(&x[!inbound], sa);
		x[0].next = &x[1];
		break;
	}
}

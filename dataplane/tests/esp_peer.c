/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "cygnet.h"
#include "esp_peer.h"

/* clang-format off */
#define CBC(bits, hash, auth_key, icv)                                                             \
	{"aes-cbc-" #bits " hmac-sha" #hash, CYGNET_CIPHER_AES_CBC, (bits) / 8,                    \
	 CYGNET_AUTH_HMAC_SHA##hash, auth_key, 16, 16, icv, "AES-" #bits "-CBC", "SHA" #hash}
/* clang-format on */
#define CBC_ALL(bits) \
	CBC(bits, 1, 20, 12), CBC(bits, 256, 32, 16), CBC(bits, 384, 48, 24), CBC(bits, 512, 64, 32)
/* clang-format off */
#define GCM(bits, icv)                                                                             \
	{"aes-gcm-" #bits " icv " #icv, CYGNET_CIPHER_AES_GCM, (bits) / 8, CYGNET_AUTH_NONE, 0, 8, \
	 4, icv, "AES-" #bits "-GCM", NULL}
/* clang-format on */

/* clang-format off */
#define GMAC(bits)                                                                                 \
	{"aes-gmac-" #bits, CYGNET_CIPHER_AES_GMAC, (bits) / 8, CYGNET_AUTH_NONE, 0, 8, 4, 16,      \
	 "AES-" #bits "-GCM", NULL}
/* clang-format on */

const struct esp_algorithm esp_algorithms[] = {
	CBC_ALL(128), CBC_ALL(192), CBC_ALL(256), CBC(128, 256, 32, 12), CBC(256, 1, 20, 20),
	GMAC(128),    GMAC(256),    GCM(128, 8),  GCM(128, 12),		 GCM(256, 8),
	GCM(128, 16), GCM(192, 16), GCM(256, 16),
};
const struct esp_algorithm esp_gcm = GCM(128, 16), esp_cbc = CBC(128, 256, 32, 16);
const unsigned int esp_algorithm_count = sizeof(esp_algorithms) / sizeof(esp_algorithms[0]);

void peer_init(struct esp_peer *peer, const struct esp_algorithm *algorithm, bool esn,
	       uint8_t number)
{
	*peer = (struct esp_peer){.algorithm = algorithm, .esn = esn};
	for (unsigned int i = 0; i < sizeof(peer->key); i++)
		peer->key[i] = (uint8_t)(number + 3 * i);
	for (unsigned int i = 0; i < sizeof(peer->auth_key); i++)
		peer->auth_key[i] = (uint8_t)(number ^ (0xa0 + 5 * i));
}

bool peer_salted(const struct esp_algorithm *algorithm)
{
	return !algorithm->digest || algorithm->cipher == CYGNET_CIPHER_AES_CTR;
}

static EVP_CIPHER_CTX *start(const struct esp_peer *peer, bool encrypt, const uint8_t *wire_iv)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, peer->algorithm->evp, NULL);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	uint8_t iv[16] = {0};

	if (!peer_salted(peer->algorithm)) {
		memcpy(iv, wire_iv, peer->algorithm->iv_len);
	} else { /* RFC 4106, 4: the salt, then the IV on the wire; RFC 3686, 4: then the counter 1 */
		memcpy(iv, peer->key + peer->algorithm->key_len, 4);
		memcpy(iv + 4, wire_iv, 8);
		iv[15] = 1;
	}
	assert_non_null(cipher);
	assert_int_equal(EVP_CipherInit_ex2(ctx, cipher, peer->key, iv, encrypt, NULL), 1);
	EVP_CIPHER_CTX_set_padding(ctx, 0);
	EVP_CIPHER_free(cipher);
	return ctx;
}

static bool is_gmac(const struct esp_peer *peer)
{
	return peer->algorithm->cipher == CYGNET_CIPHER_AES_GMAC;
}

/* RFC 4106, 5: SPI and sequence number, 32 or 64 bits, are authenticated too. */
static void authenticate_header(EVP_CIPHER_CTX *ctx, const struct esp_peer *peer,
				const uint8_t *esp, uint32_t seq_high)
{
	uint32_t high = htonl(seq_high);
	int n;

	assert_int_equal(EVP_CipherUpdate(ctx, NULL, &n, esp, 4), 1);
	if (peer->esn)
		assert_int_equal(EVP_CipherUpdate(ctx, NULL, &n, (uint8_t *)&high, 4), 1);
	assert_int_equal(EVP_CipherUpdate(ctx, NULL, &n, esp + 4, 4), 1);
	/* RFC 4543, 3.3: the IV and the text are authenticated too. */
	if (is_gmac(peer))
		assert_int_equal(EVP_CipherUpdate(ctx, NULL, &n, esp + 8, 8), 1);
}

/* AES-GMAC: nothing is encrypted. */
static int pass_text(EVP_CIPHER_CTX *ctx, const struct esp_peer *peer, uint8_t *out, int *n,
		     const uint8_t *in, unsigned int len)
{
	if (!is_gmac(peer))
		return EVP_CipherUpdate(ctx, out, n, in, (int)len);
	memcpy(out, in, len);
	return EVP_CipherUpdate(ctx, NULL, n, in, (int)len);
}

/* RFC 4303, 2.2.1: the high half is authenticated as if it followed the packet. */
static void hmac(const struct esp_peer *peer, const uint8_t *esp, unsigned int len,
		 uint32_t seq_high, uint8_t *icv)
{
	uint8_t data[PEER_ESP_MAX + 4];
	uint32_t high = htonl(seq_high);

	memcpy(data, esp, len);
	memcpy(data + len, &high, 4);
	assert_non_null(HMAC(EVP_get_digestbyname(peer->algorithm->digest), peer->auth_key,
			     peer->algorithm->auth_key_len, data, len + (peer->esn ? 4 : 0), icv,
			     NULL));
}

unsigned int peer_seal(const struct esp_peer *peer, uint32_t spi, uint64_t seq, const uint8_t *text,
		       unsigned int len, uint8_t *esp)
{
	const struct esp_algorithm *a = peer->algorithm;
	uint32_t header[2] = {htonl(spi), htonl((uint32_t)seq)};
	uint8_t icv[EVP_MAX_MD_SIZE];
	EVP_CIPHER_CTX *ctx;
	int n;

	assert_true(len <= PEER_TEXT_MAX);
	memcpy(esp, header, 8);
	assert_int_equal(RAND_bytes(esp + 8, a->iv_len), 1);
	ctx = start(peer, true, esp + 8);
	if (!a->digest)
		authenticate_header(ctx, peer, esp, (uint32_t)(seq >> 32));
	assert_int_equal(pass_text(ctx, peer, esp + 8 + a->iv_len, &n, text, len), 1);
	assert_int_equal(n, len);
	len += 8u + a->iv_len;
	assert_int_equal(EVP_CipherFinal_ex(ctx, esp + len, &n), 1);
	if (a->digest)
		hmac(peer, esp, len, (uint32_t)(seq >> 32), icv);
	else
		assert_int_equal(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, icv), 1);
	EVP_CIPHER_CTX_free(ctx);
	memcpy(esp + len, icv, a->icv_len);
	return len + a->icv_len;
}

int peer_open(const struct esp_peer *peer, uint32_t seq_high, const uint8_t *esp, unsigned int len,
	      uint8_t *text)
{
	const struct esp_algorithm *a = peer->algorithm;
	unsigned int header = 8u + a->iv_len, body = len - header - a->icv_len;
	uint8_t icv[EVP_MAX_MD_SIZE];
	EVP_CIPHER_CTX *ctx;
	int n = 0, good;

	assert_true(len >= header + a->icv_len && body <= PEER_TEXT_MAX);
	ctx = start(peer, false, esp + 8);
	if (a->digest) {
		hmac(peer, esp, len - a->icv_len, seq_high, icv);
		good = CRYPTO_memcmp(icv, esp + len - a->icv_len, a->icv_len) == 0;
	} else {
		memcpy(icv, esp + len - a->icv_len, a->icv_len);
		authenticate_header(ctx, peer, esp, seq_high);
		good = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, a->icv_len, icv);
	}
	good = good && pass_text(ctx, peer, text, &n, esp + header, body) == 1;
	good = good && EVP_CipherFinal_ex(ctx, icv, &n) == 1;
	EVP_CIPHER_CTX_free(ctx);
	return good ? (int)body : -1;
}

void peer_block(const struct esp_peer *peer, const uint8_t in[16], uint8_t out[16])
{
	/* CBC of one block with a zero IV. */
	static const uint8_t zero[16];
	EVP_CIPHER_CTX *ctx = start(peer, true, zero);
	int n;

	assert_int_equal(EVP_CipherUpdate(ctx, out, &n, in, 16), 1);
	EVP_CIPHER_CTX_free(ctx);
}

unsigned int peer_trailer(uint8_t *text, unsigned int len, unsigned int pad, uint8_t next)
{
	for (unsigned int i = 1; i <= pad; i++)
		text[len++] = (uint8_t)i;
	text[len++] = (uint8_t)pad;
	text[len++] = next;
	return len;
}

unsigned int peer_padding(const struct esp_algorithm *algorithm, unsigned int len)
{
	unsigned int pad = 0;

	while ((len + pad + 2) % algorithm->block)
		pad++;
	return pad;
}

uint16_t peer_checksum(const uint8_t *data, unsigned int len)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < len; i += 2)
		sum += (uint32_t)(data[i] << 8 | data[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

void peer_ip(uint8_t ip[20], uint8_t tos, uint16_t total, uint16_t id, uint16_t fragment,
	     uint8_t proto)
{
	const uint8_t header[20] = {
		0x45,
		tos,
		(uint8_t)(total >> 8),
		(uint8_t)total,
		(uint8_t)(id >> 8),
		(uint8_t)id,
		(uint8_t)(fragment >> 8),
		(uint8_t)fragment,
		64,
		proto,
		0,
		0,
		192,
		0,
		2,
		2,
		192,
		0,
		2,
		1,
	};
	uint16_t checksum = peer_checksum(header, sizeof(header));

	memcpy(ip, header, sizeof(header));
	memcpy(ip + 10, &checksum, sizeof(checksum));
}

void peer_packet(uint8_t *packet, unsigned int len, uint8_t tos, bool df)
{
	peer_ip(packet, tos, (uint16_t)len, (uint16_t)(len * 31), df ? 0x4000 : 0, IPPROTO_UDP);
	for (unsigned int i = 20; i < len; i++)
		packet[i] = (uint8_t)(i * 7 + len);
}

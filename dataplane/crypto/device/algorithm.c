/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include <rte_common.h>
#include <rte_debug.h>

#include "crypto/device/algorithm.h"
#include "crypto/device/suite.h"

/* Common algorithms first, because measuring has a time limit (crypto/auto/measure.h). */
static const uint8_t auth_order[] = {
	CYGNET_AUTH_NONE,	 CYGNET_AUTH_HMAC_SHA256, CYGNET_AUTH_HMAC_SHA1,
	CYGNET_AUTH_HMAC_SHA512, CYGNET_AUTH_HMAC_SHA384, CYGNET_AUTH_AES_XCBC,
	CYGNET_AUTH_AES_CMAC,	 CYGNET_AUTH_HMAC_MD5,
};
static const uint8_t cipher_order[] = {
	CYGNET_CIPHER_AES_GCM, CYGNET_CIPHER_AES_CBC,  CYGNET_CIPHER_CHACHA20_POLY1305,
	CYGNET_CIPHER_AES_CTR, CYGNET_CIPHER_AES_CCM,  CYGNET_CIPHER_AES_GMAC,
	CYGNET_CIPHER_NULL,    CYGNET_CIPHER_3DES_CBC, CYGNET_CIPHER_DES_CBC,
};
_Static_assert(RTE_DIM(auth_order) == CYGNET_AUTHS, "each authentication");
_Static_assert(RTE_DIM(cipher_order) == CYGNET_CIPHERS, "each cipher");

struct algorithm algorithms[ALGORITHMS_MAX];
unsigned int algorithm_count;

const uint16_t length_class_bytes[LENGTH_CLASSES] = {64, 256, 1024, 1408};

/* Whether an SA's algorithms have the same speed as a, and therefore its number. The length of the ICV
 * makes no difference, SHA-384 is a truncated SHA-512, and AES-GMAC encrypts only one block of a packet,
 * so the length of its key makes no difference. */
static bool same(const struct algorithm *a, uint8_t cipher, uint8_t auth, uint8_t key_len)
{
	if (auth == CYGNET_AUTH_HMAC_SHA384)
		auth = CYGNET_AUTH_HMAC_SHA512;
	return a->cipher == cipher && a->auth == auth &&
	       (a->key_len == key_len || cipher == CYGNET_CIPHER_AES_GMAC);
}

unsigned int algorithm_of(const struct cygnet_sa *sa)
{
	for (unsigned int i = 0; i < algorithm_count; i++)
		if (same(&algorithms[i], sa->cipher, sa->auth, sa->cipher_key_len))
			return i;
	return ALGORITHM_NONE;
}

static void add(const struct cygnet_sa *sa)
{
	if (algorithm_of(sa) != ALGORITHM_NONE)
		return;
	RTE_VERIFY(algorithm_count < ALGORITHMS_MAX);
	algorithms[algorithm_count++] = (struct algorithm){
		sa->cipher, sa->cipher_key_len, sa->salt_len,
		sa->auth,   sa->auth_key_len,	sa->icv_len,
	};
}

/* Number all algorithms of suite.c before main(). */
RTE_INIT(number_algorithms)
{
	for (unsigned int a = 0; a < RTE_DIM(auth_order); a++)
		for (unsigned int c = 0; c < RTE_DIM(cipher_order); c++) {
			struct cygnet_sa sa = {.cipher = cipher_order[c], .auth = auth_order[a]};

			for (unsigned int key = 0; suite_lengths(&sa, key); key++)
				add(&sa);
		}
}

void algorithm_text(uint8_t cipher, uint8_t key_len, uint8_t auth, char *name)
{
	bool has_auth = auth != CYGNET_AUTH_NONE;
	char bits[8] = "";

	if (key_len)
		snprintf(bits, sizeof(bits), "-%u", key_len * 8u);
	snprintf(name, ALGORITHM_NAME, "%s%s%s%s", cygnet_cipher_name(cipher), bits,
		 has_auth ? " " : "", has_auth ? cygnet_auth_name(auth) : "");
}

void algorithm_name(unsigned int algorithm, char *name)
{
	const struct algorithm *a = &algorithms[algorithm];

	algorithm_text(a->cipher, a->key_len, a->auth, name);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <rte_common.h>

#include "algorithm.h"

#define GCM(key) {CYGNET_CIPHER_AES_GCM, key, 4, CYGNET_AUTH_NONE, 0, 16}
#define CBC(key)                                                   \
	{CYGNET_CIPHER_AES_CBC, key, 0, CYGNET_AUTH_HMAC_SHA1, 20, 12},   \
	{CYGNET_CIPHER_AES_CBC, key, 0, CYGNET_AUTH_HMAC_SHA256, 32, 16}, \
	{CYGNET_CIPHER_AES_CBC, key, 0, CYGNET_AUTH_HMAC_SHA384, 48, 24}, \
	{CYGNET_CIPHER_AES_CBC, key, 0, CYGNET_AUTH_HMAC_SHA512, 64, 32}

const struct algorithm algorithms[] = {
	GCM(16), GCM(24), GCM(32), CBC(16), CBC(24), CBC(32),
};
const unsigned int algorithm_count = RTE_DIM(algorithms);
_Static_assert(RTE_DIM(algorithms) <= ALGORITHMS_MAX, "ALGORITHMS_MAX");

const uint16_t length_class_bytes[LENGTH_CLASSES] = {64, 256, 1024, 1408};

unsigned int algorithm_of(const struct cygnet_sa *sa)
{
	/* A shorter or longer ICV costs the same. */
	for (unsigned int i = 0; i < algorithm_count; i++)
		if (algorithms[i].cipher == sa->cipher && algorithms[i].auth == sa->auth &&
		    algorithms[i].key_len == sa->cipher_key_len)
			return i;
	return ALGORITHM_NONE;
}

void algorithm_name(unsigned int algorithm, char *name)
{
	const struct algorithm *a = &algorithms[algorithm];
	bool auth = a->auth != CYGNET_AUTH_NONE;

	snprintf(name, ALGORITHM_NAME, "%s-%u%s%s", cygnet_cipher_name(a->cipher), a->key_len * 8,
		 auth ? " " : "", auth ? cygnet_auth_name(a->auth) : "");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernels as plain C: published vectors, and random packets against
 * OpenSSL at every alignment. Needs no OpenCL; made for sanitizers.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu.h"
#include "keys.h"
#include "reference.h"
#include "vectors.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_DATA      2048
#define RANDOM_TESTS  3000

static const uint32_t digest_sizes[OCL_AUTHS] = {0, 16, 20, 32, 48, 64};

struct packet {
	struct ocl_record record;
	uint8_t bytes[MAX_DATA + 128];
};

/* Bytes from hex; returns how many. */
static uint32_t unhex(const char *hex, uint8_t *out)
{
	uint32_t n = 0;
	unsigned int x;

	for (; *hex; hex += 2) {
		assert_int_equal(sscanf(hex, "%2x", &x), 1);
		out[n++] = x;
	}
	return n;
}

static struct ocl_session session_of(uint32_t cipher, uint32_t auth, bool decrypt,
				     uint32_t digest_len)
{
	return (struct ocl_session){
		.label = OCL_LABEL(cipher, auth,
				   decrypt ? OCL_DECRYPT | (auth ? OCL_AUTH_FIRST : 0) : 0),
		.digest_len = digest_len,
		.verify = decrypt,
	};
}

static uint32_t process(const struct ocl_session *session, struct packet *packet)
{
	u8 *const areas[OCL_AREAS] = {[OCL_AREA_CHUNK] = (u8 *)packet};

	packet->record.session = 0;
	packet->record.area = OCL_AREA_CHUNK;
	packet->record.base = 0;
	packet->record.digest_area = OCL_AREA_CHUNK;
	return emu_packet(session, areas, 0);
}

static void cbc_vector(const struct cbc_vector *vector, bool decrypt)
{
	struct ocl_session session = session_of(OCL_CIPHER_AES_CBC, 0, decrypt, 0);
	struct packet packet = {0};
	uint8_t key[32], expected[MAX_DATA];
	uint32_t key_len = unhex(vector->key, key);

	assert_int_equal(keys_set_cipher(&session, key, key_len), 0);
	unhex(vector->iv, (uint8_t *)packet.record.iv);
	packet.record.cipher_off = sizeof(packet.record);
	packet.record.cipher_len = unhex(decrypt ? vector->cipher : vector->plain, packet.bytes);
	unhex(decrypt ? vector->plain : vector->cipher, expected);
	assert_int_equal(process(&session, &packet), OCL_STATUS_DONE);
	assert_memory_equal(packet.bytes, expected, packet.record.cipher_len);
}

static void cbc(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cbc_vectors); i++) {
		print_message("%s\n", cbc_vectors[i].name);
		cbc_vector(&cbc_vectors[i], false);
		cbc_vector(&cbc_vectors[i], true);
	}
}

/* Layout: data, AAD, tag. */
static void gcm_vector(const struct gcm_vector *vector, bool decrypt, bool spoil)
{
	struct ocl_session session = session_of(OCL_CIPHER_AES_GCM, 0, decrypt, 16);
	struct packet packet = {0};
	struct ocl_record *r = &packet.record;
	uint8_t key[32], expected[MAX_DATA], tag[16];
	uint32_t key_len = unhex(vector->key, key);

	assert_int_equal(keys_set_cipher(&session, key, key_len), 0);
	unhex(vector->iv, (uint8_t *)r->iv);
	unhex(vector->tag, tag);
	r->cipher_off = sizeof(*r);
	r->cipher_len = unhex(decrypt ? vector->cipher : vector->plain, packet.bytes);
	unhex(decrypt ? vector->plain : vector->cipher, expected);
	r->auth_off = r->cipher_off + r->cipher_len;
	r->auth_len = unhex(vector->aad, packet.bytes + r->cipher_len);
	r->digest_off = r->auth_off + r->auth_len;
	if (decrypt)
		memcpy((uint8_t *)&packet + r->digest_off, tag, 16);
	if (spoil)
		((uint8_t *)&packet)[r->digest_off + 15] ^= 0x80;
	assert_int_equal(process(&session, &packet),
			 spoil ? OCL_STATUS_AUTH_FAILED : OCL_STATUS_DONE);
	assert_memory_equal(packet.bytes, expected, r->cipher_len);
	if (!decrypt)
		assert_memory_equal((uint8_t *)&packet + r->digest_off, tag, 16);
}

static void gcm(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(gcm_vectors); i++) {
		print_message("%s\n", gcm_vectors[i].name);
		gcm_vector(&gcm_vectors[i], false, false);
		gcm_vector(&gcm_vectors[i], true, false);
		gcm_vector(&gcm_vectors[i], true, true);
	}
}

static void hmac_vector(const struct hmac_vector *vector)
{
	uint8_t key[128], digest[64];
	uint32_t key_len = unhex(vector->key, key);
	uint32_t digest_len = unhex(vector->digest, digest);
	struct ocl_session session = session_of(OCL_CIPHER_NONE, vector->auth, false, digest_len);
	struct packet packet = {0};
	struct ocl_record *r = &packet.record;

	assert_int_equal(keys_set_auth(&session, key, key_len), 0);
	r->auth_off = sizeof(*r);
	r->auth_len = unhex(vector->message, packet.bytes);
	r->digest_off = r->auth_off + r->auth_len;
	assert_int_equal(process(&session, &packet), OCL_STATUS_DONE);
	assert_memory_equal((uint8_t *)&packet + r->digest_off, digest, digest_len);
	session.verify = 1;
	assert_int_equal(process(&session, &packet), OCL_STATUS_DONE);
	((uint8_t *)&packet)[r->digest_off] ^= 1;
	assert_int_equal(process(&session, &packet), OCL_STATUS_AUTH_FAILED);
}

static void hmac(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hmac_vectors); i++) {
		print_message("%s\n", hmac_vectors[i].name);
		hmac_vector(&hmac_vectors[i]);
	}
}

static void bad_keys(void **state)
{
	struct ocl_session session = session_of(OCL_CIPHER_AES_CBC, 0, false, 0);
	uint8_t key[129] = {0};

	(void)state;
	assert_int_equal(keys_set_cipher(&session, key, 0), -EINVAL);
	assert_int_equal(keys_set_cipher(&session, key, 20), -EINVAL);
	assert_int_equal(keys_set_cipher(&session, key, 33), -EINVAL);
	assert_int_equal(keys_set_auth(&session, key, 20), -EINVAL);
	session.label = OCL_LABEL(0, OCL_AUTH_HMAC_SHA1, 0);
	assert_int_equal(keys_set_auth(&session, key, 65), -EINVAL);
	session.label = OCL_LABEL(0, OCL_AUTH_HMAC_SHA512, 0);
	assert_int_equal(keys_set_auth(&session, key, 129), -EINVAL);
}

static void randomize(void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)p)[i] = random() >> 8;
}

struct chain {
	uint8_t key[32], mac_key[64];
	uint32_t key_len, auth;
	struct packet packet, expected;
};

/* A random ESP-like packet in both forms: a header, then what is encrypted. */
static void make_chain(struct chain *c)
{
	uint32_t header = random() % 40, len = random() % 100 * 16, digest;
	struct ocl_record *r = &c->packet.record;
	uint8_t *data = (uint8_t *)&c->expected;

	randomize(c, sizeof(*c));
	c->key_len = 16 + random() % 3 * 8;
	c->auth = 1 + random() % (OCL_AUTHS - 1);
	digest = digest_sizes[c->auth];
	r->auth_off = sizeof(*r) + random() % 16;
	r->auth_len = header + len;
	r->cipher_off = r->auth_off + header;
	r->cipher_len = len;
	r->digest_off = r->auth_off + r->auth_len;
	memcpy(&c->expected, &c->packet, sizeof(c->packet));
	reference_cbc(c->key, c->key_len, (uint8_t *)r->iv, data + r->cipher_off, len, true);
	reference_hmac(digest, c->mac_key, sizeof(c->mac_key), data + r->auth_off, r->auth_len,
		       data + r->digest_off);
}

static void random_chain(void)
{
	struct chain c;
	struct ocl_session session;
	struct packet plain;
	uint32_t digest;

	make_chain(&c);
	plain = c.packet;
	digest = digest_sizes[c.auth];
	session = session_of(OCL_CIPHER_AES_CBC, c.auth, false, digest);
	assert_int_equal(keys_set_cipher(&session, c.key, c.key_len), 0);
	assert_int_equal(keys_set_auth(&session, c.mac_key, sizeof(c.mac_key)), 0);
	assert_int_equal(process(&session, &c.packet), OCL_STATUS_DONE);
	assert_memory_equal(c.packet.bytes, c.expected.bytes, sizeof(c.packet.bytes));

	session = session_of(OCL_CIPHER_AES_CBC, c.auth, true, digest);
	assert_int_equal(keys_set_cipher(&session, c.key, c.key_len), 0);
	assert_int_equal(keys_set_auth(&session, c.mac_key, sizeof(c.mac_key)), 0);
	/* Not genuine: not decrypted. */
	((uint8_t *)&c.packet)[c.packet.record.digest_off + random() % digest] ^= 0x10;
	memcpy(&c.expected, &c.packet, sizeof(c.packet));
	assert_int_equal(process(&session, &c.packet), OCL_STATUS_AUTH_FAILED);
	assert_memory_equal(c.packet.bytes, c.expected.bytes, sizeof(c.packet.bytes));
	reference_hmac(digest, c.mac_key, sizeof(c.mac_key),
		       (uint8_t *)&c.packet + c.packet.record.auth_off, c.packet.record.auth_len,
		       (uint8_t *)&c.packet + c.packet.record.digest_off);
	assert_int_equal(process(&session, &c.packet), OCL_STATUS_DONE);
	assert_memory_equal((uint8_t *)&c.packet + sizeof(plain.record), plain.bytes,
			    c.packet.record.digest_off - sizeof(plain.record));
}

static void random_gcm(void)
{
	uint8_t key[32], plain[MAX_DATA], expected[MAX_DATA], tag[16];
	uint32_t key_len = 16 + random() % 3 * 8;
	struct ocl_session session;
	struct packet packet;
	struct ocl_record *r = &packet.record;

	randomize(key, sizeof(key));
	randomize(&packet, sizeof(packet));
	r->auth_off = sizeof(*r);
	r->auth_len = random() % 40;
	r->cipher_off = r->auth_off + r->auth_len;
	r->cipher_len = random() % 1600;
	r->digest_off = r->cipher_off + r->cipher_len;
	memcpy(plain, (uint8_t *)&packet + r->cipher_off, r->cipher_len);
	memcpy(expected, plain, r->cipher_len);
	reference_gcm(key, key_len, (uint8_t *)r->iv, packet.bytes, r->auth_len, expected,
		      r->cipher_len, tag);
	for (int decrypt = 0; decrypt < 2; decrypt++) {
		session = session_of(OCL_CIPHER_AES_GCM, 0, decrypt, 16);
		assert_int_equal(keys_set_cipher(&session, key, key_len), 0);
		assert_int_equal(process(&session, &packet), OCL_STATUS_DONE);
		assert_memory_equal((uint8_t *)&packet + r->cipher_off, decrypt ? plain : expected,
				    r->cipher_len);
		assert_memory_equal((uint8_t *)&packet + r->digest_off, tag, 16);
	}
}

static void against_openssl(void **state)
{
	(void)state;
	srandom(1);
	for (int i = 0; i < RANDOM_TESTS; i++) {
		random_chain();
		random_gcm();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cbc),
		cmocka_unit_test(gcm),
		cmocka_unit_test(hmac),
		cmocka_unit_test(bad_keys),
		cmocka_unit_test(against_openssl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

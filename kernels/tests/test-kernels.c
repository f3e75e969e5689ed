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

struct packet {
	struct ocl_record record;
	uint8_t bytes[MAX_DATA + 128];
};

/* Convert hexadecimal digits. @return number of bytes */
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

static struct ocl_session session_of(uint32_t cipher, uint32_t auth, uint32_t flags,
				     uint32_t digest_len)
{
	return (struct ocl_session){
		.label = OCL_LABEL(cipher, auth, flags),
		.digest_len = digest_len,
		.verify = flags & OCL_DECRYPT,
	};
}

static uint32_t run(const struct ocl_session *session, struct packet *packet, uint32_t lanes)
{
	u8 *const areas[OCL_AREAS] = {[OCL_AREA_CHUNK] = (u8 *)packet};

	return emu_packet(session, areas, 0, lanes);
}

/* The same packet with a head. */
static void check_head(const struct ocl_session *session, const struct packet *before,
		       const struct packet *after, uint32_t status, uint32_t lanes)
{
	static union {
		struct ocl_head head;
		uint8_t bytes[MAX_DATA + 1024];
	} slot[2]; /* the first has room for the AAD */
	struct ocl_head *head = &slot[1].head;
	const struct ocl_record *r = &before->record;
	const int moved = (int)sizeof(*head) - (int)sizeof(*r);
	bool aead = ocl_is_aead(OCL_LABEL_CIPHER(session->label));

	memset(head, 0, sizeof(*head));
	memcpy(head->iv, r->iv, sizeof(head->iv));
	head->cipher_off = r->cipher_off + moved;
	head->cipher_len = r->cipher_len;
	head->auth_off = aead ? 0 : r->auth_off + moved;
	head->auth_len = r->auth_len;
	head->digest_off = r->digest_off + moved;
	head->status = OCL_STATUS_PENDING;
	if (aead)
		memcpy((uint8_t *)head - OCL_HEAD_AAD(r->auth_len),
		       (const uint8_t *)before + r->auth_off, r->auth_len);
	memcpy(head + 1, before->bytes, sizeof(before->bytes));
	emu_head(session, head, lanes);
	assert_int_equal(head->status, status);
	assert_memory_equal(head + 1, after->bytes, sizeof(after->bytes));
}

/* The result is the same with any number of lanes, and with a record or a head. */
static uint32_t process(const struct ocl_session *session, struct packet *packet)
{
	struct packet before, shared;
	uint32_t status;

	packet->record.session = 0;
	packet->record.area = OCL_AREA_CHUNK;
	packet->record.base = 0;
	packet->record.digest_area = OCL_AREA_CHUNK;
	before = *packet;
	status = run(session, packet, 1);
	check_head(session, &before, packet, status, 1);
	for (uint32_t lanes = 2; lanes <= OCL_MAX_LANES; lanes *= 2) {
		if (!ocl_is_parallel(session->label))
			break;
		shared = before;
		assert_int_equal(run(session, &shared, lanes), status);
		assert_memory_equal(&shared, packet, sizeof(shared));
		check_head(session, &before, packet, status, lanes);
	}
	return status;
}

static void cipher_vector(const struct cipher_vector *vector, uint32_t flags)
{
	struct ocl_session session = session_of(vector->algorithm, 0, flags, 0);
	struct packet packet = {0};
	uint8_t key[32], expected[MAX_DATA];
	uint32_t key_len = unhex(vector->key, key);

	assert_int_equal(keys_set_cipher(&session, key, key_len), 0);
	unhex(vector->iv, (uint8_t *)packet.record.iv);
	packet.record.cipher_off = sizeof(packet.record);
	packet.record.cipher_len = unhex(flags ? vector->cipher : vector->plain, packet.bytes);
	unhex(flags ? vector->plain : vector->cipher, expected);
	assert_int_equal(process(&session, &packet), OCL_STATUS_DONE);
	assert_memory_equal(packet.bytes, expected, packet.record.cipher_len);
}

static void ciphers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cipher_vectors); i++) {
		print_message("%s\n", cipher_vectors[i].name);
		cipher_vector(&cipher_vectors[i], 0);
		cipher_vector(&cipher_vectors[i], OCL_DECRYPT);
	}
}

/* Layout: data, AAD, tag. */
static void aead_vector(const struct aead_vector *vector, uint32_t flags, bool spoil)
{
	uint8_t key[32], expected[MAX_DATA], tag[16];
	uint32_t key_len = unhex(vector->key, key), tag_len = unhex(vector->tag, tag);
	struct ocl_session session = session_of(vector->algorithm, 0, flags, tag_len);
	struct packet packet = {0};
	struct ocl_record *r = &packet.record;

	assert_int_equal(keys_set_cipher(&session, key, key_len), 0);
	/* The bytes behind the nonce are ignored. */
	memset(r->iv, 0xff, sizeof(r->iv));
	session.nonce_len = unhex(vector->iv, (uint8_t *)r->iv);
	r->cipher_off = sizeof(*r);
	r->cipher_len = unhex(flags ? vector->cipher : vector->plain, packet.bytes);
	unhex(flags ? vector->plain : vector->cipher, expected);
	r->auth_off = r->cipher_off + r->cipher_len;
	r->auth_len = unhex(vector->aad, packet.bytes + r->cipher_len);
	r->digest_off = r->auth_off + r->auth_len;
	if (flags)
		memcpy((uint8_t *)&packet + r->digest_off, tag, tag_len);
	if (spoil)
		((uint8_t *)&packet)[r->digest_off + tag_len - 1] ^= 0x80;
	assert_int_equal(process(&session, &packet),
			 spoil ? OCL_STATUS_AUTH_FAILED : OCL_STATUS_DONE);
	assert_memory_equal(packet.bytes, expected, r->cipher_len);
	if (!flags)
		assert_memory_equal((uint8_t *)&packet + r->digest_off, tag, tag_len);
}

static void aeads(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(aead_vectors); i++) {
		print_message("%s\n", aead_vectors[i].name);
		aead_vector(&aead_vectors[i], 0, false);
		aead_vector(&aead_vectors[i], OCL_DECRYPT, false);
		aead_vector(&aead_vectors[i], OCL_DECRYPT, true);
	}
}

static void auth_vector(const struct auth_vector *vector)
{
	uint8_t key[128], digest[64];
	uint32_t key_len = unhex(vector->key, key);
	uint32_t digest_len = unhex(vector->digest, digest);
	struct ocl_session session = session_of(OCL_CIPHER_NONE, vector->auth, 0, digest_len);
	struct packet packet = {0};
	struct ocl_record *r = &packet.record;

	assert_int_equal(keys_set_auth(&session, key, key_len), 0);
	unhex(vector->iv, (uint8_t *)r->iv);
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

static void auths(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(auth_vectors); i++) {
		print_message("%s\n", auth_vectors[i].name);
		auth_vector(&auth_vectors[i]);
	}
}

/* Each byte of the digest is compared, and none behind it. */
static void digest_lengths(void **state)
{
	struct ocl_session session = session_of(0, OCL_AUTH_HMAC_SHA512, OCL_DECRYPT, 64);
	struct packet packet = {0}, changed;
	struct ocl_record *r = &packet.record;

	(void)state;
	assert_int_equal(keys_set_auth(&session, (const uint8_t *)"key", 3), 0);
	r->auth_off = sizeof(*r);
	r->auth_len = 20;
	r->digest_off = r->auth_off + r->auth_len;
	session.verify = 0;
	assert_int_equal(process(&session, &packet), OCL_STATUS_DONE);
	session.verify = 1;
	for (session.digest_len = 1; session.digest_len <= 64; session.digest_len++) {
		for (uint32_t i = 0; i < 64; i++) {
			changed = packet;
			((uint8_t *)&changed)[r->digest_off + i] ^= 1 << i % 8;
			assert_int_equal(process(&session, &changed),
					 i < session.digest_len ? OCL_STATUS_AUTH_FAILED
								: OCL_STATUS_DONE);
		}
	}
}

static void bad_keys(void **state)
{
	static const struct {
		uint32_t cipher, auth, len;
	} bad[] = {
		{OCL_CIPHER_AES_CBC, 0, 0},   {OCL_CIPHER_AES_CTR, 0, 20},
		{OCL_CIPHER_AES_GCM, 0, 33},  {OCL_CIPHER_AES_CCM, 0, 15},
		{OCL_CIPHER_3DES_CBC, 0, 16}, {OCL_CIPHER_CHACHA20_POLY1305, 0, 16},
		{OCL_CIPHER_NONE, 0, 16},     {OCL_CIPHERS, 0, 16},
		{0, OCL_AUTH_NONE, 20},	      {0, OCL_AUTH_HMAC_MD5, 65},
		{0, OCL_AUTH_HMAC_SHA1, 65},  {0, OCL_AUTH_HMAC_SHA512, 129},
		{0, OCL_AUTH_AES_XCBC, 24},   {0, OCL_AUTH_AES_GMAC, 20},
		{0, OCL_AUTHS, 16},	      {OCL_CIPHER_AES_CTR, OCL_AUTH_AES_GMAC, 16},
	};
	uint8_t key[129] = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct ocl_session session = session_of(bad[i].cipher, bad[i].auth, 0, 0);

		if (bad[i].cipher == OCL_CIPHER_NONE || bad[i].auth)
			assert_int_equal(keys_set_auth(&session, key, bad[i].len), -EINVAL);
		if (bad[i].auth == OCL_AUTH_NONE)
			assert_int_equal(keys_set_cipher(&session, key, bad[i].len), -EINVAL);
	}
}

static void randomize(void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)p)[i] = random() >> 8;
}

static const uint32_t chain_ciphers[] = {
	OCL_CIPHER_NONE,
	OCL_CIPHER_AES_CBC,
	OCL_CIPHER_AES_CTR,
	OCL_CIPHER_3DES_CBC,
};

/* A random operation, with a record and with a head. */
struct operation {
	uint32_t cipher, auth, flags; /* flags: OCL_AUTH_FIRST or 0, of the encryption */
	uint32_t key_len, mac_key_len, digest_len, nonce_len;
	uint8_t key[32], mac_key[64];
	struct packet plain, encrypted;
};

static struct ocl_session operation_session(const struct operation *o, uint32_t flags)
{
	struct ocl_session session = session_of(o->cipher, o->auth, flags, o->digest_len);

	session.nonce_len = o->nonce_len;
	if (o->cipher)
		assert_int_equal(keys_set_cipher(&session, o->key, o->key_len), 0);
	if (o->auth)
		assert_int_equal(keys_set_auth(&session, o->mac_key, o->mac_key_len), 0);
	return session;
}

static void operation_keys(struct operation *o)
{
	uint32_t aes = 16 + random() % 3 * 8;

	o->key_len = o->cipher == OCL_CIPHER_3DES_CBC		 ? 24
		     : o->cipher == OCL_CIPHER_CHACHA20_POLY1305 ? 32
								 : aes;
	o->mac_key_len = o->auth == OCL_AUTH_AES_XCBC	? 16
			 : o->auth == OCL_AUTH_AES_GMAC ? aes
							: 1 + random() % 64;
}

/* A header, the encrypted range, the digest. */
static void make_chain(struct operation *o)
{
	struct ocl_record *r = &o->plain.record;
	uint32_t header = random() % 40, len = random() % 1600;
	uint8_t digest[64], *data = (uint8_t *)&o->encrypted;

	o->cipher = chain_ciphers[random() % ARRAY_SIZE(chain_ciphers)];
	o->auth = random() % (o->cipher ? OCL_AUTH_AES_GMAC : OCL_AUTHS);
	o->flags = random() % 3 ? 0 : OCL_AUTH_FIRST;
	operation_keys(o);
	o->digest_len = o->auth ? 1 + random() % reference_digest_len(o->auth) : 0;
	if (o->cipher == OCL_CIPHER_AES_CBC || o->cipher == OCL_CIPHER_3DES_CBC)
		len &= ~15u;
	r->auth_off = sizeof(*r) + random() % 16;
	r->auth_len = header + len;
	r->cipher_off = r->auth_off + header;
	r->cipher_len = len;
	r->digest_off = r->auth_off + r->auth_len;
	o->encrypted = o->plain;
	for (uint32_t step = 0; step < 2; step++) {
		if (step == (o->flags == OCL_AUTH_FIRST))
			reference_cipher(o->cipher, o->key, o->key_len, (uint8_t *)r->iv,
					 data + r->cipher_off, len);
		else
			reference_auth(o->auth, o->mac_key, o->mac_key_len, (uint8_t *)r->iv,
				       data + r->auth_off, r->auth_len, digest);
	}
	memcpy(data + r->digest_off, digest, o->digest_len);
}

static void make_aead(struct operation *o)
{
	struct ocl_record *r = &o->plain.record;
	uint8_t *data = (uint8_t *)&o->encrypted;

	o->cipher = OCL_CIPHER_AES_GCM + random() % (OCL_CIPHERS - OCL_CIPHER_AES_GCM);
	o->auth = OCL_AUTH_NONE;
	o->flags = 0;
	operation_keys(o);
	o->nonce_len = o->cipher == OCL_CIPHER_AES_CCM ? 7 + random() % 7 : 12;
	o->digest_len = o->cipher == OCL_CIPHER_AES_CCM	  ? 4 + 2 * (random() % 7)
			: o->cipher == OCL_CIPHER_AES_GCM ? 8 + 4 * (random() % 3)
							  : 16;
	r->auth_off = sizeof(*r) + random() % 4;
	r->auth_len = random() % 4 ? random() % 40 : 0;
	r->cipher_off = r->auth_off + r->auth_len;
	r->cipher_len = random() % 1600;
	r->digest_off = r->cipher_off + r->cipher_len;
	o->encrypted = o->plain;
	reference_aead(o->cipher, o->key, o->key_len, (uint8_t *)r->iv, o->nonce_len,
		       data + r->auth_off, r->auth_len, data + r->cipher_off, r->cipher_len,
		       data + r->digest_off, o->digest_len);
}

/* Encrypt, spoil, repair and decrypt. Each byte of the record is compared. */
static void check_operation(const struct operation *o)
{
	const struct ocl_record *r = &o->plain.record;
	struct ocl_session session = operation_session(o, o->flags);
	struct packet packet = o->plain, spoilt;
	uint32_t byte = random() % (o->digest_len ? o->digest_len : 1);

	assert_int_equal(process(&session, &packet), OCL_STATUS_DONE);
	assert_memory_equal(packet.bytes, o->encrypted.bytes, sizeof(packet.bytes));
	session = operation_session(o, OCL_DECRYPT | (o->flags ^ OCL_AUTH_FIRST));
	if (o->digest_len) {
		spoilt = o->encrypted;
		((uint8_t *)&spoilt)[r->digest_off + byte] ^= 1 << random() % 8;
		packet = spoilt;
		assert_int_equal(process(&session, &packet), OCL_STATUS_AUTH_FAILED);
		/* not authentic, so not decrypted if decryption comes second */
		if (o->flags == 0 && o->cipher < OCL_CIPHER_AES_GCM)
			assert_memory_equal(packet.bytes, spoilt.bytes, sizeof(packet.bytes));
	}
	packet = o->encrypted;
	assert_int_equal(process(&session, &packet), OCL_STATUS_DONE);
	assert_memory_equal((uint8_t *)&packet + sizeof(*r), o->plain.bytes,
			    r->digest_off - sizeof(*r));
}

static void against_openssl(void **state)
{
	static struct operation o;

	(void)state;
	srandom(1);
	for (int i = 0; i < 2 * RANDOM_TESTS; i++) {
		randomize(&o, sizeof(o));
		if (i % 2)
			make_chain(&o);
		else
			make_aead(&o);
		check_operation(&o);
	}
}

/* The carry of the counter reaches all words, which NIST's vectors do not test. */
static void counter_carry(void **state)
{
	uint8_t key[16] = {1}, expected[64] = {0}, iv[16];
	struct ocl_session session = session_of(OCL_CIPHER_AES_CTR, 0, 0, 0);

	(void)state;
	assert_int_equal(keys_set_cipher(&session, key, sizeof(key)), 0);
	for (uint32_t ones = 0; ones <= 16; ones++) {
		struct packet packet = {0};

		memset(iv, 0, sizeof(iv));
		memset(iv + 16 - ones, 0xff, ones);
		memset(expected, 0, sizeof(expected));
		reference_cipher(OCL_CIPHER_AES_CTR, key, sizeof(key), iv, expected,
				 sizeof(expected));
		memcpy(packet.record.iv, iv, sizeof(iv));
		packet.record.cipher_off = sizeof(packet.record);
		packet.record.cipher_len = sizeof(expected);
		assert_int_equal(process(&session, &packet), OCL_STATUS_DONE);
		assert_memory_equal(packet.bytes, expected, sizeof(expected));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ciphers),	   cmocka_unit_test(aeads),
		cmocka_unit_test(auths),	   cmocka_unit_test(digest_lengths),
		cmocka_unit_test(bad_keys),	   cmocka_unit_test(counter_carry),
		cmocka_unit_test(against_openssl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

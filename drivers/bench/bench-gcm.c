/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What AES-128-GCM costs by each function that there is on this CPU, without a driver around it: ipsec_mb for each kind of
 * CPU, our own (ipsec-mb-gcm/vaes.h), and OpenSSL with a context that is used again for each text.
 *
 *   bench-gcm [CPU]
 *
 * prints cycles of the TSC per text, medians of many calls for 8 texts at a time, as CSV. Of the lengths 68, 516 and 1,412 are
 * those of packets of 64, 512 and 1,408 bytes in ESP.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <rte_common.h>
#include <rte_cycles.h>

#include "ipsec-mb-gcm/vaes.h"

#define TEXTS 8u
#define CALLS 4001u

static const uint32_t lengths[] = {36, 68, 132, 260, 516, 1412};

static uint8_t text[TEXTS][1412], icv[TEXTS][16];
static const uint8_t secret[16] = {1, 2, 3}, iv[12] = {4}, aad[8] = {5};
static struct gcm_key key;
static struct gcm_context_data context;

typedef void (*crypt_texts)(uint32_t len, bool decrypt, const void *with);

static void with_function(uint32_t len, bool decrypt, const void *with)
{
	const aes_gcm_enc_dec_t *once = with;

	for (unsigned int i = 0; i < TEXTS; i++)
		once[decrypt](&key.library, &context, text[i], text[i], len, iv, aad, sizeof(aad),
			      icv[i], sizeof(icv[i]));
}

static void with_openssl(uint32_t len, bool decrypt, const void *with)
{
	EVP_CIPHER_CTX *c = ((EVP_CIPHER_CTX *const *)with)[decrypt];
	int done;

	for (unsigned int i = 0; i < TEXTS; i++) {
		EVP_CipherInit_ex(c, NULL, NULL, NULL, iv, -1);
		EVP_CipherUpdate(c, NULL, &done, aad, sizeof(aad));
		EVP_CipherUpdate(c, text[i], &done, text[i], (int)len);
		if (decrypt)
			EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, icv[i]);
		EVP_CipherFinal_ex(c, text[i] + len, &done);
		if (!decrypt)
			EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, icv[i]);
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double cycles(crypt_texts crypt, uint32_t len, bool decrypt, const void *with)
{
	static uint64_t took[CALLS];

	for (unsigned int i = 0; i < CALLS; i++) {
		uint64_t begin = rte_rdtsc_precise();

		crypt(len, decrypt, with);
		took[i] = rte_rdtsc_precise() - begin;
	}
	qsort(took, CALLS, sizeof(took[0]), compare);
	return (double)took[CALLS / 2] / TEXTS;
}

static void print_row(const char *by, crypt_texts crypt, const void *with)
{
	printf("%s", by);
	for (unsigned int decrypt = 0; decrypt < 2; decrypt++)
		for (unsigned int i = 0; i < RTE_DIM(lengths); i++)
			printf(",%.0f", cycles(crypt, lengths[i], decrypt, with));
	printf("\n");
}

static void try_library(const char *by, void (*init)(IMB_MGR *mgr), uint64_t needs)
{
	IMB_MGR *mgr = alloc_mb_mgr(0);
	aes_gcm_enc_dec_t once[2];

	if (mgr && (mgr->features & needs) == needs) {
		init(mgr);
		mgr->gcm128_pre(secret, &key.library);
		once[0] = mgr->gcm128_enc;
		once[1] = mgr->gcm128_dec;
		print_row(by, with_function, once);
	}
	free_mb_mgr(mgr);
}

/* The key is the one that the library has expanded last. */
static void try_ours(void)
{
	static const aes_gcm_enc_dec_t once[2] = {vaes_encrypt, vaes_decrypt};
	IMB_MGR *mgr = alloc_mb_mgr(0);

	if (mgr && vaes_is_there(mgr)) {
		vaes_expand(&key, sizeof(secret));
		print_row("ours", with_function, once);
	}
	free_mb_mgr(mgr);
}

static void try_openssl(void)
{
	EVP_CIPHER_CTX *c[2] = {EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_new()};

	EVP_CipherInit_ex(c[0], EVP_aes_128_gcm(), NULL, secret, iv, 1);
	EVP_CipherInit_ex(c[1], EVP_aes_128_gcm(), NULL, secret, iv, 0);
	print_row("OpenSSL", with_openssl, c);
	EVP_CIPHER_CTX_free(c[0]);
	EVP_CIPHER_CTX_free(c[1]);
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("sched_setaffinity");
}

int main(int argc, char **argv)
{
	stay_on(argc > 1 ? atoi(argv[1]) : 0);
	printf("# ipsec_mb %s, %s\nby", imb_get_version_str(), OpenSSL_version(OPENSSL_VERSION));
	for (unsigned int decrypt = 0; decrypt < 2; decrypt++)
		for (unsigned int i = 0; i < RTE_DIM(lengths); i++)
			printf(",%s %u", decrypt ? "in" : "out", lengths[i]);
	printf("\n");
	try_library("ipsec_mb SSE", init_mb_mgr_sse, IMB_FEATURE_AESNI);
	try_library("ipsec_mb AVX2", init_mb_mgr_avx2, IMB_FEATURE_AVX2);
	try_library("ipsec_mb AVX-512", init_mb_mgr_avx512, IMB_FEATURE_AVX512_SKX);
	try_ours();
	try_openssl();
	return 0;
}

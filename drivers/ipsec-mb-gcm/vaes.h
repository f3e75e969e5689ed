/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file vaes.h
 * AES-GCM of a text in one segment with VAES and VPCLMULQDQ on registers of 256 bits (NIST SP 800-38D). ipsec_mb 1.3 uses
 * such registers of 512 bits, or else only those of 128; 2.0 has a function for 256 bits, but not for a CPU without GFNI,
 * such as Zen 3.
 */
#ifndef GCM_VAES_H
#define GCM_VAES_H

#include <stdbool.h>

#include <intel-ipsec-mb.h>

#define VAES_POWERS	19 /* of the hash key */
#define VAES_POWERS_FEW 7  /* for up to 80 bytes of text and the AAD: they begin a cache line */

/* The key of a session: what the library expands has the round keys, too. */
struct gcm_key {
	/* Of the hash key, the highest first. The last element is no power, and read with the one before: it begins with the number
	 * of AES's rounds. */
	uint8_t power[VAES_POWERS + 1][16] __attribute__((aligned(64)));
	struct gcm_key_data library __attribute__((aligned(64)));
};

/** Whether this CPU has the instructions. */
bool vaes_is_there(const IMB_MGR *mgr);

/** Compute the powers of the hash key. The library has expanded the key before.
 * @param bytes  length of the AES key: 16, 24 or 32 */
void vaes_expand(struct gcm_key *key, unsigned int bytes);

/** Find out for which texts the functions below take less time on this CPU than those of the library. Measures for some
 * milliseconds.
 * @param expand, once  the library's functions for keys of 16 bytes
 * @return length in bytes of the shortest texts for which they do not; UINT32_MAX: they do for all, 0: for none */
uint32_t vaes_faster_below(aes_gcm_pre_t expand, const aes_gcm_enc_dec_t once[2]);

/* As the functions of the library: any thread; the IV has 12 bytes. @param key  the one in a struct gcm_key */
void vaes_encrypt(const struct gcm_key_data *key, struct gcm_context_data *context, uint8_t *to,
		  const uint8_t *from, uint64_t len, const uint8_t *iv, const uint8_t *aad,
		  uint64_t aad_len, uint8_t *icv, uint64_t icv_len);
void vaes_decrypt(const struct gcm_key_data *key, struct gcm_context_data *context, uint8_t *to,
		  const uint8_t *from, uint64_t len, const uint8_t *iv, const uint8_t *aad,
		  uint64_t aad_len, uint8_t *icv, uint64_t icv_len);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file library.h
 * What of ipsec_mb the driver uses: AES-GCM by one call a text, and in steps where a text lies in
 * several segments. The functions keep nothing but what they are given.
 */
#ifndef GCM_LIBRARY_H
#define GCM_LIBRARY_H

#include <intel-ipsec-mb.h>

#define GCM_DIRECTIONS 2 /* encryption, decryption */
#define GCM_KEY_SIZES  3 /* of 16, 24 and 32 bytes */

/* For keys of one size. */
struct gcm_library {
	aes_gcm_pre_t expand;
	aes_gcm_enc_dec_t once[GCM_DIRECTIONS];
	aes_gcm_init_t begin;
	aes_gcm_enc_dec_update_t go_on[GCM_DIRECTIONS];
	aes_gcm_enc_dec_finalize_t end[GCM_DIRECTIONS];
};

#define GCM_LIBRARY(mgr, bits)                                                                     \
	((struct gcm_library){                                                                     \
		.expand = (mgr)->gcm##bits##_pre,                                                  \
		.once = {(mgr)->gcm##bits##_enc, (mgr)->gcm##bits##_dec},                          \
		.begin = (mgr)->gcm##bits##_init,                                                  \
		.go_on = {(mgr)->gcm##bits##_enc_update, (mgr)->gcm##bits##_dec_update},           \
		.end = {(mgr)->gcm##bits##_enc_finalize, (mgr)->gcm##bits##_dec_finalize},         \
	})

#endif

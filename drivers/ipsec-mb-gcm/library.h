/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file library.h
 * The functions of ipsec_mb that the driver uses: for AES-GCM of a whole text, and of a text in
 * several segments. The functions are reentrant: they store data only in their arguments.
 */
#ifndef GCM_LIBRARY_H
#define GCM_LIBRARY_H

#include <intel-ipsec-mb.h>

#define GCM_DIRECTIONS 2 /* encryption, decryption */
#define GCM_KEY_SIZES  3 /* of 16, 24 and 32 bytes */

/* The functions for keys of one size. */
struct gcm_library {
	aes_gcm_pre_t expand;
	aes_gcm_enc_dec_t once[GCM_DIRECTIONS];
	aes_gcm_init_t init;
	aes_gcm_enc_dec_update_t update[GCM_DIRECTIONS];
	aes_gcm_enc_dec_finalize_t finalize[GCM_DIRECTIONS];
};

#define GCM_LIBRARY(mgr, bits) \
	((struct gcm_library){ \
		.expand = (mgr)->gcm##bits##_pre, \
		.once = {(mgr)->gcm##bits##_enc, (mgr)->gcm##bits##_dec}, \
		.init = (mgr)->gcm##bits##_init, \
		.update = {(mgr)->gcm##bits##_enc_update, (mgr)->gcm##bits##_dec_update}, \
		.finalize = {(mgr)->gcm##bits##_enc_finalize, (mgr)->gcm##bits##_dec_finalize}, \
	})

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file keys.h
 * From raw keys to the session entry that the kernel reads. Runs on the host,
 * once a session. The owner of a session overwrites it after use.
 */
#ifndef KEYS_H
#define KEYS_H

#include "inc_types.h"

/**
 * Set the cipher's key for session->label, which comes first: CBC decryption
 * takes the inverse schedule, GCM its hash key, too.
 * @param len  bytes: AES 16, 24 or 32; 3DES 24; ChaCha20 32
 * @return 0, or -EINVAL for another length or a label without cipher
 */
int keys_set_cipher(struct ocl_session *session, const u8 *key, u32 len);

/**
 * Set the key of authentication for session->label, which comes first.
 * @param len  bytes: HMAC (RFC 2104) at most the hash's block size; XCBC 16; GMAC
 *	       16, 24 or 32
 * @return 0, or -EINVAL for another length, a label without authentication, or one
 *	   with GMAC and a cipher
 */
int keys_set_auth(struct ocl_session *session, const u8 *key, u32 len);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file keys.h
 * From raw keys to the session entry that the kernel reads. Runs on the host,
 * once a session. Whoever holds a session wipes it.
 */
#ifndef KEYS_H
#define KEYS_H

#include "inc_types.h"

/**
 * Set the AES key for session->label, which comes first: decryption of CBC
 * takes the inverse schedule, GCM its hash key.
 * @param len  bytes: 16, 24 or 32
 * @return 0, or -EINVAL for another length
 */
int keys_set_aes(struct ocl_session *session, const u8 *key, u32 len);

/**
 * Set the HMAC key (RFC 2104) for session->label, which comes first.
 * @param len  bytes, at most the hash's block size
 * @return 0, or -EINVAL for a longer key or a label without HMAC
 */
int keys_set_hmac(struct ocl_session *session, const u8 *key, u32 len);

#endif

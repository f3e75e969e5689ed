/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file call.h
 * Synchronous calls (rte_cryptodev_sym_cpu_crypto_process()).
 */
#ifndef GCM_CALL_H
#define GCM_CALL_H

#include "session.h"

/**
 * Encrypt or decrypt texts of one session, each in any number of segments. Any thread; several
 * threads may use a session at a time.
 * @param ofs  must be 0: an AEAD processes the whole text
 * @return     number of texts processed successfully. vec->status is 0, EBADMSG (wrong ICV), EINVAL
 *	       (no room for the result, or no IV, AAD, ICV or text), or ENOTSUP (ofs is not 0)
 */
uint32_t gcm_call(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session,
		  union rte_crypto_sym_ofs ofs, struct rte_crypto_sym_vec *vec);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file call.h
 * Synchronous calls (rte_cryptodev_sym_cpu_crypto_process()).
 */
#ifndef CHAIN_CALL_H
#define CHAIN_CALL_H

#include "session.h"

/**
 * Encrypt and authenticate, or verify and decrypt, texts of one session, each of one segment and in
 * place. Any thread; several threads may call it at a time. The first call of a thread allocates a
 * manager of the library, which is freed when the thread ends.
 * @param ofs  offsets of the authenticated and of the encrypted range of each text
 * @return     number of texts processed successfully. vec->status is 0, EBADMSG (wrong ICV), EINVAL
 *	       (an invalid length or offset, or no IV, ICV or text), ENOTSUP (several segments, or not
 *	       in place), or EIO (the library has not processed it). If the thread gets no manager,
 *	       vec->status of all texts is rte_errno of mb_manager_open(), ENOMEM, or EAGAIN
 */
uint32_t chain_call(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session,
		    union rte_crypto_sym_ofs ofs, struct rte_crypto_sym_vec *vec);

#endif

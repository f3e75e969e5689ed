/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file call.h
 * cryptodev's "CPU crypto": done when it returns.
 */
#ifndef GCM_CALL_H
#define GCM_CALL_H

#include "session.h"

/**
 * Work on the texts of one session, each in its segments. Any thread, several at a time.
 * @param ofs  0: an AEAD works on all of a text
 * @return how many went well; each one's status is 0, EBADMSG (not the ICV that came with it),
 *	   EINVAL (no room for the result, or no IV, AAD, ICV or text) or ENOTSUP (ofs is not 0)
 */
uint32_t gcm_call(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session,
		  union rte_crypto_sym_ofs ofs, struct rte_crypto_sym_vec *vec);

#endif

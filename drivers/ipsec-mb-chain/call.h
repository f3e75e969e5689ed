/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file call.h
 * cryptodev's "CPU crypto": done when it returns.
 */
#ifndef CHAIN_CALL_H
#define CHAIN_CALL_H

#include "session.h"

/**
 * Work on the texts of one session, each in one piece and in place. Any thread, several at a time: each
 * has a manager of the library's of its own from its first call until it ends.
 * @param ofs  what of a text is authenticated, and what of that is encrypted
 * @return how many went well; each one's status is 0, EBADMSG (not the ICV that came with it), EINVAL
 *	   (a length or a place that it cannot have, or no IV, ICV or text), ENOTSUP (several pieces,
 *	   or not in place), EIO (the library did not do it), or for all why the thread can have no
 *	   manager: what mb_manager_open() says, or EAGAIN
 */
uint32_t chain_call(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *session,
		    union rte_crypto_sym_ofs ofs, struct rte_crypto_sym_vec *vec);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file suite.h
 * What an SA's algorithms mean for its packets, and in the words of cryptodev.
 */
#ifndef CYGNETD_SUITE_H
#define CYGNETD_SUITE_H

#include <rte_crypto.h>

#include "cygnet.h"
#include "esp/session.h"

/** Whether we know the algorithms of an SA, and its lengths, which come from shared
 * memory, are ones that they have. */
bool suite_known(const struct cygnet_sa *sa);

/**
 * Fill in the lengths of an SA's algorithms: of the keys, the salt and the ICV (the usual one).
 * @param sa   of which the cipher and the authentication are given
 * @param key  the how-manieth of the cipher's lengths of keys, from 0
 * @return false: there are no such SAs
 */
bool suite_lengths(struct cygnet_sa *sa, unsigned int key);

/** Fill in what the algorithms of an SA say about its packets.
 * @param sa  suite_known() */
void suite_describe(struct session *s, const struct cygnet_sa *sa);

/**
 * What to ask a crypto device for: one transformation, or encryption and
 * authentication in the order of the direction.
 * @param x   receives them, the first one first; they point into the SA's keys
 * @param sa  suite_known()
 */
void suite_transforms(struct rte_crypto_sym_xform x[2], const struct cygnet_sa *sa);

#endif

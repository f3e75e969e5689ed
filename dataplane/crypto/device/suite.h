/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file suite.h
 * Properties of the algorithms of an SA: lengths in its packets, and cryptodev transforms.
 */
#ifndef CYGNETD_SUITE_H
#define CYGNETD_SUITE_H

#include <rte_crypto.h>

#include "cygnet.h"
#include "esp/session.h"

/** Whether Cygnet supports the algorithms of an SA, and its lengths fit them. The SA is in shared memory,
 * so neither is trusted. */
bool suite_known(const struct cygnet_sa *sa);

/** Whether FIPS 140-3 approves the algorithms of an SA (NIST SP 800-140C): AES-CBC, -CTR, -GCM, -CCM,
 * -GMAC or NULL; HMAC-SHA1, -SHA2 and AES-CMAC. Numbers that are no algorithm are not. */
bool suite_approved(uint8_t cipher, uint8_t auth);

/**
 * Fill in the lengths of keys, salt and ICV (the default length) of an SA.
 * @param sa   with cipher and authentication algorithm set
 * @param key  index of a key length among those of the cipher
 * @return false: the combination is not supported, or the cipher has fewer key lengths
 */
bool suite_lengths(struct cygnet_sa *sa, unsigned int key);

/** Fill in the fields of a session that depend on the algorithms. @param sa  suite_known() */
void suite_describe(struct session *s, const struct cygnet_sa *sa);

/**
 * The cryptodev transforms of an SA: one, or a cipher and an authentication transform in the order of
 * the direction.
 * @param x   receives the chain, which begins at x[0]; it points into the SA's keys
 * @param sa  suite_known()
 */
void suite_transforms(struct rte_crypto_sym_xform x[2], const struct cygnet_sa *sa);

#endif

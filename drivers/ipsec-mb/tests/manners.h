/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file manners.h
 * What every driver does that calls ipsec_mb, whatever its algorithms.
 */
#ifndef MANNERS_H
#define MANNERS_H

#include "harness.h"

/** Nothing of a key is left where a session was. */
void manners_wiped(const struct device *dev, const struct suite *suite);
/** There is no device without AES-NI, or with arguments that it does not know. */
void manners_refused_devices(void);
/**
 * An operation that has no session is refused, and what a full queue does not take; the rest stays in
 * order, and all are counted. packets_open() has been called.
 * @param describe  all but packet and session, of one of 64 bytes that goes well
 */
void manners_queue(const struct device *dev, void *session,
		   void (*describe)(struct rte_crypto_op *op));

#endif

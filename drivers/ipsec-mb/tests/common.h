/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file common.h
 * Tests that both drivers share.
 */
#ifndef COMMON_H
#define COMMON_H

#include "harness.h"

/** A freed session is wiped. */
void common_wiped_sessions(const struct device *dev, const struct suite *suite);
/** A device is refused without AES-NI, and with unknown arguments. */
void common_refused_devices(void);
/**
 * A full queue pair refuses operations, and an operation without a session fails. The others stay
 * in order, and statistics count all. packets_open() has been called.
 * @param describe  sets the fields of a valid operation of 64 bytes, except packet and session
 */
void common_full_queue(const struct device *dev, void *session,
		       void (*describe)(struct rte_crypto_op *op));

#endif

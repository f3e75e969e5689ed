/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file operations.h
 * Shared by the tests of the driver's behaviour: operations with packets of their own.
 */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <rte_cycles.h>

#include "harness.h"

#define LEN    128
#define DIGEST 12

/* AES-CBC with HMAC-SHA1, without keys. */
extern const struct suite esp_template;

/** Open pools of operations and packets. Closing checks that all are back. */
void operations_open(void);
void operations_close(void);

/** An encryption of LEN random bytes, with the digest behind them. */
struct rte_crypto_op *make_op(void *session);
void free_op(struct rte_crypto_op *op);

/** Wait for n operations. */
void take_all(const struct device *dev, uint16_t qp, struct rte_crypto_op **back, unsigned int n);

/** Send n operations, 64 at most, and check that they complete in order with that status. */
void round_trip(const struct device *dev, uint16_t qp, void *session, unsigned int n,
		enum rte_crypto_op_status status);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pass.h
 * Operations in and out of a queue pair, which does them when they are enqueued.
 */
#ifndef PASS_H
#define PASS_H

#include "harness.h"

#define PASS_MOST 256u /* operations at a time */

/** The pool they come from; closing checks that all are back. */
void pass_open(void);
void pass_close(void);

/** @return one with the session and an IV, of 16 bytes at most */
struct rte_crypto_op *pass_operation(void *session, const void *iv, size_t iv_len);
/** They come back in order; they are freed. */
void pass(const struct device *dev, struct rte_crypto_op **ops, unsigned int n,
	  enum rte_crypto_op_status *status);

/** What an operation says where a call says this. */
enum rte_crypto_op_status pass_status(int err);

#endif

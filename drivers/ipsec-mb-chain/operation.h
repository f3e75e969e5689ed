/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file operation.h
 * Processes operations (struct rte_crypto_op) in batches of the same kind, whatever their sessions.
 */
#ifndef CHAIN_OPERATION_H
#define CHAIN_OPERATION_H

#include <rte_crypto.h>

#include "batch.h"

/** Process operations, and set their status. */
void chain_operations(struct chain_batch *batch, struct rte_crypto_op **ops, uint16_t n);

#endif

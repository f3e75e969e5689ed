/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file operation.h
 * cryptodev's operations: those of one kind go together, whatever their sessions.
 */
#ifndef CHAIN_OPERATION_H
#define CHAIN_OPERATION_H

#include <rte_crypto.h>

#include "bunch.h"

/** Do them, and set their status. */
void chain_operations(struct chain_bunch *bunch, struct rte_crypto_op **ops, uint16_t n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file operation.h
 * Processes operations (struct rte_crypto_op).
 */
#ifndef GCM_OPERATION_H
#define GCM_OPERATION_H

#include <rte_crypto.h>

#include "text.h"

#define GCM_SEGMENTS 64 /* maximum number of a text */

/** Process an operation, and set its status. */
void gcm_operation(struct rte_crypto_op *op, struct gcm_scratch *scratch);

#endif

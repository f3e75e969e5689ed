/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file operation.h
 * One of cryptodev's operations: where its text lies in packets.
 */
#ifndef GCM_OPERATION_H
#define GCM_OPERATION_H

#include <rte_crypto.h>

#include "text.h"

#define GCM_SEGMENTS 64 /* of a packet, at most */

/** Do it, and set its status. */
void gcm_operation(struct rte_crypto_op *op, struct gcm_scratch *scratch);

#endif

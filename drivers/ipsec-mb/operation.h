/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file operation.h
 * Checks and status of operations and synchronous calls that both drivers share.
 */
#ifndef MB_OPERATION_H
#define MB_OPERATION_H

#include <errno.h>

#include <rte_crypto.h>

/** Check that an operation is symmetric and has a session and a packet.
 * @return RTE_CRYPTO_OP_STATUS_NOT_PROCESSED if so, otherwise the status to fail with */
static inline enum rte_crypto_op_status mb_operation_check(const struct rte_crypto_op *op)
{
	if (op->type != RTE_CRYPTO_OP_TYPE_SYMMETRIC)
		return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
	if (op->sess_type != RTE_CRYPTO_OP_WITH_SESSION || op->sym->session == NULL)
		return RTE_CRYPTO_OP_STATUS_INVALID_SESSION;
	if (op->sym->m_src == NULL)
		return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
	return RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
}

/** The status of an operation for an errno.
 * @param err  0, EBADMSG (wrong ICV), EINVAL (invalid operation), or EIO */
static inline enum rte_crypto_op_status mb_operation_status(int err)
{
	switch (err) {
	case 0:
		return RTE_CRYPTO_OP_STATUS_SUCCESS;
	case EBADMSG:
		return RTE_CRYPTO_OP_STATUS_AUTH_FAILED;
	case EINVAL:
		return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
	default:
		return RTE_CRYPTO_OP_STATUS_ERROR;
	}
}

/** Set the status of all texts of a synchronous call to an error.
 * @param why  errno. @return 0, the number of texts processed */
static inline uint32_t mb_call_refuse(struct rte_crypto_sym_vec *vec, int why)
{
	for (uint32_t i = 0; i < vec->num; i++)
		vec->status[i] = why;
	return 0;
}

#endif

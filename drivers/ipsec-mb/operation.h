/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file operation.h
 * cryptodev's operations and calls, as far as all of these drivers look at them alike.
 */
#ifndef MB_OPERATION_H
#define MB_OPERATION_H

#include <errno.h>

#include <rte_crypto.h>

/** Whether it is one at all. @return RTE_CRYPTO_OP_STATUS_NOT_PROCESSED if so */
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

/** @param err  0, EBADMSG: not the ICV that came with it, EINVAL: no such text, or EIO */
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

/** None of a call's texts is worked on. @return how many went well: 0 */
static inline uint32_t mb_call_refuse(struct rte_crypto_sym_vec *vec, int why)
{
	for (uint32_t i = 0; i < vec->num; i++)
		vec->status[i] = why;
	return 0;
}

#endif

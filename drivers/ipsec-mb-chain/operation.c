/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "ipsec-mb/operation.h"
#include "operation.h"

static const struct chain_session *session_of(const struct rte_crypto_op *op)
{
	return CRYPTODEV_GET_SYM_SESS_PRIV(op->sym->session);
}

static enum rte_crypto_op_status check(const struct rte_crypto_op *op)
{
	enum rte_crypto_op_status status = mb_operation_check(op);
	const struct rte_crypto_sym_op *sym = op->sym;

	if (status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED && sym->m_dst && sym->m_dst != sym->m_src)
		return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
	return status;
}

/* Whether a range is in the packet's first segment. */
static bool is_inside(const struct rte_mbuf *m, uint32_t offset, uint32_t len)
{
	return (uint64_t)offset + len <= m->data_len;
}

static int add(struct chain_batch *batch, const struct rte_crypto_op *op)
{
	const struct chain_session *s = session_of(op);
	const struct rte_crypto_sym_op *sym = op->sym;
	struct chain_text text = {
		.start = rte_pktmbuf_mtod_offset(sym->m_src, uint8_t *, sym->auth.data.offset),
		.len = sym->auth.data.length,
		.icv = sym->auth.digest.data,
	};

	if (!is_inside(sym->m_src, sym->auth.data.offset, sym->auth.data.length))
		return EINVAL;
	if (s->kind.cipher != IMB_CIPHER_NULL) {
		if (!is_inside(sym->m_src, sym->cipher.data.offset, sym->cipher.data.length) ||
		    sym->cipher.data.offset < sym->auth.data.offset)
			return EINVAL;
		text.head = sym->cipher.data.offset - sym->auth.data.offset;
		text.cipher_len = sym->cipher.data.length;
		text.iv = rte_crypto_op_ctod_offset(op, const uint8_t *, s->iv_offset);
	}
	return chain_batch_add(batch, s, &text);
}

/* Process the operations of the same kind as the first one.
 * @param left  bit mask of the operations that are not processed yet. @return those that remain */
static uint64_t one_kind(struct chain_batch *batch, struct rte_crypto_op **ops, uint64_t left)
{
	const struct chain_session *first = session_of(ops[__builtin_ctzll(left)]);
	struct rte_crypto_op *added[CHAIN_BATCH];
	uint64_t others = 0;
	unsigned int n = 0;

	for (; left; left &= left - 1) {
		struct rte_crypto_op *op = ops[__builtin_ctzll(left)];

		if (!chain_same_kind(session_of(op), first))
			others |= left & -left;
		else if (add(batch, op) == 0)
			added[n++] = op;
		else
			op->status = mb_operation_status(EINVAL);
	}
	chain_batch_work(batch);
	for (unsigned int i = 0; i < n; i++)
		added[i]->status = mb_operation_status(batch->status[i]);
	return others;
}

void chain_operations(struct chain_batch *batch, struct rte_crypto_op **ops, uint16_t n)
{
	for (unsigned int from = 0; from < n; from += CHAIN_BATCH) {
		uint64_t left = 0;

		for (unsigned int i = 0; i < CHAIN_BATCH && from + i < n; i++) {
			ops[from + i]->status = check(ops[from + i]);
			if (ops[from + i]->status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED)
				left |= UINT64_C(1) << i;
		}
		while (left)
			left = one_kind(batch, ops + from, left);
	}
}

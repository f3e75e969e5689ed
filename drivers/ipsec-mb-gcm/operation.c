/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ipsec-mb/operation.h"
#include "operation.h"

/* Get the segments of a range of a packet.
 * @return 0, or EINVAL (the range exceeds the packet, or has too many segments) */
static int gather(const struct rte_mbuf *m, uint32_t offset, uint32_t len,
		  struct rte_crypto_sgl *sgl)
{
	while (m && offset >= m->data_len && len) {
		offset -= m->data_len;
		m = m->next;
	}
	for (sgl->num = 0; m && len; m = m->next, offset = 0) {
		struct rte_crypto_vec *vec = &sgl->vec[sgl->num];

		if (sgl->num++ == GCM_SEGMENTS)
			return EINVAL;
		vec->base = rte_pktmbuf_mtod_offset(m, uint8_t *, offset);
		vec->len = RTE_MIN(m->data_len - offset, len);
		len -= vec->len;
	}
	return len ? EINVAL : 0;
}

/* Process a text of several segments. @param text  without from and to */
static int in_segments(const struct rte_crypto_sym_op *sym, const struct gcm_session *s,
		       struct gcm_scratch *scratch, struct gcm_text text)
{
	struct rte_crypto_vec from_vec[GCM_SEGMENTS], to_vec[GCM_SEGMENTS];
	struct rte_crypto_sgl from = {.vec = from_vec}, to = {.vec = to_vec};
	const uint32_t offset = sym->aead.data.offset, len = sym->aead.data.length;
	int err = gather(sym->m_src, offset, len, &from);

	text.from = text.to = &from;
	if (!err && sym->m_dst && sym->m_dst != sym->m_src) {
		text.to = &to;
		err = gather(sym->m_dst, offset, len, &to);
	}
	return err ? err : gcm_text_steps(s, scratch, &text);
}

static int work(struct rte_crypto_op *op, const struct gcm_session *s, struct gcm_scratch *scratch)
{
	const struct rte_crypto_sym_op *sym = op->sym;
	const struct rte_mbuf *from = sym->m_src, *to = sym->m_dst ? sym->m_dst : from;
	const uint32_t offset = sym->aead.data.offset, len = sym->aead.data.length;
	const uint64_t end = (uint64_t)offset + len;
	struct gcm_text text = {
		.iv = rte_crypto_op_ctod_offset(op, const uint8_t *, s->iv_offset),
		.aad = sym->aead.aad.data,
		.icv = sym->aead.digest.data,
	};

	if (unlikely(end > from->data_len || end > to->data_len))
		return in_segments(sym, s, scratch, text);
	return gcm_text_once(s, scratch, rte_pktmbuf_mtod_offset(to, uint8_t *, offset),
			     rte_pktmbuf_mtod_offset(from, const uint8_t *, offset), len, &text);
}

void gcm_operation(struct rte_crypto_op *op, struct gcm_scratch *scratch)
{
	op->status = mb_operation_check(op);
	if (op->status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED)
		op->status = mb_operation_status(
			work(op, CRYPTODEV_GET_SYM_SESS_PRIV(op->sym->session), scratch));
}

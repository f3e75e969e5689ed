/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crypt_row.h"
#include "crypto_op.h"
#include "engine.h"
#include "esp_common.h"
#include "pipeline.h"

/* Turns in which a device may give nothing back before it is given up. */
#define PATIENCE 1000u
#define AHEAD 4u /* packets, by which keys are fetched before they are needed */

/* The same as a call is told. */
static void describe(struct rte_crypto_op *op, const struct crypt_row *row, unsigned int i,
		     unsigned int device)
{
	const struct rte_crypto_vec *range = &row->v->range[i];
	const struct session *s = row->s[i];
	struct rte_crypto_sym_op *sym = op->sym;
	uint32_t at = (uint32_t)((uint8_t *)range->base - rte_pktmbuf_mtod(row->m[i], uint8_t *));
	uint32_t head = esp_chain_head(s);

	rte_crypto_op_attach_sym_session(op, s->at[device]);
	memcpy(crypto_op_job(op)->iv, row->v->iv[i].va, sizeof(crypto_op_job(op)->iv));
	sym->m_src = row->m[i];
	sym->cipher.data.offset = at + head;
	sym->cipher.data.length = range->len - head - esn_len(s);
	sym->auth.data.offset = at;
	sym->auth.data.length = range->len;
	sym->auth.digest.data = row->v->icv[i].va;
}

/* In and out again, until all are back. */
static void pass(const struct worker *w, unsigned int device, struct rte_crypto_op **op,
		 unsigned int n)
{
	struct rte_crypto_op *back[CRYPT_CALL_MAX];
	unsigned int in = 0, out = 0;

	for (unsigned int idle = 0; out < n && idle < PATIENCE; idle++) {
		uint8_t id = engine_device[device].id;
		uint16_t got;

		if (in < n)
			in += rte_cryptodev_enqueue_burst(id, (uint16_t)w->id, op + in,
							  (uint16_t)(n - in));
		got = rte_cryptodev_dequeue_burst(id, (uint16_t)w->id, back, (uint16_t)(n - out));
		if (got)
			idle = 0;
		out += got;
	}
	if (out < n)
		engine_take_out(device);
}

/* What came of a packet. One that has not come back may still be written: its memory, and the
 * operation's, are the device's for good. */
static int32_t finish(struct rte_crypto_op *op)
{
	enum rte_crypto_op_status status = (enum rte_crypto_op_status)op->status;

	if (status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED)
		rte_mbuf_refcnt_update(op->sym->m_src, 1);
	else
		crypto_op_free(op);
	switch (status) {
	case RTE_CRYPTO_OP_STATUS_SUCCESS:
		return 0;
	case RTE_CRYPTO_OP_STATUS_AUTH_FAILED:
		return EBADMSG;
	default:
		return EIO;
	}
}

/* @param which  n packets of the row */
static void by_queue(const struct worker *w, unsigned int device, const struct crypt_row *row,
		     uint8_t *which, unsigned int n)
{
	struct rte_crypto_op *op[CRYPT_CALL_MAX];

	if (!rte_crypto_op_bulk_alloc(w->ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC, op, (uint16_t)n)) {
		for (unsigned int i = 0; i < n; i++)
			crypt_call(row->s[which[i]], device, row->v, which[i], 1);
		return;
	}
	crypt_call_sort(row->v, which, n);
	for (unsigned int i = 0; i < n; i++)
		describe(op[i], row, which[i], device);
	pass(w, device, op, n);
	for (unsigned int i = 0; i < n; i++)
		row->v->status[which[i]] = finish(op[i]);
}

/* @return packets of one session and device that begin there */
static unsigned int run_length(const struct crypt_row *row, unsigned int from)
{
	unsigned int n = 1;

	while (from + n < row->n && row->s[from + n] == row->s[from] &&
	       row->device[from + n] == row->device[from])
		n++;
	return n;
}

void crypt_row(const struct worker *w, const struct crypt_row *row)
{
	unsigned int nqueued = 0, device = 0;
	uint8_t queued[CRYPT_CALL_MAX];

	for (unsigned int i = 0, n; i < row->n; i += n) {
		const struct session *s = row->s[i];

		n = run_length(row, i);
		if (i + AHEAD < row->n && row->s[i + AHEAD] != s)
			session_prefetch_keys(row->s[i + AHEAD], row->device[i + AHEAD]);
		if (n == row->n || s->form != SUITE_CHAIN || !crypt_row_takes(w, s, row->device[i]) ||
		    (nqueued && row->device[i] != device)) {
			crypt_call(s, row->device[i], row->v, i, n);
			continue;
		}
		device = row->device[i];
		for (unsigned int j = i; j < i + n; j++)
			queued[nqueued++] = (uint8_t)j;
	}
	if (nqueued)
		by_queue(w, device, row, queued, nqueued);
}

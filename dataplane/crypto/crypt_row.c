/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crypto/crypt_row.h"
#include "crypto/device/engine.h"
#include "crypto/device/op.h"
#include "esp/esp_common.h"
#include "path/pipeline.h"

/* Turns in which a device may give nothing back before it is given up. */
#define PATIENCE 1000u
#define AHEAD 4u /* packets, by which keys are fetched before they are needed */

/* Operations that go through a queue. */
struct trip {
	unsigned int n, in, out;	/* all, those that the device took, those that came back: */
	struct rte_crypto_op *op[CRYPT_CALL_MAX], *back[CRYPT_CALL_MAX];
};

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
static void pass(struct worker *w, unsigned int device, struct trip *t)
{
	uint8_t id = engine_device[device].id;
	unsigned int in = 0, out = 0;

	for (unsigned int idle = 0; out < t->n && idle < PATIENCE; idle++) {
		uint16_t got;

		if (in < t->n)
			in += rte_cryptodev_enqueue_burst(id, (uint16_t)w->id, t->op + in,
							  (uint16_t)(t->n - in));
		got = rte_cryptodev_dequeue_burst(id, (uint16_t)w->id, t->back + out,
						  (uint16_t)(t->n - out));
		if (got)
			idle = 0;
		out += crypt_late(w, device, t->back + out, got);
	}
	t->in = in;
	t->out = out;
}

/* Whether the device has an operation still. What it says of itself does not tell: the device may
 * have done it and not given it back, or given it back as it was. */
static bool is_late(const struct trip *t, unsigned int i)
{
	for (unsigned int k = 0; k < t->out; k++)
		if (t->back[k] == t->op[i])
			return false;
	return i < t->in;
}

/* The device may still write the packet, and read what it has of the SA: all that stays until the
 * operation comes back (failover.h). */
static void give_up(struct worker *w, unsigned int device, struct rte_crypto_op *op,
		    struct session *s)
{
	rte_mbuf_refcnt_update(op->sym->m_src, 1);
	packet(op->sym->m_src)->session = s;
	crypto_op_job(op)->late = true;
	s->in_flight++;
	w->late[device]++;
}

uint16_t crypt_late(struct worker *w, unsigned int device, struct rte_crypto_op **op, uint16_t n)
{
	uint16_t others = 0;

	if (!w->late[device])
		return n;
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = op[i]->sym->m_src;

		if (!crypto_op_job(op[i])->late) {
			op[others++] = op[i];
			continue;
		}
		w->late[device]--;
		packet(m)->session->in_flight--;
		crypto_op_free(op[i]);
		rte_pktmbuf_free(m);
	}
	return others;
}

/* What came of a packet whose operation has come back. */
static int32_t finish(struct rte_crypto_op *op)
{
	enum rte_crypto_op_status status = (enum rte_crypto_op_status)op->status;

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

/* Not all came back. What the device never took fails as well, and is nobody's. */
static void finish_some(struct worker *w, unsigned int device, const struct crypt_row *row,
			const uint8_t *which, const struct trip *t)
{
	engine_take_out(device);
	for (unsigned int i = 0; i < t->n; i++) {
		row->v->status[which[i]] = EIO;
		if (is_late(t, i))
			give_up(w, device, t->op[i], row->s[which[i]]);
		else
			row->v->status[which[i]] = finish(t->op[i]);
	}
}

/* @param which  n packets of the row */
static void by_queue(struct worker *w, unsigned int device, const struct crypt_row *row,
		     uint8_t *which, unsigned int n)
{
	struct trip t;

	t.n = n;
	if (!rte_crypto_op_bulk_alloc(w->ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC, t.op, (uint16_t)n)) {
		for (unsigned int i = 0; i < n; i++)
			crypt_call(row->s[which[i]], device, row->v, which[i], 1);
		return;
	}
	crypt_call_sort(row->v, which, n);
	for (unsigned int i = 0; i < n; i++)
		describe(t.op[i], row, which[i], device);
	pass(w, device, &t);
	if (t.out < n) {
		finish_some(w, device, row, which, &t);
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		row->v->status[which[i]] = finish(t.op[i]);
}

static uint8_t run_length(const struct crypt_row *row, unsigned int from)
{
	uint8_t n = 1;

	while (from + n < row->n && row->s[from + n] == row->s[from] &&
	       row->device[from + n] == row->device[from])
		n++;
	return n;
}

void crypt_row(struct worker *w, const struct crypt_row *row)
{
	unsigned int nqueued = 0, device = 0;
	uint8_t queued[CRYPT_CALL_MAX];

	for (unsigned int i = 0, n; i < row->n; i += n) {
		const struct session *s = row->s[i];

		n = row->run[i] = run_length(row, i);
		if (i + AHEAD < row->n && row->s[i + AHEAD] != s)
			session_prefetch_keys(row->s[i + AHEAD], row->device[i + AHEAD]);
		if (n == row->n || s->form != SUITE_CHAIN ||
		    !crypt_row_takes(w, s, row->device[i]) ||
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

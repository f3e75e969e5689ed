/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crypto/call.h"
#include "crypto/device/engine.h"
#include "crypto/device/op.h"
#include "crypto/sync_queue.h"

/* Tries in which a device that has no packets may accept none before it is taken out. */
#define PATIENCE   1000u
#define AHEAD	   4u	/* packets, by which keys are fetched before they are needed */
#define GCM_POWERS 32u	/* of the hash key, that a driver uses for a long text at once */
#define GCM_SHORT  256u /* bytes of text for which the first lines of a session suffice, about */

/* Packets that go through a queue. */
struct pass {
	unsigned int device, n;
	uint8_t packet[CRYPTO_BATCH]; /* of the batch */
	struct rte_crypto_op *op[CRYPTO_BATCH];
};

/* Describe to the queue what a call would be told. */
static void describe(struct rte_crypto_op *op, const struct crypto_batch *b, unsigned int i,
		     unsigned int device)
{
	const struct rte_crypto_vec *range = &b->v.range[i];
	const struct session *s = b->s[i];
	const union rte_crypto_sym_ofs ofs = {.raw = s->chain_ofs};
	struct rte_crypto_sym_op *sym = op->sym;
	uint32_t offset = (uint32_t)((uint8_t *)range->base - rte_pktmbuf_mtod(b->m[i], uint8_t *));
	uint32_t head = ofs.ofs.cipher.head;

	rte_crypto_op_attach_sym_session(op, s->crypto[device]);
	if (!s->by_call) {
		*crypto_op_job(op) = b->job[i];
		crypto_op_describe(op, b->m[i], s->form);
		return;
	}
	memcpy(crypto_op_job(op)->iv, b->v.iv[i].va, sizeof(crypto_op_job(op)->iv));
	sym->m_src = b->m[i];
	sym->cipher.data.offset = offset + head;
	sym->cipher.data.length = range->len - head - ofs.ofs.cipher.tail;
	sym->auth.data.offset = offset;
	sym->auth.data.length = range->len;
	sym->auth.digest.data = b->v.icv[i].va;
}

/*
 * Put packets into the queue and get them out again, until all are back. Drivers of devices that
 * can be called process what is in a queue while the lcore asks for it. So the lcore waits, as it
 * does for a call: at no time may the device still write to a packet that another one has.
 * @return false: the device does not accept some of them
 */
static bool pass_through(const struct crypto_executor *e, struct pass *p)
{
	uint8_t id = engine_device[p->device].id;
	struct rte_crypto_op *back[CRYPTO_BATCH];
	unsigned int in = 0, out = 0;

	for (unsigned int idle = 0; out < p->n && (out < in || idle < PATIENCE); idle++) {
		uint16_t got;

		if (in < p->n)
			in += rte_cryptodev_enqueue_burst(id, e->queue, p->op + in,
							  (uint16_t)(p->n - in));
		got = rte_cryptodev_dequeue_burst(id, e->queue, back, (uint16_t)(p->n - out));
		if (got)
			idle = 0;
		out += got;
	}
	return out == p->n;
}

/* The status of a packet whose operation the device does not have, as a call would say it. */
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

/* There are no operations. */
static void call_each(struct crypto_batch *b, const struct pass *p)
{
	for (unsigned int i = 0; i < p->n; i++) {
		const struct crypto_run one = {b->s[p->packet[i]], (uint8_t)p->device, p->packet[i],
					       1};

		/* Else its status is EIO. */
		if (one.s->by_call)
			crypto_call(&one, &b->v);
	}
}

static void by_queue(const struct crypto_executor *e, struct crypto_batch *b, struct pass *p)
{
	if (!rte_crypto_op_bulk_alloc(e->ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC, p->op,
				      (uint16_t)p->n)) {
		call_each(b, p);
		return;
	}
	crypto_sort(&b->v, p->packet, p->n);
	for (unsigned int i = 0; i < p->n; i++)
		describe(p->op[i], b, p->packet[i], p->device);
	if (!pass_through(e, p))
		engine_take_out(p->device);
	for (unsigned int i = 0; i < p->n; i++)
		b->v.status[p->packet[i]] = finish(p->op[i]);
}

static void add_run(struct pass *p, const struct crypto_run *run)
{
	p->device = run->device;
	for (unsigned int i = 0; i < run->n; i++)
		p->packet[p->n++] = (uint8_t)(run->from + i);
}

static unsigned int run_length(const struct crypto_batch *b, unsigned int from)
{
	unsigned int i = from + 1;

	while (i < b->n && b->s[i] == b->s[from] && b->device[i] == b->device[from] &&
	       b->has_job[i] == b->has_job[from])
		i++;
	return i - from;
}

/* Chains of several SAs; not if the queue has packets of other batches, which would come back too. */
static bool goes_by_queue(const struct crypto_executor *e, const struct crypto_batch *b,
			  const struct crypto_run *run, const struct pass *p)
{
	if (!run->s->by_call)
		return true;
	return run->n < b->n && run->s->chain_ofs &&
	       !(e->worker && e->worker->pending[run->device]) &&
	       (!p->n || run->device == p->device);
}

static void execute_run(const struct crypto_executor *e, struct crypto_batch *b,
			const struct crypto_run *run, struct pass *p)
{
	if (!goes_by_queue(e, b, run, p)) {
		crypto_call(run, &b->v);
		return;
	}
	if (p->n && p->device != run->device) {
		by_queue(e, b, p);
		p->n = 0;
	}
	add_run(p, run);
}

/* Where ipsec_mb uses VAES on 512 bits, the session of AES-GCM in both drivers ends with the powers of the hash key, the lowest
 * last: a long text needs one for each of its blocks. Where it does not, this fetches some lines in vain. */
static void fetch_powers(const char *crypto, const struct engine_device *device, unsigned int len)
{
	const char *end = crypto + device->sessions->elt_size;
	unsigned int lines = RTE_MIN(len, GCM_POWERS * 16) / RTE_CACHE_LINE_SIZE + 2;

	for (unsigned int line = 1; line <= lines; line++)
		rte_prefetch0(end - line * RTE_CACHE_LINE_SIZE);
}

/* If there are few sessions, the cores' caches have the rest of their keys. */
static void fetch_keys(const struct crypto_executor *e, const struct crypto_batch *b,
		       unsigned int i)
{
	const void *crypto = b->s[i]->crypto[b->device[i]];
	unsigned int len = b->v.range[i].len;

	if (!e->worker || !e->worker->many_sessions) {
		session_prefetch_keys(crypto, SESSION_KEY_LINES);
		return;
	}
	session_prefetch_keys(crypto, SESSION_KEY_LINES_ALL);
	if (b->s[i]->gcm && len > GCM_SHORT)
		fetch_powers(crypto, &engine_device[b->device[i]], len);
}

void crypto_execute(const struct crypto_executor *e, struct crypto_batch *b)
{
	struct pass p;

	p.n = b->nruns = 0;
	for (unsigned int i = 0; i < b->n;) {
		struct crypto_run *run = &b->run[b->nruns++];

		*run = (struct crypto_run){b->s[i], b->device[i], (uint8_t)i,
					   (uint8_t)run_length(b, i)};
		if (i + AHEAD < b->n && b->s[i + AHEAD] != run->s)
			fetch_keys(e, b, i + AHEAD);
		i += run->n;
		execute_run(e, b, run, &p);
	}
	if (p.n)
		by_queue(e, b, &p);
}

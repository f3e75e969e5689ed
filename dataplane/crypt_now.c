/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of suites that gain nothing by being done side by side. (CBC with a MAC does: done in
 * runs of one SA, of mixed lengths, lanes stay empty, and it is a fifth slower than by queue; and
 * with AES-XCBC or AES-CMAC ipsec_mb of DPDK 22.11 takes the cipher's key of whatever packet it
 * had there before.) A device of the CPU works on them when it is called (rte_cryptodev's "CPU
 * crypto"): no queue, no operation for each. They are collected and done in runs of one SA, in
 * the order in which they came. */
#include <errno.h>

#include <rte_cryptodev.h>

#include "control.h"
#include "engine.h"
#include "pipeline.h"
#include "shortcut.h"

/* What the call of the device wants, for a run of packets. */
struct vectors {
	struct rte_crypto_vec range[CRYPT_NOW];
	struct rte_crypto_sgl sgl[CRYPT_NOW];
	struct rte_crypto_va_iova_ptr iv[CRYPT_NOW], aad[CRYPT_NOW], icv[CRYPT_NOW];
	int32_t status[CRYPT_NOW];
};

bool crypt_now_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa,
		   unsigned int device)
{
	struct crypt_now *now = &w->now[w->filling];
	struct session *s = packet(m)->session;

	/* Those in a queue leave first. */
	if (!s->alone || s->head || s->by_queue || !engine_device[device].at_once ||
	    now->n == CRYPT_NOW ||
	    ((!s->at[device] || engine_lost(device)) && !session_on(s, sa, device)))
		return false;
	now->device[now->n] = (uint8_t)device;
	now->m[now->n++] = m;
	s->in_flight++;
	return true;
}

static void describe(struct vectors *v, unsigned int i, struct rte_mbuf *m, struct esp_job *job)
{
	v->range[i] = (struct rte_crypto_vec){
		.base = rte_pktmbuf_mtod_offset(m, void *, job->text_at),
		.len = job->text_len,
	};
	v->sgl[i] = (struct rte_crypto_sgl){.vec = &v->range[i], .num = 1};
	v->iv[i].va = job->iv;
	v->aad[i].va = job->aad;
	v->icv[i].va = rte_pktmbuf_mtod_offset(m, void *, job->icv_at);
}

static enum rte_crypto_op_status status_of(const struct session *s, int32_t status)
{
	if (!status)
		return RTE_CRYPTO_OP_STATUS_SUCCESS;
	return s->inbound && status == EBADMSG ? RTE_CRYPTO_OP_STATUS_AUTH_FAILED
					       : RTE_CRYPTO_OP_STATUS_ERROR;
}

/* What a device does not do at once it gets by its queue from then on: there others take over. */
static void failed(struct session *s, struct stats_device *stats_device,
		   unsigned int status)
{
	if (status != RTE_CRYPTO_OP_STATUS_ERROR)
		return;
	stats_device->failed++;
	s->by_queue = true;
}

/* @param n  packets of one SA that one device does */
static void work(struct crypt_now *now, unsigned int from, unsigned int n)
{
	const union rte_crypto_sym_ofs whole = {.raw = 0};
	struct session *s = packet(now->m[from])->session;
	unsigned int device = now->device[from];
	struct vectors v;
	struct rte_crypto_sym_vec vec = {
		.num = n,
		.src_sgl = v.sgl,
		.iv = v.iv,
		.aad = v.aad,
		.digest = v.icv,
		.status = v.status,
	};

	for (unsigned int i = 0; i < n; i++)
		describe(&v, i, now->m[from + i], &now->job[from + i]);
	rte_cryptodev_sym_cpu_crypto_process(engine_device[device].id, s->at[device],
					     whole, &vec);
	for (unsigned int i = 0; i < n; i++)
		packet(now->m[from + i])->status = (uint8_t)status_of(s, v.status[i]);
}

/* What the short way knows of the SA holds for this turn: its first cache line, which tells
 * whether it is still there, need not be fetched for each packet. */
static struct cygnet_sa *sa_of(const struct worker *w, const struct packet *p)
{
	const struct way *way = &p->session->way;

	return p->epoch && p->epoch == w->flows.epoch && way->epoch == p->epoch
		       ? way->sa : cygnet_sa_get(sadb, p->sa, p->generation);
}

static void finish(struct worker *w, struct crypt_now *now, unsigned int from, unsigned int n)
{
	const struct packet *p = packet(now->m[from]);
	struct stats_device *stats_device = &w->stats->device[now->device[from]];
	struct cygnet_sa *sa = sa_of(w, p);
	struct session *s = p->session;
	unsigned int bytes = 0, good = 0;
	bool inbound = s->inbound;

	for (unsigned int i = from; i < from + n; i++) {
		struct rte_mbuf *m = now->m[i];

		if (packet(m)->status == RTE_CRYPTO_OP_STATUS_SUCCESS) {
			bytes += rte_pktmbuf_data_len(m);
			good++;
		} else {
			failed(s, stats_device, packet(m)->status);
		}
		s->in_flight--;
		protect_finish(w, m, s, sa);
	}
	stats_device->bytes += bytes;
	*(inbound ? &stats_device->decrypted : &stats_device->encrypted) += good;
}

/* @return how many packets of one SA and device begin there */
static unsigned int run_length(const struct crypt_now *now, unsigned int from)
{
	const struct session *s = packet(now->m[from])->session;
	unsigned int n = 1;

	while (from + n < now->n && now->device[from + n] == now->device[from] &&
	       packet(now->m[from + n])->session == s)
		n++;
	return n;
}

/* All first, then what comes of them: the next step fetches what it needs for all. */
static void runs(struct worker *w, struct crypt_now *now)
{
	uint8_t length[CRYPT_NOW];

	for (unsigned int i = 0; i < now->n; i += length[i]) {
		length[i] = (uint8_t)run_length(now, i);
		work(now, i, length[i]);
	}
	for (unsigned int i = 0; i < now->n; i += length[i])
		finish(w, now, i, length[i]);
	now->n = 0;
}

unsigned int crypt_now(struct worker *w)
{
	unsigned int done = 0;

	if (w->working)
		return 0;
	w->working = true;
	/* What comes of it may have to be protected in its turn. */
	while (w->now[w->filling].n || w->nopened) {
		struct crypt_now *now = &w->now[w->filling];

		done += now->n;
		w->filling = !w->filling;
		runs(w, now);
		shortcut_go_on(w);
	}
	w->working = false;
	return done;
}

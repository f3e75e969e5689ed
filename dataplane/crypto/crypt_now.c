/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of suites that a device of the CPU works on when it is called (rte_cryptodev's "CPU
 * crypto"). They are collected and done as a row (crypt_row.h), and what comes of them is told in
 * the order in which they came: nothing of them is under way when that ends, but what a device has
 * failed, and those of its SA that wait for it. */
#include "base/sadb.h"
#include "crypto/crypt_row.h"
#include "crypto/device/engine.h"
#include "crypto/device/sessions.h"
#include "crypto/failover.h"
#include "path/fast/shortcut.h"
#include "path/pipeline.h"

bool crypt_now_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa,
		   unsigned int device)
{
	struct crypt_now *now = &w->now[w->filling];
	struct session *s = packet(m)->session;

	/* Those in a queue leave first. */
	if (!s->by_call || s->head || s->by_queue || !engine_device[device].at_once ||
	    now->n == CRYPT_NOW || !crypt_row_takes(w, s, device) ||
	    ((!s->at[device] || engine_lost(device)) && !session_on(s, sa, device)))
		return false;
	now->device[now->n] = (uint8_t)device;
	now->m[now->n++] = m;
	s->in_flight++;
	return true;
}

static void describe(struct crypt_now *now, struct crypt_vectors *v, unsigned int i)
{
	struct esp_job *job = &now->job[i];
	uint8_t *at = rte_pktmbuf_mtod(now->m[i], uint8_t *);

	if (packet(now->m[i])->session->form == SUITE_AEAD)
		crypt_vectors_set(v, i, at + job->text_at, job->text_len, at + job->icv_at, job->iv,
				  job->aad);
	else
		crypt_vectors_set(v, i, at + job->auth_at, job->auth_len, at + job->icv_at, job->iv,
				  NULL);
}

static void work(struct worker *w, struct crypt_now *now, uint8_t *run)
{
	struct session *s[CRYPT_NOW];
	struct crypt_vectors v;
	const struct crypt_row row = {now->n, now->m, s, now->device, &v, run};

	for (unsigned int i = 0; i < now->n; i++) {
		s[i] = packet(now->m[i])->session;
		describe(now, &v, i);
	}
	crypt_row(w, &row);
	for (unsigned int i = 0; i < now->n; i++)
		packet(now->m[i])->status =
			(uint8_t)crypt_call_status(w, s[i], now->device[i], &v, i);
}

/* What the short way knows of the SA holds for this turn: its first cache line, which tells
 * whether it is still there, need not be fetched for each packet. */
static struct cygnet_sa *sa_of(const struct worker *w, const struct packet *p)
{
	const struct way *way = &p->session->way;

	return p->epoch && p->epoch == w->flows.epoch && way->epoch == p->epoch
		       ? way->sa : cygnet_sa_get(sadb, p->sa, p->generation);
}

/* What waits for another device, or behind such a packet, leaves when that has come back. */
static void go_on(struct worker *w, struct crypt_now *now, unsigned int i, struct session *s,
		  struct cygnet_sa *sa)
{
	enum rte_crypto_op_status status = (enum rte_crypto_op_status)packet(now->m[i])->status;

	s->in_flight--;
	if (status == RTE_CRYPTO_OP_STATUS_ERROR && s->inbound)
		failover_again(w, now->m[i], &now->job[i], now->device[i]);
	else if (crypt_waits(s))
		crypt_wait(w, now->m[i], status);
	else
		protect_finish(w, now->m[i], s, sa);
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
		}
		go_on(w, now, i, s, sa);
	}
	if (good)
		w->failures[now->device[from]] = 0;
	stats_device->bytes += bytes;
	*(inbound ? &stats_device->decrypted : &stats_device->encrypted) += good;
}

/* All first, then what comes of them: the next step fetches what it needs for all. */
static void runs(struct worker *w, struct crypt_now *now)
{
	uint8_t run[CRYPT_NOW];

	if (now->n)
		work(w, now, run);
	for (unsigned int i = 0; i < now->n; i += run[i])
		finish(w, now, i, run[i]);
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

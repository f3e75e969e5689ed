/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that a device of the CPU works on when it is called (rte_cryptodev's "CPU crypto"):
 * no queue, no operation for each. They are collected and done in runs of one SA, in the
 * order in which they came. */
#include <errno.h>

#include <rte_cryptodev.h>

#include "control.h"
#include "engine.h"
#include "pipeline.h"
#include "shortcut.h"

#define SIDE_BY_SIDE 8u	/* packets of one SA that are enough for the lanes of a CPU */

/* What the call of the device wants, for a run of packets. */
struct vectors {
	struct rte_crypto_vec range[CRYPT_NOW];
	struct rte_crypto_sgl sgl[CRYPT_NOW];
	struct rte_crypto_va_iova_ptr iv[CRYPT_NOW], aad[CRYPT_NOW], icv[CRYPT_NOW];
	int32_t status[CRYPT_NOW];
};

bool crypt_now_add(struct worker *w, struct rte_mbuf *m, const struct esp_job *job,
		   const struct cygnet_sa *sa, unsigned int device)
{
	struct crypt_now *now = &w->now[w->filling];
	struct session *s = packet(m)->session;

	/* Those in a queue leave first; packets done side by side wait among them for theirs. */
	if (!(s->alone ? !s->head : s->form == SUITE_CHAIN) || s->by_queue ||
	    !engine_device[device].at_once || now->n == CRYPT_NOW ||
	    ((!s->at[device] || engine_lost(device)) && !session_on(s, sa, device)))
		return false;
	if (job != &now->job[now->n])
		now->job[now->n] = *job;
	now->device[now->n] = (uint8_t)device;
	now->m[now->n++] = m;
	if (s->alone)
		s->in_flight++;
	else
		crypt_append(s, m);
	return true;
}

static void describe(struct vectors *v, unsigned int i, struct rte_mbuf *m,
		     const struct session *s, struct esp_job *job)
{
	bool chain = s->form == SUITE_CHAIN;

	v->range[i] = (struct rte_crypto_vec){
		.base = rte_pktmbuf_mtod_offset(m, void *, chain ? job->auth_at : job->text_at),
		.len = chain ? job->auth_len : job->text_len,
	};
	v->sgl[i] = (struct rte_crypto_sgl){.vec = &v->range[i], .num = 1};
	v->iv[i].va = job->iv;
	v->aad[i].va = job->aad;
	v->icv[i].va = rte_pktmbuf_mtod_offset(m, void *, job->icv_at);
}

/* What of a range the cipher leaves alone; the same for all packets of an SA. */
static union rte_crypto_sym_ofs around_text(const struct session *s, const struct esp_job *job)
{
	union rte_crypto_sym_ofs ofs = {.raw = 0};

	if (s->form == SUITE_CHAIN) {
		ofs.ofs.cipher.head = (uint16_t)(job->text_at - job->auth_at);
		ofs.ofs.cipher.tail = (uint16_t)(job->auth_len - ofs.ofs.cipher.head -
						 job->text_len);
	}
	return ofs;
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
		describe(&v, i, now->m[from + i], s, &now->job[from + i]);
	rte_cryptodev_sym_cpu_crypto_process(engine_device[device].id, s->at[device],
					     around_text(s, &now->job[from]), &vec);
	for (unsigned int i = 0; i < n; i++)
		packet(now->m[from + i])->status = (uint8_t)status_of(s, v.status[i]);
}

static void finish(struct worker *w, struct crypt_now *now, unsigned int from, unsigned int n)
{
	const struct packet *p = packet(now->m[from]);
	struct stats_device *stats_device = &w->stats->device[now->device[from]];
	struct cygnet_sa *sa = cygnet_sa_get(sadb, p->sa, p->generation);
	struct session *s = p->session;
	unsigned int bytes = 0, good = 0;
	bool alone = s->alone, inbound = s->inbound;

	for (unsigned int i = from; i < from + n; i++) {
		struct rte_mbuf *m = now->m[i];

		if (packet(m)->status == RTE_CRYPTO_OP_STATUS_SUCCESS) {
			bytes += rte_pktmbuf_data_len(m);
			good++;
		} else {
			failed(s, stats_device, packet(m)->status);
		}
		if (!alone) {
			crypt_back(w, m, packet(m)->status);
			continue;
		}
		s->in_flight--;
		protect_finish(w, m, s, sa);
	}
	stats_device->bytes += bytes;
	*(inbound ? &stats_device->decrypted : &stats_device->encrypted) += good;
}

/* Where packets are done side by side, a run has to fill lanes. */
static bool is_worth_it(const struct session *s, unsigned int n)
{
	return s->alone || n >= SIDE_BY_SIDE;
}

/* Too few for the lanes of a device that does packets side by side: in its queue they meet
 * those of other SAs. */
static void give_to_queue(struct worker *w, struct crypt_now *now, unsigned int from,
			  unsigned int n)
{
	for (unsigned int i = from; i < from + n; i++) {
		const struct packet *p = packet(now->m[i]);

		crypt_queue(w, now->m[i], &now->job[i],
			    cygnet_sa_get(sadb, p->sa, p->generation), now->device[i]);
	}
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
	bool worked[CRYPT_NOW];

	for (unsigned int i = 0; i < now->n; i += length[i]) {
		length[i] = (uint8_t)run_length(now, i);
		worked[i] = is_worth_it(packet(now->m[i])->session, length[i]);
		if (worked[i])
			work(now, i, length[i]);
		else
			give_to_queue(w, now, i, length[i]);
	}
	for (unsigned int i = 0; i < now->n; i += length[i])
		if (worked[i])
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>

#include "crypto/failover.h"
#include "esp/esp_common.h"
#include "esp/esp_front_write.h"
#include "esp/esp_tail.h"
#include "esp/lifetime.h"
#include "esp/outer.h"
#include "esp/sa_count.h"
#include "path/fast/burst.h"
#include "path/fast/shortcut.h"
#include "path/pipeline.h"
#include "path/verdict.h"

void burst_begin(struct worker *w, unsigned int port)
{
	w->burst.port = (uint8_t)port;
	/* Else it is chosen for each packet who works on it. */
	w->burst.open = !offload_enabled && !w->lane.size;
}

/* What a call is to do. An AEAD has the header in its associated data; a chain's MAC begins there,
 * and has what of the number is not sent behind the text, where the ICV is written in the end.
 * @param iv  on the wire: CBC encrypts the number there to the IV (esp_out.c) */
static void describe(struct burst *b, const struct session *s, uint8_t *iv, uint8_t *ip,
		     unsigned int padded, uint64_t seq)
{
	const uint64_t number = rte_cpu_to_be_64(seq);
	uint8_t *esp = iv - sizeof(struct rte_esp_hdr);
	unsigned int i = b->n;

	if (s->salted)
		esp_nonce_salted(b->iv[i], s, &number);
	else
		memset(b->iv[i], 0, sizeof(b->iv[i]));
	if (s->form == SUITE_AEAD) {
		esp_aad(b->aad[i], s, s->front.spi, seq);
		crypt_vectors_set(&b->vectors, i, ip, padded, ip + padded, b->iv[i], b->aad[i]);
	} else {
		esn_write(s, ip + padded, seq);
		crypt_vectors_set(&b->vectors, i, esp,
				  (unsigned int)(ip - esp) + padded + esn_len(s), ip + padded,
				  b->iv[i], NULL);
	}
}

/* Around the packet, in one piece of memory from the Ethernet header to the ICV. */
static void wrap(struct burst *b, struct rte_mbuf *m, const struct session *s, uint64_t seq)
{
	const struct esp_front *front = &s->front;
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *), *iv;
	unsigned int text = rte_pktmbuf_data_len(m), padded = esp_padded(s, text);
	unsigned int total = front->len + s->iv_len + padded + s->icv_len;
	unsigned int ether = (unsigned int)sizeof(struct rte_ether_hdr);

	esp_trailer_write(ip + text, padded - text - 2,
			  ip[0] >> 4 == 6 ? IPPROTO_IPV6 : IPPROTO_IPIP, ESP_TAIL_MAX);
	iv = esp_front_write(front, ip, rte_pktmbuf_headroom(m), seq, s->iv_len, total);
	esp_iv_write(iv, s, seq);
	describe(b, s, iv, ip, padded, seq);
	m->data_off = (uint16_t)(m->data_off - front->len - s->iv_len - ether);
	m->data_len = (uint16_t)(total + ether);
	m->pkt_len = total + ether;
}

/* Behind those that are there already. */
static void push(struct burst *b, struct rte_mbuf *m, struct session *s)
{
	b->m[b->n] = m;
	b->s[b->n] = s;
	b->device[b->n] = s->device;
	b->n++;
}

/* Their numbers are taken, and they are counted, at once. */
static void out(struct worker *w, struct rte_mbuf *const *m, unsigned int n, struct session *s)
{
	struct cygnet_sa *sa = s->way.sa;
	uint64_t first, bytes = 0;
	unsigned int some = cygnet_sa_reserve_seq(sa, n, &first);

	for (unsigned int i = 0; i < some; i++) {
		bytes += rte_pktmbuf_data_len(m[i]);
		wrap(&w->burst, m[i], s, first + i);
		push(&w->burst, m[i], s);
	}
	if (some)
		sa_count_some(sa, some, bytes);
	for (unsigned int i = some; i < n; i++)
		drop(w, m[i], DROP_SEQ_EXHAUSTED);
}

/* --- inbound --- */

/* What a call is to do with a packet whose ESP header is at esp. An ICV that stands where the
 * hidden part of the number belongs makes room for it. */
static void describe_in(struct burst *b, const struct session *s, uint8_t *esp, unsigned int text,
			uint64_t seq)
{
	uint8_t *iv = esp + sizeof(struct rte_esp_hdr), *icv = iv + s->iv_len + text;
	unsigned int i = b->n;
	uint32_t spi;

	if (s->salted)
		esp_nonce_salted(b->iv[i], s, iv);
	if (s->form == SUITE_AEAD) {
		memcpy(&spi, esp, sizeof(spi));
		esp_aad(b->aad[i], s, spi, seq);
		crypt_vectors_set(&b->vectors, i, iv + s->iv_len, text, icv, b->iv[i], b->aad[i]);
		return;
	}
	if (esn_len(s)) {
		memcpy(b->icv[i], icv, s->icv_len);
		esn_write(s, icv, seq);
	}
	crypt_vectors_set(&b->vectors, i, esp, (unsigned int)(icv - esp) + esn_len(s),
			  esn_len(s) ? b->icv[i] : icv, s->salted ? b->iv[i] : iv, NULL);
}

static enum drop_reason in(struct burst *b, struct rte_mbuf *m, struct session *s)
{
	unsigned int at = outer_len(packet_family(m) == AF_INET6), have = rte_pktmbuf_data_len(m);
	unsigned int header = at + (unsigned int)sizeof(struct rte_esp_hdr) + s->iv_len, text;
	uint8_t *esp = rte_pktmbuf_mtod_offset(m, uint8_t *, at);
	struct cygnet_sa *sa = s->way.sa;
	struct rte_esp_hdr h;
	uint64_t seq;

	if (!esp_in_text(s, header, have, &text))
		return DROP_ESP_TRUNCATED;
	memcpy(&h, esp, sizeof(h));
	seq = cygnet_replay_seq(sa, rte_be_to_cpu_32(h.seq));
	if (!verdict_may_be_new(sa, seq))
		return DROP_REPLAY;
	describe_in(b, s, esp, text, seq);
	b->seq[b->n] = seq;
	return DROP_NONE;
}

void burst_add(struct worker *w, struct rte_mbuf *const *m, unsigned int n, struct session *s)
{
	if (!s->inbound) {
		out(w, m, n, s);
		return;
	}
	for (unsigned int i = 0; i < n; i++) {
		enum drop_reason reason = in(&w->burst, m[i], s);

		if (reason == DROP_NONE)
			push(&w->burst, m[i], s);
		else
			drop(w, m[i], reason);
	}
}

/* --- and what comes of it --- */

/* One that leaves the burst: what is known about it. */
static void describe_packet(struct worker *w, unsigned int i)
{
	struct burst *b = &w->burst;

	packet_received(b->m[i], b->port, w->flows.epoch);
	esp_in_identify(b->m[i], b->s[i]);
	packet(b->m[i])->seq = b->seq[i];
}

/* A received packet is as it came, unless the device has begun. Another one has it by a queue,
 * where the ICV is elsewhere. */
static void again(struct worker *w, unsigned int i)
{
	struct burst *b = &w->burst;
	const struct session *s = b->s[i];
	struct esp_job *job = crypt_job(w);
	struct rte_mbuf *m = b->m[i];
	enum drop_reason reason;

	if (esn_len(s))
		memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, rte_pktmbuf_data_len(m) - s->icv_len),
		       b->icv[i], s->icv_len);
	describe_packet(w, i);
	reason = esp_in_prepare(m, s, job);
	if (reason == DROP_NONE)
		failover_again(w, m, job, b->device[i]);
	else
		drop(w, m, reason);
}

static void failed(struct worker *w, unsigned int i, enum rte_crypto_op_status status)
{
	const struct session *s = w->burst.s[i];

	if (status == RTE_CRYPTO_OP_STATUS_ERROR && s->inbound)
		again(w, i);
	else
		verdict_failed(w, w->burst.m[i], s->way.sa, status);
}

/* One before it may be with another device. Its trailer is where esp_in_finish() looks for it:
 * there is room, as burst_fits() says. */
static void wait_for_those(struct worker *w, unsigned int i)
{
	describe_packet(w, i);
	rte_pktmbuf_append(w->burst.m[i], (uint16_t)esn_len(w->burst.s[i]));
	crypt_wait(w, w->burst.m[i], RTE_CRYPTO_OP_STATUS_SUCCESS);
}

static void open(struct worker *w, struct rte_mbuf *m, const struct session *s, uint64_t seq)
{
	struct cygnet_sa *sa = s->way.sa;

	/* Those before it in this burst may have used the SA up. */
	if (!protect_is_ordinary(s, 0) && !lifetime_allows(sa)) {
		drop(w, m, DROP_SA_EXPIRED);
		return;
	}
	if (verdict_is_new(w, m, sa, seq) &&
	    verdict_opened(w, m, sa, esp_in_open(m, sa, s, outer_len(packet_family(m) == AF_INET6), 0),
			   0))
		shortcut_opened(w, m, sa, PACKET_FROM_SA(s->sa), w->burst.port, true);
}

/* @param n  packets of one session */
static void finish(struct worker *w, unsigned int from, unsigned int n)
{
	struct burst *b = &w->burst;
	struct session *s = b->s[from];
	struct stats_device *stats_device = &w->stats->device[b->device[from]];
	unsigned int bytes = 0, good = 0;
	bool waits = s->in_flight; /* one that has failed may be with another device */

	for (unsigned int i = from; i < from + n; i++) {
		enum rte_crypto_op_status status =
			crypt_call_status(w, s, b->device[i], &b->vectors, i);

		if (status != RTE_CRYPTO_OP_STATUS_SUCCESS) {
			failed(w, i, status);
			waits = s->in_flight;
			continue;
		}
		bytes += rte_pktmbuf_data_len(b->m[i]);
		good++;
		if (!s->inbound)
			transmit_by(w, b->m[i], s->way.port);
		else if (waits)
			wait_for_those(w, i);
		else
			open(w, b->m[i], s, b->seq[i]);
	}
	if (!s->inbound) {
		w->stats->encapsulated += good;
		bytes -= good * (unsigned int)sizeof(struct rte_ether_hdr); /* packets, not frames */
	}
	if (good)
		w->failures[b->device[from]] = 0;
	stats_device->bytes += bytes;
	*(s->inbound ? &stats_device->decrypted : &stats_device->encrypted) += good;
}

/* What has been opened goes on. None of it stays: while the next burst is opened nothing else is
 * done, or it could take the sessions of that burst away. */
static void go_on(struct worker *w)
{
	w->working = true;
	shortcut_go_on(w);
	w->working = false;
	if (w->nopened)
		crypt_now(w);
}

void burst_go(struct worker *w)
{
	struct burst *b = &w->burst;
	uint8_t run[CRYPT_CALL_MAX];
	const struct crypt_row row = {b->n, b->m, b->s, b->device, &b->vectors, run};

	crypt_row(w, &row);
	for (unsigned int i = 0; i < b->n; i += run[i])
		finish(w, i, run[i]);
	b->n = 0;
	if (w->nopened)
		go_on(w);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>

#include "burst.h"
#include "esp_common.h"
#include "esp_tail.h"
#include "lifetime.h"
#include "outer.h"
#include "pipeline.h"
#include "sa_count.h"
#include "shortcut.h"

void burst_begin(struct worker *w, unsigned int port)
{
	w->burst.port = (uint8_t)port;
	/* What waits for its next hop goes first; others may have to choose who works. */
	w->burst.open = !w->pending.n && !offload_enabled && !w->lane.size;
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

static enum drop_reason out(struct burst *b, struct rte_mbuf *m, struct session *s)
{
	unsigned int inner = rte_pktmbuf_data_len(m);
	struct cygnet_sa *sa = s->way.sa;
	uint64_t seq;

	if (!cygnet_sa_reserve_seq(sa, 1, &seq))
		return DROP_SEQ_EXHAUSTED;
	sa_count(sa, inner);
	wrap(b, m, s, seq);
	return DROP_NONE;
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

	if (have < header + s->align + s->icv_len)
		return DROP_ESP_TRUNCATED;
	text = have - header - s->icv_len;
	if (text & (s->align - 1u))
		return DROP_ESP_TRUNCATED;
	memcpy(&h, esp, sizeof(h));
	seq = cygnet_replay_seq(sa, rte_be_to_cpu_32(h.seq));
	/* A number above all others is new; whatever else there is cygnet_replay_update() sees. */
	if (seq <= sa->seq && !cygnet_replay_check(sadb, sa, seq)) {
		sa_count_replay(sa);
		return DROP_REPLAY;
	}
	describe_in(b, s, esp, text, seq);
	b->seq[b->n] = seq;
	return DROP_NONE;
}

void burst_add(struct worker *w, struct rte_mbuf *m, struct session *s)
{
	struct burst *b = &w->burst;
	enum drop_reason reason = s->inbound ? in(b, m, s) : out(b, m, s);

	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	b->m[b->n] = m;
	b->s[b->n] = s;
	b->device[b->n] = s->device;
	b->n++;
}

/* --- and what comes of it --- */

static void leave(struct worker *w, struct rte_mbuf *m, const struct session *s)
{
	w->stats->encapsulated++;
	transmit_by(w, m, s->way.port);
}

static void open(struct worker *w, struct rte_mbuf *m, const struct session *s, uint64_t seq)
{
	struct cygnet_sa *sa = s->way.sa;
	int reason;

	/* Those before it in this burst may have used the SA up. */
	if (!protect_is_ordinary(s, 0) && !lifetime_allows(sa)) {
		drop(w, m, DROP_SA_EXPIRED);
		return;
	}
	/* Again, and now for good: the same number may have been in this burst twice. */
	if (!cygnet_replay_update(sadb, sa, seq)) {
		sa_count_replay(sa);
		drop(w, m, DROP_REPLAY);
		return;
	}
	reason = esp_in_open(m, sa, s, outer_len(packet_family(m) == AF_INET6), 0);
	if (reason == ESP_DUMMY) {
		sa_count(sa, 0);
		w->stats->dummies++;
		rte_pktmbuf_free(m);
	} else if (reason != ESP_OK) {
		drop(w, m, (enum drop_reason)reason);
	} else {
		sa_count(sa, rte_pktmbuf_data_len(m));
		shortcut_opened(w, m, sa, FLOW_FROM_SA(s->sa), w->burst.port, true);
	}
}

/* @return packets of one session that begin there */
static unsigned int run_length(const struct burst *b, unsigned int from)
{
	unsigned int n = 1;

	while (from + n < b->n && b->s[from + n] == b->s[from])
		n++;
	return n;
}

static void failed(struct worker *w, struct rte_mbuf *m, struct session *s,
		   enum rte_crypto_op_status status)
{
	if (status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED) {
		sa_count_forged(s->way.sa);
		drop(w, m, DROP_AUTH_FAILED);
	} else {
		drop(w, m, DROP_ENGINE_FAILED);
	}
}

/* @param n  packets of one session */
static void finish(struct worker *w, unsigned int from, unsigned int n)
{
	struct burst *b = &w->burst;
	struct session *s = b->s[from];
	struct stats_device *stats_device = &w->stats->device[s->device];
	unsigned int bytes = 0, good = 0;

	for (unsigned int i = from; i < from + n; i++) {
		enum rte_crypto_op_status status =
			crypt_call_status(s, &b->vectors, i, stats_device);

		if (status != RTE_CRYPTO_OP_STATUS_SUCCESS) {
			failed(w, b->m[i], s, status);
			continue;
		}
		bytes += rte_pktmbuf_data_len(b->m[i]);
		good++;
		if (s->inbound)
			open(w, b->m[i], s, b->seq[i]);
		else
			leave(w, b->m[i], s);
	}
	/* Packets, not frames. */
	if (!s->inbound)
		bytes -= good * (unsigned int)sizeof(struct rte_ether_hdr);
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
	const struct crypt_row row = {b->n, b->m, b->s, b->device, &b->vectors};

	crypt_row(w, &row);
	for (unsigned int i = 0, n; i < b->n; i += n) {
		n = run_length(b, i);
		finish(w, i, n);
	}
	b->n = 0;
	if (w->nopened)
		go_on(w);
}

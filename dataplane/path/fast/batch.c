/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sadb.h"
#include "esp/esp_tunnel_write.h"
#include "esp/outer.h"
#include "esp/out_use.h"
#include "path/fast/batch.h"
#include "path/worker/tunnel.h"
#include "path/worker/verdict.h"

/* Describe what the device is to do. An AEAD has the ESP header in its associated data; a chain's MAC
 * begins at the header, and the high half of an extended sequence number, which is not sent, stands
 * behind the text until the ICV is written there.
 * @param iv  on the wire: CBC encrypts the number there to the IV (esp_out.c) */
static void describe(struct crypto_batch *b, const struct session *s, uint8_t *iv, uint8_t *ip,
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
		crypto_vectors_set(&b->v, i, ip, padded, ip + padded, b->iv[i], b->aad[i]);
	} else {
		esn_write(s, ip + padded, seq);
		crypto_vectors_set(&b->v, i, esp, (unsigned int)(ip - esp) + padded + esn_len(s),
				   ip + padded, b->iv[i], NULL);
	}
}

/* Write headers and trailer around a packet, from the link-layer header to the ICV. */
static void wrap(struct crypto_batch *b, struct rte_mbuf *m, const struct session *s, uint64_t seq)
{
	unsigned int text = rte_pktmbuf_data_len(m), padded = esp_padded(s, text);
	unsigned int headers = s->front.len + s->iv_len, total = headers + padded + s->icv_len;
	unsigned int link = s->route.link.len, room = rte_pktmbuf_headroom(m);
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);
	uint8_t *iv = esp_tunnel_write(s, ip, text, room, ESP_TAIL_MAX, seq, total);

	describe(b, s, iv, ip, padded, seq);
	m->data_off = (uint16_t)(room - headers - link);
	m->data_len = (uint16_t)(total + link);
	m->pkt_len = total + link;
}

/* @param interface  to leave by; inbound, that the packet came in by */
static void push(struct crypto_batch *b, struct rte_mbuf *m, struct session *s,
		 unsigned int interface)
{
	unsigned int i = b->n++;

	b->m[i] = m;
	b->s[i] = s;
	b->device[i] = s->device;
	b->has_job[i] = false;
	b->interface[i] = (uint8_t)interface;
}

/* Sequence numbers are taken, and packets counted, for all at once.
 * @return packets that have got one */
static unsigned int add_some(struct worker *w, struct rte_mbuf *const *m, unsigned int n,
			     struct session *s)
{
	struct crypto_batch *b = &w->crypto.batch;
	struct cygnet_sa *sa = s->route.sa;
	uint64_t first, bytes = 0;
	unsigned int some = out_reserve(s, sa, n, CRYPTO_BATCH - b->n, &first);
	/* That of the headers in front of the packets, whatever the SA's route is when they leave. */
	unsigned int leave_by = s->route.interface;

	for (unsigned int i = 0; i < some; i++) {
		bytes += rte_pktmbuf_data_len(m[i]);
		wrap(b, m[i], s, first + i);
		b->seq[b->n] = first + i;
		push(b, m[i], s, leave_by);
	}
	if (some) {
		out_count(s, sa, some, bytes);
		tunnel_count_out(w, sa, some, bytes);
	}
	return some;
}

static void add_out(struct worker *w, struct rte_mbuf *const *m, unsigned int n, struct session *s,
		    unsigned int interface)
{
	unsigned int some, all = 0;

	do {
		some = add_some(w, m + all, n - all, s);
		all += some;
	} while (some && all < n);
	for (unsigned int i = all; i < n; i++) {
		packet(m[i])->interface = (uint8_t)interface;
		audit_drop(w, m[i], DROP_SEQ_EXHAUSTED, s->route.sa, 0);
	}
}

/* Describe what the device is to do with a packet whose ESP header is at esp. An ICV that stands where
 * the high half of an extended sequence number belongs makes room for it. */
static void describe_in(struct crypto_batch *b, const struct session *s, uint8_t *esp,
			unsigned int text, uint64_t seq)
{
	uint8_t *iv = esp + sizeof(struct rte_esp_hdr), *icv = iv + s->iv_len + text;
	unsigned int i = b->n;
	uint32_t spi;

	if (s->salted)
		esp_nonce_salted(b->iv[i], s, iv);
	if (s->form == SUITE_AEAD) {
		memcpy(&spi, esp, sizeof(spi));
		esp_aad(b->aad[i], s, spi, seq);
		crypto_vectors_set(&b->v, i, iv + s->iv_len, text, icv, b->iv[i], b->aad[i]);
		return;
	}
	if (esn_len(s)) {
		memcpy(b->icv[i], icv, s->icv_len);
		esn_write(s, icv, seq);
	}
	crypto_vectors_set(&b->v, i, esp, (unsigned int)(icv - esp) + esn_len(s),
			   esn_len(s) ? b->icv[i] : icv, s->salted ? b->iv[i] : iv, NULL);
}

/* @param seq  receives the packet's number if it is known */
static enum drop_reason prepare_in(struct crypto_batch *b, struct rte_mbuf *m, struct session *s,
				   uint64_t *seq)
{
	unsigned int outer = outer_len(packet_family(m) == AF_INET6);
	unsigned int have = rte_pktmbuf_data_len(m);
	unsigned int header = outer + (unsigned int)sizeof(struct rte_esp_hdr) + s->iv_len, text;
	uint8_t *esp = rte_pktmbuf_mtod_offset(m, uint8_t *, outer);
	struct cygnet_sa *sa = s->route.sa;
	struct rte_esp_hdr h;

	if (!esp_in_text(s, header, have, &text))
		return DROP_ESP_TRUNCATED;
	memcpy(&h, esp, sizeof(h));
	*seq = cygnet_replay_seq(sa, rte_be_to_cpu_32(h.seq));
	if (!verdict_may_be_new(sa, *seq))
		return DROP_REPLAY;
	describe_in(b, s, esp, text, *seq);
	b->seq[b->n] = *seq;
	return DROP_NONE;
}

static void add_in(struct worker *w, struct rte_mbuf *const *m, unsigned int n, struct session *s,
		   unsigned int interface)
{
	struct crypto_batch *b = &w->crypto.batch;

	for (unsigned int i = 0; i < n; i++) {
		uint64_t seq = 0;
		enum drop_reason reason = prepare_in(b, m[i], s, &seq);

		if (reason == DROP_NONE) {
			push(b, m[i], s, interface);
		} else {
			packet(m[i])->interface = (uint8_t)interface;
			audit_drop(w, m[i], reason, s->route.sa, seq);
		}
	}
}

void fast_batch_add(struct worker *w, struct rte_mbuf *const *m, unsigned int n, struct session *s,
		    unsigned int interface)
{
	unsigned int before = w->crypto.batch.n;

	if (s->inbound)
		add_in(w, m, n, s, interface);
	else
		add_out(w, m, n, s, interface);
	w->crypto.batch.without_job += w->crypto.batch.n - before;
}

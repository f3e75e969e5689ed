/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_udp.h>

#include "esp/ah.h"
#include "esp/esp_transport.h"
#include "esp/esp_tunnel_write.h"
#include "esp/outer.h"
#include "ip/headers.h"

/* Bytes added in front of the payload: outer IP header in tunnel mode, UDP, ESP with its IV, or AH. */
static unsigned int header_len(const struct session *s, const struct cygnet_path *path)
{
	bool v6 = path->af == AF_INET6;
	unsigned int outer = s->transport ? 0 : outer_len(v6);

	if (s->ah)
		return outer + ah_len(s, v6);
	return outer + (path->encap ? sizeof(struct rte_udp_hdr) : 0) + sizeof(struct rte_esp_hdr) +
	       s->iv_len;
}

unsigned int esp_out_kept(struct rte_mbuf *m, const struct session *s)
{
	return s->transport ? headers_front(m).len : 0;
}

unsigned int esp_out_size(const struct session *s, const struct cygnet_path *path,
			  unsigned int kept, unsigned int inner)
{
	if (s->ah)
		return header_len(s, path) + inner;
	return kept + header_len(s, path) + esp_padded(s, inner - kept) + s->icv_len;
}

unsigned int esp_out_mtu(const struct session *s, const struct cygnet_path *path, unsigned int kept,
			 unsigned int mtu)
{
	unsigned int around = kept + header_len(s, path) + s->icv_len;

	if (s->ah)
		return mtu > header_len(s, path) ? mtu - header_len(s, path) : 0;
	if (mtu < around + s->align)
		return 0;
	return kept + ((mtu - around) & ~(s->align - 1u)) - 2;
}

/* Bytes behind the plaintext: trailer, hidden high half of the sequence number, ICV. */
static unsigned int tail_len(const struct session *s, unsigned int text)
{
	return esp_padded(s, text) - text + esn_len(s) + s->icv_len;
}

/* Describe the job, and write the high half of an extended sequence number, which is not sent, for it.
 * @param esp   offset of the ESP header
 * @param tail  the trailer, behind the plaintext
 * @param text  bytes of plaintext */
static void describe(struct rte_mbuf *m, const struct session *s, uint64_t seq, unsigned int esp,
		     uint8_t *tail, unsigned int text, struct esp_job *job)
{
	unsigned int padded = esp_padded(s, text), hidden = esn_len(s);
	const uint32_t hi = rte_cpu_to_be_32((uint32_t)(seq >> 32));
	const uint64_t number = rte_cpu_to_be_64(seq);

	if (s->esn_inside) {
		packet(m)->esp = (uint16_t)esp;
		esn_insert(rte_pktmbuf_mtod_offset(m, uint8_t *, esp), tail + padded - text, hi);
	} else {
		esn_write(s, tail + padded - text, seq);
	}
	if (s->salted)
		esp_nonce_salted(job->iv, s, &number);
	else
		memset(job->iv, 0, sizeof(job->iv));
	esp_aad(job->aad, s, s->front.spi, seq);
	esp_describe(s, job, esp, padded, s->salted,
		     esp + (unsigned int)sizeof(struct rte_esp_hdr) + s->iv_len + padded + hidden);
}

enum drop_reason esp_out_tunnel(struct rte_mbuf *m, const struct session *s, uint64_t seq,
				struct esp_job *job)
{
	const struct esp_front *front = &s->front;
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);
	unsigned int inner = rte_pktmbuf_data_len(m), tail = tail_len(s, inner);
	unsigned int header = front->len + s->iv_len;
	unsigned int total = header + inner + tail - esn_len(s);

	if (total > UINT16_MAX)
		return DROP_TOO_BIG;
	if (rte_pktmbuf_headroom(m) < header || rte_pktmbuf_tailroom(m) < tail)
		return DROP_NO_BUFFER;
	esp_tunnel_write(s, ip, inner, rte_pktmbuf_headroom(m), tail, seq, total);
	m->data_off = (uint16_t)(m->data_off - header);
	m->data_len = (uint16_t)(header + inner + tail);
	m->pkt_len = m->data_len;
	describe(m, s, seq, front->len - (unsigned int)sizeof(struct rte_esp_hdr), ip + inner,
		 inner, job);
	return DROP_NONE;
}

static enum drop_reason transport(struct rte_mbuf *m, const struct cygnet_sa *sa,
				  const struct session *s, uint64_t seq, struct esp_job *job)
{
	const struct esp_front *front = &s->front;
	unsigned int kept = esp_out_kept(m, s), text = rte_pktmbuf_data_len(m) - kept, esp;
	unsigned int space = front->len - outer_len(front->v6) + s->iv_len;
	unsigned int total = kept + space + esp_padded(s, text) + s->icv_len;
	uint8_t next = headers_front(m).proto, *tail, *header, *iv;

	if (total > UINT16_MAX)
		return DROP_TOO_BIG;
	if (!esp_transport_fits(m, &sa->path[front->path_index & 1]))
		return DROP_TRANSPORT;
	tail = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)tail_len(s, text));
	header = tail ? esp_transport_open(m, space, total, front->udp ? IPPROTO_UDP : IPPROTO_ESP)
		      : NULL;
	if (!header)
		return DROP_NO_BUFFER;
	/* outer_finish() sets UDP's checksum under IPv6. */
	iv = esp_front_write_esp(front, header, seq, total - kept);
	esp_iv_write(iv, s, seq);
	esp_trailer_write(tail, esp_padded(s, text) - text - 2, next, tail_len(s, text));
	esp = (unsigned int)(iv - rte_pktmbuf_mtod(m, uint8_t *)) -
	      (unsigned int)sizeof(struct rte_esp_hdr);
	describe(m, s, seq, esp, tail, text, job);
	return DROP_NONE;
}

/* Move a reassembled packet so long that headroom and tail do not both fit into its buffer: leave only the
 * headroom that its headers need. */
static void settle_longest(struct rte_mbuf *m, unsigned int header)
{
	unsigned int len = rte_pktmbuf_data_len(m);

	if (len + RTE_PKTMBUF_HEADROOM + ESP_TAIL_MAX <= UINT16_MAX || header + len > m->buf_len)
		return;
	memmove((uint8_t *)m->buf_addr + header, rte_pktmbuf_mtod(m, uint8_t *), len);
	m->data_off = (uint16_t)header;
}

enum drop_reason esp_out_prepare(struct rte_mbuf *m, const struct cygnet_sa *sa, struct session *s,
				 uint64_t seq, struct esp_job *job)
{
	settle_longest(m, header_len(s, cygnet_sa_path(sa)));
	/* The SA's path changed (MOBIKE), so its cached route does not hold. */
	if (esp_front_make(&s->front, sa))
		s->route.by_batch = false;
	if (s->transport)
		return transport(m, sa, s, seq, job);
	return esp_out_tunnel(m, s, seq, job);
}

void esp_out_finish(struct rte_mbuf *m, const struct session *s)
{
	unsigned int hidden = esn_len(s);
	uint8_t *icv;

	if (s->esn_inside)
		esn_remove(m, s);
	if (hidden) {
		icv = rte_pktmbuf_mtod_offset(m, uint8_t *, rte_pktmbuf_data_len(m) - s->icv_len);
		memmove(icv - hidden, icv, s->icv_len);
		rte_pktmbuf_trim(m, (uint16_t)hidden);
	}
	if (packet_family(m) == AF_INET6)
		outer_finish(m);
}

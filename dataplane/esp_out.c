/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_udp.h>

#include "ah.h"
#include "esp_common.h"
#include "esp_transport.h"
#include "headers.h"
#include "outer.h"

/* What goes in front of the ciphertext, or AH; the IP header only if it is a new one. */
static unsigned int header_len(const struct session *s, const struct cygnet_path *path)
{
	unsigned int outer = s->transport ? 0 : outer_len(s->v6);

	if (s->ah)
		return outer + ah_len(s);
	return outer + (path->encap ? sizeof(struct rte_udp_hdr) : 0) +
	       sizeof(struct rte_esp_hdr) + s->iv_len;
}

/* The trailer ends on a multiple of the block: padding, its length, next header. */
static unsigned int padded_len(const struct session *s, unsigned int inner)
{
	return (inner + 2 + s->align - 1) & ~(s->align - 1u);
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
	return kept + header_len(s, path) + padded_len(s, inner - kept) + s->icv_len;
}

unsigned int esp_out_mtu(const struct session *s, const struct cygnet_path *path,
			 unsigned int kept, unsigned int mtu)
{
	unsigned int around = kept + header_len(s, path) + s->icv_len;

	if (s->ah)
		return mtu > header_len(s, path) ? mtu - header_len(s, path) : 0;
	if (mtu < around + s->align)
		return 0;
	return kept + ((mtu - around) & ~(s->align - 1u)) - 2;
}

/* The room in front of the packet's ciphertext, from the UDP or ESP header on.
 * @return NULL: no headroom */
static uint8_t *open_front(struct rte_mbuf *m, const struct cygnet_sa *sa,
			   const struct cygnet_path *path, const struct session *s,
			   unsigned int total)
{
	unsigned int header = header_len(s, path);
	struct outer outer = {.v6 = s->v6};
	uint8_t *at;

	if (s->transport)
		return esp_transport_open(m, header, total,
					  path->encap ? IPPROTO_UDP : IPPROTO_ESP);
	outer_describe(&outer, m, sa);
	at = (uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)header);
	if (!at)
		return NULL;
	outer_write(at, &outer, path, total);
	return at + outer_len(s->v6);
}

/* @param len  of the datagram */
static uint8_t *write_udp(uint8_t *at, const struct cygnet_path *path, unsigned int len)
{
	const struct rte_udp_hdr udp = {
		.src_port = path->sport,
		.dst_port = path->dport,
		.dgram_len = rte_cpu_to_be_16((uint16_t)len),
		.dgram_cksum = 0, /* RFC 3948, 2.1; under IPv6 outer_finish() has one */
	};

	memcpy(at, &udp, sizeof(udp));
	return at + sizeof(udp);
}

/* A counter mode takes the sequence number for its IV: it is never used twice. In
 * CBC the cipher starts one block earlier, at the sequence number in place of the
 * IV, with a zero IV: what goes out is E(number), which nobody can foresee without
 * the key (NIST SP 800-38A, appendix C). */
static void write_iv(uint8_t *wire, struct esp_job *job, const struct session *s, uint64_t seq)
{
	uint64_t be = rte_cpu_to_be_64(seq);

	if (!s->iv_len)
		return;
	memcpy(wire, &be, sizeof(be));
	if (s->salted) {
		esp_nonce(job->iv, s, wire);
	} else {
		memset(wire + sizeof(be), 0, s->iv_len - sizeof(be));
		memset(job->iv, 0, sizeof(job->iv));
	}
}

static void write_trailer(uint8_t *at, unsigned int pad, uint8_t next)
{
	for (unsigned int i = 0; i < pad; i++)
		at[i] = (uint8_t)(i + 1);
	at[pad] = (uint8_t)pad;
	at[pad + 1] = next;
}

static uint8_t next_header(struct rte_mbuf *m, const struct session *s)
{
	if (s->transport)
		return headers_front(m).proto;
	return packet_family(m) == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IPIP;
}

int esp_out_prepare(struct rte_mbuf *m, const struct cygnet_sa *sa, const struct session *s,
		    uint64_t seq, struct esp_job *job)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	unsigned int inner = rte_pktmbuf_data_len(m), kept = esp_out_kept(m, s);
	unsigned int text = inner - kept, padded = padded_len(s, text);
	unsigned int total = esp_out_size(s, path, kept, inner), hidden = esn_len(s);
	uint8_t next = next_header(m, s);
	const uint32_t hi = rte_cpu_to_be_32((uint32_t)(seq >> 32));
	struct rte_esp_hdr esp_header = {sa->spi, rte_cpu_to_be_32((uint32_t)seq)};
	unsigned int esp = total - s->icv_len - padded - s->iv_len - sizeof(esp_header);
	uint8_t *tail, *at;

	if (total > UINT16_MAX)
		return DROP_TOO_BIG;
	if (s->transport && !esp_transport_fits(m, path))
		return DROP_TRANSPORT;
	tail = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(padded - text + hidden + s->icv_len));
	at = open_front(m, sa, path, s, total);
	if (!tail || !at)
		return DROP_NO_BUFFER;
	write_trailer(tail, padded - text - 2, next);
	if (hidden)
		memcpy(tail + padded - text, &hi, sizeof(hi));
	if (path->encap)
		at = write_udp(at, path, total - esp + sizeof(struct rte_udp_hdr));
	memcpy(at, &esp_header, sizeof(esp_header));
	write_iv(at + sizeof(esp_header), job, s, seq);
	esp_aad(job->aad, s, sa->spi, seq);
	esp_describe(s, job, esp, padded, s->salted, total - s->icv_len + hidden);
	return ESP_OK;
}

void esp_out_finish(struct rte_mbuf *m, const struct session *s)
{
	unsigned int hidden = esn_len(s);
	uint8_t *icv;

	if (hidden) {
		icv = rte_pktmbuf_mtod_offset(m, uint8_t *, rte_pktmbuf_data_len(m) - s->icv_len);
		memmove(icv - hidden, icv, s->icv_len);
		rte_pktmbuf_trim(m, (uint16_t)hidden);
	}
	if (s->v6)
		outer_finish(m);
}

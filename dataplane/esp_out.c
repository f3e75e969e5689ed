/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_udp.h>

#include "esp_common.h"
#include "esp_transport.h"

#define TTL 64

/* What goes in front of the ciphertext; the IP header only if it is a new one. */
static unsigned int header_len(const struct session *s, const struct cygnet_path *path)
{
	return (s->transport ? 0 : sizeof(struct rte_ipv4_hdr)) +
	       (path->encap ? sizeof(struct rte_udp_hdr) : 0) + sizeof(struct rte_esp_hdr) +
	       s->iv_len;
}

/* The trailer ends on a multiple of the block: padding, its length, next header. */
static unsigned int padded_len(const struct session *s, unsigned int inner)
{
	return (inner + 2 + s->align - 1) / s->align * s->align;
}

unsigned int esp_out_kept(struct rte_mbuf *m, const struct session *s)
{
	return s->transport ? ip_header_len(packet_ip(m)) : 0;
}

unsigned int esp_out_size(const struct session *s, const struct cygnet_path *path,
			  unsigned int kept, unsigned int inner)
{
	return kept + header_len(s, path) + padded_len(s, inner - kept) + s->icv_len;
}

unsigned int esp_out_mtu(const struct session *s, const struct cygnet_path *path,
			 unsigned int kept, unsigned int mtu)
{
	unsigned int around = kept + header_len(s, path) + s->icv_len;

	if (mtu < around + s->align)
		return 0;
	return kept + (mtu - around) / s->align * s->align - 2;
}

/* DF, DSCP and ECN of the outer header (RFC 4301, 5.1.2.1). The DSCP is copied
 * only if the SA says so; ECN as RFC 6040's normal mode does. */
static void write_outer_ip(struct rte_ipv4_hdr *ip, const struct cygnet_sa *sa,
			   const struct cygnet_path *path, const struct rte_ipv4_hdr *inner,
			   unsigned int total)
{
	bool inner_df = inner->fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG);
	uint8_t inner_tos = inner->type_of_service, tos = 0;
	/* SAs of the same two gateways all count from 1, but must not use the same
	 * numbers for packets that are fragmented on the way (RFC 791, 3.2). */
	uint32_t id = (uint32_t)sa->seq + rte_be_to_cpu_32(sa->spi);

	if (sa->dscp & CYGNET_DSCP_COPY_OUT)
		tos |= inner_tos & 0xfc;
	if (sa->flags & CYGNET_SA_COPY_ECN)
		tos |= inner_tos & 0x03;
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.type_of_service = tos,
		.total_length = rte_cpu_to_be_16((uint16_t)total),
		.packet_id = rte_cpu_to_be_16((uint16_t)id),
		.time_to_live = TTL,
		.next_proto_id = path->encap ? IPPROTO_UDP : IPPROTO_ESP,
		.src_addr = path->src.v4,
		.dst_addr = path->dst.v4,
	};
	if (inner_df && (sa->flags & CYGNET_SA_COPY_DF))
		ip->fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG);
	ip->hdr_checksum = rte_ipv4_cksum(ip);
}

/* The room in front of the packet's ciphertext, from the UDP or ESP header on.
 * @return NULL: no headroom */
static uint8_t *open_front(struct rte_mbuf *m, const struct cygnet_sa *sa,
			   const struct cygnet_path *path, const struct session *s,
			   unsigned int total)
{
	unsigned int header = header_len(s, path);
	const struct rte_ipv4_hdr *inner = packet_ip(m);
	uint8_t *at;

	if (s->transport)
		return esp_transport_open(m, header, total,
					  path->encap ? IPPROTO_UDP : IPPROTO_ESP);
	at = (uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)header);
	if (!at)
		return NULL;
	write_outer_ip((struct rte_ipv4_hdr *)at, sa, path, inner, total);
	return at + sizeof(struct rte_ipv4_hdr);
}

/* @param len  of the datagram */
static uint8_t *write_udp(uint8_t *at, const struct cygnet_path *path, unsigned int len)
{
	const struct rte_udp_hdr udp = {
		.src_port = path->sport,
		.dst_port = path->dport,
		.dgram_len = rte_cpu_to_be_16((uint16_t)len),
		.dgram_cksum = 0, /* RFC 3948, 2.1 */
	};

	memcpy(at, &udp, sizeof(udp));
	return at + sizeof(udp);
}

/* A counter mode takes the sequence number for its IV: it is never used twice. In
 * CBC the cipher starts one block earlier, at the sequence number in place of the
 * IV, with a zero IV: what goes out is E(number), which nobody can foresee without
 * the key (NIST SP 800-38A, appendix C). */
static void write_iv(uint8_t *wire, struct rte_crypto_op *op, const struct session *s,
		     uint64_t seq)
{
	struct esp_op *priv = rte_crypto_op_ctod_offset(op, struct esp_op *, ESP_IV_OFFSET);
	uint64_t be = rte_cpu_to_be_64(seq);

	if (!s->iv_len)
		return;
	memcpy(wire, &be, sizeof(be));
	if (s->salted) {
		esp_nonce(priv->iv, s, wire);
	} else {
		memset(wire + sizeof(be), 0, s->iv_len - sizeof(be));
		memset(priv->iv, 0, sizeof(priv->iv));
	}
}

static void write_trailer(uint8_t *at, unsigned int pad, uint8_t next)
{
	for (unsigned int i = 0; i < pad; i++)
		at[i] = (uint8_t)(i + 1);
	at[pad] = (uint8_t)pad;
	at[pad + 1] = next;
}

int esp_out_prepare(struct rte_mbuf *m, const struct cygnet_sa *sa, const struct session *s,
		    uint64_t seq, struct rte_crypto_op *op)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	unsigned int inner = rte_pktmbuf_data_len(m), kept = esp_out_kept(m, s);
	unsigned int text = inner - kept, padded = padded_len(s, text);
	unsigned int total = esp_out_size(s, path, kept, inner), hidden = esn_len(s);
	uint8_t next = s->transport ? packet_ip(m)->next_proto_id : IPPROTO_IPIP;
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
	write_iv(at + sizeof(esp_header), op, s, seq);
	esp_aad(rte_crypto_op_ctod_offset(op, uint8_t *, ESP_AAD_OFFSET), s, sa->spi, seq);
	esp_describe(m, s, op, esp, padded, s->salted, total - s->icv_len + hidden);
	return ESP_OK;
}

void esp_out_finish(struct rte_mbuf *m, const struct session *s)
{
	unsigned int hidden = esn_len(s);
	uint8_t *icv;

	if (!hidden)
		return;
	icv = rte_pktmbuf_mtod_offset(m, uint8_t *, rte_pktmbuf_data_len(m) - s->icv_len);
	memmove(icv - hidden, icv, s->icv_len);
	rte_pktmbuf_trim(m, (uint16_t)hidden);
}

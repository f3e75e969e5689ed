/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>

#include "esp/ah.h"
#include "esp/ah_mutable.h"
#include "esp/esp_common.h"
#include "esp/esp_transport.h"
#include "esp/outer.h"
#include "ip/headers.h"

/* Make space for AH behind the packet's own headers (transport mode) or behind new outer headers.
 * @return the space; NULL: no headroom */
static uint8_t *open_front(struct rte_mbuf *m, const struct cygnet_sa *sa,
			   const struct cygnet_path *path, const struct session *s,
			   unsigned int total)
{
	struct outer outer = {.v6 = path->af == AF_INET6};
	unsigned int ah = ah_len(s, outer.v6);
	uint8_t *ip;

	if (s->transport)
		return esp_transport_open(m, ah, total, IPPROTO_AH);
	outer_describe(&outer, m, sa);
	ip = (uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)(outer_len(outer.v6) + ah));
	if (!ip)
		return NULL;
	outer_write(ip, &outer, path, total);
	return ip + outer_len(outer.v6);
}

/* Write AH with a zero ICV, as the ICV is computed, and zero padding. @param len  bytes of AH */
static void write_header(uint8_t *ah, unsigned int len, uint8_t next, uint32_t spi, uint64_t seq)
{
	struct ah_header header = {
		.next = next,
		.len = (uint8_t)(len / 4 - 2),
		.spi = spi,
		.seq = rte_cpu_to_be_32((uint32_t)seq),
	};

	memcpy(ah, &header, sizeof(header));
	memset(ah + sizeof(header), 0, len - sizeof(header));
}

static uint8_t next_header(struct rte_mbuf *m, const struct session *s)
{
	if (s->transport)
		return headers_front(m).proto;
	return packet_family(m) == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IPIP;
}

/* @param tail  space behind the packet */
static void write_tail(uint8_t *tail, struct esp_job *job, const struct session *s, uint64_t seq)
{
	const uint64_t be[2] = {rte_cpu_to_be_64(seq)}; /* at least as long as any IV */

	memcpy(tail, be, ah_hidden(s));
	/* The IV of AES-GMAC is the sequence number, because it is unique. */
	if (s->iv_len)
		esp_nonce(job->iv, s, be);
}

enum drop_reason ah_out_prepare(struct rte_mbuf *m, const struct cygnet_sa *sa,
				const struct session *s, uint64_t seq, struct esp_job *job)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	unsigned int total = esp_out_size(s, path, esp_out_kept(m, s), rte_pktmbuf_data_len(m));
	unsigned int around = ah_hidden(s) + s->icv_len;
	uint8_t next = next_header(m, s), *tail, *ah;
	enum drop_reason reason;

	if (path->encap)
		return DROP_UNSUPPORTED;
	if (total > UINT16_MAX)
		return DROP_TOO_BIG;
	if (s->transport && !esp_transport_fits(m, path))
		return DROP_TRANSPORT;
	tail = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)around);
	ah = open_front(m, sa, path, s, total);
	if (!tail || !ah)
		return DROP_NO_BUFFER;
	write_header(ah, ah_len(s, path->af == AF_INET6), next, sa->spi, seq);
	write_tail(tail, job, s, seq);
	packet(m)->esp = (uint16_t)(ah - rte_pktmbuf_mtod(m, uint8_t *));
	reason = ah_mutable_hide(m, packet(m)->esp);
	if (reason != DROP_NONE)
		return reason;
	ah_describe(s, job, total);
	return DROP_NONE;
}

/* The IV of AES-GMAC on the wire: the sequence number, as in the device's IV. */
static void write_iv(uint8_t *ah, const uint8_t *tail, const struct session *s)
{
	const struct ah_header *header = (const struct ah_header *)ah;

	if (!s->iv_len)
		return;
	memcpy(ah + sizeof(*header), tail, ah_hidden(s));
	memcpy(ah + sizeof(*header) + 4, &header->seq, sizeof(header->seq));
}

void ah_out_finish(struct rte_mbuf *m, const struct session *s)
{
	unsigned int around = ah_hidden(s) + s->icv_len;
	uint8_t *ah = rte_pktmbuf_mtod_offset(m, uint8_t *, packet(m)->esp);
	const uint8_t *tail;

	ah_mutable_restore(m, packet(m)->esp);
	tail = rte_pktmbuf_mtod_offset(m, const uint8_t *, rte_pktmbuf_data_len(m) - around);
	write_iv(ah, tail, s);
	memcpy(ah + sizeof(struct ah_header) + s->iv_len, tail + ah_hidden(s), s->icv_len);
	rte_pktmbuf_trim(m, (uint16_t)around);
}

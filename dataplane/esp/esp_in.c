/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>

#include "esp/esp_common.h"
#include "esp/esp_transport.h"
#include "esp/outer.h"

enum drop_reason esp_in_prepare(struct rte_mbuf *m, const struct session *s, struct esp_job *job)
{
	const struct packet *p = packet(m);
	unsigned int header = p->esp + sizeof(struct rte_esp_hdr) + s->iv_len;
	unsigned int have = rte_pktmbuf_data_len(m), hidden = esn_len(s), text;
	const uint32_t hi = rte_cpu_to_be_32((uint32_t)(p->seq >> 32));
	const uint8_t *wire_iv;
	uint32_t spi;
	uint8_t *icv;

	if (!esp_in_text(s, header, have, &text))
		return DROP_ESP_TRUNCATED;
	memcpy(&spi, rte_pktmbuf_mtod_offset(m, const uint8_t *, p->esp), sizeof(spi));
	if (hidden && !rte_pktmbuf_append(m, (uint16_t)hidden))
		return DROP_NO_BUFFER;
	icv = rte_pktmbuf_mtod_offset(m, uint8_t *, header + text);
	if (hidden) {
		memmove(icv + hidden, icv, s->icv_len);
		memcpy(icv, &hi, sizeof(hi));
	}
	if (s->esn_inside)
		esn_insert(rte_pktmbuf_mtod_offset(m, uint8_t *, p->esp), icv, hi);
	wire_iv = rte_pktmbuf_mtod_offset(m, const uint8_t *, header - s->iv_len);
	esp_nonce(job->iv, s, wire_iv);
	esp_aad(job->aad, s, spi, p->seq);
	esp_describe(s, job, p->esp, text, true, header + text + hidden);
	return DROP_NONE;
}

/* Whether the padding is 1, 2, 3 and so on (RFC 4303, 2.4). Compares eight bytes at a time from its end. The
 * last comparison may read bytes in front of the padding, which are plaintext or the ESP header.
 * @param end  end of the padding
 * @param pad  bytes of padding */
static bool is_monotonic(const uint8_t *end, unsigned int pad)
{
	const uint64_t ones = 0x0101010101010101, upto8 = 0x0807060504030201;
	unsigned int others;
	uint64_t word;

	for (; pad >= sizeof(word); pad -= (unsigned int)sizeof(word), end -= sizeof(word)) {
		memcpy(&word, end - sizeof(word), sizeof(word));
		if (rte_le_to_cpu_64(word) != upto8 + (pad - sizeof(word)) * ones)
			return false;
	}
	if (!pad)
		return true;
	memcpy(&word, end - sizeof(word), sizeof(word));
	others = 8 * ((unsigned int)sizeof(word) - pad);
	return rte_le_to_cpu_64(word) >> others == upto8 << others >> others;
}

/* Check the trailer. It need not take constant time, because the packet is authentic.
 * @return next header; -1: invalid trailer */
static int check_trailer(const uint8_t *text, unsigned int len, unsigned int *inner)
{
	unsigned int pad = text[len - 2];

	if (pad + 2 > len)
		return -1;
	*inner = len - 2 - pad;
	return is_monotonic(text + len - 2, pad) ? text[len - 1] : -1;
}

enum drop_reason esp_in_decapsulate(struct rte_mbuf *m, const struct cygnet_sa *sa,
				    const struct session *s, unsigned int esp, unsigned int hidden)
{
	unsigned int header = esp + (unsigned int)sizeof(struct rte_esp_hdr) + s->iv_len;
	unsigned int tail = hidden + s->icv_len, inner = 0, text;
	int next;

	if (s->esn_inside)
		esn_remove(m, s);
	text = rte_pktmbuf_data_len(m) - header - tail;
	next = check_trailer(rte_pktmbuf_mtod_offset(m, const uint8_t *, header), text, &inner);
	if (next == IPPROTO_NONE)
		return DROP_DUMMY;
	if (next < 0 || (!s->transport && next != IPPROTO_IPIP && next != IPPROTO_IPV6))
		return DROP_ESP_PADDING;
	if (!s->transport)
		return outer_strip(m, sa, header, inner, (uint8_t)next);
	rte_pktmbuf_trim(m, (uint16_t)(text - inner + tail));
	return esp_transport_close(m, header, (uint8_t)next);
}

enum drop_reason esp_in_finish(struct rte_mbuf *m, const struct cygnet_sa *sa,
			       const struct session *s)
{
	return esp_in_decapsulate(m, sa, s, packet(m)->esp, esn_len(s));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>

#include "esp/ah.h"
#include "esp/ah_mutable.h"
#include "esp/esp_common.h"
#include "esp/esp_transport.h"
#include "esp/outer.h"

static unsigned int size_of(const struct ah_header *header)
{
	return (header->len + 2u) * 4;
}

/* Some implementations pad AH under IPv4 to 8 bytes, as under IPv6. */
static bool is_right(unsigned int size, const struct session *s, bool v6)
{
	return size == ah_len(s, v6) || size == ah_len(s, true);
}

enum drop_reason ah_in_prepare(struct rte_mbuf *m, const struct session *s, struct esp_job *job)
{
	const struct packet *p = packet(m);
	struct ah_header *header = rte_pktmbuf_mtod_offset(m, struct ah_header *, p->esp);
	uint8_t *icv = (uint8_t *)(header + 1) + s->iv_len, *tail;
	const uint32_t hi = rte_cpu_to_be_32((uint32_t)(p->seq >> 32));
	unsigned int have = rte_pktmbuf_data_len(m);
	enum drop_reason reason;

	if (!is_right(size_of(header), s, packet_family(m) == AF_INET6))
		return DROP_AH_LENGTH;
	if (have < p->esp + size_of(header))
		return DROP_AH_TRUNCATED;
	tail = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(ah_hidden(s) + s->icv_len));
	if (!tail)
		return DROP_NO_BUFFER;
	memcpy(tail, &hi, ah_hidden(s));
	memcpy(tail + ah_hidden(s), icv, s->icv_len);
	if (s->iv_len)
		esp_nonce(job->iv, s, header + 1);
	memset(header + 1, 0, s->iv_len + s->icv_len);
	reason = ah_mutable_hide(m, p->esp);
	if (reason != DROP_NONE)
		return reason;
	ah_describe(s, job, have);
	return DROP_NONE;
}

enum drop_reason ah_in_finish(struct rte_mbuf *m, const struct cygnet_sa *sa,
			      const struct session *s)
{
	unsigned int ah = packet(m)->esp, skip;
	struct ah_header header;

	ah_mutable_restore(m, ah);
	rte_pktmbuf_trim(m, (uint16_t)(ah_hidden(s) + s->icv_len));
	memcpy(&header, rte_pktmbuf_mtod_offset(m, const uint8_t *, ah), sizeof(header));
	skip = ah + size_of(&header);
	if (s->transport)
		return esp_transport_close(m, skip, header.next);
	if (header.next != IPPROTO_IPIP && header.next != IPPROTO_IPV6)
		return DROP_AH_NEXT;
	return outer_strip(m, sa, skip, rte_pktmbuf_data_len(m) - skip, header.next);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_esp.h>
#include <rte_udp.h>

#include "base/sadb.h"
#include "esp/ah.h"
#include "host/interface.h"
#include "ip/headers.h"
#include "path/dhcp.h"
#include "path/early.h"
#include "path/frame_in.h"
#include "path/ike.h"
#include "path/reassemble.h"
#include "path/stages.h"
#include "path/to_sa.h"
#include "path/too_big.h"
#include "path/worker/audit.h"
#include "path/worker/owner.h"
#include "path/worker/police.h"
#include "path/worker/policy.h"
#include "path/worker/tx.h"

/* Hand ESP or AH to the worker of its SA.
 * @param proto   IPPROTO_ESP or IPPROTO_AH
 * @param offset  of that header */
static void receive_protected(struct worker *w, struct rte_mbuf *m, uint8_t proto,
			      unsigned int offset, rte_be32_t spi, rte_be32_t seq)
{
	const struct early_id id = {packet_dst(m), spi, proto, packet_family(m)};
	struct packet *p = packet(m);
	struct cygnet_sa *sa;

	p->seq = rte_be_to_cpu_32(seq);
	p->esp = (uint16_t)offset;
	sa = cygnet_sad_lookup(sadb, spi, proto, id.af, &id.dst);
	if (sa && w->early.n)
		early_release(w, &id, sa);
	if (sa)
		to_sa_in(w, m, sa);
	else if (!early_keep(w, m, &id))
		audit_drop_unknown(w, m, proto, spi, (uint32_t)p->seq);
}

static void receive_esp(struct worker *w, struct rte_mbuf *m, unsigned int esp, bool udp)
{
	struct rte_esp_hdr header;

	if (rte_pktmbuf_data_len(m) < esp + sizeof(header)) {
		drop(w, m, DROP_ESP_TRUNCATED);
		return;
	}
	memcpy(&header, rte_pktmbuf_mtod_offset(m, const uint8_t *, esp), sizeof(header));
	packet(m)->udp = udp;
	receive_protected(w, m, IPPROTO_ESP, esp, header.spi, header.seq);
}

static void receive_ah(struct worker *w, struct rte_mbuf *m, unsigned int ah)
{
	struct ah_header header;

	if (rte_pktmbuf_data_len(m) < ah + sizeof(header)) {
		drop(w, m, DROP_AH_TRUNCATED);
		return;
	}
	memcpy(&header, rte_pktmbuf_mtod_offset(m, const uint8_t *, ah), sizeof(header));
	packet(m)->udp = 0;
	receive_protected(w, m, IPPROTO_AH, ah, header.spi, header.seq);
}

/* UDP to charon's port for it (RFC 3948, 2): a keepalive, IKE behind four zero
 * bytes, or ESP. @return false if it is IKE: the packet stays the caller's */
static bool receive_natt(struct worker *w, struct rte_mbuf *m, unsigned int header)
{
	unsigned int data = header + sizeof(struct rte_udp_hdr);
	const uint8_t *payload = rte_pktmbuf_mtod_offset(m, const uint8_t *, data);
	unsigned int len = rte_pktmbuf_pkt_len(m) - data;
	struct rte_udp_hdr udp;
	uint32_t spi;

	memcpy(&udp, rte_pktmbuf_mtod_offset(m, const uint8_t *, header), sizeof(udp));
	if (rte_be_to_cpu_16(udp.dgram_len) != len + sizeof(udp)) {
		drop(w, m, DROP_MALFORMED);
		return true;
	}
	if (len == 1 && *payload == 0xff) {
		w->stats->keepalives++;
		rte_pktmbuf_free(m);
		return true;
	}
	if (len < sizeof(spi)) {
		drop(w, m, DROP_ESP_TRUNCATED);
		return true;
	}
	memcpy(&spi, payload, sizeof(spi));
	if (!spi)
		return false;
	packet(m)->sport = udp.src_port;
	receive_esp(w, m, data, true);
	return true;
}

/* The frame as it came, unless the packet was put together: then there is no Ethernet header. */
static void to_kernel(struct worker *w, struct rte_mbuf *m)
{
	bool joined = packet(m)->resume == STAGE_LOCAL;

	if (joined || rte_pktmbuf_pkt_len(m) > interfaces[packet(m)->interface].mtu) {
		packet(m)->policed = 1;
		stage_add(&w->stages, STAGE_TO_KERNEL, m);
		return;
	}
	frame_in_restore(m);
	tap_frame(w, m);
}

/* @return whether a UDP packet has been dealt with: NAT-T; else *exempt says whether it is IKE */
static bool is_natt(struct worker *w, struct rte_mbuf *m, const struct headers *h, bool *exempt)
{
	struct rte_udp_hdr udp;

	if (h->proto != IPPROTO_UDP || rte_pktmbuf_data_len(m) < h->len + sizeof(udp))
		return false;
	memcpy(&udp, rte_pktmbuf_mtod_offset(m, const uint8_t *, h->len), sizeof(udp));
	if (ike_is_natt(m, udp.dst_port) && receive_natt(w, m, h->len))
		return true;
	*exempt = ike_exempt(m, h, false);
	return false;
}

static bool is_icmp(uint8_t proto)
{
	return proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6;
}

/* @param aside  packet sockets may have what policy refuses */
static void by_policy(struct worker *w, struct rte_mbuf *m, bool aside)
{
	enum drop_reason reason;
	struct cygnet_flow flow;

	policy_flow(m, &flow);
	reason = policy_inbound(w, m, &flow, CYGNET_IN);
	if (reason != DROP_NONE && aside)
		dhcp_aside(w, m);
	else if (reason != DROP_NONE)
		audit_drop(w, m, reason, NULL, 0);
	else if (police_passes(w, m, is_icmp(flow.proto) ? POLICE_ICMP : POLICE_OTHER, false))
		to_kernel(w, m);
}

static void link_control(struct worker *w, struct rte_mbuf *m, const struct headers *h)
{
	struct neigh_message said;

	neigh_message_icmp6(m, h, &said);
	if (police_link(w, m, &said, false))
		to_kernel(w, m);
}

static void local(struct worker *w, struct rte_mbuf *m)
{
	struct headers h = headers_read(m);
	enum dhcp_received dhcp;
	bool exempt = false;

	if (headers_link_control(m, &h)) {
		link_control(w, m, &h);
		return;
	}
	if (h.fragment &&
	    (h.proto == IPPROTO_ESP || h.proto == IPPROTO_AH || h.proto == IPPROTO_UDP)) {
		m = police_fragment(w, m) ? reassemble(w, m, &h, STAGE_LOCAL) : NULL;
		if (!m)
			return;
		h = headers_read(m);
	}
	if (h.proto == IPPROTO_ESP) {
		receive_esp(w, m, h.len, false);
		return;
	}
	if (h.proto == IPPROTO_AH) {
		receive_ah(w, m, h.len);
		return;
	}
	if (is_natt(w, m, &h, &exempt))
		return;
	if (is_icmp(h.proto))
		too_big_learn(w, m, &h);
	dhcp = dhcp_received(w, m, &h);
	if (!exempt && dhcp != DHCP_PASSES)
		by_policy(w, m, dhcp == DHCP_ASIDE);
	else if (exempt ? police_ike(w, m) : police_passes(w, m, POLICE_ARP, false))
		to_kernel(w, m);
}

void stage_local(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		local(w, m[i]);
}

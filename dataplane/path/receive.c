/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_esp.h>
#include <rte_ether.h>
#include <rte_udp.h>

#include "base/clock.h"
#include "base/sadb.h"
#include "esp/ah.h"
#include "host/port.h"
#include "ip/frame.h"
#include "ip/headers.h"
#include "path/fast/learn.h"
#include "path/pipeline.h"
#include "path/policy.h"
#include "path/proxy.h"
#include "path/reassemble.h"
#include "path/too_big.h"

/* The packet belongs to an SA of ours: to its owner with it.
 * @param proto  IPPROTO_ESP or IPPROTO_AH
 * @param at     offset of that header */
static void receive_protected(struct worker *w, struct rte_mbuf *m, uint8_t proto,
			      unsigned int at, rte_be32_t spi, rte_be32_t seq)
{
	struct cygnet_addr dst = packet_dst(m);
	struct packet *p = packet(m);
	struct cygnet_sa *sa;

	sa = cygnet_sad_lookup(sadb, spi, proto, packet_family(m), &dst);
	if (!sa) {
		drop(w, m, DROP_BAD_SPI);
		return;
	}
	p->stage = STAGE_ESP_IN;
	p->sa = cygnet_sa_index(sadb, sa);
	p->generation = sa->generation;
	p->seq = rte_be_to_cpu_32(seq);
	p->esp = (uint16_t)at;
	p->src = packet_src(m);
	if (proto == IPPROTO_ESP)
		learn_hand(w, m);
	hand_over(w, m, sa_owner(w, p->sa));
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

/* Frame as it came, for the kernel: the Ethernet header is still in front, unless the packet was
 * put together. */
static void to_kernel(struct worker *w, struct rte_mbuf *m)
{
	if (packet(m)->stage == STAGE_REASSEMBLE ||
	    rte_pktmbuf_pkt_len(m) > ports[packet(m)->port].mtu) {
		transmit_packet_to_kernel(w, m);
		return;
	}
	rte_pktmbuf_prepend(m, sizeof(struct rte_ether_hdr));
	transmit_to_kernel(w, m);
}

/* Whether ESP in UDP comes to a port of ours; it goes on while charon is gone. */
static bool is_natt(struct rte_mbuf *m, rte_be16_t port)
{
	return cygnet_ike_port(sadb, packet_family(m), rte_be_to_cpu_16(port)) == CYGNET_IKE_ENCAP;
}

/* IKE negotiates the policies: none applies to it (RFC 4301, 4.4.1). */
static bool is_exempt(struct rte_mbuf *m, rte_be16_t port)
{
	return cygnet_ike_exempt(sadb, packet_family(m), rte_be_to_cpu_16(port),
				 __atomic_load_n(&sadb_charon, __ATOMIC_RELAXED) != 0);
}

/* UDP to charon's port for it (RFC 3948, 2): a keepalive, IKE behind four zero
 * bytes, or ESP. @return false if it is IKE, and the caller's still */
static bool receive_natt(struct worker *w, struct rte_mbuf *m, unsigned int header)
{
	unsigned int data = header + sizeof(struct rte_udp_hdr);
	const uint8_t *at = rte_pktmbuf_mtod_offset(m, const uint8_t *, data);
	unsigned int len = rte_pktmbuf_pkt_len(m) - data;
	struct rte_udp_hdr udp;
	uint32_t spi;

	memcpy(&udp, rte_pktmbuf_mtod_offset(m, const uint8_t *, header), sizeof(udp));
	if (rte_be_to_cpu_16(udp.dgram_len) != len + sizeof(udp)) {
		drop(w, m, DROP_MALFORMED);
		return true;
	}
	if (len == 1 && *at == 0xff) {
		w->stats->keepalives++;
		rte_pktmbuf_free(m);
		return true;
	}
	if (len < sizeof(spi)) {
		drop(w, m, DROP_ESP_TRUNCATED);
		return true;
	}
	memcpy(&spi, at, sizeof(spi));
	if (!spi)
		return false;
	packet(m)->sport = udp.src_port;
	receive_esp(w, m, data, true);
	return true;
}

/* Plaintext from the wire may pass unless policy says that it comes protected. */
static enum drop_reason inbound_policy(const struct worker *w, struct rte_mbuf *m,
				       const struct cygnet_flow *flow, enum cygnet_dir dir)
{
	struct cygnet_policy *policy;
	enum drop_reason reason = policy_find(m, flow, dir, &policy);

	if (reason != DROP_NONE)
		return reason;
	/* Without an inbound policy the outbound one decides about what is forwarded:
	 * the plaintext of a tunnel has only that. */
	if (!policy)
		return w->drop_no_policy && dir == CYGNET_IN ? DROP_NO_POLICY : DROP_NONE;
	policy_use(policy);
	if (policy->action == CYGNET_PROTECT)
		return DROP_POLICY_PLAINTEXT;
	return policy->action == CYGNET_DISCARD ? DROP_POLICY_DISCARD : DROP_NONE;
}

void receive_local(struct worker *w, struct rte_mbuf *m)
{
	unsigned int len = rte_pktmbuf_data_len(m);
	struct headers h = headers_read(m);
	enum drop_reason reason = DROP_NONE;
	bool exempt = false;
	struct rte_udp_hdr udp;
	struct cygnet_flow flow;

	if (headers_link_control(m, &h)) {
		to_kernel(w, m);
		return;
	}
	if (h.fragment &&
	    (h.proto == IPPROTO_ESP || h.proto == IPPROTO_AH || h.proto == IPPROTO_UDP)) {
		packet(m)->stage = STAGE_REASSEMBLE;
		hand_over(w, m, reassembly_owner(w, m, &h));
		return;
	}
	if (h.proto == IPPROTO_ESP) {
		receive_esp(w, m, h.len, false);
		return;
	}
	if (h.proto == IPPROTO_AH) {
		receive_ah(w, m, h.len);
		return;
	}
	if (h.proto == IPPROTO_UDP && len >= h.len + sizeof(udp)) {
		memcpy(&udp, rte_pktmbuf_mtod_offset(m, const uint8_t *, h.len), sizeof(udp));
		if (is_natt(m, udp.dst_port) && receive_natt(w, m, h.len))
			return;
		exempt = is_exempt(m, udp.dst_port);
	}
	if (h.proto == IPPROTO_ICMP || h.proto == IPPROTO_ICMPV6)
		too_big_learn(w, m, &h);
	if (!exempt) {
		policy_flow(m, &flow);
		reason = inbound_policy(w, m, &flow, CYGNET_IN);
	}
	if (reason != DROP_NONE)
		drop(w, m, reason);
	else
		to_kernel(w, m);
}

void receive_forward(struct worker *w, struct rte_mbuf *m)
{
	enum drop_reason reason = plain_may_forward(m);
	struct cygnet_flow flow;

	if (reason == DROP_NONE) {
		policy_flow(m, &flow);
		if (flow.fragment && policy_wants_whole(m, &flow)) {
			reassemble_plain(w, m, RESUME_FORWARD);
			return;
		}
		reason = inbound_policy(w, m, &flow, CYGNET_FWD);
	}
	if (reason != DROP_NONE)
		drop(w, m, reason);
	else
		plain_out(w, m, &flow);
}

/* @return DROP_NONE or why the frame goes no further */
static enum drop_reason prepare(struct worker *w, struct rte_mbuf *m, unsigned int port, bool *ip)
{
	packet_received(m, port, w->flows.epoch);
	if ((m->nb_segs > 1 && rte_pktmbuf_linearize(m)) ||
	    rte_pktmbuf_data_len(m) < sizeof(struct rte_ether_hdr))
		return DROP_MALFORMED;
	return frame_check(m, ip);
}

/* The frame's type and the packet's version have to say the same: who gets it next
 * believes the type, we the version. */
static enum drop_reason check_ip(struct rte_mbuf *m, rte_be16_t type, bool verify)
{
	bool v6 = type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6);

	if (!rte_pktmbuf_data_len(m) || v6 != (packet_family(m) == AF_INET6))
		return DROP_MALFORMED;
	return headers_check(m, verify);
}

void receive_frame(struct worker *w, struct rte_mbuf *m, unsigned int port)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	struct rte_ether_addr own = port_mac(&ports[port]);
	enum drop_reason reason;
	bool group, ip;

	w->stats->port[port].rx_packets++;
	w->stats->port[port].rx_bytes += rte_pktmbuf_pkt_len(m);
	reason = prepare(w, m, port, &ip);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	/* ARP and the like: as on any host. */
	if (!ip) {
		transmit_to_kernel(w, m);
		return;
	}
	group = rte_is_multicast_ether_addr(&eth->dst_addr);
	if (!group && !rte_is_same_ether_addr(&eth->dst_addr, &own)) {
		drop(w, m, DROP_NOT_OURS);
		return;
	}
	rte_pktmbuf_adj(m, sizeof(*eth));
	reason = check_ip(m, eth->ether_type, true);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	/* A broadcast frame takes no way around the policies, and is not forwarded
	 * (RFC 1812, 5.3.4). */
	if (packet_route(m).kind == ROUTE_LOCAL)
		receive_local(w, m);
	else if (group)
		drop(w, m, DROP_NOT_OURS);
	else
		receive_forward(w, m);
}

/* What names the packet that a fragment belongs to. */
static struct ike_datagram datagram_of(struct rte_mbuf *m, const struct headers *h)
{
	struct ike_datagram datagram = {
		.src = packet_src(m),
		.dst = packet_dst(m),
		.id = packet_ip(m)->packet_id,
		.second = clock_seconds(),
	};

	if (h->fragment_at)
		memcpy(&datagram.id, rte_pktmbuf_mtod_offset(m, const uint8_t *, h->fragment_at + 4),
		       sizeof(datagram.id));
	return datagram;
}

static bool same_datagram(const struct ike_datagram *sent, const struct ike_datagram *this)
{
	return !memcmp(&sent->src, &this->src, sizeof(sent->src)) &&
	       !memcmp(&sent->dst, &this->dst, sizeof(sent->dst)) && sent->id == this->id &&
	       sent->second + 1 >= this->second;
}

/* The ports of a datagram are in its first fragment, which the kernel sends first.
 * @return whether a later one belongs to IKE */
static bool is_rest_of_ike(const struct worker *w, const struct ike_datagram *this)
{
	for (unsigned int i = 0; i < RTE_DIM(w->ike_sent); i++)
		if (same_datagram(&w->ike_sent[i], this))
			return true;
	return false;
}

/* Charon's own: what the kernel forwards may have any source port. */
static bool is_ike_sent(struct worker *w, struct rte_mbuf *m, const struct headers *h)
{
	struct cygnet_addr src = packet_src(m);
	struct ike_datagram datagram;
	struct rte_udp_hdr udp;

	if (h->proto != IPPROTO_UDP ||
	    route_lookup(packet_family(m), &src).kind != ROUTE_LOCAL)
		return false;
	datagram = datagram_of(m, h);
	if (h->later)
		return is_rest_of_ike(w, &datagram);
	if (rte_pktmbuf_data_len(m) < h->len + sizeof(udp))
		return false;
	memcpy(&udp, rte_pktmbuf_mtod_offset(m, const uint8_t *, h->len), sizeof(udp));
	if (!is_exempt(m, udp.src_port))
		return false;
	if (h->fragment)
		w->ike_sent[w->ike_next++ % RTE_DIM(w->ike_sent)] = datagram;
	return true;
}

static bool passes_policies(struct worker *w, struct rte_mbuf *m)
{
	struct headers h = headers_read(m);

	return headers_link_control(m, &h) || is_ike_sent(w, m, &h);
}

/* The kernel sent it: IKE and neighbour discovery as they are, anything else if the outbound SPD allows. */
void receive_from_kernel(struct worker *w, struct rte_mbuf *m, unsigned int port)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	struct cygnet_flow flow;
	enum drop_reason reason;
	bool ip;

	w->stats->port[port].from_kernel++;
	reason = prepare(w, m, port, &ip);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	packet(m)->from_kernel = 1;
	if (proxy_neighbour(w, m))
		return;
	if (!ip) {
		transmit_frame(w, m);
		return;
	}
	rte_pktmbuf_adj(m, sizeof(struct rte_ether_hdr));
	reason = check_ip(m, eth->ether_type, false);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	if (passes_policies(w, m)) {
		rte_pktmbuf_prepend(m, sizeof(struct rte_ether_hdr));
		transmit_frame(w, m);
	} else {
		policy_flow(m, &flow);
		if (flow.fragment && policy_wants_whole(m, &flow))
			reassemble_plain(w, m, RESUME_OUT);
		else
			plain_out(w, m, &flow);
	}
}

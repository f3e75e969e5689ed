/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_esp.h>
#include <rte_ether.h>
#include <rte_udp.h>

#include "control.h"
#include "fragment.h"
#include "frame.h"
#include "pipeline.h"
#include "policy.h"
#include "port.h"

#define PORT_IKE rte_cpu_to_be_16(500)
#define PORT_NATT rte_cpu_to_be_16(4500)

/* The ESP packet belongs to an SA of ours: to its owner with it. */
static void receive_esp(struct worker *w, struct rte_mbuf *m, unsigned int esp, bool udp)
{
	const struct rte_ipv4_hdr *ip = packet_ip(m);
	struct packet *p = packet(m);
	struct cygnet_addr dst = {.v4 = ip->dst_addr};
	struct rte_esp_hdr header;
	struct cygnet_sa *sa;

	if (m->nb_segs > 1) {
		drop(w, m, DROP_REASSEMBLED_SIZE);
		return;
	}
	if (rte_pktmbuf_data_len(m) < esp + sizeof(header)) {
		drop(w, m, DROP_ESP_TRUNCATED);
		return;
	}
	memcpy(&header, rte_pktmbuf_mtod_offset(m, const uint8_t *, esp), sizeof(header));
	sa = cygnet_sad_lookup(sadb, header.spi, IPPROTO_ESP, AF_INET, &dst);
	if (!sa) {
		drop(w, m, DROP_BAD_SPI);
		return;
	}
	p->stage = STAGE_ESP_IN;
	p->sa = cygnet_sa_index(sadb, sa);
	p->generation = sa->generation;
	p->seq = rte_be_to_cpu_32(header.seq);
	p->esp = (uint16_t)esp;
	p->udp = udp;
	p->src = ip->src_addr;
	hand_over(w, m, sa_owner(w, p->sa));
}

/* Frame as it came, for the kernel: the Ethernet header is still in front. */
static void to_kernel(struct worker *w, struct rte_mbuf *m)
{
	if (m->nb_segs > 1 || rte_pktmbuf_pkt_len(m) > ports[packet(m)->port].mtu) {
		transmit_packet_to_kernel(w, m);
		return;
	}
	rte_pktmbuf_prepend(m, sizeof(struct rte_ether_hdr));
	transmit_to_kernel(w, m);
}

/* UDP to port 4500 of ours (RFC 3948, 2): a keepalive, IKE behind four zero
 * bytes, or ESP. */
static void receive_natt(struct worker *w, struct rte_mbuf *m, unsigned int header)
{
	unsigned int data = header + sizeof(struct rte_udp_hdr);
	const uint8_t *at = rte_pktmbuf_mtod_offset(m, const uint8_t *, data);
	unsigned int len = rte_pktmbuf_pkt_len(m) - data;
	struct rte_udp_hdr udp;
	uint32_t spi;

	memcpy(&udp, rte_pktmbuf_mtod_offset(m, const uint8_t *, header), sizeof(udp));
	if (rte_be_to_cpu_16(udp.dgram_len) != len + sizeof(udp)) {
		drop(w, m, DROP_MALFORMED);
		return;
	}
	if (len == 1 && *at == 0xff) {
		w->stats->keepalives++;
		rte_pktmbuf_free(m);
		return;
	}
	if (len < sizeof(spi)) {
		drop(w, m, DROP_ESP_TRUNCATED);
		return;
	}
	memcpy(&spi, at, sizeof(spi));
	if (!spi) {
		to_kernel(w, m);
		return;
	}
	packet(m)->sport = udp.src_port;
	receive_esp(w, m, data, true);
}

/* Plaintext from the wire may pass unless policy says that it comes protected. */
static enum drop_reason inbound_policy(const struct worker *w, struct rte_mbuf *m,
					enum cygnet_dir dir)
{
	struct cygnet_policy *policy;
	struct cygnet_flow flow;
	enum drop_reason reason = policy_find(m, dir, &flow, &policy);

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

/* To an address of this host: ESP, IKE, or something for the kernel. */
static void receive_local(struct worker *w, struct rte_mbuf *m)
{
	const struct rte_ipv4_hdr *ip = packet_ip(m);
	unsigned int header = ip_header_len(ip), len = rte_pktmbuf_data_len(m);
	enum drop_reason reason = DROP_NONE;
	struct rte_udp_hdr udp = {0};

	if (is_fragment(ip) &&
	    (ip->next_proto_id == IPPROTO_ESP || ip->next_proto_id == IPPROTO_UDP)) {
		packet(m)->stage = STAGE_REASSEMBLE;
		hand_over(w, m, reassembly_owner(w, ip));
		return;
	}
	if (ip->next_proto_id == IPPROTO_ESP) {
		receive_esp(w, m, header, false);
		return;
	}
	if (ip->next_proto_id == IPPROTO_UDP && len >= header + sizeof(udp)) {
		memcpy(&udp, (const uint8_t *)ip + header, sizeof(udp));
		if (udp.dst_port == PORT_NATT) {
			receive_natt(w, m, header);
			return;
		}
	}
	/* IKE negotiates the policies: none applies to it (RFC 4301, 4.4.1). */
	if (udp.dst_port != PORT_IKE)
		reason = inbound_policy(w, m, CYGNET_IN);
	if (reason != DROP_NONE)
		drop(w, m, reason);
	else
		to_kernel(w, m);
}

/* What the next steps read lies in the first segment, unless somebody has made a
 * fragment of a few bytes out of it. */
void receive_reassembled(struct worker *w, struct rte_mbuf *m)
{
	unsigned int headers = ip_header_len(packet_ip(m)) + sizeof(struct rte_udp_hdr) +
			       sizeof(uint32_t);

	if (m->nb_segs > 1 && rte_pktmbuf_data_len(m) < headers)
		drop(w, m, DROP_MALFORMED);
	else
		receive_local(w, m);
}

/* On its way to somebody else. */
static void receive_forward(struct worker *w, struct rte_mbuf *m)
{
	enum drop_reason reason = plain_may_forward(m);

	if (reason == DROP_NONE)
		reason = inbound_policy(w, m, CYGNET_FWD);
	if (reason != DROP_NONE)
		drop(w, m, reason);
	else
		plain_out(w, m);
}

/* @return DROP_NONE or why the frame goes no further */
static enum drop_reason prepare(struct worker *w, struct rte_mbuf *m, unsigned int port, bool *ipv4)
{
	struct packet *p = packet(m);

	memset(p, 0, sizeof(*p));
	p->port = (uint8_t)port;
	if ((m->nb_segs > 1 && rte_pktmbuf_linearize(m)) ||
	    rte_pktmbuf_data_len(m) < sizeof(struct rte_ether_hdr))
		return DROP_MALFORMED;
	return frame_check(m, w->ipv6, ipv4);
}

void receive_frame(struct worker *w, struct rte_mbuf *m, unsigned int port)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	struct rte_ether_addr own = port_mac(&ports[port]);
	enum drop_reason reason;
	bool group, ipv4;

	w->stats->port[port].rx_packets++;
	w->stats->port[port].rx_bytes += rte_pktmbuf_pkt_len(m);
	reason = prepare(w, m, port, &ipv4);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	/* ARP and the like: as on any host. */
	if (!ipv4) {
		transmit_to_kernel(w, m);
		return;
	}
	group = rte_is_multicast_ether_addr(&eth->dst_addr);
	if (!group && !rte_is_same_ether_addr(&eth->dst_addr, &own)) {
		drop(w, m, DROP_NOT_OURS);
		return;
	}
	rte_pktmbuf_adj(m, sizeof(*eth));
	if (!packet_check_ip(m, true)) {
		drop(w, m, DROP_MALFORMED);
		return;
	}
	/* A broadcast frame takes no way around the policies, and is not forwarded
	 * (RFC 1812, 5.3.4). */
	if (route_lookup(packet_ip(m)->dst_addr).kind == ROUTE_LOCAL)
		receive_local(w, m);
	else if (group)
		drop(w, m, DROP_NOT_OURS);
	else
		receive_forward(w, m);
}

static bool same_datagram(const struct ike_datagram *sent, const struct rte_ipv4_hdr *ip)
{
	return sent->src == ip->src_addr && sent->dst == ip->dst_addr &&
	       sent->id == ip->packet_id && sent->second + 1 >= control_now;
}

/* The ports of a datagram are in its first fragment, which the kernel sends first.
 * @return whether a later one belongs to IKE */
static bool is_rest_of_ike(const struct worker *w, const struct rte_ipv4_hdr *ip)
{
	for (unsigned int i = 0; i < RTE_DIM(w->ike_sent); i++)
		if (same_datagram(&w->ike_sent[i], ip))
			return true;
	return false;
}

static void note_ike(struct worker *w, const struct rte_ipv4_hdr *ip)
{
	w->ike_sent[w->ike_next++ % RTE_DIM(w->ike_sent)] = (struct ike_datagram){
		ip->src_addr, ip->dst_addr, ip->packet_id, control_now,
	};
}

/* Charon's own: what the kernel forwards may have any source port. */
static bool is_ike_sent(struct worker *w, struct rte_mbuf *m)
{
	const struct rte_ipv4_hdr *ip = packet_ip(m);
	unsigned int header = ip_header_len(ip);
	struct rte_udp_hdr udp;

	if (ip->next_proto_id != IPPROTO_UDP || route_lookup(ip->src_addr).kind != ROUTE_LOCAL)
		return false;
	if (ip->fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_OFFSET_MASK))
		return is_rest_of_ike(w, ip);
	if (rte_pktmbuf_data_len(m) < header + sizeof(udp))
		return false;
	memcpy(&udp, (const uint8_t *)ip + header, sizeof(udp));
	if (udp.src_port != PORT_IKE && udp.src_port != PORT_NATT)
		return false;
	if (is_fragment(ip))
		note_ike(w, ip);
	return true;
}

/* The kernel sent it: IKE as it is, anything else if the outbound SPD allows. */
void receive_from_kernel(struct worker *w, struct rte_mbuf *m, unsigned int port)
{
	enum drop_reason reason;
	bool ipv4;

	w->stats->port[port].from_kernel++;
	reason = prepare(w, m, port, &ipv4);
	if (reason != DROP_NONE) {
		drop(w, m, reason);
		return;
	}
	packet(m)->from_kernel = 1;
	if (!ipv4) {
		transmit_frame(w, m);
		return;
	}
	rte_pktmbuf_adj(m, sizeof(struct rte_ether_hdr));
	if (!packet_check_ip(m, false)) {
		drop(w, m, DROP_MALFORMED);
		return;
	}
	if (is_ike_sent(w, m)) {
		rte_pktmbuf_prepend(m, sizeof(struct rte_ether_hdr));
		transmit_frame(w, m);
	} else {
		plain_out(w, m);
	}
}

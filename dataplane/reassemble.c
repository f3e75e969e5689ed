/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fragments of ESP, AH and UDP to this host. ESP and AH have to be whole to be authenticated;
 * of UDP only the first fragment says whether it is IKE or ESP. And those of plaintext
 * that leaves by a policy which asks for ports, or in transport mode, where only whole
 * packets are protected (RFC 4301, 7; RFC 4303, 3.3.4). */
#include <netinet/in.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_ip_frag.h>
#include <rte_jhash.h>

#include "fragment.h"
#include "ip_sum.h"
#include "policy.h"
#include "pool.h"

/* Whoever sends fragments can fill a table: ESP with AH, UDP, and plaintext have one each, and what
 * does not become whole leaves soon. Fragments of a packet travel close together. */
#define BUCKET 4u
#define PACKETS (REASSEMBLY_PACKETS / RTE_LIBRTE_IP_FRAG_MAX_FRAG / 3)
#define WAIT_MS 500u
#define PREFETCH 3

struct reassembly {
	struct rte_ip_frag_tbl *esp, *udp, *plain;
	struct rte_ip_frag_death_row dead;
};

static struct rte_ip_frag_tbl *make_table(void)
{
	uint64_t wait = rte_get_tsc_hz() / 1000 * WAIT_MS;

	return rte_ip_frag_table_create(PACKETS / BUCKET, BUCKET, PACKETS, wait, SOCKET_ID_ANY);
}

struct reassembly *reassembly_create(void)
{
	struct reassembly *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->esp = make_table();
	r->udp = make_table();
	r->plain = make_table();
	if (!r->esp || !r->udp || !r->plain) {
		reassembly_free(r);
		return NULL;
	}
	return r;
}

void reassembly_free(struct reassembly *r)
{
	if (!r)
		return;
	if (r->esp)
		rte_ip_frag_table_destroy(r->esp);
	if (r->udp)
		rte_ip_frag_table_destroy(r->udp);
	if (r->plain)
		rte_ip_frag_table_destroy(r->plain);
	free(r);
}

unsigned int reassembly_owner(const struct worker *w, struct rte_mbuf *m, const struct headers *h)
{
	const struct rte_ipv4_hdr *ip = packet_ip(m);
	uint32_t addrs[8], id;

	if (packet_family(m) == AF_INET6) {
		/* DPDK's hash reads words, and behind an Ethernet header they are not aligned. */
		memcpy(addrs, packet_ip6(m)->src_addr, sizeof(addrs));
		memcpy(&id, rte_pktmbuf_mtod_offset(m, const uint8_t *, h->fragment_at + 4), 4);
		return rte_jhash_32b(addrs, RTE_DIM(addrs), id) % w->workers;
	}
	return rte_jhash_3words(ip->src_addr, ip->dst_addr, ip->packet_id, 0) % w->workers;
}

/* Count and free what the table has let go. @return how many */
static unsigned int bury(struct worker *w)
{
	struct rte_ip_frag_death_row *dead = &w->reassembly->dead;
	unsigned int n = dead->cnt;

	w->stats->drop[DROP_REASSEMBLY] += n;
	rte_ip_frag_free_death_row(dead, PREFETCH);
	return n;
}

/* No packet is longer than its length field can say (RFC 791; RFC 8200, 4.5). What
 * follows an IPv6 fragment header begins where its offset 0 is. */
static bool beyond_64k(struct rte_mbuf *m, const struct headers *h)
{
	const struct rte_ipv4_hdr *ip = packet_ip(m);
	unsigned int offset;
	uint16_t field;

	if (packet_family(m) == AF_INET6) {
		memcpy(&field, rte_pktmbuf_mtod_offset(m, const uint8_t *, h->fragment_at + 2), 2);
		offset = rte_be_to_cpu_16(field) & RTE_IPV6_EHDR_FO_MASK;
		return offset + rte_pktmbuf_pkt_len(m) - h->len > UINT16_MAX;
	}
	offset = rte_be_to_cpu_16(ip->fragment_offset) & RTE_IPV4_HDR_OFFSET_MASK;
	return offset * RTE_IPV4_HDR_OFFSET_UNITS + rte_be_to_cpu_16(ip->total_length) > UINT16_MAX;
}

/* The bytes of a packet in one piece.
 * @return the packet as it is, if there is no room */
static struct rte_mbuf *in_one_piece(struct rte_mbuf *m)
{
	struct rte_mbuf *large;

	if (m->nb_segs == 1 || rte_pktmbuf_linearize(m) == 0 || !packet_pool_large)
		return m;
	large = rte_pktmbuf_copy(m, packet_pool_large, 0, UINT32_MAX);
	if (!large || large->nb_segs > 1) {
		rte_pktmbuf_free(large);
		return m;
	}
	*packet(large) = *packet(m);
	rte_pktmbuf_free(m);
	return large;
}

/* The header of a whole packet. Plaintext that its source has cut, may be cut. */
static void settle(struct rte_mbuf *m)
{
	struct rte_ipv4_hdr *ip = packet_ip(m);

	if (packet_family(m) == AF_INET) {
		if (packet(m)->resume != RESUME_LOCAL)
			ip->fragment_offset = 0;
		ip->hdr_checksum = 0;
		ip->hdr_checksum = ip_checksum(ip, ip_header_len(ip));
	}
	m->ol_flags = 0;
	m->l3_len = 0;
}

/* How long the longest fragment of a packet was, which are its segments now.
 * @param front  what the headers in front of each took, bytes */
static uint16_t longest_part(struct rte_mbuf *m, unsigned int front)
{
	unsigned int longest = 0, had = packet_family(m) == AF_INET6 ? sizeof(struct rte_ipv6_hdr)
								     : front;

	for (const struct rte_mbuf *seg = m; seg; seg = seg->next, had = 0)
		longest = RTE_MAX(longest, seg->data_len + front - had);
	return (uint16_t)longest;
}

/* What comes next takes its bytes to be in one piece. */
static void resume_plain(struct worker *w, struct rte_mbuf *m)
{
	struct cygnet_flow flow;

	if (m->nb_segs > 1) {
		drop(w, m, DROP_REASSEMBLED_SIZE);
		return;
	}
	if (packet(m)->resume == RESUME_FORWARD) {
		receive_forward(w, m);
		return;
	}
	policy_flow(m, &flow);
	plain_out(w, m, &flow);
}

/* @return the whole packet, or NULL */
static struct rte_mbuf *collect(struct reassembly *r, struct rte_mbuf *m, const struct headers *h)
{
	struct rte_ip_frag_tbl *table = h->proto == IPPROTO_UDP ? r->udp : r->esp;

	if (packet(m)->resume != RESUME_LOCAL)
		table = r->plain;
	m->l2_len = 0;
	m->l3_len = h->len;
	if (packet_family(m) == AF_INET6)
		return rte_ipv6_frag_reassemble_packet(
			table, &r->dead, m, rte_rdtsc(), packet_ip6(m),
			rte_pktmbuf_mtod_offset(m, void *, h->fragment_at));
	return rte_ipv4_frag_reassemble_packet(table, &r->dead, m, rte_rdtsc(), packet_ip(m));
}

void reassemble(struct worker *w, struct rte_mbuf *m)
{
	struct headers h = headers_read(m);

	/* rte_ip_frag takes the fragment header for the only one. */
	if (packet_family(m) == AF_INET6 && h.fragment_at != sizeof(struct rte_ipv6_hdr)) {
		drop(w, m, DROP_IPV6_HEADERS);
		return;
	}
	if (beyond_64k(m, &h)) {
		drop(w, m, DROP_MALFORMED);
		return;
	}
	m = collect(w->reassembly, m, &h);
	bury(w);
	if (!m)
		return;
	settle(m);
	if (packet(m)->resume != RESUME_LOCAL)
		packet(m)->whole = longest_part(m, h.len);
	m = in_one_piece(m);
	if (packet(m)->resume == RESUME_LOCAL)
		receive_reassembled(w, m);
	else
		resume_plain(w, m);
}

void reassemble_plain(struct worker *w, struct rte_mbuf *m, enum packet_resume then)
{
	struct headers h = headers_read(m);

	packet(m)->stage = STAGE_REASSEMBLE;
	packet(m)->resume = (uint8_t)then;
	hand_over(w, m, reassembly_owner(w, m, &h));
}

void reassembly_expire(struct worker *w)
{
	struct reassembly *r = w->reassembly;
	uint64_t now = rte_rdtsc();

	do {
		rte_ip_frag_table_del_expired_entries(r->esp, &r->dead, now);
		rte_ip_frag_table_del_expired_entries(r->udp, &r->dead, now);
		rte_ip_frag_table_del_expired_entries(r->plain, &r->dead, now);
	} while (bury(w));
}

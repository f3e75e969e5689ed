/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <rte_byteorder.h>

#include "ip/headers.h"
#include "ip/l4.h"

#define MLD2_REPORT	143 /* RFC 3810, 5.2 */
#define EXTENSIONS_MAX	6
#define EXTENSION_UNIT	8u /* the length of an extension header is a multiple, bytes */
#define FRAGMENT_MORE	1u
#define FRAGMENT_OFFSET 0xfff8u

/* Order of extension headers (RFC 8200, 4.1): each once; hop-by-hop options first; destination
 * options also a second time, in front of the upper layer.
 * @param seen  how often each extension header occurred so far */
static bool may_stand_here(uint8_t proto, unsigned int number, unsigned int *seen)
{
	unsigned int shift = proto == IPPROTO_ROUTING ? 0 : proto == IPPROTO_FRAGMENT ? 2 : 4;
	unsigned int before = *seen >> shift & 3;

	if (proto == IPPROTO_HOPOPTS)
		return number == 0;
	*seen += 1u << shift;
	return before < (proto == IPPROTO_DSTOPTS ? 2 : 1);
}

/* With a source route policies do not see the final destination. RFC 5095 forbids type 0. */
static bool is_source_route(uint8_t proto, const uint8_t *extension)
{
	return proto == IPPROTO_ROUTING && extension[3] != 0;
}

static void note_fragment(struct headers *h, const uint8_t *extension)
{
	unsigned int field = (unsigned int)extension[2] << 8 | extension[3];

	h->fragment_at = h->len;
	h->later = field & FRAGMENT_OFFSET;
	h->fragment = field & (FRAGMENT_OFFSET | FRAGMENT_MORE);
}

/* @return false: the extension headers are invalid */
static bool walk(const uint8_t *packet, unsigned int len, struct headers *h)
{
	unsigned int seen = 0;

	*h = (struct headers){
		.len = sizeof(struct rte_ipv6_hdr),
		.proto_at = offsetof(struct rte_ipv6_hdr, proto),
		.proto = ((const struct rte_ipv6_hdr *)packet)->proto,
	};
	for (unsigned int n = 0; l4_is_extension(h->proto); n++) {
		const uint8_t *extension = packet + h->len;
		unsigned int left = len - h->len, size = EXTENSION_UNIT;

		/* Of a fragment, later extension headers may be in another fragment. */
		if (n == EXTENSIONS_MAX || left < size || h->fragment ||
		    !may_stand_here(h->proto, n, &seen) || is_source_route(h->proto, extension))
			return false;
		if (h->proto == IPPROTO_FRAGMENT)
			note_fragment(h, extension);
		else
			size *= extension[1] + 1u;
		if (size > left)
			return false;
		h->proto_at = h->len;
		h->len = (uint16_t)(h->len + size);
		h->proto = extension[0];
	}
	return true;
}

static enum drop_reason check_v6(struct rte_mbuf *m)
{
	const struct rte_ipv6_hdr *ip = packet_ip6(m);
	unsigned int have = rte_pktmbuf_pkt_len(m), total;
	struct headers h;

	if (rte_pktmbuf_data_len(m) < sizeof(*ip))
		return DROP_MALFORMED;
	total = sizeof(*ip) + rte_be_to_cpu_16(ip->payload_len);
	if (total > have)
		return DROP_MALFORMED;
	if (total < have)
		rte_pktmbuf_trim(m, (uint16_t)(have - total));
	return walk((const uint8_t *)ip, rte_pktmbuf_data_len(m), &h) ? DROP_NONE
								      : DROP_IPV6_HEADERS;
}

enum drop_reason headers_check(struct rte_mbuf *m, bool verify)
{
	if (rte_pktmbuf_data_len(m) && packet_family(m) == AF_INET6)
		return check_v6(m);
	return packet_check_ip(m, verify) ? DROP_NONE : DROP_MALFORMED;
}

struct headers headers_read(struct rte_mbuf *m)
{
	const struct rte_ipv4_hdr *ip = packet_ip(m);
	struct headers h;

	if (packet_family(m) == AF_INET6) {
		walk((const uint8_t *)ip, rte_pktmbuf_data_len(m), &h);
		return h;
	}
	return (struct headers){
		.len = (uint16_t)ip_header_len(ip),
		.proto_at = offsetof(struct rte_ipv4_hdr, next_proto_id),
		.proto = ip->next_proto_id,
		.fragment = ip->fragment_offset &
			    rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK),
		.later = ip->fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_OFFSET_MASK),
	};
}

struct headers headers_front(struct rte_mbuf *m)
{
	const uint8_t *packet = rte_pktmbuf_mtod(m, const uint8_t *);
	struct headers all = headers_read(m);
	struct headers next = {
		.len = sizeof(struct rte_ipv6_hdr),
		.proto_at = offsetof(struct rte_ipv6_hdr, proto),
		.proto = packet[offsetof(struct rte_ipv6_hdr, proto)],
	};
	struct headers front = next;

	if (packet_family(m) == AF_INET || all.fragment_at)
		return all;
	while (next.len < all.len) {
		bool options = next.proto == IPPROTO_DSTOPTS;

		next.proto_at = next.len;
		next.proto = packet[next.proto_at];
		next.len = (uint16_t)(next.len + EXTENSION_UNIT * (packet[next.proto_at + 1] + 1u));
		/* Destination options in front of a routing header stay in front. */
		if (!options)
			front = next;
	}
	return front;
}

uint16_t headers_checksum6(struct rte_mbuf *m, const struct headers *h)
{
	struct rte_ipv6_hdr pseudo = *packet_ip6(m);

	/* The pseudo-header ignores extension headers (RFC 8200, 8.1). */
	pseudo.proto = h->proto;
	pseudo.payload_len = rte_cpu_to_be_16((uint16_t)(rte_pktmbuf_data_len(m) - h->len));
	return rte_ipv6_udptcp_cksum(&pseudo, rte_pktmbuf_mtod_offset(m, void *, h->len));
}

static bool finds_neighbours(uint16_t type)
{
	return type >= ND_ROUTER_SOLICIT && type <= ND_REDIRECT;
}

static bool joins_groups(uint16_t type)
{
	return (type >= MLD_LISTENER_QUERY && type <= MLD_LISTENER_REDUCTION) ||
	       type == MLD2_REPORT;
}

bool headers_icmp6_of_the_link(uint16_t type)
{
	return finds_neighbours(type) || joins_groups(type);
}

/* RFC 4861, 11.2: a hop limit of 255 shows that the message comes from the link. */
static bool is_discovery(const struct rte_ipv6_hdr *ip, uint8_t type)
{
	return ip->hop_limits == 255 && finds_neighbours(type);
}

static bool is_listener(const struct rte_ipv6_hdr *ip, uint8_t type)
{
	return ip->hop_limits == 1 && ip6_dst(ip)[0] == 0xff && joins_groups(type);
}

bool headers_link_control(struct rte_mbuf *m, const struct headers *h)
{
	const struct rte_ipv6_hdr *ip = packet_ip6(m);
	uint8_t type;

	/* Neighbour discovery must not be fragmented (RFC 6980). */
	if (packet_family(m) != AF_INET6 || h->proto != IPPROTO_ICMPV6 || h->fragment_at ||
	    rte_pktmbuf_data_len(m) <= h->len)
		return false;
	type = *rte_pktmbuf_mtod_offset(m, const uint8_t *, h->len);
	/* Only MLD has extension headers: a router alert. */
	return ip->proto == IPPROTO_ICMPV6 ? is_discovery(ip, type)
					   : ip->proto == IPPROTO_HOPOPTS && is_listener(ip, type);
}

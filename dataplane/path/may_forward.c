/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/interface.h"
#include "host/route.h"
#include "path/may_forward.h"

/* Addresses that the kernel would not forward from or to (RFC 1812, 5.3.7). */
static bool is_martian(const struct rte_ipv4_hdr *ip)
{
	uint8_t src = *(const uint8_t *)&ip->src_addr, dst = *(const uint8_t *)&ip->dst_addr;

	return src == 0 || src == 127 || src >= 224 || dst == 0 || dst == 127 || dst >= 240 ||
	       route_lookup(AF_INET, &ip->src_addr).kind == ROUTE_LOCAL;
}

/* IPv6's unspecified, loopback and IPv4-mapped addresses (RFC 4291, 2.5). */
static bool is_of_no_link(const uint8_t addr[16])
{
	static const uint8_t zero[15], mapped[12] = {[10] = 0xff, [11] = 0xff};

	return (!memcmp(addr, zero, sizeof(zero)) && addr[15] <= 1) ||
	       !memcmp(addr, mapped, sizeof(mapped));
}

/* For the FIB, groups, link-local addresses and local addresses are local. */
static bool is_martian6(const struct rte_ipv6_hdr *ip)
{
	return is_of_no_link(ip6_src(ip)) || is_of_no_link(ip6_dst(ip)) ||
	       route_lookup(AF_INET6, ip6_src(ip)).kind == ROUTE_LOCAL;
}

enum drop_reason may_forward(struct rte_mbuf *m)
{
	bool v6 = packet_family(m) == AF_INET6;

	if (!__atomic_load_n(v6 ? &interfaces_forward6 : &interfaces[packet(m)->interface].forwards,
			     __ATOMIC_RELAXED))
		return DROP_FORWARDING;
	return (v6 ? is_martian6(packet_ip6(m)) : is_martian(packet_ip(m))) ? DROP_MARTIAN
									    : DROP_NONE;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <endian.h>

#include "selector.h"

/* Compare two addresses, in network byte order, as numbers. */
static bool addr_le(const struct cygnet_addr *a, const struct cygnet_addr *b)
{
	uint64_t a0 = be64toh(a->words[0]), b0 = be64toh(b->words[0]);

	return a0 != b0 ? a0 < b0 : be64toh(a->words[1]) <= be64toh(b->words[1]);
}

static bool addr_between(const struct cygnet_addr *lo, const struct cygnet_addr *addr,
			 const struct cygnet_addr *hi)
{
	return addr_le(lo, addr) && addr_le(addr, hi);
}

bool addr_padded(const struct cygnet_addr *addr, uint8_t af)
{
	uint32_t second;

	memcpy(&second, addr->bytes + 4, sizeof(second));
	return af == AF_INET6 || (!second && !addr->words[1]);
}

bool selector_valid(const struct cygnet_selector *sel)
{
	if (sel->af != AF_INET && sel->af != AF_INET6)
		return false;
	if (!addr_padded(&sel->src_lo, sel->af) || !addr_padded(&sel->src_hi, sel->af) ||
	    !addr_padded(&sel->dst_lo, sel->af) || !addr_padded(&sel->dst_hi, sel->af))
		return false;
	return addr_le(&sel->src_lo, &sel->src_hi) && addr_le(&sel->dst_lo, &sel->dst_hi) &&
	       sel->sport_lo <= sel->sport_hi && sel->dport_lo <= sel->dport_hi &&
	       sel->by_if_id <= 1 && (!sel->by_if_id || sel->interface);
}

bool selector_equal(const struct cygnet_selector *a, const struct cygnet_selector *b)
{
	return a->af == b->af && a->proto == b->proto && a->interface == b->interface &&
	       a->by_if_id == b->by_if_id && a->sport_lo == b->sport_lo &&
	       a->sport_hi == b->sport_hi && a->dport_lo == b->dport_lo &&
	       a->dport_hi == b->dport_hi && !memcmp(&a->src_lo, &b->src_lo, sizeof(a->src_lo)) &&
	       !memcmp(&a->src_hi, &b->src_hi, sizeof(a->src_hi)) &&
	       !memcmp(&a->dst_lo, &b->dst_lo, sizeof(a->dst_lo)) &&
	       !memcmp(&a->dst_hi, &b->dst_hi, sizeof(a->dst_hi));
}

static bool port_matches(uint16_t lo, uint16_t hi, uint16_t port, bool known)
{
	return (lo == 0 && hi == UINT16_MAX) || (known && lo <= port && port <= hi);
}

bool selector_matches(const struct cygnet_selector *sel, const struct cygnet_flow *flow)
{
	return sel->af == flow->af && (!sel->proto || sel->proto == flow->proto) &&
	       sel->by_if_id == flow->by_if_id &&
	       (!sel->interface || sel->interface == flow->interface) &&
	       addr_between(&sel->src_lo, &flow->src, &sel->src_hi) &&
	       addr_between(&sel->dst_lo, &flow->dst, &sel->dst_hi) &&
	       port_matches(sel->sport_lo, sel->sport_hi, flow->sport, flow->has_ports) &&
	       port_matches(sel->dport_lo, sel->dport_hi, flow->dport, flow->has_ports);
}

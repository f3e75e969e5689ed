/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/selector_text.h"

const char *policy_dir_text(uint8_t dir)
{
	static const char *const dirs[CYGNET_DIRS] = {
		[CYGNET_IN] = "in",
		[CYGNET_OUT] = "out",
		[CYGNET_FWD] = "fwd",
	};

	return dir < CYGNET_DIRS ? dirs[dir] : "?";
}

const char *policy_action_text(uint8_t action)
{
	static const char *const actions[] = {
		[CYGNET_PROTECT] = "protect",
		[CYGNET_BYPASS] = "bypass",
		[CYGNET_DISCARD] = "discard",
	};

	return action < sizeof(actions) / sizeof(actions[0]) ? actions[action] : "?";
}

const char *spi_text(uint32_t spi, char *text)
{
	snprintf(text, SPI_TEXT, "0x%08x", ntohl(spi));
	return text;
}

const char *addr_text(uint8_t af, const struct cygnet_addr *addr, char *text)
{
	return inet_ntop(af, addr->bytes, text, INET6_ADDRSTRLEN) ? text : "?";
}

const char *proto_text(uint8_t proto, char *text, size_t size)
{
	static const struct {
		uint8_t proto;
		const char *name;
	} names[] = {
		{0, "any"},
		{IPPROTO_ESP, "esp"},
		{IPPROTO_AH, "ah"},
		{IPPROTO_TCP, "tcp"},
		{IPPROTO_UDP, "udp"},
		{IPPROTO_ICMP, "icmp"},
		{IPPROTO_SCTP, "sctp"},
		{IPPROTO_ICMPV6, "icmpv6"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].proto == proto)
			return names[i].name;
	snprintf(text, size, "%u", proto);
	return text;
}

/* @return length of the prefix that equals the range, or -1 if the range is not a prefix */
static int prefix_bits(uint8_t af, const struct cygnet_addr *lo, const struct cygnet_addr *hi)
{
	int bits = (int)cygnet_addr_common(af, lo, hi), max = af == AF_INET6 ? 128 : 32;

	for (int i = bits; i < max; i++)
		if (lo->bytes[i / 8] & (0x80 >> i % 8) || !(hi->bytes[i / 8] & (0x80 >> i % 8)))
			return -1;
	return bits;
}

const char *range_text(uint8_t af, const struct cygnet_addr *lo, const struct cygnet_addr *hi,
		       char *text)
{
	char first[INET6_ADDRSTRLEN], last[INET6_ADDRSTRLEN];
	int bits = prefix_bits(af, lo, hi);

	if (bits >= 0)
		snprintf(text, RANGE_TEXT, "%s/%d", addr_text(af, lo, first), bits);
	else
		snprintf(text, RANGE_TEXT, "%s-%s", addr_text(af, lo, first),
			 addr_text(af, hi, last));
	return text;
}

const char *ports_text(uint16_t lo, uint16_t hi, char *text, size_t size)
{
	if (!cygnet_restricts(lo, hi))
		return "any";
	if (lo == hi)
		snprintf(text, size, "%u", lo);
	else
		snprintf(text, size, "%u-%u", lo, hi);
	return text;
}

/* Name of the interface that a policy is bound to; its number in hexadecimal if this host has no such
 * interface.
 * @param all  the interfaces of this host; NULL: they could not be read */
const char *interface_text(const struct if_nameindex *all, const struct cygnet_selector *sel,
			   char text[INTERFACE_TEXT])
{
	if (!sel->interface)
		return "any";
	if (sel->by_if_id) {
		snprintf(text, INTERFACE_TEXT, "if_id %u", sel->interface);
		return text;
	}
	for (; all && all->if_index; all++)
		if (cygnet_interface(all->if_name) == sel->interface)
			return all->if_name;
	snprintf(text, INTERFACE_TEXT, "0x%08x", sel->interface);
	return text;
}

/* "10.1.0.0/16 === 10.2.0.0/16 tcp any 80 dev wan": protocol, ports, interface if not any.
 * @param by  what stands in front of the interface */
static void join(char *text, size_t size, const char *src, const char *dst, const char *proto,
		 const char *sport, const char *dport, const char *by, const char *interface)
{
	bool bound = strcmp(interface, "any");
	bool ports = strcmp(sport, "any") || strcmp(dport, "any");

	snprintf(text, size, "%s === %s%s%s%s%s%s%s%s%s", src, dst,
		 ports || strcmp(proto, "any") ? " " : "",
		 ports || strcmp(proto, "any") ? proto : "", ports ? " " : "", ports ? sport : "",
		 ports ? " " : "", ports ? dport : "", bound ? by : "", bound ? interface : "");
}

void selector_text(const struct cygnet_policy *policy, const struct if_nameindex *interfaces,
		   char *text, size_t size)
{
	const struct cygnet_selector *sel = &policy->sel;
	char src[RANGE_TEXT], dst[RANGE_TEXT], sport[16], dport[16], proto[8],
		number[INTERFACE_TEXT];

	range_text(sel->af, &sel->src_lo, &sel->src_hi, src);
	range_text(sel->af, &sel->dst_lo, &sel->dst_hi, dst);
	join(text, size, src, dst, proto_text(sel->proto, proto, sizeof(proto)),
	     ports_text(sel->sport_lo, sel->sport_hi, sport, sizeof(sport)),
	     ports_text(sel->dport_lo, sel->dport_hi, dport, sizeof(dport)),
	     sel->by_if_id ? " " : " dev ", interface_text(interfaces, sel, number));
}

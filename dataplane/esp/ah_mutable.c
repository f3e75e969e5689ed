/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>

#include "esp/ah_mutable.h"

#define OPT_EXTENDED_SECURITY	133u  /* RFC 1108 */
#define OPT_COMMERCIAL_SECURITY 134u  /* CIPSO */
#define OPT_ROUTER_ALERT	148u  /* RFC 2113 */
#define OPT_MULTI_DESTINATION	149u  /* RFC 1770 */
#define OPT6_MAY_CHANGE		0x20u /* RFC 8200, 4.2 */

/* Whether an IPv4 option is immutable (RFC 4302, appendix A1). All others are zeroed with their type and
 * length. */
static bool is_immutable(uint8_t option)
{
	return option == IPOPT_SECURITY || option == OPT_EXTENDED_SECURITY ||
	       option == OPT_COMMERCIAL_SECURITY || option == OPT_ROUTER_ALERT ||
	       option == OPT_MULTI_DESTINATION;
}

/* Whether a source route has further hops. The ICV covers the final destination (3.3.3.1.1.1), which the
 * header has only after the last hop. */
static bool has_further_hops(const uint8_t *option, unsigned int size)
{
	return (*option == IPOPT_LSRR || *option == IPOPT_SSRR) &&
	       (size < IPOPT_MINOFF || option[IPOPT_OFFSET] <= size);
}

static bool clear_options(uint8_t *option, unsigned int left)
{
	unsigned int size;

	for (; left && *option != IPOPT_EOL; option += size, left -= size) {
		size = 1;
		if (*option == IPOPT_NOP)
			continue;
		if (left < 2 || option[IPOPT_OLEN] < 2 || option[IPOPT_OLEN] > left)
			return false;
		size = option[IPOPT_OLEN];
		if (has_further_hops(option, size))
			return false;
		if (!is_immutable(*option))
			memset(option, 0, size);
	}
	return true;
}

static bool clear_v4(uint8_t *header, unsigned int len)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)header;

	ip->type_of_service = 0;
	ip->fragment_offset = 0;
	ip->time_to_live = 0;
	ip->hdr_checksum = 0;
	return clear_options(header + sizeof(*ip), len - (unsigned int)sizeof(*ip));
}

/* The ICV covers the type and length of a mutable option, but not its data (3.3.3.1.2.2). */
static bool clear_options6(uint8_t *option, unsigned int left)
{
	unsigned int size;

	for (; left; option += size, left -= size) {
		size = 1;
		if (*option == 0) /* Pad1 */
			continue;
		if (left < 2 || option[1] + 2u > left)
			return false;
		size = option[1] + 2u;
		if (*option & OPT6_MAY_CHANGE)
			memset(option + 2, 0, option[1]);
	}
	return true;
}

/* headers_check() allows only routing headers without further hops, which are immutable. Packets are
 * fragmented after AH and reassembled before it (3.3.4), so a fragment header is an error. */
static bool clear_extensions(uint8_t proto, uint8_t *extension, unsigned int left)
{
	unsigned int size;

	for (; left; proto = *extension, extension += size, left -= size) {
		if (left < 8)
			return false;
		size = 8 * (extension[1] + 1u);
		if (size > left || proto == IPPROTO_FRAGMENT)
			return false;
		if (proto != IPPROTO_ROUTING && !clear_options6(extension + 2, size - 2))
			return false;
	}
	return true;
}

static bool clear_v6(uint8_t *header, unsigned int len)
{
	static const uint8_t version[4] = {6 << 4};
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)header;

	memcpy(header, version, sizeof(version));
	ip->hop_limits = 0;
	return clear_extensions(ip->proto, header + sizeof(*ip), len - (unsigned int)sizeof(*ip));
}

bool ah_mutable_clear(uint8_t *header, unsigned int len)
{
	return *header >> 4 == 6 ? clear_v6(header, len) : clear_v4(header, len);
}

enum drop_reason ah_mutable_hide(struct rte_mbuf *m, unsigned int len)
{
	uint8_t *header = rte_pktmbuf_mtod(m, uint8_t *);
	uint8_t *kept = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);

	if (!kept)
		return DROP_AH_HEADERS;
	memcpy(kept, header, len);
	return ah_mutable_clear(header, len) ? DROP_NONE : DROP_AH_HEADERS;
}

void ah_mutable_restore(struct rte_mbuf *m, unsigned int len)
{
	unsigned int kept = rte_pktmbuf_data_len(m) - len;

	memcpy(rte_pktmbuf_mtod(m, void *), rte_pktmbuf_mtod_offset(m, void *, kept), len);
	rte_pktmbuf_trim(m, (uint16_t)len);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_esp.h>
#include <rte_udp.h>

#include "base/sadb.h"
#include "host/route.h"
#include "host/tap.h"
#include "path/fast/no_sa.h"
#include "path/worker/audit.h"

static struct cygnet_addr read_dst(const uint8_t *ip, bool v6)
{
	struct cygnet_addr dst = {0};

	if (v6)
		memcpy(&dst, ip6_dst((const struct rte_ipv6_hdr *)ip), sizeof(dst));
	else
		dst.v4 = ((const struct rte_ipv4_hdr *)ip)->dst_addr;
	return dst;
}

/* ESP in UDP comes to a port of charon's; without an SPI it is IKE there (RFC 3948, 2).
 * @param len  bytes from the UDP header on, of which there is room for ESP's */
static bool is_natt(uint8_t af, const uint8_t *header, unsigned int len)
{
	struct rte_udp_hdr udp;
	uint32_t spi;

	memcpy(&udp, header, sizeof(udp));
	memcpy(&spi, header + sizeof(udp), sizeof(spi));
	return rte_be_to_cpu_16(udp.dgram_len) == len && spi &&
	       cygnet_ike_port(sadb, af, rte_be_to_cpu_16(udp.dst_port)) == CYGNET_IKE_ENCAP;
}

/* @return offset of the ESP header; 0: none, or it is cut off */
static unsigned int esp_at(const uint8_t *ip, bool v6, unsigned int len)
{
	unsigned int at = v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	uint8_t proto = v6 ? ((const struct rte_ipv6_hdr *)ip)->proto
			   : ((const struct rte_ipv4_hdr *)ip)->next_proto_id;

	if (proto == IPPROTO_ESP)
		return len < at + sizeof(struct rte_esp_hdr) ? 0 : at;
	if (proto != IPPROTO_UDP ||
	    len < at + sizeof(struct rte_udp_hdr) + sizeof(struct rte_esp_hdr) ||
	    !is_natt(v6 ? AF_INET6 : AF_INET, ip + at, len - at))
		return 0;
	return at + (unsigned int)sizeof(struct rte_udp_hdr);
}

unsigned int no_sa_for(const uint8_t *frame, unsigned int link, unsigned int len)
{
	const uint8_t *ip = frame + link;
	bool v6 = ip[0] >> 4 == 6;
	uint8_t af = v6 ? AF_INET6 : AF_INET;
	unsigned int esp = esp_at(ip, v6, len);
	struct cygnet_addr dst;
	uint32_t spi;

	if (!esp || tap_is_forged((const struct rte_ether_hdr *)frame))
		return 0;
	dst = read_dst(ip, v6);
	memcpy(&spi, ip + esp, sizeof(spi));
	if (route_lookup(af, &dst).kind != ROUTE_LOCAL)
		return 0;
	return cygnet_sad_expects(sadb, spi, IPPROTO_ESP, af, &dst) ? 0 : esp;
}

void no_sa_drop(struct worker *w, struct rte_mbuf *m, unsigned int link, unsigned int len,
		unsigned int esp, unsigned int interface)
{
	struct rte_esp_hdr header;

	packet_narrow(m, link, len);
	packet(m)->interface = (uint8_t)interface;
	memcpy(&header, rte_pktmbuf_mtod_offset(m, uint8_t *, esp), sizeof(header));
	audit_drop_unknown(w, m, IPPROTO_ESP, header.spi, rte_be_to_cpu_32(header.seq));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_esp.h>
#include <rte_udp.h>

#include "base/sadb.h"
#include "host/route.h"
#include "host/tap.h"
#include "path/fast/no_sa.h"
#include "path/worker/audit.h"

/* What the outer header says. */
struct outer {
	struct cygnet_addr dst;
	unsigned int len; /* of the header, bytes */
	uint8_t af, proto;
};

static struct outer read_outer(const uint8_t *ip)
{
	const struct rte_ipv6_hdr *ip6 = (const struct rte_ipv6_hdr *)ip;
	const struct rte_ipv4_hdr *ip4 = (const struct rte_ipv4_hdr *)ip;
	struct outer o = {0};

	if (ip[0] >> 4 == 6) {
		o.af = AF_INET6;
		o.proto = ip6->proto;
		o.len = sizeof(*ip6);
		memcpy(&o.dst, ip6_dst(ip6), sizeof(o.dst));
	} else {
		o.af = AF_INET;
		o.proto = ip4->next_proto_id;
		o.len = sizeof(*ip4);
		o.dst.v4 = ip4->dst_addr;
	}
	return o;
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
static unsigned int esp_at(const struct outer *o, const uint8_t *ip, unsigned int len)
{
	unsigned int at = o->len + (o->proto == IPPROTO_UDP ? sizeof(struct rte_udp_hdr) : 0);

	if (len < at + sizeof(struct rte_esp_hdr))
		return 0;
	if (o->proto == IPPROTO_UDP)
		return is_natt(o->af, ip + o->len, len - o->len) ? at : 0;
	return o->proto == IPPROTO_ESP ? at : 0;
}

unsigned int no_sa_for(const uint8_t *frame, unsigned int link, unsigned int len)
{
	const uint8_t *ip = frame + link;
	const struct outer o = read_outer(ip);
	unsigned int esp = esp_at(&o, ip, len);
	uint32_t spi;

	if (!esp || tap_is_forged((const struct rte_ether_hdr *)frame) ||
	    route_lookup(o.af, &o.dst).kind != ROUTE_LOCAL)
		return 0;
	memcpy(&spi, ip + esp, sizeof(spi));
	return cygnet_sad_lookup(sadb, spi, IPPROTO_ESP, o.af, &o.dst) ? 0 : esp;
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

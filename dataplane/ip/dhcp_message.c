/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <rte_udp.h>

#include "ip/dhcp_message.h"

#define REQUEST	 1
#define REPLY	 2
#define ETHERNET 1
#define COOKIE	 rte_cpu_to_be_32(0x63825363)

/* The fixed part of a DHCP message, and the magic cookie. */
struct message4 {
	uint8_t op, htype, hlen, hops;
	rte_be32_t xid;
	rte_be16_t secs, flags;
	rte_be32_t ciaddr, yiaddr, siaddr, giaddr;
	uint8_t chaddr[16], sname[64], file[128];
	rte_be32_t cookie;
} __attribute__((packed));
_Static_assert(sizeof(struct message4) == 240, "RFC 2131, 2 and 3");

/* Message type and transaction ID. */
#define MESSAGE6 4u

static enum dhcp_to by_ports(const struct rte_udp_hdr *udp, uint16_t client, uint16_t server)
{
	uint16_t from = rte_be_to_cpu_16(udp->src_port), to = rte_be_to_cpu_16(udp->dst_port);

	if (from == client && to == server)
		return DHCP_TO_SERVER;
	return from == server && to == client ? DHCP_TO_CLIENT : DHCP_TO_NOBODY;
}

static bool is_message4(const uint8_t *data, unsigned int len, enum dhcp_to to,
			struct rte_ether_addr *client)
{
	struct message4 message;

	if (len < sizeof(message))
		return false;
	memcpy(&message, data, sizeof(message));
	if (message.op != (to == DHCP_TO_SERVER ? REQUEST : REPLY) || message.htype != ETHERNET ||
	    message.hlen != sizeof(*client) || message.cookie != COOKIE)
		return false;
	memcpy(client, message.chaddr, sizeof(*client));
	return true;
}

/* RFC 8415, 7.3, without messages of relays. */
static bool is_message6(const uint8_t *data, unsigned int len, enum dhcp_to to)
{
	if (len < MESSAGE6)
		return false;
	switch (*data) {
	case 1:	 /* Solicit */
	case 3:	 /* Request */
	case 4:	 /* Confirm */
	case 5:	 /* Renew */
	case 6:	 /* Rebind */
	case 8:	 /* Release */
	case 9:	 /* Decline */
	case 11: /* Information-request */
		return to == DHCP_TO_SERVER;
	case 2:	 /* Advertise */
	case 7:	 /* Reply */
	case 10: /* Reconfigure */
		return to == DHCP_TO_CLIENT;
	default:
		return false;
	}
}

enum dhcp_to dhcp_message(struct rte_mbuf *m, const struct headers *h,
			  struct rte_ether_addr *client)
{
	bool v6 = packet_family(m) == AF_INET6;
	unsigned int ip = v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	unsigned int have = rte_pktmbuf_data_len(m), len;
	struct rte_udp_hdr udp;
	const uint8_t *data;
	enum dhcp_to to;

	/* Only what has been put together has a stage to resume at. */
	if (h->proto != IPPROTO_UDP || h->fragment || packet(m)->resume || h->len != ip ||
	    have < ip + sizeof(udp))
		return DHCP_TO_NOBODY;
	memcpy(&udp, rte_pktmbuf_mtod_offset(m, const uint8_t *, ip), sizeof(udp));
	to = v6 ? by_ports(&udp, 546, 547) : by_ports(&udp, DHCP_CLIENT_PORT, 67);
	if (to == DHCP_TO_NOBODY || rte_be_to_cpu_16(udp.dgram_len) != have - ip)
		return DHCP_TO_NOBODY;
	data = rte_pktmbuf_mtod_offset(m, const uint8_t *, ip + sizeof(udp));
	len = have - ip - (unsigned int)sizeof(udp);
	return (v6 ? is_message6(data, len, to) : is_message4(data, len, to, client))
		       ? to
		       : DHCP_TO_NOBODY;
}

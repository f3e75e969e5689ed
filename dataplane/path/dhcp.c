/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>

#include "base/settings.h"
#include "host/interface.h"
#include "host/local_addr.h"
#include "host/side.h"
#include "ip/dhcp_message.h"
#include "path/dhcp.h"
#include "path/frame_in.h"
#include "path/worker/next_hop.h"
#include "path/worker/police.h"
#include "path/worker/tx.h"

#define DHCP_PER_SECOND 100u /* messages that a port sends past the policies */

/* Nobody has it: the kernel's IP stack ignores frames for other stations, packet sockets do not. */
#define ASIDE_MAC ((struct rte_ether_addr){{0x02, 'C', 'Y', 'G', 'N', 'D'}})

static bool is_inside(const struct packet *p)
{
	return __atomic_load_n(&interfaces[p->interface].side, __ATOMIC_RELAXED) == SIDE_INSIDE;
}

static bool is_broadcast(const struct cygnet_addr *addr)
{
	return addr->v4 == INADDR_BROADCAST;
}

static bool is_on_link(struct rte_mbuf *m, const struct cygnet_addr *addr)
{
	return local_addr_attaches(AF_INET, packet(m)->interface, addr, addr);
}

static bool is_own(struct rte_mbuf *m, const struct cygnet_addr *addr)
{
	return local_addr_is_of(AF_INET, packet(m)->interface, addr);
}

static bool is_link_local(const struct cygnet_addr *addr)
{
	return addr->bytes[0] == 0xfe && (addr->bytes[1] & 0xc0) == 0x80;
}

/* RFC 8415, 7.1. */
static bool is_all_servers(const struct cygnet_addr *addr)
{
	static const uint8_t group[16] = {0xff, 2, [13] = 1, [15] = 2};

	return !memcmp(addr, group, sizeof(group));
}

static bool sends4(struct rte_mbuf *m, enum dhcp_to to, const struct cygnet_addr *src,
		   const struct cygnet_addr *dst)
{
	if (to == DHCP_TO_SERVER)
		return is_broadcast(dst) && (cygnet_addr_is_zero(src) || is_own(m, src));
	return is_own(m, src) && (is_broadcast(dst) || is_on_link(m, dst));
}

/* Link-local addresses, which no router forwards. */
static bool stays_on_link6(enum dhcp_to to, const struct cygnet_addr *src,
			   const struct cygnet_addr *dst)
{
	return is_link_local(src) &&
	       (is_link_local(dst) || (to == DHCP_TO_SERVER && is_all_servers(dst)));
}

/* Not what the kernel bridges, which has another Ethernet source, nor what it forwards, which has another IP source, unless
 * it is masqueraded: a guest of this host can then send what looks like an answer of the host's own DHCP server. */
static bool is_framed_by_the_kernel(struct rte_mbuf *m)
{
	struct rte_ether_addr own = interface_mac(&interfaces[packet(m)->interface]);
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod_offset(m, const struct rte_ether_hdr *,
								  -(int)sizeof(
									  struct rte_ether_hdr));

	return rte_is_same_ether_addr(&eth->src_addr, &own);
}

bool dhcp_sent(struct worker *w, struct rte_mbuf *m, const struct headers *h)
{
	const struct cygnet_addr src = packet_src(m), dst = packet_dst(m);
	struct rte_ether_addr client;
	enum dhcp_to to = dhcp_message(m, h, &client);

	if (to == DHCP_TO_NOBODY || !(w->settings & SETTING_DHCP) ||
	    is_inside(packet(m)) != (to == DHCP_TO_CLIENT) || !is_framed_by_the_kernel(m))
		return false;
	if (packet_family(m) == AF_INET6 ? !stays_on_link6(to, &src, &dst)
					 : !sends4(m, to, &src, &dst))
		return false;
	return rate_allows(&w->dhcp[packet(m)->interface], DHCP_PER_SECOND);
}

/* For this host's client. A server sends an offer to the address that it offers, which nobody has yet. */
static bool is_answer4(struct rte_mbuf *m, const struct rte_ether_addr *client)
{
	const struct rte_ether_addr own = interface_mac(&interfaces[packet(m)->interface]);
	const struct cygnet_addr dst = packet_dst(m);

	return rte_is_same_ether_addr(client, &own) &&
	       (is_broadcast(&dst) || is_own(m, &dst) || packet_route(m).kind != ROUTE_LOCAL);
}

static bool is_request4(struct rte_mbuf *m)
{
	const struct cygnet_addr src = packet_src(m), dst = packet_dst(m);

	return (cygnet_addr_is_zero(&src) || is_on_link(m, &src)) &&
	       (is_broadcast(&dst) || is_own(m, &dst));
}

enum dhcp_received dhcp_received(const struct worker *w, struct rte_mbuf *m,
				 const struct headers *h)
{
	const struct cygnet_addr src = packet_src(m), dst = packet_dst(m);
	struct rte_ether_addr client;
	enum dhcp_to to = dhcp_message(m, h, &client);

	if (to == DHCP_TO_NOBODY || !(w->settings & SETTING_DHCP))
		return DHCP_BY_POLICY;
	if (is_inside(packet(m)) != (to == DHCP_TO_SERVER))
		return DHCP_BY_POLICY;
	if (packet_family(m) == AF_INET && to == DHCP_TO_CLIENT)
		return is_answer4(m, &client) ? DHCP_ASIDE : DHCP_BY_POLICY;
	return (packet_family(m) == AF_INET6 ? stays_on_link6(to, &src, &dst) : is_request4(m))
		       ? DHCP_PASSES
		       : DHCP_BY_POLICY;
}

void dhcp_aside(struct worker *w, struct rte_mbuf *m)
{
	if (!police_passes(w, m, POLICE_ARP, false))
		return;
	frame_in_restore(m);
	rte_pktmbuf_mtod(m, struct rte_ether_hdr *)->dst_addr = ASIDE_MAC;
	tap_frame(w, m);
}

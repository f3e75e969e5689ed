/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file dhcp.h
 * Exempts the DHCP of this host from the policies (the key dhcp of cygnetd.conf). A client that rebinds its lease
 * broadcasts from its own address, which a policy from this address to any destination would protect. In Linux, clients
 * and servers use packet sockets, to which policies do not apply. A TAP does not tell from which socket a packet came,
 * so the packet itself decides: its ports and content are DHCP, its source is the interface's own address or none, and
 * it does not leave the link. Clients may be on all ports but inside ones, servers on inside ones (side).
 *
 * A DHCP_ASIDE frame has a destination that no station has. Where the TAP is in a bridge of the kernel, that is unknown
 * unicast, which the bridge floods to its other ports: cygnetd.conf(5) says so.
 */
#ifndef CYGNETD_DHCP_H
#define CYGNETD_DHCP_H

#include <netinet/in.h>

#include "cygnet.h"
#include "ip/dhcp_message.h"
#include "ip/headers.h"
#include "path/worker/worker.h"

/**
 * Whether policies do not apply to a packet from the kernel. Counts it: beyond DHCP_PER_SECOND of a port, policies apply.
 * The worker of the TAP.
 * @param m  data at its IP header, checked, with the Ethernet header in front
 * @param h  headers_read()
 */
bool dhcp_sent(struct worker *w, struct rte_mbuf *m, const struct headers *h);

/** What becomes of a DHCP message from the wire. */
enum dhcp_received {
	DHCP_BY_POLICY, /* it is none, or is treated as any other packet */
	DHCP_PASSES,	/* policies do not apply to it */
	DHCP_ASIDE, /* an answer to a client: where policies, or its destination, keep it from the
				 * kernel's IP stack, it is for packet sockets: dhcp_aside() */
};

/** Whether a packet with this flow may be DHCP_ASIDE, so that its headers need to be read. */
static inline bool dhcp_is_to_client(const struct cygnet_flow *flow)
{
	return flow->af == AF_INET && flow->proto == IPPROTO_UDP && flow->dport == DHCP_CLIENT_PORT;
}

/** Decide about a packet from the wire. Lcores. @param m, h  as of dhcp_sent() */
enum dhcp_received dhcp_received(const struct worker *w, struct rte_mbuf *m,
				 const struct headers *h);

/** Give a DHCP_ASIDE packet to the packet sockets of the kernel alone, within its rate. Takes over the packet. */
void dhcp_aside(struct worker *w, struct rte_mbuf *m);

#endif

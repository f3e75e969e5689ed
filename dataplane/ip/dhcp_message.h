/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file dhcp_message.h
 * DHCP and DHCPv6 messages (RFC 2131, 2; RFC 8415, 8): what tells them from other UDP at their ports.
 */
#ifndef CYGNETD_DHCP_MESSAGE_H
#define CYGNETD_DHCP_MESSAGE_H

#include <rte_ether.h>

#include "ip/headers.h"

#define DHCP_CLIENT_PORT 68

/** Whom a message is for. */
enum dhcp_to { DHCP_TO_NOBODY, DHCP_TO_SERVER, DHCP_TO_CLIENT };

/**
 * What a packet is by its ports and its content. Never a fragment, nor what was one, nor a packet with IP options or
 * extension headers.
 * @param m       data at its IP header, checked
 * @param h       headers_read()
 * @param client  receives the client's Ethernet address of a DHCP message; not set of DHCPv6, which has none
 * @return DHCP_TO_NOBODY: it is not DHCP
 */
enum dhcp_to dhcp_message(struct rte_mbuf *m, const struct headers *h,
			  struct rte_ether_addr *client);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file neigh_message.h
 * Messages by which hosts of a link find each other: ARP (RFC 826) and what is subject to no policy of ICMPv6
 * (headers_link_control()).
 */
#ifndef CYGNETD_NEIGH_MESSAGE_H
#define CYGNETD_NEIGH_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"
#include "ip/headers.h"

struct neigh_message {
	uint8_t af;
	bool asks;		   /* for the MAC address of target */
	struct cygnet_addr sender; /* whom the message is about, or from */
	struct cygnet_addr target; /* valid if asks */
};

/** Read an ARP frame. @param m  data at its Ethernet header, which is whole. @return false: it is none of IPv4 */
bool neigh_message_arp(const struct rte_mbuf *m, struct neigh_message *said);
/**
 * Read an ICMPv6 message. The sender of an advertisement is the address that it advertises.
 * @param m  headers_link_control(); data at its IP header
 * @param h  headers_read()
 */
void neigh_message_icmp6(struct rte_mbuf *m, const struct headers *h, struct neigh_message *said);

#endif

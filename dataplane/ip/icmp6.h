/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file icmp6.h
 * ICMPv6 errors (RFC 4443): the counterpart of icmp.h for IPv6 packets.
 */
#ifndef CYGNETD_ICMP6_H
#define CYGNETD_ICMP6_H

#include "ip/icmp.h"

/** Headers in front of the quoted packet, bytes. */
#define ICMP6_AROUND (sizeof(struct rte_ipv6_hdr) + 8)

/** Whether a packet may be answered with an error (RFC 4443, 2.4). */
bool icmp6_may_answer(struct rte_mbuf *m, enum icmp_why why);
/** Type (high byte) and code of an error, which selectors treat as ports. */
uint16_t icmp6_kind(enum icmp_why why);
/**
 * Write an error about m.
 * @param answer  ICMP6_AROUND + quoted bytes long
 * @param quoted  bytes of m to quote
 * @param mtu     bytes; with ICMP_TOO_BIG
 */
void icmp6_write(struct rte_mbuf *answer, struct rte_mbuf *m, unsigned int quoted,
		 enum icmp_why why, uint16_t mtu, const struct cygnet_addr *source);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file icmp.h
 * ICMP errors of IPv4 (RFC 792; RFC 1812, 4.3) and of IPv6 (RFC 4443).
 */
#ifndef CYGNETD_ICMP_H
#define CYGNETD_ICMP_H

#include <stdbool.h>
#include <stdint.h>

#include "ip/packet.h"

/** Reason of an error: TTL expired, packet too big, no route. */
enum icmp_why { ICMP_HOPS, ICMP_TOO_BIG, ICMP_NO_ROUTE };
#define ICMP_WHYS (ICMP_NO_ROUTE + 1u)

/** Whether a packet may be answered with an error (RFC 1122, 3.2.2; RFC 4443, 2.4). */
bool icmp_may_answer(struct rte_mbuf *m, enum icmp_why why);
/** Type (high byte) and code of an error, which selectors treat as ports. @param af  of the packet */
uint16_t icmp_kind(uint8_t af, enum icmp_why why);
/** Length of an error about m, which quotes as much of m as it may. @return bytes */
unsigned int icmp_length(struct rte_mbuf *m);
/**
 * Write an error about m.
 * @param answer  icmp_length() bytes long
 * @param mtu     bytes; with ICMP_TOO_BIG
 */
void icmp_write(struct rte_mbuf *answer, struct rte_mbuf *m, enum icmp_why why, uint16_t mtu,
		const struct cygnet_addr *source);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file icmp.h
 * ICMP errors of IPv4 (RFC 792; RFC 1812, 4.3).
 */
#ifndef CYGNETD_ICMP_H
#define CYGNETD_ICMP_H

#include <stdbool.h>
#include <stdint.h>

#include "ip/packet.h"

/** Reason of an error: TTL expired, packet too big, no route. */
enum icmp_why { ICMP_HOPS, ICMP_TOO_BIG, ICMP_NO_ROUTE };

/** Headers in front of the quoted packet, bytes. */
#define ICMP_AROUND (sizeof(struct rte_ipv4_hdr) + 8)
/** Largest error, bytes (RFC 1812, 4.3.2.3). */
#define ICMP_LONGEST 576u

/** Whether a packet may be answered with an error (RFC 1122, 3.2.2). */
bool icmp_may_answer(struct rte_mbuf *m);
/** Type (high byte) and code of an error, which selectors treat as ports. */
uint16_t icmp_kind(enum icmp_why why);
/**
 * Write an error about m.
 * @param answer  ICMP_AROUND + quoted bytes long
 * @param quoted  bytes of m to quote
 * @param mtu     bytes; with ICMP_TOO_BIG
 */
void icmp_write(struct rte_mbuf *answer, struct rte_mbuf *m, unsigned int quoted,
		enum icmp_why why, uint16_t mtu, const struct cygnet_addr *source);

#endif

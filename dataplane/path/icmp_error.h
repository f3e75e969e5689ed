/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file icmp_error.h
 * ICMP errors to the source of a packet.
 */
#ifndef CYGNETD_ICMP_ERROR_H
#define CYGNETD_ICMP_ERROR_H

#include "ip/icmp.h"
#include "path/worker/worker.h"

/**
 * Answer a packet (data at its IP header) with an ICMP error (RFC 1812, 4.3.2; RFC 4443). Limited to a rate for
 * each reason and each of those that are answered: the hosts behind an interface, the kernel, an SA. The packet
 * stays the caller's.
 * @param mtu  bytes that would fit; with ICMP_TOO_BIG
 */
void icmp_error(struct worker *w, struct rte_mbuf *m, enum icmp_why why, uint16_t mtu);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file icmp_source.h
 * Which of our addresses an ICMP error comes from.
 */
#ifndef CYGNETD_ICMP_SOURCE_H
#define CYGNETD_ICMP_SOURCE_H

#include "ip/packet.h"

/**
 * The source of an error about a packet: an address of the port that it came in by, if there
 * is one. About a packet that was decrypted, one from which the error to its source will be
 * protected: the error quotes it, and may not leave in plaintext. Lcores.
 * @param m       the packet, data at its IP header, checked
 * @param error   selectors of the error, but for the source
 * @param source  receives it. If no error from any address of ours would be protected it is one
 *                from which it will not: STAGE_OUTBOUND drops that, and counts it
 * @return false: this host has no address to answer from
 */
bool icmp_source(struct rte_mbuf *m, const struct cygnet_flow *error, struct cygnet_addr *source);

#endif

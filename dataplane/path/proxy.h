/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file proxy.h
 * Proxy ARP and neighbour discovery for packets that the kernel sends through a tunnel.
 */
#ifndef CYGNETD_PROXY_H
#define CYGNETD_PROXY_H

#include "path/worker/worker.h"

/**
 * Answer the kernel where it asks, by ARP (RFC 826) or neighbour discovery (RFC 4861, 7.2), for
 * a neighbour that only a route of charon's without a gateway makes one. Charon has such routes
 * where a tunnel's inside is of another family than its outside; the packets are protected
 * before they leave, and in the kernel's own IPsec before anybody asks for a neighbour. The
 * answer is the interface's own address: no host receives a packet that leaves in plaintext. Lcores.
 * @param m  from the TAP of packet()->interface, data at its Ethernet header, which is whole; taken
 *           over if it is answered
 * @return whether it is
 */
bool proxy_neighbour(struct worker *w, struct rte_mbuf *m);

#endif

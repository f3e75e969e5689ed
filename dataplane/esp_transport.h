/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_transport.h
 * ESP in transport mode (RFC 4303, 3.1.1): the packet keeps its IP header, and
 * ESP stands between that and what it carries. IPv4.
 */
#ifndef CYGNETD_ESP_TRANSPORT_H
#define CYGNETD_ESP_TRANSPORT_H

#include "cygnet.h"
#include "packet.h"

/** Whether a packet (data at its IP header, checked) may be protected in transport
 * mode: it is whole (RFC 4303, 3.3.4) and between the hosts that have the SA. */
bool esp_transport_fits(struct rte_mbuf *m, const struct cygnet_path *path);

/**
 * Make room between a packet's IP header and its payload, and correct the header.
 * @param space  bytes
 * @param total  length of the packet in the end, bytes
 * @param proto  what follows the IP header now
 * @return where the room begins; NULL: no headroom
 */
uint8_t *esp_transport_open(struct rte_mbuf *m, unsigned int space, unsigned int total,
			    uint8_t proto);

/**
 * Take out what is between the IP header and the payload of an authentic packet. A
 * TCP or UDP checksum is worked out anew if a NAT may have changed the addresses
 * that it covers (RFC 3948, 3.1.2).
 * @param skip   bytes from the start of the packet to the payload
 * @param proto  of the payload
 */
void esp_transport_close(struct rte_mbuf *m, unsigned int skip, uint8_t proto);

#endif

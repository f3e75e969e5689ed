/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_transport.h
 * ESP and AH in transport mode (RFC 4303 and 4302, 3.1.1): the packet keeps its IP header,
 * and in IPv6 the extension headers that routers look at; ESP or AH stands between them
 * and what the packet carries.
 */
#ifndef CYGNETD_ESP_TRANSPORT_H
#define CYGNETD_ESP_TRANSPORT_H

#include "cygnet.h"
#include "ip/packet.h"

/** Whether a packet (data at its IP header, checked) may be protected in transport
 * mode: it is whole (RFC 4303, 3.3.4) and between the hosts that have the SA. */
bool esp_transport_fits(struct rte_mbuf *m, const struct cygnet_path *path);

/**
 * Make room behind the headers that stay (headers_front()), and correct them.
 * @param space  bytes
 * @param total  length of the packet in the end, bytes
 * @param proto  what follows them now
 * @return where the room begins; NULL: no headroom
 */
uint8_t *esp_transport_open(struct rte_mbuf *m, unsigned int space, unsigned int total,
			    uint8_t proto);

/**
 * Take out what is between the headers that stayed and the payload of an authentic packet.
 * A TCP or UDP checksum is worked out anew if a NAT may have changed the addresses
 * that it covers (RFC 3948, 3.1.2).
 * @param skip   bytes from the start of the packet to the payload
 * @param proto  of the payload
 * @return DROP_NONE, or what is wrong with extension headers that came to light
 */
enum drop_reason esp_transport_close(struct rte_mbuf *m, unsigned int skip, uint8_t proto);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_transport.h
 * ESP and AH in transport mode (RFC 4303 and 4302, 3.1.1): the packet keeps its IP header
 * and, in IPv6, the extension headers that routers process. ESP or AH follows these headers.
 */
#ifndef CYGNETD_ESP_TRANSPORT_H
#define CYGNETD_ESP_TRANSPORT_H

#include "cygnet.h"
#include "ip/packet.h"

/** Whether a packet (data at its IP header, checked) may be protected in transport mode: it is no
 * fragment (RFC 4303, 3.3.4), and its addresses are those of the SA. */
bool esp_transport_fits(struct rte_mbuf *m, const struct cygnet_path *path);

/**
 * Insert space behind the headers that stay (headers_front()), and update these headers.
 * @param space  bytes to insert
 * @param total  bytes of the final packet
 * @param proto  protocol that follows the headers now
 * @return start of the space; NULL: no headroom
 */
uint8_t *esp_transport_open(struct rte_mbuf *m, unsigned int space, unsigned int total,
			    uint8_t proto);

/**
 * Remove ESP or AH between the headers and the payload of an authentic packet. A TCP or UDP
 * checksum is recomputed if a NAT may have changed the addresses that it covers (RFC 3948, 3.1.2).
 * @param skip   bytes from the start of the packet to the payload
 * @param proto  of the payload
 * @return DROP_NONE, or the drop reason of invalid extension headers in the payload
 */
enum drop_reason esp_transport_close(struct rte_mbuf *m, unsigned int skip, uint8_t proto);

#endif

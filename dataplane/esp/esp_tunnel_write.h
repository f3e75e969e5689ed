/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_tunnel_write.h
 * Writes what ESP in tunnel mode has around the inner packet (RFC 4303, 2 and 3.1.2): trailer, outer headers, and the IV. Inline,
 * because it runs for every packet.
 */
#ifndef CYGNETD_ESP_TUNNEL_WRITE_H
#define CYGNETD_ESP_TUNNEL_WRITE_H

#include <netinet/in.h>

#include "esp/esp_common.h"
#include "esp/esp_front_write.h"
#include "esp/esp_tail.h"

/**
 * @return position of the IV
 * @param s      its front is made
 * @param ip     the inner packet
 * @param text   bytes of it
 * @param front  headroom in bytes, enough for headers and IV
 * @param tail   bytes available behind it, enough for trailer and ICV
 * @param seq    ESP sequence number
 * @param total  bytes of the final packet
 */
static __rte_always_inline uint8_t *esp_tunnel_write(const struct session *s, uint8_t *ip,
						     unsigned int text, unsigned int front,
						     unsigned int tail, uint64_t seq,
						     unsigned int total)
{
	uint8_t *iv;

	esp_trailer_write(ip + text, esp_padded(s, text) - text - 2,
			  ip[0] >> 4 == 6 ? IPPROTO_IPV6 : IPPROTO_IPIP, tail);
	iv = esp_front_write(&s->front, ip, front, seq, s->iv_len, total);
	esp_iv_write(iv, s, seq);
	return iv;
}

#endif

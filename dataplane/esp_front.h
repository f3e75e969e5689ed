/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_front.h
 * What stands in front of the IV in tunnel mode: outer IP header, UDP if there is
 * encapsulation, ESP header. Most of it is the same for all packets of an SA: it is made
 * once, and copied.
 */
#ifndef CYGNETD_ESP_FRONT_H
#define CYGNETD_ESP_FRONT_H

#include <stdbool.h>
#include <stdint.h>

struct cygnet_sa;
struct rte_mbuf;

#define ESP_FRONT_MAX 64

struct esp_front {
	bool made;
	bool v6, udp;
	bool copy_df;
	uint8_t copy_tos;	/* mask: bits of the inner TOS that the outer one shows */
	uint8_t len;		/* bytes, the last of bytes[] */
	uint16_t sum;		/* of the IPv4 header as it is here, not complemented */
	uint32_t path_index;	/* of the SA: what path it was made for */
	uint32_t spi;		/* network byte order */
	uint8_t bytes[ESP_FRONT_MAX];
};

/** Make it for the path that is in force, unless it is made. Lcores. */
void esp_front_make(struct esp_front *front, const struct cygnet_sa *sa);

/**
 * Put it in front of a packet (data at its IP header). @return where the IV goes; NULL: no
 * headroom
 * @param seq     of ESP
 * @param iv_len  bytes of room behind it
 * @param total   length of the packet in the end, bytes
 */
uint8_t *esp_front_write(const struct esp_front *front, struct rte_mbuf *m, uint64_t seq,
			 unsigned int iv_len, unsigned int total);

#endif

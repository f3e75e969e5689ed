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

#include <rte_ether.h>

struct cygnet_sa;

/** What is copied at a time, much of it in vain, faster than a length that varies. */
#define ESP_FRONT_COPIED 64

struct esp_front {
	bool made;
	bool v6, udp;
	bool copy_df;
	uint8_t copy_tos;	/* mask: bits of the inner TOS that the outer one shows */
	uint8_t len;		/* bytes, the last of bytes[] */
	uint16_t sum;		/* of the IPv4 header as it is here, not complemented */
	uint32_t path_index;	/* of the SA: what path it was made for */
	uint32_t spi;		/* network byte order */
	/* At the end; in front of it the Ethernet header, if it fits and is known. */
	uint8_t bytes[ESP_FRONT_COPIED];
};

/** Make it for the path that is in force, unless it is made. Lcores.
 * @return whether it is another one now, without an Ethernet header */
bool esp_front_make(struct esp_front *front, const struct cygnet_sa *sa);

/** Whether an Ethernet header fits in front of it. */
static inline bool esp_front_has_ether(const struct esp_front *front)
{
	return front->len <= ESP_FRONT_COPIED - sizeof(struct rte_ether_hdr);
}
/** That Ethernet header. @param eth  14 bytes */
void esp_front_set_ether(struct esp_front *front, const uint8_t *eth);

/** Whether esp_front_write() writes that as well. @param room, iv_len  as there */
static inline bool esp_front_writes_all(unsigned int room, unsigned int iv_len)
{
	return room >= ESP_FRONT_COPIED + iv_len;
}

#endif

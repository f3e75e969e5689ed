/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file esp_front.h
 * The outer header template of an SA in tunnel mode: outer IP header, UDP header with UDP
 * encapsulation, ESP header. It is built once and copied in front of each packet.
 */
#ifndef CYGNETD_ESP_FRONT_H
#define CYGNETD_ESP_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "host/link_header.h"

struct cygnet_sa;

/** Bytes copied for each packet: a constant length is faster than the exact one. */
#define ESP_FRONT_COPIED 64

struct esp_front {
	bool made;
	bool v6, udp;
	bool copy_df;
	uint8_t copy_tos;    /* mask: bits copied from the inner to the outer TOS */
	uint8_t len;	     /* bytes of headers, at the end of bytes[] */
	uint16_t sum;	     /* sum of the template's IPv4 header, not complemented */
	uint32_t path_index; /* path of the SA that the template was built for */
	uint32_t spi;	     /* network byte order */
	/* The headers are at the end, behind the link-layer header, if that fits and is known. */
	uint8_t bytes[ESP_FRONT_COPIED];
};

/** Build the template for the SA's current path, unless it is up to date. Lcores.
 * @return whether it was rebuilt, without a link-layer header */
bool esp_front_make(struct esp_front *front, const struct cygnet_sa *sa);

/** Whether a link-layer header fits into the template. */
static inline bool esp_front_has_link(const struct esp_front *front, const struct link_header *link)
{
	return (unsigned int)front->len + link->len <= ESP_FRONT_COPIED;
}
/** Set the link-layer header of the template. */
void esp_front_set_link(struct esp_front *front, const struct link_header *link);

/** Whether esp_front_write() also writes the link-layer header. @param room,iv_len  as there */
static inline bool esp_front_writes_all(unsigned int room, unsigned int iv_len)
{
	return room >= ESP_FRONT_COPIED + iv_len;
}

#endif

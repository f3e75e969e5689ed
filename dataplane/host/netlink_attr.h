/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file netlink_attr.h
 * Attributes of rtnetlink messages. Presence and length of each attribute are checked.
 */
#ifndef CYGNETD_NETLINK_ATTR_H
#define CYGNETD_NETLINK_ATTR_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"

/** Attributes by type, up to max; of a type that occurs twice the last one counts. */
struct netlink_attrs {
	const struct nlattr **table;
	uint16_t max;
};

/** Whether a message is long enough for the fixed part of its type. */
bool netlink_has_body(const struct nlmsghdr *nlh, size_t size);
/** Collect the attributes behind the fixed part of a message.
 * @param body  bytes of the fixed part */
void netlink_parse(const struct nlmsghdr *nlh, size_t body, struct netlink_attrs *attrs);
/** Collect the attributes nested in an attribute's payload. @param len  bytes */
void netlink_parse_block(const void *block, size_t len, struct netlink_attrs *attrs);

/** @param attr  may be NULL @return its payload if that is exactly size bytes, else NULL */
const void *netlink_payload(const struct nlattr *attr, size_t size);
uint32_t netlink_get_u32(const struct nlattr *attr, uint32_t otherwise);
/** @return an address of that family; zero: none */
struct cygnet_addr netlink_get_addr(const struct nlattr *attr, uint8_t af);
/** @return bytes of an address of that family */
unsigned int netlink_addr_size(uint8_t af);
/** IPv4 or IPv6 */
bool netlink_known_family(uint8_t af);

#endif

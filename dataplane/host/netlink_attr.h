/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file netlink_attr.h
 * What a message of rtnetlink carries, whoever made it: nothing is taken to be there, or to
 * be as long as it should.
 */
#ifndef CYGNETD_NETLINK_ATTR_H
#define CYGNETD_NETLINK_ATTR_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"

/** Attributes by type, up to max; a type seen twice keeps its last one. */
struct netlink_attrs {
	const struct nlattr **table;
	uint16_t max;
};

/** Whether a message has room for the fixed part that its type begins with. */
bool netlink_has_body(const struct nlmsghdr *nlh, size_t size);
/** Collect the attributes behind the fixed part of a message.
 * @param body  bytes of the fixed part */
void netlink_parse(const struct nlmsghdr *nlh, size_t body, struct netlink_attrs *attrs);
/** Collect those of a block within an attribute. @param len  bytes */
void netlink_parse_block(const void *block, size_t len, struct netlink_attrs *attrs);

/** @param attr  may be NULL @return what it has, if that is exactly size bytes; or NULL */
const void *netlink_payload(const struct nlattr *attr, size_t size);
uint32_t netlink_get_u32(const struct nlattr *attr, uint32_t otherwise);
/** @return an address of that family; zero if there is none */
struct cygnet_addr netlink_get_addr(const struct nlattr *attr, uint8_t af);
/** @return bytes of an address */
unsigned int netlink_addr_size(uint8_t af);
/** IPv4 or IPv6 */
bool netlink_known_family(uint8_t af);

#endif

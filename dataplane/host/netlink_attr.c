/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "host/netlink_attr.h"

static int collect(const struct nlattr *attr, void *data)
{
	struct netlink_attrs *attrs = data;

	if (mnl_attr_get_type(attr) <= attrs->max)
		attrs->table[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

void netlink_parse_block(const void *block, size_t len, struct netlink_attrs *attrs)
{
	mnl_attr_parse_payload(block, len, collect, attrs);
}

/* mnl_attr_parse() rounds the end of the message up. */
void netlink_parse(const struct nlmsghdr *nlh, size_t body, struct netlink_attrs *attrs)
{
	size_t len = mnl_nlmsg_get_payload_len(nlh);

	body = MNL_ALIGN(body);
	if (len > body)
		netlink_parse_block(mnl_nlmsg_get_payload_offset(nlh, body), len - body, attrs);
}

const void *netlink_payload(const struct nlattr *attr, size_t size)
{
	return attr && mnl_attr_get_payload_len(attr) == size ? mnl_attr_get_payload(attr) : NULL;
}

uint32_t netlink_get_u32(const struct nlattr *attr, uint32_t otherwise)
{
	const void *payload = netlink_payload(attr, sizeof(uint32_t));

	if (payload)
		memcpy(&otherwise, payload, sizeof(otherwise));
	return otherwise;
}

unsigned int netlink_addr_size(uint8_t af)
{
	return af == AF_INET6 ? 16 : 4;
}

struct cygnet_addr netlink_get_addr(const struct nlattr *attr, uint8_t af)
{
	const void *payload = netlink_payload(attr, netlink_addr_size(af));
	struct cygnet_addr addr = {0};

	if (payload)
		memcpy(&addr, payload, netlink_addr_size(af));
	return addr;
}

bool netlink_has_body(const struct nlmsghdr *nlh, size_t size)
{
	return mnl_nlmsg_get_payload_len(nlh) >= size;
}

bool netlink_known_family(uint8_t af)
{
	return af == AF_INET || af == AF_INET6;
}

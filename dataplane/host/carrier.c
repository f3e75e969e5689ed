/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "host/carrier.h"
#include "host/interface.h"
#include "host/netlink.h"

#define LOOK_MS 100u

/* A TAP has carrier when it is made, but not one that another cygnetd has left so. */
static void follow(struct interface *interface, bool link)
{
	enum interface_link now = link ? INTERFACE_LINK_UP : INTERFACE_LINK_DOWN;
	bool first = interface->link == INTERFACE_LINK_UNKNOWN;
	int err;

	if (interface->link == now)
		return;
	__atomic_store_n(&interface->link, now, __ATOMIC_RELAXED);
	err = netlink_set_carrier(interface->tap.ifindex, link);
	if (err)
		log_port(RTE_LOG_WARNING, interface->name,
			 "%s cannot be given the link of its device: %s", interface->tap.name,
			 strerror(-err));
	else if (!link)
		log_port(RTE_LOG_INFO, interface->name,
			 "its device has no link, and %s has no carrier", interface->tap.name);
	else if (!first)
		log_port(RTE_LOG_INFO, interface->name, "its device has a link again");
}

void carriers_follow(void)
{
	static uint64_t next;

	if (clock_now_ms < next)
		return;
	next = clock_now_ms + LOOK_MS;
	for (unsigned int i = 0; i < ninterfaces; i++) {
		const struct device *device = interface_device(&interfaces[i]);

		if (device && !interfaces[i].removed)
			follow(&interfaces[i], device_has_link(device));
	}
}

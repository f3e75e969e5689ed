/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include <rte_ethdev.h>

#include "host/netdev.h"
#include "host/tap.h"

static int find_ifindex(struct tap *tap)
{
	struct rte_eth_dev_info info;
	int err = rte_eth_dev_info_get(tap->id, &info);

	if (err)
		return err;
	tap->ifindex = info.if_index ? info.if_index : if_nametoindex(tap->name);
	return tap->ifindex ? 0 : -ENODEV;
}

int tap_start(struct tap *tap, const struct rte_ether_addr *mac, uint16_t mtu,
	      const struct ethdev_pollers *by)
{
	char args[128], text[RTE_ETHER_ADDR_FMT_SIZE];
	/* Another cygnetd may have the TAP open, and the administrator may have set it down. */
	bool down = netdev_is_down(tap->name);
	uint16_t queues = 1;
	int err;

	rte_ether_format_addr(text, sizeof(text), mac);
	snprintf(args, sizeof(args), "net_tap%u,iface=%s,mac=%s", by->index, tap->name, text);
	err = ethdev_probe(args, &tap->id);
	if (err)
		return err;
	err = ethdev_configure(tap->id, 0, by, &queues);
	/* net_tap does not set an MTU above 1,500 itself; see also path/worker/tx.c. */
	if (!err)
		err = tap_set_mtu(tap, mtu);
	if (!err)
		err = rte_eth_dev_start(tap->id);
	if (!err)
		err = find_ifindex(tap);
	if (!err && down)
		err = netdev_set_down(tap->name);
	if (err)
		ethdev_stop(tap->id);
	return err;
}

void tap_stop(struct tap *tap)
{
	ethdev_stop(tap->id);
}

int tap_set_mtu(const struct tap *tap, uint16_t mtu)
{
	return netdev_set_mtu(tap->name, mtu);
}

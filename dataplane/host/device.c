/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_string_fns.h>

#include "base/log.h"
#include "host/device.h"
#include "host/mtu.h"
#include "host/netdev.h"
#include "host/vlan.h"
#include "host/wire.h"

#define MAX_QUEUES    256
#define DISCARD_BURST 32

struct device devices[CONF_MAX_DEVICES];

unsigned int device_place(void)
{
	unsigned int place = 0;

	while (place < CONF_MAX_DEVICES && devices[place].started)
		place++;
	return place;
}

/* The number of queues in the arguments of a software device. The device spreads packets over all
 * of them, and packets of a queue that is not polled would be lost.
 * @return 0: the arguments have no such number */
static unsigned int given_queues(const char *device)
{
	static const char *const args[] = {",qpairs=", ",queue_count="};

	for (unsigned int i = 0; i < RTE_DIM(args); i++) {
		const char *arg = strstr(device, args[i]);

		if (arg)
			return (unsigned int)strtoul(arg + strlen(args[i]), NULL, 10);
	}
	return 0;
}

uint16_t device_queues_wanted(const struct conf_port *section, unsigned int workers)
{
	unsigned int given = given_queues(section->device);

	return (uint16_t)(given && given <= MAX_QUEUES ? given : workers);
}

/* Most vdevs copy packets and work with buffers in any memory. The vdevs listed here share the
 * memory of a pool, or all memory of DPDK, with another process or the kernel. A PCI device reaches
 * only memory of DPDK, which its IOMMU maps. */
const char *devices_own_memory(const struct conf *conf)
{
	static const char *const sharing[] = {"net_af_xdp", "net_virtio_user"};

	for (unsigned int i = 0; i < conf->ndevices; i++) {
		const struct conf_port *section = &conf->port[i];

		if (strncmp(section->device, "net_", 4))
			return section->name;
		for (unsigned int d = 0; d < RTE_DIM(sharing); d++)
			if (!strncmp(section->device, sharing[d], strlen(sharing[d])))
				return section->name;
	}
	return NULL;
}

/* If the device runs on a kernel interface, isolate the interface from the kernel's IP stack.
 * net_af_xdp sets the interface's MTU itself, so its name is not kept. */
static int take_interface(struct device *device, const char *args)
{
	uint16_t mtu;
	int err = netdev_of_device(args, device->iface, &mtu);

	if (!err && device->iface[0])
		err = wire_take(device->iface, &device->wire);
	if (strncmp(args, "net_af_xdp", strlen("net_af_xdp")) == 0)
		device->iface[0] = '\0';
	return err;
}

/* @param mtu  result of mtu_wanted(); receives the MTU of the device */
static int start(struct device *device, const struct conf *conf, const struct conf_port *section,
		 const struct ethdev_pollers *by, uint16_t *mtu)
{
	char args[MTU_DEVICE];
	int err = take_interface(device, section->device);

	if (!err)
		err = mtu_device(conf, section, *mtu, args);
	if (!err)
		err = ethdev_probe(args, &device->id);
	if (err) {
		wire_leave(device->wire);
		return err;
	}
	err = ethdev_configure(device->id, device->iface[0] ? 0 : *mtu, by, &device->queues);
	if (!err)
		err = mtu_start(device, conf, section, args, mtu);
	if (!err)
		err = rte_eth_dev_start(device->id);
	if (err) {
		ethdev_stop(device->id);
		wire_leave(device->wire);
	}
	return err;
}

int device_start(struct device *device, const struct conf *conf, const struct conf_port *section,
		 const struct ethdev_pollers *by, uint16_t *mtu)
{
	unsigned int buffer = rte_pktmbuf_data_room_size(ethdev_pool(by, 0, 1));
	int err;

	memset(device, 0, sizeof(*device));
	vlans_reset((unsigned int)(device - devices));
	device->wire = WIRE_NONE;
	device->queues = device_queues_wanted(section, by->workers);
	device->mtu_most = (uint16_t)MTU_OF_FRAME(buffer - MTU_AROUND_FRAME);
	*mtu = mtu_wanted(section);
	err = start(device, conf, section, by, mtu);
	if (err) {
		log_port(RTE_LOG_ERR, section->name, "device %s: %s", section->device,
			 strerror(-err));
		return err;
	}
	/* The kernel decides about multicast; a device that cannot filter receives all. */
	rte_eth_allmulticast_enable(device->id);
	device->started = true;
	return 0;
}

/* Only as many frames as the queues have room for: new ones may come all the time. */
void device_discard(const struct device *device)
{
	struct rte_mbuf *m[DISCARD_BURST];
	unsigned int most = ethdev_queue_packets(false);

	for (uint16_t q = 0; q < device->queues; q++) {
		uint16_t n = DISCARD_BURST;

		for (unsigned int got = 0; n && got < most; got += n) {
			n = rte_eth_rx_burst(device->id, q, m, DISCARD_BURST);
			rte_pktmbuf_free_bulk(m, n);
		}
	}
}

void device_stop(struct device *device)
{
	ethdev_stop(device->id);
	wire_leave(device->wire);
	device->started = false;
}

bool device_has_link(const struct device *device)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(device->id, &link) == 0 && link.link_status &&
	       wire_has_link(device->wire);
}

int device_get_mac(const struct device *device, struct rte_ether_addr *mac)
{
	return rte_eth_macaddr_get(device->id, mac);
}

int device_set_mac(struct device *device, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr wanted = *mac;

	return rte_eth_dev_default_mac_addr_set(device->id, &wanted);
}

/* @return 0 or -errno */
static int become_promiscuous(struct device *device)
{
	int err;

	if (rte_eth_promiscuous_get(device->id) == 1)
		return 0;
	err = rte_eth_promiscuous_enable(device->id);
	device->promiscuous = !err;
	return err;
}

/* @return the first place of a MAC address in device->taken, or ntaken */
static unsigned int taken_at(const struct device *device, const struct rte_ether_addr *mac)
{
	unsigned int i = 0;

	while (i < device->ntaken && !rte_is_same_ether_addr(&device->taken[i], mac))
		i++;
	return i;
}

int device_take_mac(struct device *device, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr wanted = *mac;
	bool had = taken_at(device, mac) < device->ntaken;

	if (device->ntaken == DEVICE_MACS)
		return become_promiscuous(device);
	device->taken[device->ntaken++] = *mac;
	if (had || rte_eth_dev_mac_addr_add(device->id, &wanted, 0) == 0)
		return 0;
	return become_promiscuous(device);
}

/* Another interface may have the same address: that of a virtual router in two VLANs. */
void device_leave_mac(struct device *device, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr left = *mac;
	unsigned int i = taken_at(device, mac);

	if (i == device->ntaken)
		return;
	device->taken[i] = device->taken[--device->ntaken];
	if (taken_at(device, &left) == device->ntaken)
		rte_eth_dev_mac_addr_remove(device->id, &left);
	if (device->ntaken || !device->promiscuous)
		return;
	rte_eth_promiscuous_disable(device->id);
	device->promiscuous = false;
}

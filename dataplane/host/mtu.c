/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "base/log.h"
#include "host/device.h"
#include "host/mtu.h"
#include "host/netdev.h"

/* Overhead of a net_af_packet frame: the kernel's header, the Ethernet header and a VLAN tag. */
#define AROUND	    84u
#define USUAL_FRAME 2048u /* default framesz of net_af_packet */
/* An XDP buffer is at most a page and has headroom in front of the packet. */
#define XDP_MOST 1900u

static bool is_driver(const char *device, const char *name)
{
	return strncmp(device, name, strlen(name)) == 0;
}

static const char *frame_given(const char *device)
{
	return strstr(device, ",framesz=");
}

/* The largest MTU that fits net_af_packet's frame size. */
static uint32_t most_in_frame(const char *device)
{
	const char *given = frame_given(device);
	unsigned long size = given ? strtoul(given + strlen(",framesz="), NULL, 10) : USUAL_FRAME;

	if (size > UINT16_MAX)
		return UINT16_MAX;
	return size > AROUND ? (uint32_t)size - AROUND : 0;
}

uint16_t mtu_wanted(const struct conf_port *section)
{
	char iface[IFNAMSIZ];
	uint16_t has;

	if (section->mtu)
		return section->mtu;
	if (section->tunnel)
		return RTE_ETHER_MTU;
	if (netdev_of_device(section->device, iface, &has) || !iface[0])
		return 0;
	if (is_driver(section->device, "net_af_xdp"))
		return RTE_MIN(has, RTE_ETHER_MTU);
	if (frame_given(section->device))
		has = (uint16_t)RTE_MIN(has, most_in_frame(section->device));
	return (uint16_t)RTE_MIN(has, CONF_MAX_MTU);
}

uint16_t mtu_jumbo(const struct conf *conf)
{
	uint16_t most = 0;

	for (unsigned int i = 0; i < conf->nports; i++)
		most = RTE_MAX(most, mtu_wanted(&conf->port[i]));
	return most > MTU_USUAL ? most : 0;
}

/* The largest MTU by driver name. net_af_packet reports a wrong limit. net_af_xdp has a larger MTU
 * only with buffers of a kind that Cygnet does not provide. */
static uint32_t most_of_kind(const char *device)
{
	if (is_driver(device, "net_af_packet"))
		return most_in_frame(device);
	return is_driver(device, "net_af_xdp") ? XDP_MOST : UINT16_MAX;
}

static int check(const struct conf *conf, const struct conf_port *section, const char *device,
		 uint32_t mtu, uint32_t most)
{
	char where[PATH_MAX + NAME_MAX];

	if (mtu <= most)
		return 0;
	conf_where(conf, section, "mtu", where, sizeof(where));
	log_error("%s: %u is more than the %u that %.*s can have", where, mtu, most,
		  (int)strcspn(device, ","), device);
	return -ERANGE;
}

int mtu_device(const struct conf *conf, const struct conf_port *section, uint16_t mtu,
	       char device[MTU_DEVICE])
{
	unsigned int frame = MTU_FRAME(mtu), block = frame, page = (unsigned int)getpagesize();

	strcpy(device, section->device);
	if (is_driver(device, "net_af_packet") && !frame_given(device) &&
	    mtu > most_in_frame(device)) {
		while (block % page)
			block += frame;
		snprintf(device + strlen(device), MTU_DEVICE - strlen(device),
			 ",framesz=%u,blocksz=%u", frame, block);
	}
	return check(conf, section, device, mtu, most_of_kind(device));
}

/* Same rule as in rte_ethdev. */
static uint32_t most_of_driver(const struct rte_eth_dev_info *info)
{
	const uint32_t around = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;

	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		return info->max_mtu;
	return RTE_MIN(info->max_rx_pktlen - around, (uint32_t)info->max_mtu);
}

uint16_t mtu_for_driver(const struct rte_eth_dev_info *info, uint16_t mtu)
{
	return mtu <= most_of_driver(info) ? mtu : 0;
}

/* The largest MTU of a device. @param now  its current MTU */
static uint32_t most_of_device(const struct device *device, const char *args, uint16_t now)
{
	uint32_t most = most_of_kind(args);
	struct rte_eth_dev_info info;

	/* A software device without a limit does not support setting an MTU. */
	if (device->iface[0] || rte_eth_dev_set_mtu(device->id, now) == -ENOTSUP)
		return most;
	return rte_eth_dev_info_get(device->id, &info) ? now : RTE_MIN(most, most_of_driver(&info));
}

int mtu_start(struct device *device, const struct conf *conf, const struct conf_port *section,
	      const char *args, uint16_t *mtu)
{
	char where[PATH_MAX + NAME_MAX];
	uint32_t most;
	uint16_t now;
	int err = rte_eth_dev_get_mtu(device->id, &now);

	if (err)
		return err;
	most = RTE_MIN(most_of_device(device, args, now), device->mtu_most);
	device->mtu_most = (uint16_t)most;
	if (!*mtu)
		*mtu = (uint16_t)RTE_MIN(now, most);
	err = check(conf, section, args, *mtu, most);
	if (err || (!section->mtu && *mtu >= now))
		return err;
	err = mtu_set(device, *mtu);
	if (!err)
		return 0;
	conf_where(conf, section, "mtu", where, sizeof(where));
	log_error("%s: %.*s refuses %u: %s", where, (int)strcspn(args, ","), args, *mtu,
		  strerror(-err));
	return err;
}

int mtu_set(const struct device *device, uint32_t mtu)
{
	int err;

	if (mtu > device->mtu_most)
		return -ERANGE;
	if (device->iface[0])
		return netdev_set_mtu(device->iface, (uint16_t)mtu);
	err = rte_eth_dev_set_mtu(device->id, (uint16_t)mtu);
	return err == -ENOTSUP ? 0 : err;
}

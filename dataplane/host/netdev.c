/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_string_fns.h>

#include "conf/conf.h"
#include "host/netdev.h"

int netdev_request(unsigned long what, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, what, ifr) < 0)
		err = -errno;
	close(fd);
	return err;
}

int netdev_of_device(const char *device, char *iface, uint16_t *mtu)
{
	struct ifreq ifr = {0};
	char name[IFNAMSIZ + 1];
	int err;

	iface[0] = '\0';
	if (!conf_interface(device, name, sizeof(name)))
		return 0;
	if (!name[0] || strlen(name) >= IFNAMSIZ)
		return -ENODEV;
	rte_strscpy(ifr.ifr_name, name, sizeof(ifr.ifr_name));
	err = netdev_request(SIOCGIFMTU, &ifr);
	if (err)
		return err;
	*mtu = (uint16_t)RTE_MIN(ifr.ifr_mtu, UINT16_MAX);
	memcpy(iface, ifr.ifr_name, IFNAMSIZ);
	return 0;
}

int netdev_set_mtu(const char *iface, uint16_t mtu)
{
	struct ifreq ifr = {.ifr_mtu = mtu};

	rte_strscpy(ifr.ifr_name, iface, sizeof(ifr.ifr_name));
	return netdev_request(SIOCSIFMTU, &ifr);
}

static int read_flags(const char *iface, struct ifreq *ifr)
{
	*ifr = (struct ifreq){0};
	rte_strscpy(ifr->ifr_name, iface, sizeof(ifr->ifr_name));
	return netdev_request(SIOCGIFFLAGS, ifr);
}

static int set_up(const char *iface, bool up)
{
	struct ifreq ifr;
	int err = read_flags(iface, &ifr);

	if (err || !(ifr.ifr_flags & IFF_UP) == !up)
		return err;
	ifr.ifr_flags ^= IFF_UP;
	return netdev_request(SIOCSIFFLAGS, &ifr);
}

bool netdev_is_down(const char *iface)
{
	struct ifreq ifr;

	return read_flags(iface, &ifr) == 0 && !(ifr.ifr_flags & IFF_UP);
}

bool netdev_is_running(const char *iface)
{
	struct ifreq ifr;

	return read_flags(iface, &ifr) == 0 && ifr.ifr_flags & IFF_RUNNING;
}

int netdev_set_down(const char *iface)
{
	return set_up(iface, false);
}

int netdev_set_noarp(const char *iface)
{
	struct ifreq ifr;
	int err = read_flags(iface, &ifr);

	if (err || ifr.ifr_flags & IFF_NOARP)
		return err;
	ifr.ifr_flags |= IFF_NOARP;
	return netdev_request(SIOCSIFFLAGS, &ifr);
}

int netdev_set_up(const char *iface)
{
	return set_up(iface, true);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "host/netdev.h"
#include "host/wire_setting.h"

#define FLAGS	(IFF_UP | IFF_PROMISC | IFF_ALLMULTI)
#define MAC_LEN 6

const char *const wire_setting_name[WIRE_SETTINGS] = {
	[WIRE_MTU] = "mtu",
	[WIRE_MAC] = "mac",
	[WIRE_FLAGS] = "flags",
	[WIRE_RP_FILTER] = "ipv4/rp_filter",
	[WIRE_FORWARDING] = "ipv4/forwarding",
	[WIRE_ARP_IGNORE] = "ipv4/arp_ignore",
	[WIRE_DISABLE_IPV6] = "ipv6/disable_ipv6",
};

/* --- files of /proc/sys/net --- */

/* Names begin with the family. */
void wire_setting_path(const char *iface, enum wire_setting setting, char path[WIRE_SETTING_PATH])
{
	const char *name = wire_setting_name[setting];

	snprintf(path, WIRE_SETTING_PATH, "/proc/sys/net/%.4s/conf/%s%s", name, iface,
		 name + strlen("ipv4"));
}

/* @return a descriptor or -errno */
static int open_file(const char *iface, enum wire_setting setting, int flags)
{
	char path[WIRE_SETTING_PATH];
	int fd;

	wire_setting_path(iface, setting, path);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int64_t read_file(const char *iface, enum wire_setting setting)
{
	int fd = open_file(iface, setting, O_RDONLY), err = 0;
	char text[16] = "";

	if (fd < 0)
		return fd;
	if (read(fd, text, sizeof(text) - 1) < 0)
		err = -errno;
	close(fd);
	return err ? err : atoi(text);
}

static int write_file(const char *iface, enum wire_setting setting, int64_t value)
{
	int fd = open_file(iface, setting, O_WRONLY), err = 0;

	if (fd < 0)
		return fd;
	if (dprintf(fd, "%d", (int)value) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* --- requests about interfaces --- */

static int get(const char *iface, unsigned long what, struct ifreq *ifr)
{
	*ifr = (struct ifreq){0};
	rte_strscpy(ifr->ifr_name, iface, sizeof(ifr->ifr_name));
	return netdev_request(what, ifr);
}

static int64_t read_mac(const struct ifreq *ifr)
{
	int64_t value = 0;

	memcpy(&value, ifr->ifr_hwaddr.sa_data, MAC_LEN);
	return value;
}

static int write_mac(const char *iface, int64_t value)
{
	struct ifreq ifr;
	int err = get(iface, SIOCGIFHWADDR, &ifr);

	memcpy(ifr.ifr_hwaddr.sa_data, &value, MAC_LEN);
	return err ? err : netdev_request(SIOCSIFHWADDR, &ifr);
}

static int write_flags(const char *iface, int64_t value)
{
	struct ifreq ifr;
	int err = get(iface, SIOCGIFFLAGS, &ifr);

	ifr.ifr_flags = (short)((ifr.ifr_flags & ~FLAGS) | (value & FLAGS));
	return err ? err : netdev_request(SIOCSIFFLAGS, &ifr);
}

/* --- all --- */

int64_t wire_setting_read(const char *iface, enum wire_setting setting)
{
	struct ifreq ifr;
	int err;

	switch (setting) {
	case WIRE_MTU:
		err = get(iface, SIOCGIFMTU, &ifr);
		return err ? err : ifr.ifr_mtu;
	case WIRE_MAC:
		err = get(iface, SIOCGIFHWADDR, &ifr);
		return err ? err : read_mac(&ifr);
	case WIRE_FLAGS:
		err = get(iface, SIOCGIFFLAGS, &ifr);
		return err ? err : ifr.ifr_flags & FLAGS;
	default:
		return read_file(iface, setting);
	}
}

int wire_setting_write(const char *iface, enum wire_setting setting, int64_t value)
{
	if (wire_setting_read(iface, setting) == value)
		return 0;
	switch (setting) {
	case WIRE_MTU:
		return netdev_set_mtu(iface, (uint16_t)value);
	case WIRE_MAC:
		return write_mac(iface, value);
	case WIRE_FLAGS:
		return write_flags(iface, value);
	default:
		return write_file(iface, setting, value);
	}
}

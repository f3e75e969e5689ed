/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file wire_setting.h
 * Settings of the kernel's interfaces that cygnetd changes on a wire (wire.h). Control thread only.
 */
#ifndef CYGNETD_WIRE_SETTING_H
#define CYGNETD_WIRE_SETTING_H

#include <stdint.h>

/** In the order in which they are put back: the kernel's IP stack is enabled last. */
enum wire_setting {
	WIRE_MTU,	 /* bytes */
	WIRE_MAC,	 /* the first byte is the lowest one */
	WIRE_FLAGS,	 /* IFF_UP, IFF_PROMISC, IFF_ALLMULTI */
	WIRE_RP_FILTER,	 /* these four: of /proc/sys/net */
	WIRE_FORWARDING, /* of IPv4 */
	WIRE_ARP_IGNORE,
	WIRE_DISABLE_IPV6,
	WIRE_SETTINGS
};

/** Their names in files and messages. */
extern const char *const wire_setting_name[WIRE_SETTINGS];

#define WIRE_SETTING_PATH 128
/** The file of one of the four. */
void wire_setting_path(const char *iface, enum wire_setting setting, char path[WIRE_SETTING_PATH]);
/** @return the value or -errno; -ENOENT: the kernel has no IPv6 */
int64_t wire_setting_read(const char *iface, enum wire_setting setting);
/** Set it, unless it has that value already. @return 0 or -errno */
int wire_setting_write(const char *iface, enum wire_setting setting, int64_t value);

#endif

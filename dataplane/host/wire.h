/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file wire.h
 * Devices that are a network interface of the kernel's (net_af_packet and
 * the like). The kernel would receive every packet too, answer ARP and forward
 * past the SPD: its IP stack is switched off there. That stays so when cygnetd
 * ends, or is killed, so that nothing leaks meanwhile.
 */
#ifndef CYGNETD_WIRE_H
#define CYGNETD_WIRE_H

#include <stdint.h>

/**
 * The kernel's interface that a device is, and its MTU.
 * @param device  "net_af_packet0,iface=eth1"
 * @param iface   receives the name, IFNAMSIZ bytes; "" if the device is not an interface
 * @param mtu     bytes; set if iface is not ""
 * @return 0, -ENODEV if there is no such interface, or another -errno
 */
int wire_interface(const char *device, char *iface, uint16_t *mtu);

/** Set the MTU of an interface. @return 0 or -errno */
int wire_set_mtu(const char *iface, uint16_t mtu);

/** Bring the interface up and keep the kernel's IP stack from it. @return 0 or -errno, logged */
int wire_isolate(const char *iface);

#endif

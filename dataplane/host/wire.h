/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file wire.h
 * The kernel interface that a device runs on (net_af_packet, net_af_xdp, net_pcap). The kernel
 * receives every packet of it too, and would answer ARP and forward packets without checking the
 * SPD. Its IP stack is therefore disabled on the interface. It stays disabled when cygnetd ends or
 * is killed, so that no plaintext leaks.
 */
#ifndef CYGNETD_WIRE_H
#define CYGNETD_WIRE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * The kernel interface that a device runs on, and its MTU.
 * @param device  "net_af_packet0,iface=eth1"
 * @param iface   receives the name, IFNAMSIZ bytes; "": none
 * @param mtu     bytes; set if iface is not ""
 * @return 0, -ENODEV if there is no such interface, or another -errno
 */
int wire_interface(const char *device, char *iface, uint16_t *mtu);

/** Set the MTU of an interface. @return 0 or -errno */
int wire_set_mtu(const char *iface, uint16_t mtu);

/** Whether an interface exists and is administratively down. */
bool wire_is_down(const char *iface);
/** Set an interface down. @return 0 or -errno */
int wire_set_down(const char *iface);

/** Bring an interface up and disable the kernel's IP stack on it. @return 0 or -errno, logged */
int wire_isolate(const char *iface);

#endif

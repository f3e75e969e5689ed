/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file netdev.h
 * Network devices of the kernel: the one that a DPDK device runs on (net_af_packet, net_af_xdp, net_pcap; wire.h),
 * and TAPs.
 */
#ifndef CYGNETD_NETDEV_H
#define CYGNETD_NETDEV_H

#include <stdbool.h>
#include <stdint.h>

struct ifreq;

/** An ioctl about an interface. @param ifr  has its name  @return 0 or -errno */
int netdev_request(unsigned long what, struct ifreq *ifr);

/**
 * The network device that a DPDK device runs on, and its MTU.
 * @param device  "net_af_packet0,iface=eth1"
 * @param iface   receives the name, IFNAMSIZ bytes; "": none
 * @param mtu     bytes; set if iface is not ""
 * @return 0, -ENODEV if there is no such interface, or another -errno
 */
int netdev_of_device(const char *device, char *iface, uint16_t *mtu);

/** Whether an interface can carry frames: it is up, and has carrier. */
bool netdev_is_running(const char *iface);
/** Set the MTU of an interface. @return 0 or -errno */
int netdev_set_mtu(const char *iface, uint16_t mtu);

/** Whether an interface exists and is administratively down. */
bool netdev_is_down(const char *iface);
/** From now on the kernel resolves no neighbours on an interface. @return 0 or -errno */
int netdev_set_noarp(const char *iface);
/** Set an interface down. @return 0 or -errno */
int netdev_set_down(const char *iface);
/** Bring an interface up. @return 0 or -errno */
int netdev_set_up(const char *iface);

#endif

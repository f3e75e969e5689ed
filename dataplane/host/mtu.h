/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file mtu.h
 * How long the packets of a device may be: what the configuration asks for, and what the
 * device, the packet buffers and the kernel's interfaces can do. Control thread.
 */
#ifndef CYGNETD_MTU_H
#define CYGNETD_MTU_H

#include <rte_common.h>

#include "conf/conf.h"

struct device;
struct rte_eth_dev_info;

/** What one of the usual packet buffers holds, less the Ethernet header and a VLAN tag. */
#define MTU_USUAL MTU_OF_FRAME(2048)
#define MTU_OF_FRAME(frame) ((frame) - 18)
/** The frame for longer ones, bytes: what net_af_packet has beside a packet fits too, and a few
 * of them fill pages. */
#define MTU_FRAME(mtu) RTE_ALIGN_CEIL((mtu) + 128u, 1024u)
/** Bytes of a buffer around a frame: for headers in front, and a trailer behind. */
#define MTU_AROUND_FRAME (2 * RTE_PKTMBUF_HEADROOM)

/** Bytes of a device's name and arguments. */
#define MTU_DEVICE (sizeof(((struct conf_port *)0)->device) + 64)

/** The MTU that a device is to have: of its section, else of the kernel's interface that it is
 * made of. @return bytes of IP packet; 0: as the driver says */
uint16_t mtu_wanted(const struct conf_port *section);
/** The longest of those that do not fit the usual buffers. @return 0: all do */
uint16_t mtu_jumbo(const struct conf *conf);

/**
 * The device as its driver is to have it: the frames of net_af_packet are made long enough,
 * unless their size is given.
 * @param mtu     of mtu_wanted()
 * @param device  receives name and arguments
 * @return 0; -ERANGE, logged: it cannot have that MTU
 */
int mtu_device(const struct conf *conf, const struct conf_port *section, uint16_t mtu,
	       char device[MTU_DEVICE]);
/** What a driver is told while its device is configured. @return bytes; 0: nothing */
uint16_t mtu_for_driver(const struct rte_eth_dev_info *info, uint16_t mtu);
/**
 * Give a configured device its MTU, and find out what it may be changed to.
 * @param device  mtu_most is what its buffers hold; receives what the device can have too
 * @param args    of mtu_device()
 * @param mtu     of mtu_wanted(); receives the MTU that it has
 * @return 0 or -errno, logged
 */
int mtu_start(struct device *device, const struct conf *conf, const struct conf_port *section,
	      const char *args, uint16_t *mtu);
/** Give a running device another MTU. @return 0 or -errno; -ERANGE: too large */
int mtu_set(const struct device *device, uint32_t mtu);

#endif

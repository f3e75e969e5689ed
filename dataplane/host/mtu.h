/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file mtu.h
 * The MTU of a device: what the configuration asks for, and what the device, the packet buffers
 * and the kernel's interfaces allow. Control thread only.
 */
#ifndef CYGNETD_MTU_H
#define CYGNETD_MTU_H

#include <rte_common.h>

#include "conf/conf.h"

struct device;
struct rte_eth_dev_info;

/** MTU of a standard packet buffer: its size less the Ethernet header and a VLAN tag. */
#define MTU_USUAL	    MTU_OF_FRAME(2048)
#define MTU_OF_FRAME(frame) ((frame)-18)
/** Frame size for jumbo packets, bytes. It includes net_af_packet's overhead, and a few frames fill
 * whole pages. */
#define MTU_FRAME(mtu) RTE_ALIGN_CEIL((mtu) + 128u, 1024u)
/** Bytes of a buffer around a frame: headroom for headers and tailroom for a trailer. */
#define MTU_AROUND_FRAME (2 * RTE_PKTMBUF_HEADROOM)

/** Buffer size for a device's name and arguments. */
#define MTU_DEVICE (sizeof(((struct conf_port *)0)->device) + 64)

/** The wanted MTU of a device: that of its section, else that of the kernel interface it runs on.
 * @return bytes of IP packet; 0: the driver's default */
uint16_t mtu_wanted(const struct conf_port *section);
/** The largest wanted MTU above MTU_USUAL. @return 0: no device wants one */
uint16_t mtu_jumbo(const struct conf *conf);

/**
 * Name and arguments of a device for its driver. net_af_packet gets a sufficient frame size, unless
 * the configuration gives one.
 * @param mtu     result of mtu_wanted()
 * @param device  receives name and arguments
 * @return 0; -ERANGE, logged: the driver does not allow that MTU
 */
int mtu_device(const struct conf *conf, const struct conf_port *section, uint16_t mtu,
	       char device[MTU_DEVICE]);
/** The MTU to configure a device with. @return bytes; 0: leave the driver's default */
uint16_t mtu_for_driver(const struct rte_eth_dev_info *info, uint16_t mtu);
/**
 * Set the MTU of a configured device, and find its largest MTU.
 * @param device  mtu_most: the limit of its buffers; receives the limit of buffers and device
 * @param args    result of mtu_device()
 * @param mtu     result of mtu_wanted(); receives the MTU of the device
 * @return 0 or -errno, logged
 */
int mtu_start(struct device *device, const struct conf *conf, const struct conf_port *section,
	      const char *args, uint16_t *mtu);
/** Change the MTU of a running device. @return 0 or -errno; -ERANGE: too large */
int mtu_set(const struct device *device, uint32_t mtu);

#endif

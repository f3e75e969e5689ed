/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file device.h
 * A device: an ethdev that receives and transmits packets, its queues, and its largest MTU.
 * Addresses, MTU and TAP belong to the interface on top of it (interface.h).
 */
#ifndef CYGNETD_DEVICE_H
#define CYGNETD_DEVICE_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <rte_ether.h>

#include "conf/conf.h"
#include "host/ethdev.h"

/** MAC addresses besides its own that a device receives frames to; with more it becomes promiscuous. */
#define DEVICE_MACS 128u

struct device {
	char iface[IFNAMSIZ]; /* kernel interface that has the device's MTU; "": the ethdev has it */
	uint8_t wire;	      /* that it runs on (wire.h), or WIRE_NONE */
	uint16_t id;	      /* ethdev */
	uint16_t queues; /* receive and transmit queue pairs; path/loop.c and path/worker/tx.c say whose */
	uint16_t mtu_most; /* the largest MTU that device and buffers allow */
	bool promiscuous;  /* because of device_take_mac() */
	unsigned int
		ntaken; /* MAC addresses of device_take_mac(): one for each interface and macvlan that has it */
	struct rte_ether_addr taken[DEVICE_MACS];
	bool started;	   /* control thread only */
	uint8_t interface; /* that its frames without a tag come in by; set before workers poll it */
};

/** The device of an interface that lies on none. */
#define DEVICE_NONE CONF_MAX_DEVICES

/** All devices. Workers use those of interfaces_devices(). */
extern struct device devices[CONF_MAX_DEVICES];

/** A place for another device. Control thread only. @return index in devices[]; DEVICE_NONE: there is none */
unsigned int device_place(void);

/**
 * Create, configure and start the device of a section.
 * @param mtu  receives the MTU of the device
 * @return 0 or -errno, logged
 */
int device_start(struct device *device, const struct conf *conf, const struct conf_port *section,
		 const struct ethdev_pollers *by, uint16_t *mtu);
void device_stop(struct device *device);
/** Whether the device has a link. Drivers on interfaces of the kernel do not know, so that these are asked, too. Control
 * thread only. */
bool device_has_link(const struct device *device);
/** @return 0 or -errno; a device without a MAC address is an error */
int device_get_mac(const struct device *device, struct rte_ether_addr *mac);
/** Change the MAC address of the device. @return 0 or -errno */
int device_set_mac(struct device *device, const struct rte_ether_addr *mac);
/** Receive frames to another MAC address too: by the device's filter, or, where it has none or is full, by
 * promiscuous mode. @return 0 or -errno */
int device_take_mac(struct device *device, const struct rte_ether_addr *mac);
/** The opposite. With the last address promiscuous mode ends, if it is by device_take_mac(). */
void device_leave_mac(struct device *device, const struct rte_ether_addr *mac);

/** Drop the frames that wait in the device's queues. No worker runs. */
void device_discard(const struct device *device);

/** How many queue pairs to configure for a device.
 * @param workers  number of workers that poll the device */
uint16_t device_queues_wanted(const struct conf_port *section, unsigned int workers);
/** The first device of conf that cannot receive into buffers outside of DPDK's own
 * memory. @return the name of its section; NULL: all can */
const char *devices_own_memory(const struct conf *conf);

#endif

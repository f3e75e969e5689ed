/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file device.h
 * A device: an ethdev that packets come and go by, its queues, and how long its packets may be.
 * What an IP host knows of it (addresses, MTU, TAP) is an interface (interface.h).
 */
#ifndef CYGNETD_DEVICE_H
#define CYGNETD_DEVICE_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <rte_ether.h>

#include "conf/conf.h"
#include "host/ethdev.h"

struct device {
	char name[32];		/* of its section in the configuration, for messages */
	char iface[IFNAMSIZ];	/* kernel interface whose MTU is the device's; "": the driver's own */
	uint16_t id;		/* ethdev */
	uint16_t queues;	/* receive and transmit queue pairs; worker w uses w % queues */
	uint16_t mtu_most;	/* the largest MTU that device and buffers can have */
};

/** All devices; fixed after interfaces_start(). */
extern struct device devices[CONF_MAX_DEVICES];
extern unsigned int ndevices;

/**
 * Create, configure and start the device of a section.
 * @param mtu  receives the MTU that it has
 * @return 0 or -errno, logged
 */
int device_start(struct device *device, const struct conf *conf, const struct conf_port *section,
		 const struct ethdev_pollers *by, uint16_t *mtu);
void device_stop(struct device *device);
/** @return 0 or -errno, also where the device has no address of its own */
int device_get_mac(const struct device *device, struct rte_ether_addr *mac);
/** Receive packets to another address from now on. @return 0 or -errno */
int device_set_mac(struct device *device, const struct rte_ether_addr *mac);

/** How many queue pairs the device of a section is asked to have. @param workers  that poll them */
uint16_t device_queues_wanted(const struct conf_port *section, unsigned int workers);
/** The first device of conf that cannot receive into buffers outside of DPDK's own
 * memory. @return the name of its section; NULL: all can */
const char *devices_own_memory(const struct conf *conf);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ethdev.h
 * Create, configure and stop an ethdev. Devices and TAPs are both ethdevs. Control thread only.
 */
#ifndef CYGNETD_ETHDEV_H
#define CYGNETD_ETHDEV_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_mempool.h>

/** The workers that poll the queues of an ethdev (path/loop.c), and their packet pools. */
struct ethdev_pollers {
	unsigned int index; /* of the device or of the TAP's interface */
	unsigned int workers;
	struct rte_mempool *const *pools; /* by worker number */
	struct rte_mempool *jumbo; /* used instead of pools; NULL: the MTU is at most MTU_USUAL */
};

/** The pool that a queue receives into. @param queues  number of queues of the ethdev */
struct rte_mempool *ethdev_pool(const struct ethdev_pollers *by, uint16_t queue, uint16_t queues);

/** How many packets a queue pair can hold. @param jumbo  the MTU is above MTU_USUAL */
unsigned int ethdev_queue_packets(bool jumbo);

/**
 * Create an ethdev, unless the EAL has created it already.
 * @param device  a driver's name and arguments ("net_af_packet0,iface=eth1"), or a PCI address
 * @param id      receives the ethdev's number
 * @return 0 or -errno
 */
int ethdev_probe(const char *device, uint16_t *id);
/**
 * Configure an ethdev and its queues.
 * @param mtu     bytes; 0: the driver's default
 * @param queues  wanted queue pairs; receives the number of configured pairs
 * @return 0 or -errno
 */
int ethdev_configure(uint16_t id, uint16_t mtu, const struct ethdev_pollers *by, uint16_t *queues);
/** Stop and close an ethdev; a virtual device is removed. No lcore may use it any more. */
void ethdev_stop(uint16_t id);

#endif

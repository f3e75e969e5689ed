/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pool.h
 * Where the buffers of packets come from. If a crypto device has memory from which it
 * moves packets by itself, and is to be used, each worker has a pool there of its
 * own, in which packets that were received one after another lie so; else all share one.
 */
#ifndef CYGNETD_POOL_H
#define CYGNETD_POOL_H

#include <stdbool.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>

#include "conf/conf.h"
#include "host/mtu.h"

struct engine_device;

/** By worker number. */
extern struct rte_mempool *packet_pool[CONF_MAX_WORKERS];
/** Buffers for the ports whose packets are longer than MTU_USUAL; NULL: there are none. */
extern struct rte_mempool *packet_pool_jumbo;
/** Buffers for packets that were put together and are longer than one of the others. */
extern struct rte_mempool *packet_pool_large;
/** Buffers for fragments that wait for others, where the ports have few to spare; NULL: there they
 * stay in those that they came in. */
extern struct rte_mempool *packet_pool_parts;
/** In whose memory they are; NULL: in hugepages. */
extern const struct engine_device *packet_pool_device;

/** What the pools are sized by. */
struct packet_pool_need {
	unsigned int packets;	/* that a worker may hold at a time */
	unsigned int fragments;	/* that a worker may keep for reassembly */
	bool device_memory;	/* packets go to the device with memory of its own */
};

/**
 * Create the pools. After auto_measure(), before the ports. Pools in a device's
 * memory go with it, so the ports have to stop before the engines.
 * @return 0 or -ENOMEM, logged
 */
int packet_pools_create(const struct conf *conf, const struct packet_pool_need *need);
/**
 * A pool for measuring the engines: in the device's memory if there is such a device.
 * @param n  packets
 * @return NULL: no memory
 */
struct rte_mempool *packet_pool_create(const char *name, unsigned int n);
/** The pool for a packet of so many bytes. @param usual  that of the worker */
static inline struct rte_mempool *packet_pool_for(struct rte_mempool *usual, unsigned int len)
{
	return len > MTU_USUAL && packet_pool_jumbo ? packet_pool_jumbo : usual;
}

/** Free a pool of packet_pool_create(), unless a device has kept packets of it. */
void packet_pool_free(struct rte_mempool *pool);

#endif

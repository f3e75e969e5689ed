/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pool.h
 * The mempools of packets. If the device with its own memory (engine_with_memory()) is used, each worker
 * has a mempool there, in which packets that are received in sequence have adjacent addresses. Otherwise
 * all workers share a mempool in hugepages.
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

/** Packets of the usual length, by worker number. */
extern struct rte_mempool *packet_pool[CONF_MAX_WORKERS];
/** Packets of ports whose MTU is above MTU_USUAL; NULL: no such port. */
extern struct rte_mempool *packet_pool_jumbo;
/** Reassembled packets that are longer than the buffers of the other mempools. */
extern struct rte_mempool *packet_pool_large;
/** Fragments that wait for reassembly, if packet_pool[] is in device memory; NULL: fragments stay in the
 * buffers in which they were received. */
extern struct rte_mempool *packet_pool_parts;
/** The device in whose memory packet_pool[] is; NULL: in hugepages. */
extern const struct engine_device *packet_pool_device;

/** Sizes of the mempools. */
struct packet_pool_need {
	unsigned int packets;	/* that a worker may hold at a time */
	unsigned int fragments; /* that a worker may keep for reassembly */
	bool device_memory;	/* use the memory of engine_with_memory() */
};

/**
 * Create the mempools. To be called after auto_read() and before the ports are started. Mempools in
 * device memory are freed with the device, so the ports have to be stopped before the engines.
 * @return 0 or -ENOMEM, logged
 */
int packet_pools_create(const struct conf *conf, const struct packet_pool_need *need);
/**
 * Create a mempool for measuring the engines, in device memory if a device has it.
 * @param n  packets
 * @return NULL: no memory
 */
struct rte_mempool *packet_pool_create(const char *name, unsigned int n);
/** The mempool for a packet of len bytes. @param usual  the worker's packet_pool[] */
static inline struct rte_mempool *packet_pool_for(struct rte_mempool *usual, unsigned int len)
{
	return len > MTU_USUAL && packet_pool_jumbo ? packet_pool_jumbo : usual;
}

/** Log if the mempool in hugepages that ports receive into is used up, and if it no longer is. Not all drivers count what
 * a port loses then. To be called from time to time by one thread. */
void packet_pools_report(void);

/** Free a mempool of packet_pool_create(), unless a device still has packets of it. */
void packet_pool_free(struct rte_mempool *pool);

#endif

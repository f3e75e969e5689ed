/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "base/log.h"
#include "crypto/device/engine.h"
#include "crypto/device/pool.h"
#include "host/interface.h"
#include "host/mtu.h"
#include "ip/packet.h"

#define CACHE 256u /* packets in an lcore's cache of a shared mempool */
/* Room for a packet of the usual MTU with the overhead of ESP. */
#define ROOM (2048 + MTU_AROUND_FRAME)

/* Buffers for reassembled packets are as long as the longest IP packet. Senders of fragments can use
 * them all, but only for the time that it takes to protect a packet. At most half of them hold packets
 * that wait for an SA. */
#define LARGE_ROOM    UINT16_MAX
#define LARGE_PACKETS 64u /* per worker */

struct rte_mempool *packet_pool[CONF_MAX_WORKERS], *packet_pool_large, *packet_pool_jumbo,
	*packet_pool_parts;
const struct engine_device *packet_pool_device;

static struct rte_mempool *create_shared(const char *name, unsigned int n)
{
	return rte_pktmbuf_pool_create(name, n, CACHE, PACKET_PRIVATE, ROOM, SOCKET_ID_ANY);
}

struct rte_mempool *packet_pool_create(const char *name, unsigned int n)
{
	struct rte_mempool *pool = NULL;

	if (engine_with_memory())
		pool = engine_pool_create(name, n, PACKET_PRIVATE, ROOM);
	return pool ? pool : create_shared(name, n);
}

void packet_pool_free(struct rte_mempool *pool)
{
	if (pool && rte_mempool_full(pool) && !engine_pool_free(pool))
		rte_mempool_free(pool);
}

/* Each descriptor of each queue may hold a packet, and each worker holds up to need->packets and a cache.
 * A port without buffers would drop all frames. */
static unsigned int packets_needed(const struct conf *conf, const struct packet_pool_need *need)
{
	return interfaces_packets(conf, conf->workers, false) +
	       conf->workers * (need->packets + CACHE);
}

/* A mempool in device memory allocates cyclically, so each packet more than needed costs cache misses.
 * DEVICE_PACKETS of all workers together keep the device busy. The share of a worker has a maximum, and a
 * minimum of one launch and a part of the next. While all packets are at the device, the ports cannot
 * receive. */
#define DEVICE_PACKETS 24576u
#define OWN_MOST       6144u
#define OWN_LEAST      3072u

static unsigned int own_packets(const struct conf *conf)
{
	unsigned int share = DEVICE_PACKETS / conf->workers;

	return share < OWN_LEAST ? OWN_LEAST : RTE_MIN(share, OWN_MOST);
}

/* Create a mempool in device memory for each worker; workers share them if the device has fewer. One is left for long
 * packets, one for measuring. @return false: none was created */
static bool create_own(const struct conf *conf)
{
	unsigned int pools = RTE_MIN(conf->workers, ENGINE_POOLS_MAX - 2), made;
	unsigned int packets = interfaces_packets(conf, conf->workers, false) +
			       conf->workers * own_packets(conf);

	packets = (packets + pools - 1) / pools;

	for (made = 0; made < pools; made++) {
		char name[RTE_MEMPOOL_NAMESIZE];

		snprintf(name, sizeof(name), "packets%u", made);
		packet_pool[made] = engine_pool_create(name, packets, PACKET_PRIVATE, ROOM);
		if (!packet_pool[made])
			break;
	}
	if (made < pools) {
		log_warn("packets are copied by the workers: no %u pools of %u packets in the "
			 "memory of the crypto device: %s",
			 pools, packets, rte_strerror(rte_errno));
		while (made)
			engine_pool_free(packet_pool[--made]);
		return false;
	}
	for (unsigned int w = pools; w < conf->workers; w++)
		packet_pool[w] = packet_pool[w % pools];
	packet_pool_device = engine_with_memory();
	log_info("packets: %u pool%s of %u in memory from which %s moves them", pools,
		 pools == 1 ? "" : "s", packets, packet_pool_device->name);
	return true;
}

/* Create one mempool of long packets for all workers, because few ports have such packets. Half of the
 * packets that a worker holds may be long, which takes three times the memory of the others.
 * @param mtu  mtu_jumbo() */
static int create_jumbo(const struct conf *conf, const struct packet_pool_need *need, uint16_t mtu)
{
	unsigned int packets = interfaces_packets(conf, conf->workers, true) +
			       conf->workers * (need->packets / 2 + CACHE);
	uint16_t room = (uint16_t)(MTU_FRAME(mtu) + MTU_AROUND_FRAME);

	if (packet_pool_device) {
		packet_pool_jumbo = engine_pool_create("jumbo", packets, PACKET_PRIVATE, room);
		if (!packet_pool_jumbo)
			log_warn("packets longer than %u bytes are copied by the workers: no %u of "
				 "them in the memory of %s: %s",
				 MTU_USUAL, packets, packet_pool_device->name,
				 rte_strerror(rte_errno));
	}
	if (!packet_pool_jumbo)
		packet_pool_jumbo = rte_pktmbuf_pool_create("jumbo", packets, CACHE, PACKET_PRIVATE,
							    room, SOCKET_ID_ANY);
	if (!packet_pool_jumbo) {
		log_error("no memory for %u packets of %u bytes, which an MTU of %u takes: are there "
			  "hugepages (vm.nr_hugepages)?",
			  packets, room, mtu);
		return -ENOMEM;
	}
	return 0;
}

/* Create a mempool for fragments. The workers can keep more fragments than the mempool of one worker has
 * packets. If all were received by that worker and stayed in their buffers, their sender could keep it
 * from receiving. */
static int create_parts(const struct conf *conf, const struct packet_pool_need *need)
{
	unsigned int packets = conf->workers * (need->fragments + CACHE);

	packet_pool_parts = create_shared("parts", packets);
	if (packet_pool_parts)
		return 0;
	log_error("no memory for %u fragments: are there hugepages (vm.nr_hugepages)?", packets);
	return -ENOMEM;
}

/* Create the mempools for ports with packets of the usual length, and for packets of cygnetd itself. */
static int create_usual(const struct conf *conf, const struct packet_pool_need *need)
{
	unsigned int packets = packets_needed(conf, need);
	const char *port = devices_own_memory(conf);

	packet_pool_device = NULL;
	if (need->device_memory) {
		if (!port && create_own(conf))
			return create_parts(conf, need);
		if (port)
			log_info("packets are copied by the workers to and from %s: port %s cannot "
				 "receive into its memory",
				 engine_with_memory()->name, port);
	}
	packet_pool[0] = create_shared("packets", packets);
	if (!packet_pool[0]) {
		log_error("no memory for %u packets: are there hugepages (vm.nr_hugepages)?",
			  packets);
		return -ENOMEM;
	}
	for (unsigned int w = 1; w < conf->workers; w++)
		packet_pool[w] = packet_pool[0];
	return 0;
}

int packet_pools_create(const struct conf *conf, const struct packet_pool_need *need)
{
	uint16_t jumbo = mtu_jumbo(conf);
	int err;

	packet_pool_large = rte_pktmbuf_pool_create("large", conf->workers * LARGE_PACKETS, 0,
						    PACKET_PRIVATE, LARGE_ROOM, SOCKET_ID_ANY);
	if (!packet_pool_large) {
		log_error("no memory for large packets: are there hugepages (vm.nr_hugepages)?");
		return -ENOMEM;
	}
	err = create_usual(conf, need);
	return err || !jumbo ? err : create_jumbo(conf, need, jumbo);
}

/* In device memory all packets may be at the device. In hugepages there is one for each place that may hold one. Those in
 * caches of lcores do not count: few are left then, and other lcores cannot have them. */
void packet_pools_report(void)
{
	static bool used_up;
	struct rte_mempool *pool = packet_pool_device ? NULL : packet_pool[0];
	bool now = pool && rte_mempool_get_ops(pool->ops_index)->get_count(pool) == 0;

	if (now && !used_up)
		log_error("packet buffers are used up: ports lose what they receive");
	if (!now && used_up)
		log_info("there are packet buffers again");
	used_up = now;
}

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

#define CACHE 256u /* packets that an lcore keeps from a shared pool */
/* Room for a whole packet of the largest usual size with its ESP overhead. */
#define ROOM (2048 + MTU_AROUND_FRAME)

/* As long as a buffer can be, and an IP packet. Whoever sends fragments can use them up, but a
 * packet is in one no longer than it takes to protect it; half of them can wait for an SA. */
#define LARGE_ROOM UINT16_MAX
#define LARGE_PACKETS 64u /* of a worker */

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

/* Every descriptor of every queue may hold a packet, and every worker has some in
 * its hands; a port without buffers receives nothing. */
static unsigned int packets_needed(const struct conf *conf, const struct packet_pool_need *need)
{
	return interfaces_packets(conf, conf->workers, false) +
	       conf->workers * (need->packets + CACHE);
}

/* A pool of a device's hands out round and round: what is not needed would only be
 * more that is in no cache. So many packets keep the device busy, whoever has sent them; of one
 * worker's that many are there at the most, and as many as a launch and a part of the next at the
 * least. When they are all there the ports wait. */
#define DEVICE_PACKETS 24576u
#define OWN_MOST 6144u
#define OWN_LEAST 3072u

static unsigned int own_packets(const struct conf *conf)
{
	unsigned int share = DEVICE_PACKETS / conf->workers;

	return share < OWN_LEAST ? OWN_LEAST : RTE_MIN(share, OWN_MOST);
}

/* One for each worker, as far as the device has pools.
 * @return whether there are any */
static bool create_own(const struct conf *conf)
{
	unsigned int pools = RTE_MIN(conf->workers, ENGINE_POOLS_MAX), made;
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
			 "memory of the crypto device: %s", pools, packets, rte_strerror(rte_errno));
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

/* One for all workers: they are few ports. Of what a worker has in its hands half may be as long,
 * which is three times the bytes of all the others.
 * @param mtu  of mtu_jumbo() */
static int create_jumbo(const struct conf *conf, const struct packet_pool_need *need, uint16_t mtu)
{
	unsigned int packets = interfaces_packets(conf, conf->workers, true) +
			       conf->workers * (need->packets / 2 + CACHE);
	uint16_t room = (uint16_t)(MTU_FRAME(mtu) + MTU_AROUND_FRAME);

	if (packet_pool_device) {
		packet_pool_jumbo = engine_pool_create("jumbo", packets, PACKET_PRIVATE, room);
		if (!packet_pool_jumbo)
			log_warn("packets longer than %u bytes are copied by the workers: no %u of "
				 "them in the memory of %s: %s", MTU_USUAL, packets,
				 packet_pool_device->name, rte_strerror(rte_errno));
	}
	if (!packet_pool_jumbo)
		packet_pool_jumbo = rte_pktmbuf_pool_create("jumbo", packets, CACHE, PACKET_PRIVATE,
							    room, SOCKET_ID_ANY);
	if (!packet_pool_jumbo) {
		log_error("no memory for %u packets of %u bytes, which an MTU of %u takes: are there "
			  "hugepages (vm.nr_hugepages)?", packets, room, mtu);
		return -ENOMEM;
	}
	return 0;
}

/* All workers' fragments may have come by the queues of one, whose pool has fewer packets than they
 * can keep: it would be up to whoever sends them how long that one receives nothing. */
static int create_parts(const struct conf *conf, const struct packet_pool_need *need)
{
	unsigned int packets = conf->workers * (need->fragments + CACHE);

	packet_pool_parts = create_shared("parts", packets);
	if (packet_pool_parts)
		return 0;
	log_error("no memory for %u fragments: are there hugepages (vm.nr_hugepages)?", packets);
	return -ENOMEM;
}

/* For the ports with packets of the usual length, and for what is made here. */
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
				 "receive into its memory", engine_with_memory()->name, port);
	}
	packet_pool[0] = create_shared("packets", packets);
	if (!packet_pool[0]) {
		log_error("no memory for %u packets: are there hugepages (vm.nr_hugepages)?", packets);
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

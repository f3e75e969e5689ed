/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_string_fns.h>

#include "conf/conf.h"
#include "host/ethdev.h"
#include "host/mtu.h"

_Static_assert(CONF_MAX_ETHDEVS <= RTE_MAX_ETHPORTS, "DPDK has as many");

#define RX_DESCRIPTORS	  1024
#define TX_DESCRIPTORS	  1024
#define JUMBO_DESCRIPTORS 512 /* RX and TX each; fewer, because jumbo buffers are larger */

/* A PCI device was probed when the EAL started, and is found by its address. */
int ethdev_probe(const char *device, uint16_t *id)
{
	char name[MTU_DEVICE];
	char *args;
	int err;

	rte_strscpy(name, device, sizeof(name));
	args = strchr(name, ',');
	if (args)
		*args++ = '\0';
	if (rte_eth_dev_get_port_by_name(name, id) == 0)
		return 0;
	err = rte_vdev_init(name, args ? args : "");
	if (err)
		return err;
	return rte_eth_dev_get_port_by_name(name, id);
}

unsigned int ethdev_queue_packets(bool jumbo)
{
	return jumbo ? 2 * JUMBO_DESCRIPTORS : RX_DESCRIPTORS + TX_DESCRIPTORS;
}

struct rte_mempool *ethdev_pool(const struct ethdev_pollers *by, uint16_t queue, uint16_t queues)
{
	if (by->jumbo)
		return by->jumbo;
	return by->pools[(queues == 1 ? by->index : queue) % by->workers];
}

/* net_af_xdp returns -EINVAL for each failure; errno still is that of bind(). */
static int setup_rx_queue(uint16_t id, uint16_t queue, uint16_t descriptors, unsigned int socket,
			  struct rte_mempool *pool)
{
	int err;

	errno = 0;
	err = rte_eth_rx_queue_setup(id, queue, descriptors, socket, NULL, pool);
	return err == -EINVAL && errno == EBUSY ? -EBUSY : err;
}

static int setup_queues(uint16_t id, uint16_t queues, const struct ethdev_pollers *by)
{
	uint16_t rx = by->jumbo ? JUMBO_DESCRIPTORS : RX_DESCRIPTORS;
	uint16_t tx = by->jumbo ? JUMBO_DESCRIPTORS : TX_DESCRIPTORS;
	int socket = rte_eth_dev_socket_id(id);
	int err = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx, &tx);

	for (uint16_t q = 0; q < queues && !err; q++) {
		err = setup_rx_queue(id, q, rx, (unsigned int)socket, ethdev_pool(by, q, queues));
		if (!err)
			err = rte_eth_tx_queue_setup(id, q, tx, (unsigned int)socket, NULL);
	}
	return err;
}

/* The kernel strips the VLAN tag of a frame. net_af_packet inserts it again only into buffers in
 * DPDK's own memory. For external buffers it has to report the tag in the mbuf. */
static uint64_t wanted_offloads(const struct rte_eth_dev_info *info, struct rte_mempool *pool)
{
	bool outside = rte_pktmbuf_priv_flags(pool) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF;

	return outside ? info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_STRIP : 0;
}

static uint16_t possible_queues(const struct rte_eth_dev_info *info, uint16_t wanted)
{
	uint16_t most = RTE_MIN(info->max_rx_queues, info->max_tx_queues);

	if (wanted > most)
		wanted = most;
	return wanted ? wanted : 1;
}

/* RSS gives all packets of a flow to the same worker, if the device has RSS. */
int ethdev_configure(uint16_t id, uint16_t mtu, const struct ethdev_pollers *by, uint16_t *queues)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	int err = rte_eth_dev_info_get(id, &info);

	if (err)
		return err;
	*queues = possible_queues(&info, *queues);
	conf.rxmode.offloads = wanted_offloads(&info, ethdev_pool(by, 0, 1));
	conf.rxmode.mtu = mtu_for_driver(&info, mtu);
	if (*queues > 1 && info.flow_type_rss_offloads) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = info.flow_type_rss_offloads &
						   (RTE_ETH_RSS_IP | RTE_ETH_RSS_ESP);
	}
	err = rte_eth_dev_configure(id, *queues, *queues, &conf);
	return err ? err : setup_queues(id, *queues, by);
}

void ethdev_stop(uint16_t id)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	int err = rte_eth_dev_get_name_by_port(id, name);

	rte_eth_dev_stop(id);
	rte_eth_dev_close(id);
	/* So that a device of that name can be created again. It fails for a PCI device, which stays. */
	if (!err)
		rte_vdev_uninit(name);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device: --vdev net_benchN,control=FILE,sets=FILE. N is the number of the port, and the
 * last byte of its MAC address 02:00:00:00:00:0N.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ethdev_vdev.h>
#include <rte_cycles.h>
#include <rte_kvargs.h>
#include <rte_mbuf_dyn.h>

#include "wire.h"

#define MTU 1600

struct wire {
	struct rte_ether_addr mac;
	unsigned int number;
	struct source source[BENCH_QUEUES];
	struct sink sink[BENCH_QUEUES];
};

static struct run run;

static int map_control(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *map;

	if (fd < 0)
		return -errno;
	map = mmap(NULL, sizeof(*run.control), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		   fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -errno;
	run.control = map;
	run.control->hz = rte_get_tsc_hz();
	for (unsigned int q = 0; q < BENCH_QUEUES; q++)
		run.queue[q] = (struct queue){.counts = &run.control->queue[q],
					      .port = UINT_MAX,
					      .begin = UINT64_MAX};
	return 0;
}

static int start_run(const char *control, const char *sets)
{
	static const struct rte_mbuf_dynfield due = {.name = "bench_due",
						     .size = sizeof(uint64_t),
						     .align = __alignof__(uint64_t)};

	if (run.control)
		return 0;
	run.timestamp = rte_mbuf_dynfield_register(&due);
	if (run.timestamp < 0)
		return -ENOMEM;
	run.sets = frames_load(sets, &run.nsets);
	return run.sets ? map_control(control) : -EINVAL;
}

static int configure(struct rte_eth_dev *dev)
{
	(void)dev;
	return 0;
}

static int start(struct rte_eth_dev *dev)
{
	const struct wire *wire = dev->data->dev_private;
	int err = 0;

	for (unsigned int i = 0; i < run.nsets && !err; i++)
		if (run.sets[i].port == wire->number)
			err = frames_share(&run.sets[i], dev->data->nb_rx_queues);
	if (err)
		return err;
	run.control->queues = dev->data->nb_rx_queues;
	dev->data->dev_link.link_status = RTE_ETH_LINK_UP;
	return 0;
}

static int stop(struct rte_eth_dev *dev)
{
	dev->data->dev_link.link_status = RTE_ETH_LINK_DOWN;
	return 0;
}

/* The MAC address is part of the private data: DPDK must not free it as well. */
static int close_port(struct rte_eth_dev *dev)
{
	dev->data->mac_addrs = NULL;
	return 0;
}

/* Claims to verify checksums, which some gateways require. All frames have correct ones. */
static int info(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	(void)dev;
	info->max_mac_addrs = 1;
	info->max_rx_pktlen = MTU + RTE_ETHER_HDR_LEN;
	info->max_rx_queues = BENCH_QUEUES;
	info->max_tx_queues = BENCH_QUEUES;
	info->max_mtu = MTU;
	info->rx_offload_capa = RTE_ETH_RX_OFFLOAD_CHECKSUM;
	return 0;
}

static int set_up_source(struct rte_eth_dev *dev, uint16_t queue, uint16_t descriptors,
			 unsigned int socket, const struct rte_eth_rxconf *conf,
			 struct rte_mempool *pool)
{
	struct wire *wire = dev->data->dev_private;

	(void)descriptors, (void)socket, (void)conf;
	wire->source[queue] = (struct source){
		.run = &run,
		.queue = &run.queue[queue],
		.pool = pool,
		.port = dev->data->port_id,
		.number = wire->number,
		.index = queue,
		.queues = dev->data->nb_rx_queues,
	};
	dev->data->rx_queues[queue] = &wire->source[queue];
	return 0;
}

static int set_up_sink(struct rte_eth_dev *dev, uint16_t queue, uint16_t descriptors,
		       unsigned int socket, const struct rte_eth_txconf *conf)
{
	struct wire *wire = dev->data->dev_private;

	(void)descriptors, (void)socket, (void)conf;
	wire->sink[queue] = (struct sink){.run = &run,
					  .queue = &run.queue[queue],
					  .number = wire->number};
	dev->data->tx_queues[queue] = &wire->sink[queue];
	return 0;
}

static int set_mtu(struct rte_eth_dev *dev, uint16_t mtu)
{
	(void)dev;
	return mtu <= MTU ? 0 : -EINVAL;
}

static int update_link(struct rte_eth_dev *dev, int wait)
{
	(void)dev, (void)wait;
	return 0;
}

static int any_mode(struct rte_eth_dev *dev)
{
	(void)dev;
	return 0;
}

static int set_mac(struct rte_eth_dev *dev, struct rte_ether_addr *mac)
{
	(void)dev, (void)mac;
	return 0;
}

static int get_stats(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	(void)dev, (void)stats;
	return 0;
}

static const struct eth_dev_ops ops = {
	.dev_configure = configure,
	.dev_start = start,
	.dev_stop = stop,
	.dev_close = close_port,
	.dev_infos_get = info,
	.rx_queue_setup = set_up_source,
	.tx_queue_setup = set_up_sink,
	.mtu_set = set_mtu,
	.link_update = update_link,
	.promiscuous_enable = any_mode,
	.promiscuous_disable = any_mode,
	.allmulticast_enable = any_mode,
	.allmulticast_disable = any_mode,
	.mac_addr_set = set_mac,
	.stats_get = get_stats,
};

static int create(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_vdev_allocate(vdev, sizeof(struct wire));
	const char *name = rte_vdev_device_name(vdev);
	struct wire *wire;

	if (!dev)
		return -ENOMEM;
	wire = dev->data->dev_private;
	wire->number = (unsigned int)(name[strlen(name) - 1] - '0');
	wire->mac = (struct rte_ether_addr){{2, 0, 0, 0, 0, (uint8_t)wire->number}};
	dev->data->mac_addrs = &wire->mac;
	dev->data->dev_link = (struct rte_eth_link){
		.link_speed = RTE_ETH_SPEED_NUM_100G,
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
		.link_autoneg = RTE_ETH_LINK_FIXED,
	};
	dev->dev_ops = &ops;
	dev->rx_pkt_burst = source_receive;
	dev->tx_pkt_burst = sink_send;
	rte_eth_dev_probing_finish(dev);
	return 0;
}

static int keep_text(const char *key, const char *value, void *text)
{
	(void)key;
	snprintf(text, PATH_MAX, "%s", value);
	return 0;
}

static int probe(struct rte_vdev_device *vdev)
{
	static const char *const known[] = {"control", "sets", NULL};
	struct rte_kvargs *args = rte_kvargs_parse(rte_vdev_device_args(vdev), known);
	char control[PATH_MAX] = "", sets[PATH_MAX] = "";
	int err;

	if (!args)
		return -EINVAL;
	rte_kvargs_process(args, "control", keep_text, control);
	rte_kvargs_process(args, "sets", keep_text, sets);
	rte_kvargs_free(args);
	err = start_run(control, sets);
	return err ? err : create(vdev);
}

static int remove_device(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));

	return dev ? rte_eth_dev_close(dev->data->port_id) : 0;
}

static struct rte_vdev_driver driver = {
	.probe = probe,
	.remove = remove_device,
};

RTE_PMD_REGISTER_VDEV(net_bench, driver);
RTE_PMD_REGISTER_PARAM_STRING(net_bench, "control=<path> sets=<path>");

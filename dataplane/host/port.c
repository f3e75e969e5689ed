/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_string_fns.h>

#include "base/log.h"
#include "host/mtu.h"
#include "host/port.h"
#include "host/wire.h"

#define RX_DESCRIPTORS 1024
#define TX_DESCRIPTORS 1024
#define JUMBO_DESCRIPTORS 512 /* of each kind: they hold more bytes */
#define MAX_QUEUES 256

struct port ports[CONF_MAX_PORTS];
unsigned int nports;
bool ports_forward6;

int port_by_ifindex(uint32_t ifindex)
{
	for (unsigned int i = 0; i < nports; i++)
		if (ports[i].ifindex == ifindex)
			return (int)i;
	return -1;
}

/* "net_af_packet0,iface=eth1": a name and arguments; a PCI address has neither
 * driver name nor arguments and is known to the EAL already. */
static int probe(const char *device, uint16_t *id)
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

/* A software device that spreads packets over a number of queues that was given
 * to it: who leaves one out loses its packets. @return 0 for others */
static unsigned int given_queues(const char *device)
{
	static const char *const args[] = {",qpairs=", ",queue_count="};

	for (unsigned int i = 0; i < RTE_DIM(args); i++) {
		const char *at = strstr(device, args[i]);

		if (at)
			return (unsigned int)strtoul(at + strlen(args[i]), NULL, 10);
	}
	return 0;
}

static uint16_t wanted_queues(const char *device, unsigned int workers)
{
	unsigned int given = given_queues(device);

	return (uint16_t)(given && given <= MAX_QUEUES ? given : workers);
}

static bool is_jumbo(const struct conf_port *section)
{
	return mtu_wanted(section) > MTU_USUAL;
}

unsigned int ports_packets(const struct conf *conf, unsigned int workers, bool jumbo)
{
	unsigned int queues = 0;

	for (unsigned int i = 0; i < conf->nports; i++)
		if (is_jumbo(&conf->port[i]) == jumbo)
			queues += wanted_queues(conf->port[i].device, workers) + 1u; /* the TAP's */
	return queues * (jumbo ? 2 * JUMBO_DESCRIPTORS : RX_DESCRIPTORS + TX_DESCRIPTORS);
}

static uint16_t queues_for(const char *device, const struct rte_eth_dev_info *info,
			   unsigned int workers)
{
	uint16_t queues = wanted_queues(device, workers);

	if (queues > info->max_rx_queues)
		queues = info->max_rx_queues;
	if (queues > info->max_tx_queues)
		queues = info->max_tx_queues;
	return queues ? queues : 1;
}

/* Most vdevs copy, whatever the buffers are in. These share the memory of a pool, or
 * all of DPDK's, with somebody; a PCI device's IOMMU knows DPDK's only. */
const char *ports_own_memory(const struct conf *conf)
{
	static const char *const sharing[] = {"net_af_xdp", "net_virtio_user"};

	for (unsigned int i = 0; i < conf->nports; i++) {
		const struct conf_port *port = &conf->port[i];

		if (strncmp(port->device, "net_", 4))
			return port->name;
		for (unsigned int d = 0; d < RTE_DIM(sharing); d++)
			if (!strncmp(port->device, sharing[d], strlen(sharing[d])))
				return port->name;
	}
	return NULL;
}

/* Who polls a port's queues, as worker.c has it, and what these receive into. */
struct pollers {
	unsigned int port, workers;
	struct rte_mempool *const *pools;
	struct rte_mempool *jumbo; /* instead; NULL: the port's packets are no longer than usual */
};

static struct rte_mempool *pool_of(const struct pollers *by, uint16_t queue, uint16_t queues)
{
	if (by->jumbo)
		return by->jumbo;
	return by->pools[(queues == 1 ? by->port : queue) % by->workers];
}

static int setup_queues(uint16_t id, uint16_t queues, const struct pollers *by)
{
	uint16_t rx = by->jumbo ? JUMBO_DESCRIPTORS : RX_DESCRIPTORS;
	uint16_t tx = by->jumbo ? JUMBO_DESCRIPTORS : TX_DESCRIPTORS;
	int socket = rte_eth_dev_socket_id(id);
	int err = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx, &tx);

	for (uint16_t q = 0; q < queues && !err; q++) {
		err = rte_eth_rx_queue_setup(id, q, rx, (unsigned int)socket, NULL,
					     pool_of(by, q, queues));
		if (!err)
			err = rte_eth_tx_queue_setup(id, q, tx, (unsigned int)socket, NULL);
	}
	return err;
}

/* What is not in a buffer of DPDK's own gets no tag put back into it: then net_af_packet
 * has to tell of the tag beside the frame. */
static uint64_t wanted_offloads(const struct rte_eth_dev_info *info, struct rte_mempool *pool)
{
	bool outside = rte_pktmbuf_priv_flags(pool) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF;

	return outside ? info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_STRIP : 0;
}

/* Packets of one flow meet the same worker where the device can spread them.
 * @param mtu  0: the driver's own */
static int configure(uint16_t id, const char *device, unsigned int most, uint16_t mtu,
		     const struct pollers *by, uint16_t *queues)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	int err = rte_eth_dev_info_get(id, &info);

	if (err)
		return err;
	*queues = queues_for(device, &info, most);
	conf.rxmode.offloads = wanted_offloads(&info, pool_of(by, 0, 1));
	conf.rxmode.mtu = mtu_for_driver(&info, mtu);
	if (*queues > 1 && info.flow_type_rss_offloads) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = info.flow_type_rss_offloads &
						   (RTE_ETH_RSS_IP | RTE_ETH_RSS_ESP);
	}
	err = rte_eth_dev_configure(id, *queues, *queues, &conf);
	return err ? err : setup_queues(id, *queues, by);
}

/* A device that is an interface of the kernel's: take it from the kernel. Of these drivers
 * net_af_xdp knows what its MTU may be. */
static int take_interface(struct port *port, const char *device)
{
	uint16_t mtu;
	int err = wire_interface(device, port->iface, &mtu);

	if (!err && port->iface[0])
		err = wire_isolate(port->iface);
	if (strncmp(device, "net_af_xdp", strlen("net_af_xdp")) == 0)
		port->iface[0] = '\0';
	return err;
}

static int start_wire(struct port *port, const struct conf *conf, const struct pollers *by)
{
	const struct conf_port *section = &conf->port[by->port];
	struct rte_mempool *pool = pool_of(by, 0, 1);
	struct rte_ether_addr mac;
	char device[MTU_DEVICE];
	int err = take_interface(port, section->device);

	port->mtu = mtu_wanted(section);
	port->mtu_most = (uint16_t)MTU_OF_FRAME(rte_pktmbuf_data_room_size(pool) - MTU_AROUND_FRAME);
	if (!err)
		err = mtu_device(conf, section, port->mtu, device);
	if (!err)
		err = probe(device, &port->id);
	if (!err)
		err = configure(port->id, device, by->workers, port->iface[0] ? 0 : port->mtu, by,
				&port->queues);
	if (!err)
		err = rte_eth_macaddr_get(port->id, &mac);
	if (!err)
		port_set_mac(port, &mac);
	if (!err)
		err = mtu_start(port, conf, section, device);
	if (!err)
		err = rte_eth_dev_start(port->id);
	if (err) {
		log_error("port %s: device %s: %s", port->name, section->device, strerror(-err));
		return err;
	}
	/* Multicast is the kernel's business; a device that cannot filter takes all. */
	rte_eth_allmulticast_enable(port->id);
	return 0;
}

static int start_tap(struct port *port, const struct pollers *by)
{
	char name[32], args[128], mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct rte_ether_addr own = port_mac(port);
	struct rte_eth_dev_info info;
	uint16_t queues;
	int err;

	rte_ether_format_addr(mac, sizeof(mac), &own);
	snprintf(name, sizeof(name), "net_tap%u", by->port);
	snprintf(args, sizeof(args), "%s,iface=%s,mac=%s", name, port->tap_name, mac);
	err = probe(args, &port->tap_id);
	if (!err)
		err = configure(port->tap_id, "", 1, 0, by, &queues);
	/* net_tap itself sets none above 1,500; transmit.c has the rest of that. */
	if (!err)
		err = mtu_set_tap(port);
	if (!err)
		err = rte_eth_dev_start(port->tap_id);
	if (!err)
		err = rte_eth_dev_info_get(port->tap_id, &info);
	if (err) {
		log_error("port %s: TAP %s: %s", port->name, port->tap_name, strerror(-err));
		return err;
	}
	port->ifindex = info.if_index ? info.if_index : if_nametoindex(port->tap_name);
	if (!port->ifindex) {
		log_error("port %s: the kernel has no interface %s", port->name, port->tap_name);
		return -ENODEV;
	}
	return 0;
}

/* Policies could not tell them apart. */
static int check_interface(const struct port *port)
{
	for (const struct port *other = ports; other < port; other++) {
		if (other->interface != port->interface)
			continue;
		log_error("port %s: TAP %s has the hash of %s, choose another name", port->name,
			  port->tap_name, other->tap_name);
		return -EEXIST;
	}
	return 0;
}

int ports_start(const struct conf *conf, struct rte_mempool *const *pools,
		struct rte_mempool *jumbo, unsigned int workers)
{
	int err = 0;

	for (unsigned int i = 0; i < conf->nports && !err; i++) {
		const struct pollers by = {
			.port = i,
			.workers = workers,
			.pools = pools,
			.jumbo = is_jumbo(&conf->port[i]) ? jumbo : NULL,
		};
		struct port *port = &ports[i];

		memset(port, 0, sizeof(*port));
		rte_strscpy(port->name, conf->port[i].name, sizeof(port->name));
		rte_strscpy(port->tap_name, conf->port[i].tap, sizeof(port->tap_name));
		port->interface = cygnet_interface(port->tap_name);
		err = check_interface(port);
		if (!err)
			err = start_wire(port, conf, &by);
		if (!err)
			err = start_tap(port, &by);
		if (!err) {
			nports = i + 1;
			log_info("port %s: %s, %u queue%s, MTU %u, TAP %s", port->name,
				 conf->port[i].device, port->queues,
				 port->queues == 1 ? "" : "s", port->mtu, port->tap_name);
		}
	}
	if (err)
		ports_stop();
	return err;
}

void ports_stop(void)
{
	while (nports) {
		struct port *port = &ports[--nports];

		rte_eth_dev_stop(port->tap_id);
		rte_eth_dev_close(port->tap_id);
		rte_eth_dev_stop(port->id);
		rte_eth_dev_close(port->id);
	}
}

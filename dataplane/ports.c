/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_mbuf.h>

#include "base/clock.h"
#include "base/log.h"
#include "crypto/device/pool.h"
#include "host/interface.h"
#include "host/macvlan.h"
#include "host/mtu.h"
#include "host/netdev.h"
#include "host/netlink_kind.h"
#include "host/system_calls.h"
#include "host/wire.h"
#include "ip/packet.h"
#include "ports.h"

#define CACHE	      256u /* packets that an lcore keeps from a pool */
#define WATCH_MS      1000u
#define WATCH_MOST_MS 60000u /* between tries that fail */

/* By index of the interface. A pool stays when its port is removed: packets of it may be anywhere. */
static struct {
	struct rte_mempool *pool;
	unsigned int packets;
} places[CONF_MAX_INTERFACES];

/* Interfaces whose net_af_xdp device has been closed. The driver of DPDK 22.11 neither closes the socket of
 * its packet memory nor gives back the packets in it. */
static char xdp_closed[4 * CONF_MAX_PORTS][IFNAMSIZ];
static unsigned int nxdp_closed;

/* @return false: the port is of another driver */
static bool xdp_interface(const struct conf_port *port, char *iface)
{
	uint16_t mtu;

	return strncmp(port->device, "net_af_xdp", strlen("net_af_xdp")) == 0 &&
	       netdev_of_device(port->device, iface, &mtu) == 0 && iface[0];
}

static void note_xdp(const struct conf_port *port)
{
	if (nxdp_closed < RTE_DIM(xdp_closed) && xdp_interface(port, xdp_closed[nxdp_closed]))
		nxdp_closed++;
}

static bool had_xdp(const struct conf_port *port)
{
	char iface[IFNAMSIZ];

	if (!xdp_interface(port, iface))
		return false;
	for (unsigned int i = 0; i < nxdp_closed; i++)
		if (strcmp(xdp_closed[i], iface) == 0)
			return true;
	return nxdp_closed == RTE_DIM(xdp_closed);
}

/* @return NULL: no memory */
static struct rte_mempool *pool_for(unsigned int place, const struct conf_port *port,
				    unsigned int workers)
{
	unsigned int queues = interface_queues(port, workers);
	unsigned int packets = queues * ethdev_queue_packets(false) + (workers + 1) * CACHE;
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *pool;

	if (places[place].pool && places[place].packets >= packets)
		return places[place].pool;
	snprintf(name, sizeof(name), "port%u_%u", place, packets);
	pool = rte_pktmbuf_pool_create(name, packets, CACHE, PACKET_PRIVATE,
				       2048 + MTU_AROUND_FRAME, SOCKET_ID_ANY);
	if (!pool)
		return NULL;
	places[place].packets = packets;
	places[place].pool = pool;
	return pool;
}

/* How the queues of a port receive. @param pools  receives the pools, by worker number
 * @return 0 or -ENOMEM, logged */
static int get_pollers(unsigned int place, const struct conf *conf, const struct conf_port *port,
		       unsigned int workers, struct rte_mempool *pools[CONF_MAX_WORKERS],
		       struct ethdev_pollers *by, const char *where)
{
	struct rte_mempool *pool = pool_for(place, port, workers);

	if (!pool) {
		log_error("%s: no memory for its packets: are there hugepages (vm.nr_hugepages)?",
			  where);
		return -ENOMEM;
	}
	for (unsigned int w = 0; w < workers; w++)
		pools[w] = pool;
	*by = (struct ethdev_pollers){
		.index = place,
		.workers = workers,
		.pools = pools,
		.jumbo = interface_is_jumbo(conf, port) ? packet_pool_jumbo : NULL,
	};
	return 0;
}

/* @return 0 or -errno, logged */
static int check_device(const struct conf_port *port, const char *where)
{
	if (strncmp(port->device, "net_", strlen("net_"))) {
		log_warn("%s: needs a restart: %s is no virtual device", where, port->device);
		return -ENOTSUP;
	}
	if (!system_calls_suffice(port->device)) {
		log_warn("%s: needs a restart: without a port of net_af_xdp at the start, seccomp forbids what it needs",
			 where);
		return -EPERM;
	}
	if (had_xdp(port)) {
		log_warn("%s: needs a restart: net_af_xdp keeps an interface until cygnetd ends",
			 where);
		return -EBUSY;
	}
	return 0;
}

/* Of a VLAN. @return 0 or -errno, logged */
static int check_mtu(const struct conf *conf, const struct conf_port *vlan)
{
	const uint16_t most = interface_mtu_for(vlan);
	char where[PATH_MAX + NAME_MAX];

	if (!most || vlan->mtu <= most)
		return 0;
	conf_where(conf, vlan, "mtu", where, sizeof(where));
	log_error("%s: %u is more than the %u that port %s leaves for it", where, vlan->mtu, most,
		  vlan->on);
	return -ERANGE;
}

int port_add(const struct conf *conf, const struct conf_port *port, unsigned int workers)
{
	struct rte_mempool *pools[CONF_MAX_WORKERS];
	struct ethdev_pollers by;
	int place = interface_place(port), err;
	char where[PATH_MAX + NAME_MAX];

	conf_where(conf, port, NULL, where, sizeof(where));
	err = port->device[0] ? check_device(port, where) : port->vlan ? check_mtu(conf, port) : 0;
	if (err)
		return err;
	if (place < 0) {
		log_error("%s: all %u places of ports are taken, or were within the last %u seconds: "
			  "reload later",
			  where, CONF_MAX_INTERFACES, INTERFACE_REST_S);
		return place;
	}
	if (interface_is_jumbo(conf, port) && !packet_pool_jumbo) {
		log_warn("%s: needs a restart: there are no buffers for an MTU above %u", where,
			 MTU_USUAL);
		return -ERANGE;
	}
	if (get_pollers((unsigned int)place, conf, port, workers, pools, &by, where))
		return -ENOMEM;
	netlink_resync();
	return interface_add(conf, port, &by);
}

int port_remove(const struct conf_port *port, const char *where)
{
	struct interface *interface = interface_named(port->name);
	struct device *device = interface ? interface_device(interface) : NULL;
	int err = interface ? interface_remove(interface) : 0;

	if (err) {
		log_error("%s: port %s stays: a worker hangs, or has hung and left a VLAN on it",
			  where, port->name);
		return err;
	}
	/* The device of a VLAN stays, and would go on receiving frames to its macvlans. */
	if (device && interface->kind == INTERFACE_VLAN)
		macvlans_leave((unsigned int)(interface - interfaces), device);
	note_xdp(port);
	netlink_resync();
	log_port(RTE_LOG_INFO, port->name, "removed");
	return 0;
}

/* Whether a port needs a new device: that of the start runs on an interface that is gone, and there is one of its name
 * again. */
static bool can_be_renewed(const struct interface *interface, const struct conf_port *port)
{
	const struct device *device = interface_device(interface);
	char iface[IFNAMSIZ];
	uint16_t mtu;

	/* net_af_xdp does not give its buffers back. */
	if (strncmp(port->device, "net_af_packet", strlen("net_af_packet")))
		return false;
	return device ? wire_is_anew(device->wire) : !netdev_of_device(port->device, iface, &mtu);
}

/* @return whether it carries packets again */
static bool renew(const struct conf *conf, const struct conf_port *port,
		  struct interface *interface)
{
	const unsigned int place = (unsigned int)(interface - interfaces);
	struct rte_mempool *pools[CONF_MAX_WORKERS];
	struct ethdev_pollers by;

	if (get_pollers(place, conf, port, conf->workers, pools, &by, port->name) ||
	    interface_renew_device(interface, conf, port, &by))
		return false;
	for (unsigned int i = 0; i < ninterfaces; i++)
		if (i == place || interface_is_on(&interfaces[i], interface))
			macvlans_take_again(i);
	log_port(RTE_LOG_INFO, port->name, "carries packets again: its interface was made anew");
	return true;
}

void ports_watch(const struct conf *conf)
{
	static unsigned int wait = WATCH_MS;
	static uint64_t next;
	bool failed = false;

	if (clock_now_ms < next)
		return;
	for (unsigned int i = 0; i < conf->ndevices; i++) {
		struct interface *interface = interface_named(conf->port[i].name);

		if (interface && can_be_renewed(interface, &conf->port[i]))
			failed |= !renew(conf, &conf->port[i], interface);
	}
	/* Each try makes all workers wait, and decide about their flows again. */
	wait = failed ? RTE_MIN(2 * wait, WATCH_MOST_MS) : WATCH_MS;
	next = clock_now_ms + wait;
}

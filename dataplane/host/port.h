/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file port.h
 * A gateway port: a DPDK port that carries packets, and the TAP that is the
 * kernel's view of it.
 */
#ifndef CYGNETD_PORT_H
#define CYGNETD_PORT_H

#include <net/if.h>
#include <string.h>
#include <rte_ether.h>
#include <rte_mempool.h>

#include "base/changes.h"
#include "conf/conf.h"
#include "cygnet.h"

struct port {
	char name[32];
	char tap_name[IFNAMSIZ];
	char iface[IFNAMSIZ];	/* of the kernel's, whose MTU is the wire's; "": the driver has it */
	uint16_t id;		/* ethdev of the wire side */
	uint16_t tap_id;	/* ethdev of the TAP */
	uint16_t queues;	/* receive and transmit queue pairs of id; worker w uses w % queues */
	uint16_t mtu;		/* bytes of IP packet; follows the TAP's MTU, */
	uint16_t mtu_most;	/* as far as device and buffers can */
	uint32_t ifindex;	/* of the TAP */
	uint32_t interface;	/* cygnet_interface() of the TAP: what policies call the port */
	uint64_t mac;		/* of both, in its first six bytes: port_mac() */
	bool forwards;		/* the kernel's setting net.ipv4.conf.TAP.forwarding */
	bool up;		/* the TAP is administratively up */
};

/** All ports; fixed after ports_start(). Lcores read, the control thread
 * writes mtu, mac, forwards and up. */
extern struct port ports[CONF_MAX_PORTS];
extern unsigned int nports;
/** The kernel's setting net.ipv6.conf.all.forwarding; as it is for all ports. */
extern bool ports_forward6;

/** The MAC address of a port and its TAP. Any thread; never half of an old one. */
static inline struct rte_ether_addr port_mac(const struct port *port)
{
	uint64_t word = __atomic_load_n(&port->mac, __ATOMIC_RELAXED);
	struct rte_ether_addr mac;

	memcpy(&mac, &word, sizeof(mac));
	return mac;
}

/** The control thread. */
static inline void port_set_mac(struct port *port, const struct rte_ether_addr *mac)
{
	uint64_t word = 0;

	memcpy(&word, mac, sizeof(*mac));
	__atomic_store_n(&port->mac, word, __ATOMIC_RELAXED);
	changes_note();
}

/**
 * Create, configure and start the ports and TAPs of conf.
 * @param pools  by worker number: each queue receives into that of the worker that polls it
 * @param jumbo  what ports receive into whose packets are longer than MTU_USUAL
 * @return 0 or -errno, logged
 */
int ports_start(const struct conf *conf, struct rte_mempool *const *pools,
		struct rte_mempool *jumbo, unsigned int workers);
/** The first port of conf that cannot receive into buffers outside of DPDK's own
 * memory. @return its name; NULL: all can */
const char *ports_own_memory(const struct conf *conf);
void ports_stop(void);
/** How many packets the queues of ports and TAPs of conf can hold.
 * @param jumbo  of those with packets longer than MTU_USUAL, or of the others */
unsigned int ports_packets(const struct conf *conf, unsigned int workers, bool jumbo);
/** @return index in ports[] or -1; any thread */
int port_by_ifindex(uint32_t ifindex);

#endif

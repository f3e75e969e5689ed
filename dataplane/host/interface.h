/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file interface.h
 * An IP interface of the gateway. It lies on a device (device.h) or on none, and the kernel sees it as a TAP
 * (tap.h). Routes, neighbours, addresses, policies and counters refer to interfaces; workers poll devices, and send
 * to them.
 */
#ifndef CYGNETD_INTERFACE_H
#define CYGNETD_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <rte_ether.h>
#include <rte_mempool.h>

#include "base/changes.h"
#include "conf/conf.h"
#include "cygnet.h"
#include "host/device.h"
#include "host/tap.h"
#include "host/vlan.h"

/** What an interface is built on. */
enum interface_kind {
	INTERFACE_PORT,	  /* a device, whose frames have no tag */
	INTERFACE_VLAN,	  /* a VLAN on the device of a port */
	INTERFACE_TUNNEL, /* on no device: packets go to and come from SAs with its interface ID */
};

enum interface_link {
	INTERFACE_LINK_UNKNOWN, /* the TAP has just been made */
	INTERFACE_LINK_DOWN,
	INTERFACE_LINK_UP,
};

struct interface {
	char name[32];
	uint8_t kind;	       /* enum interface_kind */
	uint8_t device;	       /* index in devices[], or DEVICE_NONE */
	uint8_t port;	       /* of a VLAN: index in interfaces[] of its port */
	uint8_t priority;      /* of frames that leave, as conf_port.priority; atomic */
	bool dscp_of_priority; /* as conf_port.dscp_of_priority; atomic */
	struct vlan_tags tags; /* in front of the EtherType of its frames; they stay as they are */
	struct tap tap;
	uint16_t mtu;	    /* bytes of IP packet; follows the TAP's MTU if the device allows it */
	uint32_t policy_id; /* cygnet_interface() of the TAP's name; policies refer to it */
	uint32_t if_id;	    /* of a tunnel; otherwise 0 */
	uint16_t mtu_most;  /* of a tunnel: what the buffers of its TAP are for */
	uint64_t mac;	    /* MAC address, in the first six bytes: interface_mac() */
	uint8_t side;	    /* enum side (side.h); atomic */
	uint32_t ends_tunnel; /* in which order tunnels have ended here; 0: none; control thread only */
	bool forwards;	      /* the kernel's setting net.ipv4.conf.TAP.forwarding */
	bool up;	      /* the TAP is administratively up */
	bool carrier;	      /* and has carrier; control thread only */
	uint8_t link; /* enum interface_link: of its device, as its TAP was given it (carrier.h); atomic */
	bool removed;	     /* there is no TAP; atomic */
	uint64_t removed_at; /* clock_seconds() */
	bool opened;	     /* interfaces_open() has started its device */
};

/** Seconds before another port takes the place of a removed one: longer than a packet can wait anywhere
 * in cygnetd, so that no packet for the one leaves by the other. */
#define INTERFACE_REST_S 60u

/** All interfaces, removed ones among them; their number only grows. The control thread writes. Lcores read them, and
 * atomically what changes while an interface is there: device, mtu, mac, side, priority, dscp_of_priority, forwards, up and
 * removed. */
extern struct interface interfaces[CONF_MAX_INTERFACES];
extern unsigned int ninterfaces;
_Static_assert(CONF_MAX_INTERFACES < 64 && CONF_MAX_DEVICES < 32,
	       "a mask is shifted by one more than its last bit");
/** How many ports and VLANs there are, one among them whose device is being started again; atomic. */
extern unsigned int interfaces_count;
/** How many tunnels there are; atomic. */
extern unsigned int interfaces_tunnels;
/** The kernel's setting net.ipv6.conf.all.forwarding, which applies to all interfaces. */
extern bool interfaces_forward6;

/** The device that an interface receives and transmits through. @return NULL: it lies on none */
static inline struct device *interface_device(const struct interface *interface)
{
	/* Loaded once: the control thread may be writing it, and a VLAN loses its device while it is present. */
	uint8_t device = __atomic_load_n(&interface->device, __ATOMIC_RELAXED);

	return device < DEVICE_NONE ? &devices[device] : NULL;
}

/** Which interfaces there are: bit i for interfaces[i]. Any thread; a worker reads it when
 * changes_seen() has changed, and when another worker hands off a frame for an interface that it has not seen yet. */
static inline uint64_t interfaces_present(void)
{
	unsigned int n = __atomic_load_n(&ninterfaces, __ATOMIC_ACQUIRE);
	uint64_t mask = 0;

	for (unsigned int i = 0; i < n; i++)
		if (!__atomic_load_n(&interfaces[i].removed, __ATOMIC_ACQUIRE))
			mask |= 1ull << i;
	return mask;
}

/** Which devices these interfaces lie on: bit i for devices[i]. A worker uses no others. */
static inline uint32_t interfaces_devices(uint64_t present)
{
	uint32_t mask = 0;

	for (unsigned int i = 0; present >> i; i++) {
		const struct device *device = interface_device(&interfaces[i]);

		if (present >> i & 1 && device)
			mask |= 1u << (device - devices);
	}
	return mask;
}

/** The MAC address of an interface and its TAP. Any thread; read atomically. */
static inline struct rte_ether_addr interface_mac(const struct interface *interface)
{
	uint64_t word = __atomic_load_n(&interface->mac, __ATOMIC_RELAXED);
	struct rte_ether_addr mac;

	memcpy(&mac, &word, sizeof(mac));
	return mac;
}

/** Set the MAC address of the interface, not of its device. Control thread only. */
static inline void interface_set_mac(struct interface *interface, const struct rte_ether_addr *mac)
{
	uint64_t word = 0;

	memcpy(&word, mac, sizeof(*mac));
	__atomic_store_n(&interface->mac, word, __ATOMIC_RELAXED);
	changes_note();
}

/** Take the priorities and DSCPs of a section over. Control thread only; workers see them with their next burst. */
void interface_set_priority(struct interface *interface, const struct conf_port *section);
/** Change the MTU of a running interface, but not of its TAP. That of a port is its device's, and those of VLANs on it become no
 * greater, with their TAPs'; that of a VLAN is at most what its port's allows. Control thread only.
 * @return 0 or -errno; -ERANGE: too large */
int interface_set_mtu(struct interface *interface, uint32_t mtu);
/** Apply the MAC address of the TAP to the interface and its device, so that the device receives packets to it.
 * Control thread only. @param mac  NULL: not known */
void interface_follow_mac(struct interface *interface, const struct rte_ether_addr *mac);

/**
 * Create, configure and start the interfaces of conf, with their devices and TAPs.
 * @param pools  by worker number; a queue receives into the pool of the worker that polls it
 * @param jumbo  pool for devices with an MTU above MTU_USUAL
 * @return 0 or -errno, logged; call interfaces_stop() in any case
 */
int interfaces_start(const struct conf *conf, struct rte_mempool *const *pools,
		     struct rte_mempool *jumbo, unsigned int workers);
void interfaces_stop(void);
/**
 * A place for another interface while workers run: that of the removed one of that name and kind, that of one removed
 * INTERFACE_REST_S ago, or a new one. Control thread only.
 * @return index in interfaces[], or -ENOSPC
 */
int interface_place(const struct conf_port *section);
/**
 * Create and start the interface of a section while workers run, which use it from their next turn on. Control
 * thread only.
 * @param by  by->index is the result of interface_place()
 * @return 0 or -errno, logged
 */
int interface_add(const struct conf *conf, const struct conf_port *section,
		  const struct ethdev_pollers *by);
/**
 * Stop and remove an interface, its TAP and a port's device while workers run. A port with VLANs loses them first. Control
 * thread only.
 * @return 0; -EBUSY: a worker hangs, and the interface stays
 */
int interface_remove(struct interface *interface);
/**
 * Start the device of an interface again while workers run, because the kernel's interface below it was made
 * anew. TAPs stay, its own and those of its VLANs; the new device gets the MAC address of its own. Control thread only.
 * @param by  by->index is that of the interface
 * @return 0; -EBUSY: a worker hangs, and nothing has changed; or another -errno, logged: the interface lies on no
 *         device then
 */
int interface_renew_device(struct interface *interface, const struct conf *conf,
			   const struct conf_port *section, const struct ethdev_pollers *by);
/** Whether the devices of all ports can be open in two processes. One that cannot is logged. */
bool interfaces_can_share(const struct conf *conf);
/**
 * Start the devices of conf, which interfaces_can_share(), while another process has them open. interfaces_start() then
 * starts the TAPs. Parameters as of interfaces_start(). @return 0 or -errno, logged. Call interfaces_stop() in any case
 */
int interfaces_open(const struct conf *conf, struct rte_mempool *const *pools,
		    struct rte_mempool *jumbo, unsigned int workers);
/** Drop the frames that the devices have received so far. No worker runs. */
void interfaces_discard(void);
/** Whether the frames of a section's interface need larger buffers: its port's MTU is above MTU_USUAL. */
bool interface_is_jumbo(const struct conf *conf, const struct conf_port *section);
/** How many queue pairs a section's device and TAP have. */
unsigned int interface_queues(const struct conf_port *section, unsigned int workers);
/** How many packets the queues of devices and TAPs of conf can hold.
 * @param jumbo  true: ports with an MTU above MTU_USUAL; false: the others */
unsigned int interfaces_packets(const struct conf *conf, unsigned int workers, bool jumbo);
/** The largest MTU of a VLAN, which its port's leaves for it. Control thread only. */
uint16_t interface_mtu_on(const struct interface *vlan);
/** The same for a VLAN that is to be added. @return 0: its port is not there */
uint16_t interface_mtu_for(const struct conf_port *section);
/** Whether a VLAN lies on a port. Control thread only. */
bool interface_is_on(const struct interface *vlan, const struct interface *port);
/** The interface of a [port NAME] section. Control thread only. @return NULL: there is none */
struct interface *interface_named(const char *name);
/** The tunnel of SAs with an interface ID. Any thread. @return index in interfaces[] or -1, also for ID 0 */
int interface_by_if_id(uint32_t if_id);
/** The interface whose TAP has a kernel interface index. Any thread.
 * @return index in interfaces[] or -1 */
int interface_by_ifindex(uint32_t ifindex);

#endif

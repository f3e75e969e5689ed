/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file macvlan.h
 * Macvlans on the ports' TAPs, such as keepalived makes for a virtual router (use_vmac): each is another MAC
 * address of its port. The port takes frames to it, addresses and routes of the macvlan count as those of the
 * port, and packets whose route leads through the macvlan have its MAC address as their source.
 */
#ifndef CYGNETD_MACVLAN_H
#define CYGNETD_MACVLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_ether.h>

#include "conf/conf.h"
#include "host/interface.h"

/** Capacity of a port; frames to further ones are not taken. */
#define MACVLANS_MAX 32u
/** The number that stands for the port itself. Macvlans have the numbers from 1 to MACVLANS_MAX. */
#define MACVLAN_NONE 0u

/** The control thread writes. */
struct macvlans {
	uint32_t used;			/* no macvlan has a higher number; atomic */
	uint64_t mac[MACVLANS_MAX];	/* with MACVLAN_VALID; 0: none. Atomic */
	uint32_t ifindex[MACVLANS_MAX]; /* 0: free. Control thread only */
	bool stale[MACVLANS_MAX];	/* control thread only */
	bool quarantined[MACVLANS_MAX]; /* removed, but routes and neighbours may still have its number.
					 * Control thread only */
};
#define MACVLAN_VALID (1ull << 63)

/** By index in interfaces[]. */
extern struct macvlans macvlans[CONF_MAX_INTERFACES];

/** Whether a macvlan of a port has a MAC address. Any thread.
 * @param mac  the address in the first six bytes; the other two do not count */
static inline bool macvlan_has_mac(unsigned int interface, uint64_t mac)
{
	const struct macvlans *of = &macvlans[interface];
	uint32_t used = __atomic_load_n(&of->used, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < used; i++) {
		uint64_t its = __atomic_load_n(&of->mac[i], __ATOMIC_RELAXED);

		if (its & MACVLAN_VALID && !((its ^ mac) << 16))
			return true;
	}
	return false;
}

/** The source MAC address of frames that leave through a macvlan of a port; the port's own if the macvlan is
 * gone, or for MACVLAN_NONE. Any thread. */
static inline struct rte_ether_addr macvlan_source(unsigned int interface, unsigned int macvlan)
{
	struct rte_ether_addr mac;
	uint64_t word = 0;

	if (macvlan != MACVLAN_NONE)
		word = __atomic_load_n(&macvlans[interface].mac[macvlan - 1], __ATOMIC_RELAXED);
	if (!word)
		return interface_mac(&interfaces[interface]);
	memcpy(&mac, &word, sizeof(mac));
	return mac;
}

/* ------------------------------------------------ control thread only -- */

/** A port's TAP or a macvlan on it. */
struct macvlan_link {
	int interface; /* index in interfaces[]; -1: neither */
	uint8_t macvlan;
};

/** What a kernel interface is. */
struct macvlan_link macvlan_find(uint32_t ifindex);
/** The kernel interface of a macvlan, or of the port's TAP. @return 0: there is none */
uint32_t macvlan_ifindex(unsigned int interface, unsigned int macvlan);
/** A macvlan is up, with that MAC address.
 * @return whether anything has changed, so that a full dump is needed */
bool macvlan_set(unsigned int interface, uint32_t ifindex, const struct rte_ether_addr *mac);
/** A kernel interface is gone, is down, or is not on a port's TAP any more. @return whether it was a macvlan */
bool macvlan_forget(uint32_t ifindex);
/** An interface has another device, which is to receive frames to its macvlans. */
void macvlans_take_again(unsigned int interface);
/** An interface has been removed whose device stays: that need not receive frames to its macvlans. */
void macvlans_leave(unsigned int interface, struct device *device);
/** Called before and after a full dump: macvlans not set in between are removed. */
void macvlans_mark(void);
void macvlans_sweep(void);
/** Called after a full dump, when its routes are in force: the numbers of macvlans that are gone may be given to
 * others. Until then packets whose routes have such a number have the port's MAC address.
 * @return whether a macvlan has to wait for such a number, so that another dump is needed */
bool macvlans_end_quarantine(void);

#endif

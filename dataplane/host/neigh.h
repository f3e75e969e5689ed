/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file neigh.h
 * Mirror of the kernel's neighbours on the TAPs. The kernel resolves them by ARP and ND over the
 * TAP; cygnetd asks it to with NTF_USE.
 */
#ifndef CYGNETD_NEIGH_H
#define CYGNETD_NEIGH_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_ether.h>

#include "cygnet.h"

/** Identity of a neighbour. */
struct neigh {
	struct cygnet_addr addr;
	uint8_t af;
	uint8_t interface; /* index in interfaces[] */
	uint8_t macvlan;   /* of the interface, to which the kernel resolves it (macvlan.h) */
};

/**
 * The MAC address of a neighbour. Lcores; lock-free. A stale neighbour is used and solicited, so
 * that the kernel confirms it.
 * @return false: not resolved
 */
bool neigh_lookup(const struct neigh *n, struct rte_ether_addr *mac);

/** The same for display: a stale neighbour is not solicited. Any thread. */
bool neigh_known(const struct neigh *n, struct rte_ether_addr *mac);

/**
 * Ask the control thread to let the kernel resolve or confirm a neighbour. Lcores; never blocks; at
 * most one request a second for each neighbour and lcore.
 */
void neigh_solicit(const struct neigh *n);

/** A keyed hash of a neighbour, which no sender can predict. Any thread. */
uint64_t neigh_hash(const struct neigh *n);

/** Neighbours whose changes are counted together. */
#define NEIGH_GROUPS 4096u
/** The group of a neighbour, below NEIGH_GROUPS. Any thread. */
uint16_t neigh_group(const struct neigh *n);
/** Count of changes of MAC addresses in a group; that the kernel wants one confirmed is none. Read it before
 * looking up what is to be cached. Any thread. */
uint32_t neigh_changes(uint16_t group);

/* ------------------------------------------------ control thread only -- */

/** @return 0 or -errno */
int neighs_init(void);
void neighs_free(void);
/** Set the MAC address of a neighbour. @param stale  the kernel wants it confirmed */
void neigh_set(const struct neigh *n, const struct rte_ether_addr *mac, bool stale);
void neigh_forget(const struct neigh *n);
/** Called before and after a full dump: neighbours not set in between are removed. */
void neighs_mark(void);
void neighs_sweep(void);
/** The next neighbour that an lcore solicited. @return false: none */
bool neigh_wanted(struct neigh *n);

#endif

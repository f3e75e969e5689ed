/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file neigh.h
 * The kernel's neighbours on the TAPs, mirrored for the lcores. The kernel
 * resolves (ARP and ND run over the TAP); we ask it to with NTF_USE.
 */
#ifndef CYGNETD_NEIGH_H
#define CYGNETD_NEIGH_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_ether.h>

#include "cygnet.h"

/** Who is asked for. */
struct neigh {
	struct cygnet_addr addr;
	uint8_t af;
	uint8_t interface; /* index in interfaces[] */
};

/**
 * The MAC address of a neighbour. Lcores; lock-free. One that the kernel holds
 * for stale is used, and solicited so that the kernel confirms it.
 * @return false if it is not resolved
 */
bool neigh_lookup(const struct neigh *n, struct rte_ether_addr *mac);

/**
 * Ask the control thread to have the kernel resolve a neighbour, or confirm one
 * in use. Lcores; never blocks; at most once a second and neighbour.
 */
void neigh_solicit(const struct neigh *n);

/* ------------------------------------------------ the control thread's part -- */

/** @return 0 or -errno */
int neighs_init(void);
void neighs_free(void);
/** The kernel knows a neighbour. @param stale  and wants it confirmed before long */
void neigh_set(const struct neigh *n, const struct rte_ether_addr *mac, bool stale);
void neigh_forget(const struct neigh *n);
/** Around a full dump: what was not set between the two calls is forgotten. */
void neighs_mark(void);
void neighs_sweep(void);
/** The next neighbour that a worker asked for. @return false if there is none */
bool neigh_wanted(struct neigh *n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file neigh.h
 * The kernel's IPv4 neighbours on the TAPs, mirrored for the lcores. The kernel
 * resolves (ARP runs over the TAP); we ask it to with NTF_USE.
 */
#ifndef CYGNETD_NEIGH_H
#define CYGNETD_NEIGH_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_ether.h>

/**
 * The MAC address of a neighbour. Lcores; lock-free. One that the kernel holds
 * for stale is used, and solicited so that the kernel confirms it.
 * @param port  index in ports[]
 * @param addr  network byte order
 * @return false if it is not resolved
 */
bool neigh_lookup(unsigned int port, uint32_t addr, struct rte_ether_addr *mac);

/**
 * Ask the control thread to have the kernel resolve a neighbour, or confirm one
 * in use. Lcores; never blocks; at most once a second and neighbour.
 */
void neigh_solicit(unsigned int port, uint32_t addr);

/* ------------------------------------------------ the control thread's part -- */

/** @return 0 or -errno */
int neighs_init(void);
void neighs_free(void);
/** The kernel knows a neighbour. @param stale  and wants it confirmed before long */
void neigh_set(unsigned int port, uint32_t addr, const struct rte_ether_addr *mac, bool stale);
void neigh_forget(unsigned int port, uint32_t addr);
/** Around a full dump: what was not set between the two calls is forgotten. */
void neighs_mark(void);
void neighs_sweep(void);
/** The next neighbour that a worker asked for. @return false if there is none */
bool neigh_wanted(unsigned int *port, uint32_t *addr);

#endif

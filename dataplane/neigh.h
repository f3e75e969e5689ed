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
 * The MAC address of a neighbour. Lcores; lock-free.
 * @param port  index in ports[]
 * @param addr  network byte order
 * @return false if it is not resolved
 */
bool neigh_lookup(unsigned int port, uint32_t addr, struct rte_ether_addr *mac);

/**
 * Ask the control thread to have the kernel resolve a neighbour, or confirm one
 * in use. Lcores; never blocks; repeated requests cost little.
 */
void neigh_solicit(unsigned int port, uint32_t addr);

#endif

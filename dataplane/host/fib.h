/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file fib.h
 * The forwarding information base: two DPDK FIBs with the same contents for each address family.
 * Lcores look up in one. The control thread changes the other, swaps them, waits until no lcore
 * reads the old one, and repeats the changes there. A lookup never reads a FIB that is being
 * changed, because rte_fib of DPDK 22.11 clears and reuses second-level tables at once.
 */
#ifndef CYGNETD_FIB_H
#define CYGNETD_FIB_H

#include <stdbool.h>
#include <stdint.h>

#include "host/route.h"

/** Index of a prefix that is not in the FIB. */
#define FIB_ABSENT 0u

/** @param routes,routes6  capacity for IPv4 and IPv6 prefixes. @return 0 or -errno, logged */
int fib_init(unsigned int workers, uint32_t routes, uint32_t routes6);
void fib_free(void);

/**
 * Set or remove a prefix. Lookups use it after fib_commit(). Control thread only.
 * @param dst    of family af, host bits zero
 * @param hop    NULL: remove it. Its group (hop_group.h) is held as long as lcores may see it
 * @param index  state of this prefix, kept by the caller between calls; at first FIB_ABSENT
 * @return 0 or -errno, logged, without a change; -EAGAIN: a worker hangs and may read the old FIB,
 *         and the next fib_missed() returns true
 */
int fib_set(uint8_t af, const struct cygnet_addr *dst, uint8_t bits, const struct next_hop *hop,
	    uint32_t *index);

/** The next hop that a prefix was set to. Control thread only. @param index  of fib_set() */
struct next_hop fib_hop(uint32_t index);

/**
 * Put the changes in force. Waits for one loop iteration of every worker, at most a second.
 * Control thread only.
 * @return 0; -EAGAIN: the changes are in force, but a worker hangs and may read the old FIB. No
 *         other change is possible until a later call returns 0.
 */
int fib_commit(void);
/** Whether a change was refused with -EAGAIN since the last call. Control thread only. */
bool fib_missed(void);

#endif

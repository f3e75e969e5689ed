/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file fib.h
 * What lcores look destinations up in: of either family two DPDK FIBs with the same contents.
 * Lcores use one; the control thread changes the other, makes them change
 * places, waits until no lcore is left in the old one, and repeats the changes
 * there. So a lookup never meets a FIB in the middle of a change: rte_fib
 * of DPDK 22.11 clears and reuses its second-level tables at once.
 */
#ifndef CYGNETD_FIB_H
#define CYGNETD_FIB_H

#include <stdbool.h>
#include <stdint.h>

#include "host/route.h"

/** "The FIB has no such prefix." */
#define FIB_ABSENT 0u

/** @param routes,routes6 prefixes of IPv4 and IPv6 that fit. @return 0 or -errno, logged */
int fib_init(unsigned int workers, uint32_t routes, uint32_t routes6);
void fib_free(void);

/**
 * Set or remove a prefix; in force after fib_commit(). The control thread.
 * @param dst    of family af, host bits zero
 * @param hop    NULL: remove it
 * @param index  what the last call for this prefix left here, at first FIB_ABSENT
 * @return 0 or -errno, logged, and nothing has changed; -EAGAIN: a worker hangs in the
 *         other FIB, and fib_missed() will say so
 */
int fib_set(uint8_t af, const struct cygnet_addr *dst, uint8_t bits, const struct next_hop *hop,
	    uint32_t *index);

/**
 * Put the changes in force. Waits for one turn of every worker's loop, a second at the
 * most. The control thread.
 * @return 0; -EAGAIN: they are in force, but a worker still has to make its turn. Until a
 *         later call returns 0, no other change is possible.
 */
int fib_commit(void);
/** Whether a change was refused with -EAGAIN since the last call. The control thread. */
bool fib_missed(void);

#endif

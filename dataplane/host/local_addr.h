/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file local_addr.h
 * Mirror of the kernel's local addresses. The source address of an ICMP error is one of them.
 */
#ifndef CYGNETD_LOCAL_ADDR_H
#define CYGNETD_LOCAL_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"

/** Capacity for both families together; further addresses are ignored. */
#define LOCAL_ADDRS_MAX 256u
/** The address belongs to a kernel interface that is not in interfaces[], such as a loopback. */
#define LOCAL_ADDR_NO_INTERFACE UINT8_MAX

struct local_addr {
	struct cygnet_addr addr;
	uint8_t af;
	uint8_t interface; /* index in interfaces[], or LOCAL_ADDR_NO_INTERFACE */
	uint8_t bits; /* prefix length of the network that the address attaches the interface to */
};

/**
 * The next address, in the order in which the kernel reported them. Any thread; lock-free.
 * @param cursor  0 for the first address; advanced by the call. A change of the table between
 *                calls may make it skip or repeat an address.
 * @return false: no further address
 */
bool local_addr_next(unsigned int *cursor, struct local_addr *addr);
/** The first address of an interface. Any thread. @return zero: none of that family */
struct cygnet_addr local_addr_of(uint8_t af, unsigned int interface);
/** Whether an address is one of an interface's. Any thread. */
bool local_addr_is_of(uint8_t af, unsigned int interface, const struct cygnet_addr *addr);
/** Whether a range of addresses lies in the network of one of an interface's addresses. Any thread.
 * @param lo, hi  the first and the last address */
bool local_addr_attaches(uint8_t af, unsigned int interface, const struct cygnet_addr *lo,
			 const struct cygnet_addr *hi);

/* ------------------------------------------------ control thread only -- */

/** Add an address; an address that is there already keeps its position. */
void local_addr_add(const struct local_addr *addr);
/** Remove an address that the kernel removed, or that ICMP errors must not use. */
void local_addr_forget(const struct local_addr *addr);
/** Called before and after a full dump: addresses not added in between are removed. */
void local_addrs_mark(void);
void local_addrs_sweep(void);

#endif

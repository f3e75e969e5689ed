/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file local_addr.h
 * The addresses of this host, as the kernel has them: one of them is the source of each of
 * our ICMP errors.
 */
#ifndef CYGNETD_LOCAL_ADDR_H
#define CYGNETD_LOCAL_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"

/** Of both families; more are left out. */
#define LOCAL_ADDRS_MAX 256u
/** The address is that of a kernel interface without a place in interfaces[], as a loopback's. */
#define LOCAL_ADDR_NO_INTERFACE UINT8_MAX

struct local_addr {
	struct cygnet_addr addr;
	uint8_t af;
	uint8_t interface; /* index in interfaces[], or LOCAL_ADDR_NO_INTERFACE */
};

/**
 * The next address, in the order in which the kernel told of them. Any thread; lock-free.
 * @param cursor  0 for the first one; moved on. Changes in between may make it miss one
 *                or meet one twice
 * @return false if there is no other
 */
bool local_addr_next(unsigned int *cursor, struct local_addr *addr);
/** The first address of an interface. Any thread. @return zero if it has none of that family */
struct cygnet_addr local_addr_of(uint8_t af, unsigned int interface);

/* ------------------------------------------------ the control thread's part -- */

/** The kernel has an address; one that is known already stays where it is. */
void local_addr_add(const struct local_addr *addr);
/** It has it no longer, or it is not to be used. */
void local_addr_forget(const struct local_addr *addr);
/** Around a full dump: what was not added between the two calls is forgotten. */
void local_addrs_mark(void);
void local_addrs_sweep(void);

#endif

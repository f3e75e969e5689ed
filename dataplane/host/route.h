/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file route.h
 * The kernel's routes, mirrored into DPDK FIBs. The control thread writes
 * (netlink), lcores look up without locks.
 */
#ifndef CYGNETD_ROUTE_H
#define CYGNETD_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cygnet.h"

enum route_kind {
	ROUTE_NONE,		/* no route: unreachable */
	ROUTE_LOCAL,		/* one of our addresses, or broadcast or multicast: the kernel's */
	ROUTE_FORWARD,		/* out of an interface of ours */
	ROUTE_KERNEL,		/* out of another interface: the kernel's */
	ROUTE_BLACKHOLE,	/* blackhole, unreachable or prohibit */
};

struct next_hop {
	uint8_t kind;		/* enum route_kind */
	uint8_t interface;	/* ROUTE_FORWARD: index in interfaces[] */
	bool nobody;		/* ROUTE_FORWARD on link, by charon's route alone, whose packets are
				 * protected: nobody there has the address */
	uint8_t reserved[5];
	struct cygnet_addr gateway; /* of the route's family; 0: the destination is on link */
};

static inline bool next_hop_equal(const struct next_hop *a, const struct next_hop *b)
{
	return a->kind == b->kind && a->interface == b->interface && a->nobody == b->nobody &&
	       !memcmp(&a->gateway, &b->gateway, sizeof(a->gateway));
}

/**
 * The next hop of a destination. Lcores that are online.
 * @param dst  of family af, 4 or 16 bytes; it need not be aligned
 */
struct next_hop route_lookup(uint8_t af, const void *dst);

/*
 * The FIB takes memory of deleted routes back once every worker has passed
 * through a quiescent state. worker is its number; all by the worker itself.
 */
void route_reader_online(unsigned int worker);
void route_reader_quiescent(unsigned int worker);
void route_reader_offline(unsigned int worker);

/* ------------------------------------------------ the control thread's part -- */

/** charon's routing table: its rule precedes that of the main table. */
#define ROUTE_TABLE_CHARON 220

/** One route as the kernel has it: what tells it from others of its prefix, and
 * where it leads. */
struct route {
	struct cygnet_addr dst;	/* host bits zero */
	uint8_t af;
	uint8_t bits;		/* prefix length */
	uint8_t tos;
	uint32_t table, metric;
	bool throws;		/* a throw route: look on in the next table; hop is void */
	struct next_hop hop;
};

/** @param routes IPv4 prefixes that fit, and a quarter as many of IPv6. @return 0 or -errno, logged */
int routes_init(unsigned int workers, uint32_t routes);
void routes_free(void);
/** Add a route of table local, 220, main or default; one that is there already is kept.
 * @param replace  it takes the place of those with the same prefix, table, metric and tos
 * @return 0 or -errno */
int route_add(const struct route *route, bool replace);
/** @return 0, -ENOENT or, if a worker hangs, -EAGAIN */
int route_delete(const struct route *route);
/** Put what was added and deleted in force, for lookups. Waits for one turn of
 * every worker's loop, a second at the most.
 * @return false if a worker hangs: then nothing can be added or deleted until a later
 * call returns true */
bool routes_commit(void);
/** Whether something that was added or deleted since the last call is not in force,
 * because a worker hung: a full dump makes up for it. */
bool routes_missed(void);
/** Around a full dump: what was not added between the two calls is removed. */
void routes_mark(void);
void routes_sweep(void);

/** The next route in force, for display, in no particular order.
 * @param cursor  0 for the first one; moved on. Changes in between may make it
 * miss a route or meet one twice. @return false if there is no other */
bool route_next(uint32_t *cursor, struct route *route);
const char *route_kind_name(uint8_t kind);

#endif

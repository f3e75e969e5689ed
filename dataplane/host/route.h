/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file route.h
 * The kernel's routes, mirrored into DPDK FIBs. The control thread writes (netlink.c), lcores look up
 * without locks.
 */
#ifndef CYGNETD_ROUTE_H
#define CYGNETD_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"

enum route_kind {
	ROUTE_NONE,    /* no route: unreachable */
	ROUTE_LOCAL,   /* a local, broadcast or multicast address: to the kernel */
	ROUTE_FORWARD, /* through a port or VLAN of Cygnet */
	/* Through a tunnel of Cygnet: policies with its interface ID decide. Told from the kind of the interface when the route is
	 * mirrored, so that a stale route keeps its meaning when the place is reused, and who forgets this kind forwards nothing. */
	ROUTE_TUNNEL,
	ROUTE_KERNEL,	 /* through another interface: to the kernel */
	ROUTE_BLACKHOLE, /* blackhole, unreachable or prohibit */
};

struct next_hop {
	uint8_t kind;	   /* enum route_kind */
	uint8_t interface; /* ROUTE_FORWARD, ROUTE_TUNNEL: index in interfaces[] */
	uint8_t macvlan;   /* ROUTE_FORWARD: of the interface (macvlan.h) */
	bool via6;	   /* gateway is an IPv6 address, of an IPv4 route too */
	bool no_neighbour; /* ROUTE_FORWARD by an on-link route of charon, which is for
				 * protected packets: no neighbour has the address */
	uint8_t reserved;
	uint16_t mtu; /* bytes of IP packet, of the route itself; 0: none */
	uint16_t group; /* it stands for several, and is one of them (hop_group.h); 0: it is the only one */
	uint16_t reserved2[3];
	struct cygnet_addr gateway; /* of the route's family, unless via6; 0: on link */
};

/** Whether a next hop is through an interface of Cygnet. */
static inline bool next_hop_is_ours(const struct next_hop *hop)
{
	return hop->kind == ROUTE_FORWARD || hop->kind == ROUTE_TUNNEL;
}

static inline bool next_hop_equal(const struct next_hop *a, const struct next_hop *b)
{
	return a->kind == b->kind && a->interface == b->interface && a->macvlan == b->macvlan &&
	       a->mtu == b->mtu && a->group == b->group && a->via6 == b->via6 &&
	       a->no_neighbour == b->no_neighbour &&
	       !memcmp(&a->gateway, &b->gateway, sizeof(a->gateway));
}

/**
 * The next hop of a destination. Where there are several it is one of them, for all questions that do not depend on a
 * packet; which one a packet takes says route_choose() (hop_group.h). Lcores that are online (route_reader_online()).
 * @param dst  of family af, 4 or 16 bytes; it need not be aligned
 */
struct next_hop route_lookup(uint8_t af, const void *dst);

/*
 * The FIB reuses memory of deleted routes once every worker has passed a quiescent state. Each worker
 * calls these itself, with its number.
 */
void route_reader_online(unsigned int worker);
void route_reader_quiescent(unsigned int worker);
void route_reader_offline(unsigned int worker);

/* ------------------------------------------------ control thread only -- */

/** Wait until every worker has passed a quiescent state. What was noted before by changes_note() they see before they use
 * anything in their next turn.
 * @return false: a worker has not within a second */
bool route_readers_wait(void);

/** Tables that can be searched one after the other. */
#define ROUTE_TABLES_MAX 16u

/** A routing rule that applies to all packets. */
struct route_table {
	uint32_t table;
	int suppress; /* a route with a prefix of this length or a shorter one does not count; -1: any does */
};

/** Set the tables of a family, in the order in which they are searched; before any call local, 220, main and
 * default. */
void routes_set_tables(uint8_t af, const struct route_table *tables, unsigned int n);
/** Set them to those before any call of routes_set_tables(). */
void routes_set_usual_tables(uint8_t af);
/** Whether a table is one of them. */
bool routes_have_table(uint8_t af, uint32_t table);

/** charon's routing table: its rule precedes that of the main table. */
#define ROUTE_TABLE_CHARON 220

/** A route of the kernel. */
struct route {
	struct cygnet_addr dst; /* host bits zero */
	uint8_t af;
	uint8_t bits; /* prefix length */
	uint8_t tos;
	uint32_t table, metric;
	bool throws; /* a throw route: continue in the next table; hop is unused */
	struct next_hop hop;
	uint32_t nexthop; /* id of a next-hop object (nexthop.h); 0: none */
	bool sibling;	  /* of IPv6 with a gateway: one of several next hops, or the only one */
	uint16_t weight;  /* of IPv6: of this next hop among several; 0 is as 1 */
	uint64_t id;	  /* by which routes of the same prefix, table, metric and TOS differ */
};

/** Where the kernel has put a route among those of the same prefix, table, metric and TOS, of which it uses the
 * first. */
enum route_place {
	ROUTE_APPEND,
	ROUTE_REPLACE, /* in place of the first one; of IPv6 routes with gateways, of all such */
	ROUTE_PREPEND,
};

/** @param routes  capacity for IPv4 prefixes; a quarter as many IPv6 prefixes fit
 * @return 0 or -errno, logged */
int routes_init(unsigned int workers, uint32_t routes);
void routes_free(void);
/** Add a route of a table that is searched, or update it if it is there already.
 * @return 0 or -errno; -ENOMEM: it may succeed later; -ENOSPC: there are too many, logged */
int route_add(const struct route *route, enum route_place place);
/** @return the number of routes of that prefix, table, metric and TOS */
unsigned int route_equals(const struct route *route);
/** Delete a route, which is told from others of that prefix, table, metric and TOS by its id.
 * @return 0 or -errno; -ENOENT: it is not there; -EAGAIN: a worker hangs */
int route_delete(const struct route *route);
/** Put added and deleted routes in force for lookups. Waits for one loop iteration of every worker, at
 * most a second.
 * @return false: a worker hangs, and routes cannot change until a later call returns true */
bool routes_commit(void);
/** Whether a route that was added or deleted since the last call is not in force, because a worker
 * hung, or has not all its next hops, which it could have now. A full dump is needed then. */
bool routes_missed(void);
/** Called before and after a full dump: routes not added in between are removed. */
void routes_mark(void);
void routes_sweep(void);

/** The next route in force, for display, in no particular order. One with several next hops comes once for each, with its
 * weight.
 * @param cursor  0 for the first route; advanced by the call. A change between calls may make it skip
 *                or repeat a route.
 * @return false: no further route */
bool route_next(uint32_t *cursor, struct route *route);
const char *route_kind_name(uint8_t kind);

#endif

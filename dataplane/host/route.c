/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include <rte_hash.h>
#include <rte_rib6.h>

#include "base/log.h"
#include "base/random.h"
#include "dpdk_release.h"
#include "host/fib.h"
#include "host/hop_group.h"
#include "host/nexthop.h"
#include "host/route.h"

#define ROUTES6_MIN 1024u
#define OBJECTS_MAX 65536u /* next-hop objects of routes; 4 MB of huge pages */

/*
 * The kernel searches its tables in the order of its rules: local, 220 with charon's rule, main, default. The
 * first table with a matching prefix decides, by its longest match. A throw route makes the search continue in
 * the next table, and so does one that is suppressed by its rule.
 *
 * The FIB is one table. It holds every prefix of every table, each with the result of that search
 * for the prefix itself. The longest match in the FIB then gives the kernel's result: all prefixes
 * that match the destination and are not longer also cover the longest match.
 *
 * Rules for some packets only (source address, interface) are not mirrored.
 */
struct order {
	struct route_table table[ROUTE_TABLES_MAX];
	unsigned int n;
	unsigned int main; /* the place of table main; n: there is none */
	bool suppresses;
	bool unfinished; /* a change of the order is not in all prefixes */
};

/* clang-format off */
#define USUAL_TABLES {{RT_TABLE_LOCAL, -1}, {ROUTE_TABLE_CHARON, -1}, {RT_TABLE_MAIN, -1}, {RT_TABLE_DEFAULT, -1}}
/* clang-format on */

/* By family. */
static struct order orders[2] = {
	{.table = USUAL_TABLES, .n = 4, .main = 2},
	{.table = USUAL_TABLES, .n = 4, .main = 2},
};

struct candidate {
	struct candidate *next;
	struct route route;
	bool stale;
};

struct prefix_key {
	struct cygnet_addr dst;
	uint32_t bits, af;
};

struct prefix {
	struct candidate *candidates;
	struct prefix_key key;
	uint32_t hop; /* index of fib_set() */
};

/* All prefixes: a hash to look one up and to iterate, and a tree of each family to find covering and
 * covered prefixes. An IPv4 address has 16 bytes in the trees, the last twelve of them zero. */
static struct rte_hash *prefixes;
static struct rte_rib6 *trees[2];
/* By family: number of throw routes and of routes in tables behind main. Only with these can a change in
 * table main or behind it alter the result of a covered prefix. */
static uint32_t specials[2];
static bool full_logged; /* cleared when a prefix is removed */

/* Of the hash: peers of a routing protocol choose prefixes. */
static struct random_key hash_key;

static uint32_t hash_prefix(const void *key, uint32_t len, uint32_t unused)
{
	(void)unused;
	return (uint32_t)random_hash(&hash_key, key, len);
}

static unsigned int is_v6(uint32_t af)
{
	return af == AF_INET6;
}

static struct rte_rib6 *make_tree(const char *name, uint32_t routes)
{
	const struct rte_rib6_conf conf = {.max_nodes = (int)routes * 2};

	return rte_rib6_create(name, SOCKET_ID_ANY, &conf);
}

int routes_init(unsigned int workers, uint32_t routes)
{
	uint32_t routes6 = RTE_MAX(routes / 4, ROUTES6_MIN);
	const struct rte_hash_parameters hash = {
		.name = "routes",
		.entries = routes + routes6,
		.key_len = sizeof(struct prefix_key),
		.hash_func = hash_prefix,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
		.socket_id = SOCKET_ID_ANY,
	};
	int err = random_fill(&hash_key, sizeof(hash_key));

	if (!err)
		err = fib_init(workers, routes, routes6);
	if (err)
		return err;
	hop_groups_init();
	prefixes = rte_hash_create(&hash);
	trees[0] = make_tree("routes", routes);
	trees[1] = make_tree("routes6", routes6);
	if (!prefixes || !trees[0] || !trees[1] || nexthops_init(RTE_MIN(routes, OBJECTS_MAX))) {
		log_error("no memory for %u routes", routes);
		routes_free();
		return -ENOMEM;
	}
	return 0;
}

static void free_candidates(struct prefix *p)
{
	while (p->candidates) {
		struct candidate *c = p->candidates;

		p->candidates = c->next;
		hop_group_put(c->route.hop.group);
		free(c);
	}
}

void routes_free(void)
{
	const void *key;
	void *data;
	uint32_t cursor = 0;

	while (prefixes && rte_hash_iterate(prefixes, &key, &data, &cursor) >= 0) {
		free_candidates(data);
		free(data);
	}
	rte_hash_free(prefixes);
	rte_rib6_free(trees[0]);
	rte_rib6_free(trees[1]);
	prefixes = NULL;
	trees[0] = trees[1] = NULL;
	specials[0] = specials[1] = 0;
	nexthops_free();
	fib_free();
}

/* The first place of a table in the order. */
static unsigned int rank_of(uint8_t af, uint32_t table)
{
	const struct order *order = &orders[is_v6(af)];
	unsigned int rank = 0;

	while (rank < order->n && order->table[rank].table != table)
		rank++;
	return rank;
}

static bool is_special(const struct route *route)
{
	return route->throws || rank_of(route->af, route->table) > orders[is_v6(route->af)].main;
}

static struct prefix *prefix_of(const struct rte_rib6_node *node)
{
	uint64_t nh = 0;

	rte_rib6_get_nh(node, &nh);
	return (struct prefix *)(uintptr_t)nh;
}

static bool same_slot(const struct route *a, const struct route *b)
{
	return a->table == b->table && a->metric == b->metric && a->tos == b->tos;
}

/* Whether two IPv6 routes are next hops of one, as the kernel looks packets up: by a gateway each, or by the same
 * next-hop object. IPv4 routes have all their next hops. */
static bool are_one(const struct route *a, const struct route *b)
{
	if (!is_v6(a->af) || !same_slot(a, b) || a->nexthop != b->nexthop)
		return false;
	return a->nexthop || (a->sibling && b->sibling);
}

/* Of several next hops of an IPv6 route, one by a port. */
static bool is_better(const struct candidate *c, const struct candidate *than)
{
	if (!than || c->route.metric != than->route.metric)
		return !than || c->route.metric < than->route.metric;
	return than->route.hop.kind == ROUTE_KERNEL && next_hop_is_ours(&c->route.hop) &&
	       are_one(&than->route, &c->route);
}

/* A route, and the prefix that it is a candidate of. */
struct found {
	const struct candidate *candidate; /* NULL: there is none */
	const struct prefix *prefix;
};

/* Set the best candidate of each table in the order, unless a longer prefix has set it. Routes with a TOS are
 * ignored. */
static void collect_best(const struct prefix *p, const struct order *order,
			 struct found best[ROUTE_TABLES_MAX])
{
	const struct candidate *mine[ROUTE_TABLES_MAX] = {NULL};

	for (const struct candidate *c = p->candidates; c; c = c->next)
		for (unsigned int rank = 0; rank < order->n && !c->route.tos; rank++)
			if (order->table[rank].table == c->route.table && is_better(c, mine[rank]))
				mine[rank] = c;
	for (unsigned int rank = 0; rank < order->n; rank++)
		if (!best[rank].candidate)
			best[rank] = (struct found){mine[rank], p};
}

/* The result of the kernel's search for the prefix of a node. */
static struct found search(struct rte_rib6_node *node)
{
	const struct order *order = &orders[is_v6(prefix_of(node)->key.af)];
	struct found best[ROUTE_TABLES_MAX] = {{NULL, NULL}};

	for (; node; node = rte_rib6_lookup_parent(node))
		collect_best(prefix_of(node), order, best);
	for (unsigned int rank = 0; rank < order->n; rank++) {
		const struct candidate *c = best[rank].candidate;

		if (c && !c->route.throws &&
		    (c->route.hop.kind == ROUTE_BLACKHOLE ||
		     (int)c->route.bits > order->table[rank].suppress))
			return best[rank];
	}
	return (struct found){NULL, NULL};
}

/* The next hop of a route, with one reference more to its group: of IPv6, all by ports that are one route. */
static struct next_hop take_hop(const struct found *found)
{
	struct hop_share share[HOP_GROUP_MEMBERS];
	const struct route *route = &found->candidate->route;
	unsigned int n = 0;

	if (!is_v6(route->af) || !next_hop_is_ours(&route->hop)) {
		hop_group_hold(route->hop.group);
		return route->hop;
	}
	share[n++] = (struct hop_share){route->hop, RTE_MAX(route->weight, 1u)};
	for (const struct candidate *c = found->prefix->candidates; c && n < RTE_DIM(share);
	     c = c->next)
		if (c != found->candidate && next_hop_is_ours(&c->route.hop) &&
		    are_one(&c->route, route))
			share[n++] = (struct hop_share){c->route.hop, RTE_MAX(c->route.weight, 1u)};
	return hop_group_take(share, n);
}

static int set_fib(struct prefix *p, const struct next_hop *hop)
{
	return fib_set((uint8_t)p->key.af, &p->key.dst, (uint8_t)p->key.bits, hop, &p->hop);
}

static int refresh(struct rte_rib6_node *node)
{
	struct next_hop hop = {.kind = ROUTE_NONE};
	struct found found = search(node);
	int err;

	if (found.candidate)
		hop = take_hop(&found);
	err = set_fib(prefix_of(node), &hop);
	hop_group_put(hop.group);
	return err;
}

/* After a change of a route, update the results of all prefixes that its prefix covers. */
static void refresh_covered(const struct route *route)
{
	struct rte_rib6 *tree = trees[is_v6(route->af)];
	const struct order *order = &orders[is_v6(route->af)];
	struct rte_rib6_node *node = NULL;

	/* The fast and usual case: every covered prefix has its result in table main or in an
	 * earlier one. */
	if (rank_of(route->af, route->table) >= order->main && order->main < order->n &&
	    !order->suppresses && !specials[is_v6(route->af)])
		return;
	while ((node = rte_rib6_get_nxt(tree, DPDK_IP6(route->dst.bytes), route->bits, node,
					RTE_RIB6_GET_NXT_ALL)))
		refresh(node);
}

static struct prefix *find_prefix(const struct prefix_key *key)
{
	void *data;

	return rte_hash_lookup_data(prefixes, key, &data) >= 0 ? data : NULL;
}

static struct rte_rib6_node *node_of(const struct prefix *p)
{
	return rte_rib6_lookup_exact(trees[is_v6(p->key.af)], DPDK_IP6(p->key.dst.bytes),
				     (uint8_t)p->key.bits);
}

/* @param[out] made  a new prefix without candidates. @return 0, -ENOMEM or -ENOSPC */
static int make_prefix(const struct prefix_key *key, struct prefix **made)
{
	struct rte_rib6 *tree = trees[is_v6(key->af)];
	struct prefix *p = *made = calloc(1, sizeof(*p));
	struct rte_rib6_node *node;

	if (!p)
		return -ENOMEM;
	p->key = *key;
	node = rte_rib6_insert(tree, DPDK_IP6(key->dst.bytes), (uint8_t)key->bits);
	if (!node)
		goto fail;
	rte_rib6_set_nh(node, (uintptr_t)p);
	if (rte_hash_add_key_data(prefixes, key, p) >= 0)
		return 0;
	rte_rib6_remove(tree, DPDK_IP6(key->dst.bytes), (uint8_t)key->bits);
fail:
	free(p);
	return -ENOSPC;
}

static int remove_prefix(const struct prefix_key *key, struct prefix *p)
{
	int err = set_fib(p, NULL);

	/* A worker hangs, so the prefix stays in the FIB; the next sweep removes it. */
	if (err == -EAGAIN)
		return err;
	rte_rib6_remove(trees[is_v6(key->af)], DPDK_IP6(key->dst.bytes), (uint8_t)key->bits);
	rte_hash_del_key(prefixes, key);
	free(p);
	full_logged = false;
	return err;
}

/* Update the FIB after the candidates of a prefix have changed. A prefix without candidates is
 * removed. */
static int settle(const struct prefix_key *key, struct prefix *p, const struct route *route)
{
	int err;

	if (p->candidates)
		err = refresh(node_of(p));
	else
		err = remove_prefix(key, p);
	refresh_covered(route);
	return err;
}

/* A route by a next-hop object beyond those that fit is left to the kernel: the object may change without a message
 * of the route, and without the route packets would follow another one. */
static void count(struct route *route)
{
	if (nexthop_hold(route->nexthop)) {
		route->nexthop = 0;
		route->hop = (struct next_hop){.kind = ROUTE_KERNEL};
	}
	hop_group_hold(route->hop.group);
	specials[is_v6(route->af)] += is_special(route);
}

static void uncount(const struct route *route)
{
	specials[is_v6(route->af)] -= is_special(route);
	nexthop_release(route->nexthop);
	hop_group_put(route->hop.group);
}

static void remove_candidate(struct candidate **link)
{
	struct candidate *c = *link;

	uncount(&c->route);
	*link = c->next;
	free(c);
}

static bool same_route(const struct route *a, const struct route *b)
{
	return same_slot(a, b) && a->id == b->id;
}

/* @return the place of that route, or the end of the list */
static struct candidate **find_candidate(struct prefix *p, const struct route *route)
{
	struct candidate **link = &p->candidates;

	while (*link && !same_route(&(*link)->route, route))
		link = &(*link)->next;
	return link;
}

/* The first one of a slot, or the end of the list. */
static struct candidate **first_of_slot(struct prefix *p, const struct route *route)
{
	struct candidate **link = &p->candidates;

	while (*link && !same_slot(&(*link)->route, route))
		link = &(*link)->next;
	return link;
}

/* Remove what a route replaces.
 * @return where it was, or the end of the list */
static struct candidate **make_way(struct prefix *p, const struct route *route)
{
	struct candidate **link = first_of_slot(p, route), **first = NULL;

	while (*link) {
		if (!same_slot(&(*link)->route, route) ||
		    (*link)->route.sibling != route->sibling) {
			link = &(*link)->next;
			continue;
		}
		first = first ? first : link;
		remove_candidate(link);
		if (!route->sibling)
			return first;
	}
	if (first)
		return first;
	link = first_of_slot(p, route);
	if (*link)
		remove_candidate(link);
	return link;
}

/* @return where a new route goes: behind equal ones, of which the kernel uses the oldest, unless it says
 * something else */
static struct candidate **place_for(struct prefix *p, const struct route *route,
				    enum route_place place)
{
	struct candidate **link = &p->candidates;

	if (place == ROUTE_REPLACE)
		return make_way(p, route);
	if (place == ROUTE_PREPEND)
		return first_of_slot(p, route);
	while (*link)
		link = &(*link)->next;
	return link;
}

static int add_candidate(struct candidate **link, const struct route *route)
{
	struct candidate *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->route = *route;
	count(&c->route);
	c->next = *link;
	*link = c;
	return 0;
}

/* A full dump has the routes of a slot in the kernel's order: one that it repeats goes behind those before it. */
static struct candidate *move_back(struct candidate **link)
{
	struct candidate *c = *link;

	*link = c->next;
	while (*link)
		link = &(*link)->next;
	c->next = NULL;
	*link = c;
	return c;
}

static void update_candidate(struct candidate *c, const struct route *route)
{
	uncount(&c->route);
	c->route = *route;
	count(&c->route);
	c->stale = false;
}

static struct prefix_key key_of(const struct route *route)
{
	return (struct prefix_key){route->dst, route->bits, route->af};
}

int route_add(const struct route *route, enum route_place place)
{
	struct prefix_key key = key_of(route);
	struct candidate **link;
	struct prefix *p;
	int err = 0, settled;

	if (route->bits > (is_v6(route->af) ? 128 : 32))
		return -EINVAL;
	p = find_prefix(&key);
	if (!p)
		err = make_prefix(&key, &p);
	if (err) {
		if (!full_logged && err == -ENOSPC)
			log_error("no room for another route: raise routes in the configuration");
		full_logged = full_logged || err == -ENOSPC;
		return err;
	}
	link = find_candidate(p, route);
	if (*link && (place != ROUTE_REPLACE || !route->sibling))
		update_candidate((*link)->stale ? move_back(link) : *link, route);
	else
		err = add_candidate(place_for(p, route, place), route);
	settled = settle(&key, p, route);
	if (err)
		return err;
	/* The FIB's own pool is used up, which another dump does not change. */
	return settled == -ENOMEM ? -ENOSPC : settled;
}

unsigned int route_equals(const struct route *route)
{
	const struct prefix_key key = key_of(route);
	struct prefix *p = find_prefix(&key);
	unsigned int n = 0;

	for (const struct candidate *c = p ? p->candidates : NULL; c; c = c->next)
		n += same_slot(&c->route, route);
	return n;
}

int route_delete(const struct route *route)
{
	struct prefix_key key = key_of(route);
	struct prefix *p = find_prefix(&key);
	struct candidate **link = p ? find_candidate(p, route) : NULL;

	if (!link || !*link)
		return -ENOENT;
	remove_candidate(link);
	return settle(&key, p, route);
}

static void count_specials(uint8_t af)
{
	const void *key;
	void *data;
	uint32_t cursor = 0;

	specials[is_v6(af)] = 0;
	while (prefixes && rte_hash_iterate(prefixes, &key, &data, &cursor) >= 0)
		for (const struct candidate *c = ((struct prefix *)data)->candidates; c;
		     c = c->next)
			specials[is_v6(af)] += c->route.af == af && is_special(&c->route);
}

/* @return false: a worker hangs */
static bool refresh_all(uint8_t af)
{
	const void *key;
	void *data;
	uint32_t cursor = 0;

	while (prefixes && rte_hash_iterate(prefixes, &key, &data, &cursor) >= 0) {
		const struct prefix *p = data;

		if (p->key.af == af && p->candidates && refresh(node_of(p)) == -EAGAIN)
			return false;
	}
	return true;
}

void routes_set_tables(uint8_t af, const struct route_table *tables, unsigned int n)
{
	struct order *order = &orders[is_v6(af)];
	bool same = n == order->n && !memcmp(order->table, tables, n * sizeof(*tables));

	if (same && !order->unfinished)
		return;
	*order = (struct order){.n = n};
	memcpy(order->table, tables, n * sizeof(*tables));
	order->main = rank_of(af, RT_TABLE_MAIN);
	for (unsigned int i = 0; i < n; i++)
		order->suppresses |= tables[i].suppress >= 0;
	count_specials(af);
	order->unfinished = !refresh_all(af);
}

void routes_set_usual_tables(uint8_t af)
{
	static const struct route_table usual[] = USUAL_TABLES;

	routes_set_tables(af, usual, RTE_DIM(usual));
}

bool routes_have_table(uint8_t af, uint32_t table)
{
	return rank_of(af, table) < orders[is_v6(af)].n;
}

bool routes_commit(void)
{
	return fib_commit() == 0;
}

bool routes_missed(void)
{
	bool groups = hop_groups_missed();

	return fib_missed() || groups;
}

void routes_mark(void)
{
	const void *key;
	void *data;
	uint32_t cursor = 0;

	nexthops_begin();
	while (rte_hash_iterate(prefixes, &key, &data, &cursor) >= 0)
		for (struct candidate *c = ((struct prefix *)data)->candidates; c; c = c->next)
			c->stale = true;
}

/* The next route that the last dump did not contain. */
static bool find_stale(uint32_t *cursor, struct route *route)
{
	const void *key;
	void *data;

	while (rte_hash_iterate(prefixes, &key, &data, cursor) >= 0) {
		for (struct candidate *c = ((struct prefix *)data)->candidates; c; c = c->next) {
			if (c->stale) {
				*route = c->route;
				return true;
			}
		}
	}
	return false;
}

/* Remove prefixes that stayed in the FIB because a worker hung. */
static void sweep_prefixes(void)
{
	const void *key;
	void *data;
	uint32_t cursor = 0;

	while (rte_hash_iterate(prefixes, &key, &data, &cursor) >= 0) {
		const struct prefix_key copy = *(const struct prefix_key *)key;

		if (!((struct prefix *)data)->candidates)
			remove_prefix(&copy, data);
	}
}

void routes_sweep(void)
{
	struct route route;
	uint32_t cursor = 0;

	while (find_stale(&cursor, &route)) {
		route_delete(&route);
		/* The same prefix may have another stale route. */
		if (cursor)
			cursor--;
	}
	sweep_prefixes();
}

/* @param at  of the hash. @return false: no further prefix has a route */
static bool next_prefix(uint32_t *at, const struct prefix **p, struct found *found)
{
	const void *key;
	void *data;

	while (rte_hash_iterate(prefixes, &key, &data, at) >= 0) {
		*p = data;
		*found = (*p)->candidates ? search(node_of(*p)) : (struct found){NULL, NULL};
		if (found->candidate)
			return true;
	}
	return false;
}

bool route_next(uint32_t *cursor, struct route *route)
{
	uint32_t begin = *cursor / HOP_GROUP_MEMBERS, at = begin;
	unsigned int member = *cursor % HOP_GROUP_MEMBERS, members;
	const struct hop_share *share;
	struct hop_share single;
	const struct prefix *p;
	struct next_hop hop;
	struct found found;

	if (!next_prefix(&at, &p, &found))
		return false;
	*route = found.candidate->route;
	/* The result may come from a shorter prefix of an earlier table. */
	route->dst = p->key.dst;
	route->bits = (uint8_t)p->key.bits;
	hop = fib_hop(p->hop);
	members = hop_group_members(&hop, &single, &share);
	member = RTE_MIN(member, members - 1);
	route->hop = share[member].hop;
	route->weight = (uint16_t)share[member].weight;
	*cursor = at * HOP_GROUP_MEMBERS;
	if (member + 1 < members)
		*cursor = begin * HOP_GROUP_MEMBERS + member + 1;
	return true;
}

const char *route_kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[ROUTE_NONE] = "none",	     [ROUTE_LOCAL] = "local",
		[ROUTE_FORWARD] = "forward", [ROUTE_TUNNEL] = "tunnel",
		[ROUTE_KERNEL] = "kernel",   [ROUTE_BLACKHOLE] = "blackhole",
	};

	return kind < RTE_DIM(names) ? names[kind] : "?";
}

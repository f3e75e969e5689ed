/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include <rte_hash.h>
#include <rte_jhash.h>
#include <rte_rib6.h>

#include "base/log.h"
#include "dpdk_release.h"
#include "host/fib.h"
#include "host/route.h"

#define ROUTES6_MIN 1024u

/*
 * The kernel searches its tables in the order of the default rules and of the rule that charon adds:
 * local, 220, main, default. The first table with a matching prefix decides, by its longest match. A
 * throw route makes the search continue in the next table.
 *
 * The FIB is one table. It holds every prefix of every table, each with the result of that search
 * for the prefix itself. The longest match in the FIB then gives the kernel's result: all prefixes
 * that match the destination and are not longer also cover the longest match.
 *
 * Other rules (fwmark, source address, interface) are not mirrored.
 */
enum { RANK_LOCAL, RANK_CHARON, RANK_MAIN, RANK_DEFAULT, RANKS };

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
/* By family: number of throw routes and of routes in table default. Only with these can a change in
 * table main or default alter the result of a covered prefix. */
static uint32_t specials[2];
static bool full_logged; /* cleared when a prefix is removed */

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
		.hash_func = rte_jhash,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
		.socket_id = SOCKET_ID_ANY,
	};
	int err = fib_init(workers, routes, routes6);

	if (err)
		return err;
	prefixes = rte_hash_create(&hash);
	trees[0] = make_tree("routes", routes);
	trees[1] = make_tree("routes6", routes6);
	if (!prefixes || !trees[0] || !trees[1]) {
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
		free(c);
	}
}

void routes_free(void)
{
	const void *key;
	void *data;
	uint32_t at = 0;

	while (prefixes && rte_hash_iterate(prefixes, &key, &data, &at) >= 0) {
		free_candidates(data);
		free(data);
	}
	rte_hash_free(prefixes);
	rte_rib6_free(trees[0]);
	rte_rib6_free(trees[1]);
	prefixes = NULL;
	trees[0] = trees[1] = NULL;
	specials[0] = specials[1] = 0;
	fib_free();
}

static unsigned int rank_of(const struct route *route)
{
	switch (route->table) {
	case RT_TABLE_LOCAL:
		return RANK_LOCAL;
	case ROUTE_TABLE_CHARON:
		return RANK_CHARON;
	case RT_TABLE_MAIN:
		return RANK_MAIN;
	default:
		return RANK_DEFAULT;
	}
}

static bool is_special(const struct route *route)
{
	return route->throws || rank_of(route) == RANK_DEFAULT;
}

static struct prefix *prefix_of(const struct rte_rib6_node *node)
{
	uint64_t nh = 0;

	rte_rib6_get_nh(node, &nh);
	return (struct prefix *)(uintptr_t)nh;
}

/* Set the best candidate of each table, unless a longer prefix has set it. Routes with a TOS are
 * ignored. */
static void collect_best(const struct prefix *p, const struct candidate *best[RANKS])
{
	const struct candidate *mine[RANKS] = {NULL};

	for (const struct candidate *c = p->candidates; c; c = c->next) {
		unsigned int rank = rank_of(&c->route);

		if (!c->route.tos && (!mine[rank] || c->route.metric < mine[rank]->route.metric))
			mine[rank] = c;
	}
	for (unsigned int rank = 0; rank < RANKS; rank++)
		if (!best[rank])
			best[rank] = mine[rank];
}

/* The result of the kernel's search for the prefix of a node; NULL: no route. */
static const struct candidate *search(struct rte_rib6_node *node)
{
	const struct candidate *best[RANKS] = {NULL};

	for (; node; node = rte_rib6_lookup_parent(node))
		collect_best(prefix_of(node), best);
	for (unsigned int rank = 0; rank < RANKS; rank++)
		if (best[rank] && !best[rank]->route.throws)
			return best[rank];
	return NULL;
}

static int set_fib(struct prefix *p, const struct next_hop *hop)
{
	return fib_set((uint8_t)p->key.af, &p->key.dst, (uint8_t)p->key.bits, hop, &p->hop);
}

static int refresh(struct rte_rib6_node *node)
{
	static const struct next_hop none = {.kind = ROUTE_NONE};
	const struct candidate *found = search(node);
	struct prefix *p = prefix_of(node);

	return set_fib(p, found ? &found->route.hop : &none);
}

/* After a change of a route, update the results of all prefixes that its prefix covers. */
static void refresh_covered(const struct route *route)
{
	struct rte_rib6 *tree = trees[is_v6(route->af)];
	struct rte_rib6_node *node = NULL;

	/* The fast and usual case: every covered prefix has its result in table main or in an
	 * earlier one. */
	if (rank_of(route) >= RANK_MAIN && !specials[is_v6(route->af)])
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

/* @return a new prefix without candidates; NULL: full */
static struct prefix *make_prefix(const struct prefix_key *key)
{
	struct rte_rib6 *tree = trees[is_v6(key->af)];
	struct prefix *p = calloc(1, sizeof(*p));
	struct rte_rib6_node *node;

	if (!p)
		return NULL;
	p->key = *key;
	node = rte_rib6_insert(tree, DPDK_IP6(key->dst.bytes), (uint8_t)key->bits);
	if (!node)
		goto fail;
	rte_rib6_set_nh(node, (uintptr_t)p);
	if (rte_hash_add_key_data(prefixes, key, p) >= 0)
		return p;
	rte_rib6_remove(tree, DPDK_IP6(key->dst.bytes), (uint8_t)key->bits);
fail:
	free(p);
	return NULL;
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

static void remove_candidate(struct candidate **at)
{
	struct candidate *c = *at;

	specials[is_v6(c->route.af)] -= is_special(&c->route);
	*at = c->next;
	free(c);
}

static bool same_slot(const struct route *a, const struct route *b)
{
	return a->table == b->table && a->metric == b->metric && a->tos == b->tos;
}

static void remove_same_slot(struct prefix *p, const struct route *route)
{
	struct candidate **at = &p->candidates;

	while (*at) {
		if (same_slot(&(*at)->route, route))
			remove_candidate(at);
		else
			at = &(*at)->next;
	}
}

static struct candidate **find_candidate(struct prefix *p, const struct route *route)
{
	struct candidate **at = &p->candidates;

	while (*at && !(same_slot(&(*at)->route, route) &&
			next_hop_equal(&(*at)->route.hop, &route->hop)))
		at = &(*at)->next;
	return at;
}

static struct prefix_key key_of(const struct route *route)
{
	return (struct prefix_key){route->dst, route->bits, route->af};
}

/* Append: of equal candidates the oldest is used, as in the kernel. */
static int add_candidate(struct candidate **at, const struct route *route)
{
	*at = calloc(1, sizeof(**at));
	if (!*at)
		return -ENOMEM;
	(*at)->route = *route;
	specials[is_v6(route->af)] += is_special(route);
	return 0;
}

int route_add(const struct route *route, bool replace)
{
	struct prefix_key key = key_of(route);
	struct candidate **at;
	struct prefix *p;
	int err = 0, settled;

	if (route->bits > (is_v6(route->af) ? 128 : 32))
		return -EINVAL;
	p = find_prefix(&key);
	if (!p)
		p = make_prefix(&key);
	if (!p) {
		if (!full_logged)
			log_error("no room for another route: raise routes in the configuration");
		full_logged = true;
		return -ENOSPC;
	}
	if (replace)
		remove_same_slot(p, route);
	at = find_candidate(p, route);
	if (*at)
		(*at)->stale = false;
	else
		err = add_candidate(at, route);
	settled = settle(&key, p, route);
	return err ? err : settled;
}

int route_delete(const struct route *route)
{
	struct prefix_key key = key_of(route);
	struct prefix *p = find_prefix(&key);
	struct candidate **at = p ? find_candidate(p, route) : NULL;

	/* Of a multipath route one next hop is mirrored. The message of its deletion may give
	 * another one, so compare table, metric and TOS only. */
	for (at = at && !*at ? &p->candidates : at; at && *at; at = &(*at)->next)
		if (same_slot(&(*at)->route, route))
			break;
	if (!at || !*at)
		return -ENOENT;
	remove_candidate(at);
	return settle(&key, p, route);
}

bool routes_commit(void)
{
	return fib_commit() == 0;
}

bool routes_missed(void)
{
	return fib_missed();
}

void routes_mark(void)
{
	const void *key;
	void *data;
	uint32_t at = 0;

	while (rte_hash_iterate(prefixes, &key, &data, &at) >= 0)
		for (struct candidate *c = ((struct prefix *)data)->candidates; c; c = c->next)
			c->stale = true;
}

/* The next route that the last dump did not contain. */
static bool find_stale(uint32_t *at, struct route *route)
{
	const void *key;
	void *data;

	while (rte_hash_iterate(prefixes, &key, &data, at) >= 0) {
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
	uint32_t at = 0;

	while (rte_hash_iterate(prefixes, &key, &data, &at) >= 0) {
		const struct prefix_key copy = *(const struct prefix_key *)key;

		if (!((struct prefix *)data)->candidates)
			remove_prefix(&copy, data);
	}
}

void routes_sweep(void)
{
	struct route route;
	uint32_t at = 0;

	while (find_stale(&at, &route)) {
		route_delete(&route);
		/* The same prefix may have another stale route. */
		if (at)
			at--;
	}
	sweep_prefixes();
}

bool route_next(uint32_t *cursor, struct route *route)
{
	const void *key;
	void *data;

	while (rte_hash_iterate(prefixes, &key, &data, cursor) >= 0) {
		const struct prefix *p = data;
		const struct candidate *found = p->candidates ? search(node_of(p)) : NULL;

		if (!found)
			continue;
		*route = found->route;
		/* The result may come from a shorter prefix of an earlier table. */
		route->dst = p->key.dst;
		route->bits = (uint8_t)p->key.bits;
		return true;
	}
	return false;
}

const char *route_kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[ROUTE_NONE] = "none",
		[ROUTE_LOCAL] = "local",
		[ROUTE_FORWARD] = "forward",
		[ROUTE_KERNEL] = "kernel",
		[ROUTE_BLACKHOLE] = "blackhole",
	};

	return kind < RTE_DIM(names) ? names[kind] : "?";
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include <rte_fib.h>
#include <rte_hash.h>
#include <rte_jhash.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include "log.h"
#include "route.h"

#define MAX_ROUTES (1u << 16)
#define MAX_HOPS 4096u		/* distinct (kind, port, gateway) */
#define FIB_TBL8 8192u
#define BULK 256u

/* charon's routing table: its rule precedes that of the main table. */
#define TABLE_CHARON 220

/* All routes of one prefix; the best one is in the FIB. */
struct candidate {
	struct candidate *next;
	struct route route;
	bool stale;
};

struct prefix {
	struct candidate *candidates;
	uint32_t hop;	/* index of what the FIB has */
};

struct prefix_key {
	uint32_t dst;
	uint32_t bits;
};

static struct rte_fib *fib;
static struct rte_hash *prefixes;
static struct rte_rcu_qsbr *qsbr;
/* Hop 0 is "no route". A hop keeps its number as long as a prefix uses it. */
static struct next_hop hops[MAX_HOPS];
static uint32_t hop_refs[MAX_HOPS];

_Static_assert(sizeof(struct next_hop) == sizeof(uint64_t), "a next hop is read in one go");

void route_lookup_bulk(const uint32_t *dst, struct next_hop *out, unsigned int n)
{
	uint32_t host[BULK];
	uint64_t index[BULK];

	for (unsigned int done = 0; done < n;) {
		unsigned int now = n - done < BULK ? n - done : BULK;

		for (unsigned int i = 0; i < now; i++)
			host[i] = ntohl(dst[done + i]);
		rte_fib_lookup_bulk(fib, host, index, (int)now);
		for (unsigned int i = 0; i < now; i++) {
			uint64_t hop = __atomic_load_n((uint64_t *)&hops[index[i] % MAX_HOPS],
						       __ATOMIC_RELAXED);

			memcpy(&out[done + i], &hop, sizeof(hop));
		}
		done += now;
	}
}

void route_reader_online(unsigned int worker)
{
	rte_rcu_qsbr_thread_online(qsbr, worker);
}

void route_reader_quiescent(unsigned int worker)
{
	rte_rcu_qsbr_quiescent(qsbr, worker);
}

void route_reader_offline(unsigned int worker)
{
	rte_rcu_qsbr_thread_offline(qsbr, worker);
}

static int init_qsbr(unsigned int workers)
{
	size_t size = rte_rcu_qsbr_get_memsize(workers);
	int err;

	qsbr = rte_zmalloc("route qsbr", size, RTE_CACHE_LINE_SIZE);
	if (!qsbr)
		return -ENOMEM;
	err = rte_rcu_qsbr_init(qsbr, workers);
	for (unsigned int w = 0; w < workers && !err; w++)
		err = rte_rcu_qsbr_thread_register(qsbr, w);
	return err ? -EINVAL : 0;
}

int routes_init(unsigned int workers)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.max_routes = MAX_ROUTES,
		.dir24_8 = {.nh_sz = RTE_FIB_DIR24_8_2B, .num_tbl8 = FIB_TBL8},
	};
	const struct rte_hash_parameters hash = {
		.name = "routes",
		.entries = MAX_ROUTES,
		.key_len = sizeof(struct prefix_key),
		.hash_func = rte_jhash,
		.socket_id = SOCKET_ID_ANY,
	};

	fib = rte_fib_create("routes", SOCKET_ID_ANY, &conf);
	prefixes = rte_hash_create(&hash);
	if (!fib || !prefixes || init_qsbr(workers)) {
		log_error("no memory for the routing table");
		routes_free();
		return -ENOMEM;
	}
	return 0;
}

void routes_free(void)
{
	const void *key;
	void *data;
	uint32_t at = 0;

	while (prefixes && rte_hash_iterate(prefixes, &key, &data, &at) >= 0) {
		struct prefix *p = data;

		while (p->candidates) {
			struct candidate *c = p->candidates;

			p->candidates = c->next;
			free(c);
		}
		free(p);
	}
	rte_hash_free(prefixes);
	rte_fib_free(fib);
	rte_free(qsbr);
	prefixes = NULL;
	fib = NULL;
	qsbr = NULL;
}

static bool same_hop(const struct next_hop *a, const struct next_hop *b)
{
	return a->kind == b->kind && a->port == b->port && a->gateway == b->gateway;
}

/* @return the number of a hop, one reference more; 0 if the table is full */
static uint32_t hop_take(const struct next_hop *hop)
{
	uint32_t spare = 0;
	uint64_t word;

	for (uint32_t i = 1; i < MAX_HOPS; i++) {
		if (hop_refs[i] && same_hop(&hops[i], hop)) {
			hop_refs[i]++;
			return i;
		}
		if (!hop_refs[i] && !spare)
			spare = i;
	}
	if (!spare) {
		log_error("more than %u different next hops: a route is left out", MAX_HOPS - 1);
		return 0;
	}
	memcpy(&word, hop, sizeof(word));
	__atomic_store_n((uint64_t *)&hops[spare], word, __ATOMIC_RELAXED);
	hop_refs[spare] = 1;
	return spare;
}

/* Wait until no worker can be in the middle of a lookup that began before: the
 * FIB of this DPDK release reuses its tables at once. Workers pass a quiescent
 * state in every turn of their loop; the control thread may wait for that. */
static void wait_for_readers(void)
{
	rte_rcu_qsbr_synchronize(qsbr, RTE_QSBR_THRID_INVALID);
}

/* The order of the kernel's rules: local, charon's table, main. Within a table
 * the lower metric. The kernel tries one table after the other, each with its
 * longest prefix; we compare tables for equal prefixes only. */
static unsigned int table_rank(uint32_t table)
{
	return table == RT_TABLE_LOCAL ? 0 : table == TABLE_CHARON ? 1 : 2;
}

static bool better(const struct route *a, const struct route *b)
{
	unsigned int ra = table_rank(a->table), rb = table_rank(b->table);

	return ra != rb ? ra < rb : a->metric < b->metric;
}

static const struct candidate *best_of(const struct prefix *p)
{
	const struct candidate *best = NULL;

	/* Routes that differ in TOS only: the one for any TOS. */
	for (const struct candidate *c = p->candidates; c; c = c->next)
		if (!c->route.tos && (!best || better(&c->route, &best->route)))
			best = c;
	return best;
}

/* Bring the FIB in line with the candidates of a prefix. */
static int apply(const struct prefix_key *key, struct prefix *p)
{
	const struct candidate *best = best_of(p);
	uint32_t old = p->hop, new = best ? hop_take(&best->route.hop) : 0;
	int err = 0;

	if (new == old) {
		if (new)
			hop_refs[new]--;
	} else if (new) {
		err = rte_fib_add(fib, ntohl(key->dst), (uint8_t)key->bits, new);
	} else {
		err = rte_fib_delete(fib, ntohl(key->dst), (uint8_t)key->bits);
	}
	if (new == old)
		return 0;
	if (err) {
		if (new)
			hop_refs[new]--;
		log_error("the routing table cannot take another route: %s", strerror(-err));
		return err;
	}
	p->hop = new;
	if (old) {
		wait_for_readers();
		hop_refs[old]--;
	}
	return 0;
}

static struct prefix *find_prefix(const struct prefix_key *key, bool create)
{
	struct prefix *p;
	void *data;

	if (rte_hash_lookup_data(prefixes, key, &data) >= 0)
		return data;
	if (!create)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p && rte_hash_add_key_data(prefixes, key, p) < 0) {
		free(p);
		p = NULL;
	}
	return p;
}

static void drop_empty(const struct prefix_key *key, struct prefix *p)
{
	if (p->candidates)
		return;
	rte_hash_del_key(prefixes, key);
	free(p);
}

static bool same_slot(const struct route *a, const struct route *b)
{
	return a->table == b->table && a->metric == b->metric && a->tos == b->tos;
}

static void remove_same_slot(struct prefix *p, const struct route *route)
{
	struct candidate **at = &p->candidates;

	while (*at) {
		struct candidate *c = *at;

		if (same_slot(&c->route, route)) {
			*at = c->next;
			free(c);
		} else {
			at = &c->next;
		}
	}
}

static struct candidate **find_candidate(struct prefix *p, const struct route *route)
{
	struct candidate **at = &p->candidates;

	while (*at && !(same_slot(&(*at)->route, route) &&
			same_hop(&(*at)->route.hop, &route->hop)))
		at = &(*at)->next;
	return at;
}

static struct prefix_key key_of(const struct route *route)
{
	return (struct prefix_key){route->dst, route->bits};
}

int route_add(const struct route *route, bool replace)
{
	struct prefix_key key = key_of(route);
	struct prefix *p;
	struct candidate **at;

	if (route->bits > 32)
		return -EINVAL;
	p = find_prefix(&key, true);
	if (!p)
		return -ENOMEM;
	if (replace)
		remove_same_slot(p, route);
	at = find_candidate(p, route);
	if (!*at) {
		*at = calloc(1, sizeof(**at));
		if (!*at) {
			drop_empty(&key, p);
			return -ENOMEM;
		}
		(*at)->route = *route;
	}
	(*at)->stale = false;
	return apply(&key, p);
}

int route_delete(const struct route *route)
{
	struct prefix_key key = key_of(route);
	struct prefix *p = find_prefix(&key, false);
	struct candidate **at = p ? find_candidate(p, route) : NULL, *c;

	if (!at || !*at)
		return -ENOENT;
	c = *at;
	*at = c->next;
	free(c);
	apply(&key, p);
	drop_empty(&key, p);
	return 0;
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

/* The first route that the last dump did not have. */
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

void routes_sweep(void)
{
	struct route route;
	uint32_t at = 0;

	while (find_stale(&at, &route)) {
		route_delete(&route);
		/* There may be another one of the same prefix. */
		if (at)
			at--;
	}
}

bool route_next(uint32_t *cursor, struct route *route)
{
	const void *key;
	void *data;

	while (rte_hash_iterate(prefixes, &key, &data, cursor) >= 0) {
		const struct candidate *best = best_of(data);

		if (best) {
			*route = best->route;
			return true;
		}
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "base/boot_id.h"
#include "base/log.h"
#include "base/random.h"
#include "host/hop_group.h"

#define BUCKETS 1024u /* an even share is out by a few percent */

struct group {
	uint32_t refs; /* 0: free */
	uint32_t n;
	struct hop_share share[HOP_GROUP_MEMBERS];
	uint8_t bucket[BUCKETS]; /* index in share[] */
};

static struct group groups[HOP_GROUPS + 1]; /* groups[0] is none */
static uint32_t used;			    /* no group with a higher number was ever taken */
static bool full;			    /* a route has no group, since none was free */
static bool missed;			    /* and since then one has become free */
/* Of flows: not a secret, but another one on each machine, or the flows that one gateway sends to the next would all
 * take one way there. The next process of a boot has it again. */
static struct random_key flow_key;

void hop_groups_init(void)
{
	static const struct random_key first = {{0, 0}}, second = {{0, 1}};
	char id[BOOT_ID_LEN + 1];

	boot_id_read(id);
	flow_key.word[0] = random_hash(&first, id, strlen(id));
	flow_key.word[1] = random_hash(&second, id, strlen(id));
}

const struct next_hop *hop_group_choose(uint16_t number, const struct cygnet_flow *flow)
{
	const struct group *group = &groups[number];
	bool ports = flow->has_ports && !flow->fragment;
	const struct {
		struct cygnet_addr src, dst;
		uint16_t sport, dport;
		uint32_t proto;
	} key = {
		flow->src, flow->dst, ports ? flow->sport : 0, ports ? flow->dport : 0, flow->proto,
	};
	uint64_t hash = random_hash(&flow_key, &key, sizeof(key));

	return &group->share[group->bucket[hash % BUCKETS]].hop;
}

/* The next hop with the lowest score has a bucket. Scores are distributed exponentially, with the weight as their rate: each
 * is the lowest as often as its part of all weights. */
static double score(const struct hop_share *share, uint32_t bucket)
{
	static const struct random_key no_key;
	struct {
		uint32_t bucket;
		uint8_t interface, macvlan, via6, reserved;
		struct cygnet_addr gateway;
	} id = {
		.bucket = bucket,
		.interface = share->hop.interface,
		.macvlan = share->hop.macvlan,
		.via6 = share->hop.via6,
		.gateway = share->hop.gateway,
	};
	double chance = ((double)(random_hash(&no_key, &id, sizeof(id)) >> 12) + 1) * 0x1p-52;

	return -log(chance) / share->weight;
}

static void fill_buckets(struct group *group)
{
	for (uint32_t b = 0; b < BUCKETS; b++) {
		double lowest = INFINITY;

		for (uint8_t i = 0; i < group->n; i++) {
			double its = score(&group->share[i], b);

			if (its < lowest) {
				lowest = its;
				group->bucket[b] = i;
			}
		}
	}
}

static bool same_share(const struct hop_share *a, const struct hop_share *b)
{
	return a->weight == b->weight && next_hop_equal(&a->hop, &b->hop);
}

static bool same_group(const struct group *a, const struct group *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!same_share(&a->share[i], &b->share[i]))
			return false;
	return true;
}

static void add_share(struct group *group, const struct hop_share *share)
{
	for (uint32_t i = 0; i < group->n; i++) {
		if (next_hop_equal(&group->share[i].hop, &share->hop)) {
			group->share[i].weight += share->weight;
			return;
		}
	}
	group->share[group->n++] = *share;
}

static int compare(const void *one, const void *other)
{
	const struct hop_share *a = one, *b = other;

	return memcmp(&a->hop, &b->hop, sizeof(a->hop));
}

/* In any order they are the same group: a dump tells of the routes of a prefix in another one. */
static void make_group(struct group *group, const struct hop_share *share, unsigned int n)
{
	group->n = 0;
	for (unsigned int i = 0; i < RTE_MIN(n, HOP_GROUP_MEMBERS); i++)
		add_share(group, &share[i]);
	qsort(group->share, group->n, sizeof(group->share[0]), compare);
}

/* @return number of the group with these next hops, or of one that is free; 0: there is neither */
static uint32_t find_group(const struct group *wanted)
{
	uint32_t spare = 0;

	for (uint32_t i = 1; i <= used; i++) {
		if (groups[i].refs && same_group(&groups[i], wanted))
			return i;
		if (!groups[i].refs && !spare)
			spare = i;
	}
	return spare ? spare : used < HOP_GROUPS ? ++used : 0;
}

struct next_hop hop_group_take(const struct hop_share *share, unsigned int n)
{
	struct group wanted = {.n = 0};
	struct next_hop hop;
	uint32_t found;

	make_group(&wanted, share, n);
	hop = wanted.share[0].hop;
	if (wanted.n == 1)
		return hop;
	found = find_group(&wanted);
	if (!found && !full)
		log_warn("more than %u different groups of next hops: routes take one of their next hops",
			 HOP_GROUPS);
	full |= !found;
	if (found && !groups[found].refs) {
		fill_buckets(&wanted);
		groups[found] = wanted;
	}
	hop.group = (uint16_t)found;
	hop_group_hold(hop.group);
	return hop;
}

void hop_group_hold(uint16_t group)
{
	if (group)
		groups[group].refs++;
}

void hop_group_put(uint16_t group)
{
	if (!group || --groups[group].refs || !full)
		return;
	full = false;
	missed = true;
}

bool hop_groups_missed(void)
{
	bool was = missed;

	missed = false;
	return was;
}

unsigned int hop_group_members(const struct next_hop *hop, struct hop_share *single,
			       const struct hop_share **share)
{
	if (hop->group) {
		*share = groups[hop->group].share;
		return groups[hop->group].n;
	}
	*single = (struct hop_share){*hop, 1};
	*share = single;
	return 1;
}

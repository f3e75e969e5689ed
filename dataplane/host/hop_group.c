/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
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
static bool full_logged;		    /* cleared when a group becomes free */
/* Of flows: not a secret, but another one on each machine, or the flows that one gateway sends to the next would all
 * take one way there. */
static struct random_key flow_key;

void hop_groups_init(void)
{
	static const struct random_key first = {{0, 0}}, second = {{0, 1}};
	char id[BOOT_ID_LEN + 1];

	boot_id_read(id);
	flow_key.word[0] = random_hash(&first, id, strlen(id));
	flow_key.word[1] = random_hash(&second, id, strlen(id));
}

const struct next_hop *hop_group_choose(uint16_t group, const struct cygnet_flow *flow)
{
	const struct group *of = &groups[group];
	bool ports = flow->has_ports && !flow->fragment;
	const struct {
		struct cygnet_addr src, dst;
		uint16_t sport, dport;
		uint32_t proto;
	} known = {
		flow->src, flow->dst, ports ? flow->sport : 0, ports ? flow->dport : 0, flow->proto,
	};
	uint64_t hash = random_hash(&flow_key, &known, sizeof(known));

	return &of->share[of->bucket[hash % BUCKETS]].hop;
}

/* How late a next hop comes to a bucket: the earliest one gets it, which is each in proportion to its weight. */
static double comes(const struct hop_share *share, uint32_t bucket)
{
	static const struct random_key key;
	struct {
		uint32_t bucket;
		uint8_t interface, macvlan, via6, reserved;
		struct cygnet_addr gateway;
	} who = {
		.bucket = bucket,
		.interface = share->hop.interface,
		.macvlan = share->hop.macvlan,
		.via6 = share->hop.via6,
		.gateway = share->hop.gateway,
	};
	double chance = ((double)(random_hash(&key, &who, sizeof(who)) >> 12) + 1) * 0x1p-52;

	return -log(chance) / share->weight;
}

static void fill_buckets(struct group *group)
{
	for (uint32_t b = 0; b < BUCKETS; b++) {
		double earliest = INFINITY;

		for (uint8_t i = 0; i < group->n; i++) {
			double time = comes(&group->share[i], b);

			if (time < earliest) {
				earliest = time;
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
	static struct group wanted; /* too large for a stack */
	struct next_hop hop;
	uint32_t found;

	wanted.n = 0;
	for (unsigned int i = 0; i < RTE_MIN(n, HOP_GROUP_MEMBERS); i++)
		add_share(&wanted, &share[i]);
	hop = wanted.share[0].hop;
	if (wanted.n == 1)
		return hop;
	found = find_group(&wanted);
	if (!found && !full_logged)
		log_warn("more than %u different groups of next hops: routes take their first next hop",
			 HOP_GROUPS);
	full_logged |= !found;
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
	if (group && !--groups[group].refs)
		full_logged = false;
}

unsigned int hop_group_members(const struct next_hop *hop, struct hop_share *alone,
			       const struct hop_share **share)
{
	if (hop->group) {
		*share = groups[hop->group].share;
		return groups[hop->group].n;
	}
	*alone = (struct hop_share){*hop, 1};
	*share = alone;
	return 1;
}

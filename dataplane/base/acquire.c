/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <rte_common.h>

#include "base/acquire.h"
#include "base/clock.h"
#include "base/event.h"
#include "base/random.h"
#include "base/sadb.h"

/* A hash table of recent acquires, one entry per negotiation: tag << 32 | second; 0: none. Any
 * lcore; atomic. A set is a cache line. A full set evicts its oldest entry, and the next acquire
 * of that negotiation may be raised within the same second. */
#define SETS 512u
#define WAYS 8u
/* An acquire after this time counts as the first of its negotiation. */
#define FORGET_SECONDS 30u
/* Size of the table of acquires by source and reqid, a hash. */
#define SOURCES 256u

static uint64_t raised[SETS][WAYS] CYGNET_ALIGNED;
/* Leaky buckets of acquires: second << 32 | level in that second; atomic. */
static uint64_t raised_in_all CYGNET_ALIGNED;
static uint64_t raised_by_source[SOURCES];
static struct random_key key;

uint64_t acquire_hash(const void *data, size_t size)
{
	return random_hash(&key, data, size);
}

void acquire_flow(const struct cygnet_policy *policy, const struct cygnet_flow *flow,
		  struct cygnet_flow *reduced)
{
	const struct cygnet_selector *sel = &policy->sel;

	memset(reduced, 0, sizeof(*reduced)); /* also the padding: it is hashed */
	reduced->src = flow->src;
	reduced->dst = flow->dst;
	reduced->af = flow->af;
	if (cygnet_restricts(sel->sport_lo, sel->sport_hi))
		reduced->sport = flow->sport;
	if (cygnet_restricts(sel->dport_lo, sel->dport_hi))
		reduced->dport = flow->dport;
	if (reduced->sport || reduced->dport)
		reduced->proto = flow->proto;
}

/* In transport mode without outer addresses the peer is the packet's destination. */
static bool is_for_any_peer(const struct cygnet_policy *policy)
{
	return policy->mode == CYGNET_TRANSPORT && cygnet_addr_is_zero(&policy->dst);
}

/* @param cpu  CYGNET_CPU_ANY, or of the CPU that the SA is to be for */
static uint64_t negotiation_of(const struct cygnet_policy *policy, const struct cygnet_flow *flow,
			       int cpu)
{
	struct {
		struct cygnet_flow flow;
		uint32_t reqid, charon;
		int64_t cpu;
	} negotiation = {
		.reqid = __atomic_load_n(&policy->reqid, __ATOMIC_RELAXED),
		.charon = (uint32_t)__atomic_load_n(&sadb_charon, __ATOMIC_RELAXED),
		.cpu = cpu,
	};

	if (is_for_any_peer(policy))
		acquire_flow(policy, flow, &negotiation.flow);
	return acquire_hash(&negotiation, sizeof(negotiation));
}

static uint64_t *share_of(const struct cygnet_policy *policy, const struct cygnet_flow *flow)
{
	struct {
		struct cygnet_addr src;
		uint64_t reqid;
	} source = {
		.src = flow->src,
		.reqid = __atomic_load_n(&policy->reqid, __ATOMIC_RELAXED),
	};

	return &raised_by_source[acquire_hash(&source, sizeof(source)) % SOURCES];
}

static uint32_t tag_of(uint64_t negotiation)
{
	return (uint32_t)(negotiation >> 32) | 1;
}

static bool is_entry_of(uint64_t entry, uint64_t negotiation)
{
	return entry >> 32 == tag_of(negotiation);
}

/* The entry of a negotiation; if there is none, the oldest entry of its set. */
static uint64_t *find_entry(uint64_t negotiation, uint64_t *entry)
{
	uint64_t *set = raised[negotiation % SETS], *slot = NULL;

	for (unsigned int i = 0; i < WAYS; i++) {
		uint64_t e = __atomic_load_n(&set[i], __ATOMIC_RELAXED);

		if (!slot || is_entry_of(e, negotiation) || (uint32_t)e < (uint32_t)*entry) {
			slot = &set[i];
			*entry = e;
		}
		if (is_entry_of(e, negotiation))
			break;
	}
	return slot;
}

/* @return UINT32_MAX if the entry is that of another negotiation */
static uint32_t seconds_since(uint64_t entry, uint64_t negotiation, uint32_t now)
{
	if (!is_entry_of(entry, negotiation))
		return UINT32_MAX;
	/* Another lcore may have seen the next second before this one. */
	return (uint32_t)entry > now ? 0 : now - (uint32_t)entry;
}

/* Add an acquire to a leaky bucket that loses per_second. @return false: the bucket is full */
static bool count_in(uint64_t *count, unsigned int per_second, unsigned int limit)
{
	uint64_t old = __atomic_load_n(count, __ATOMIC_RELAXED), now, level, leaked;

	do {
		/* Another lcore may have seen the next second before this one. */
		now = RTE_MAX(clock_seconds() & UINT32_MAX, old >> 32);
		leaked = (now - (old >> 32)) * per_second;
		level = old & UINT32_MAX;
		level = level > leaked ? level - leaked : 0;
		if (level >= limit)
			return false;
	} while (!__atomic_compare_exchange_n(count, &old, now << 32 | (level + 1), true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

/* Repeated acquires may fill half of a bucket, so that first ones have the other half. */
static bool is_within_limits(const struct cygnet_policy *policy, const struct cygnet_flow *flow,
			     bool again)
{
	unsigned int at_once = again ? ACQUIRES_AT_ONCE / 2 : ACQUIRES_AT_ONCE;

	return count_in(share_of(policy, flow), ACQUIRES_PER_SECOND / 2, at_once / 2) &&
	       count_in(&raised_in_all, ACQUIRES_PER_SECOND, at_once);
}

static bool post(const struct cygnet_policy *policy, const struct cygnet_flow *flow, int cpu)
{
	const struct cygnet_event event = {
		.type = CYGNET_EVENT_ACQUIRE,
		.reqid = __atomic_load_n(&policy->reqid, __ATOMIC_RELAXED),
		.flow = *flow,
		.cpu = (uint16_t)(cpu + 1),
	};

	return event_raise(&event);
}

static bool exchange(uint64_t *slot, uint64_t before, uint64_t now)
{
	return __atomic_compare_exchange_n(slot, &before, now, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

static bool raise_for(const struct cygnet_policy *policy, const struct cygnet_flow *flow, int cpu,
		      unsigned int seconds)
{
	uint64_t negotiation = negotiation_of(policy, flow, cpu), before = 0, mine, *slot;
	uint32_t now = (uint32_t)clock_seconds(), since;

	mine = (uint64_t)tag_of(negotiation) << 32 | now;
	/* One of the lcores that try at the same time raises the acquire. */
	do {
		slot = find_entry(negotiation, &before);
		since = seconds_since(before, negotiation, now);
		if (since < seconds)
			return false;
	} while (!exchange(slot, before, mine));
	if (is_within_limits(policy, flow, since <= FORGET_SECONDS) && post(policy, flow, cpu))
		return true;
	exchange(slot, mine, before);
	return false;
}

bool acquire_raise(const struct cygnet_policy *policy, const struct cygnet_flow *flow,
		   unsigned int seconds)
{
	return raise_for(policy, flow, CYGNET_CPU_ANY, seconds);
}

bool acquire_raise_cpu(const struct cygnet_policy *policy, const struct cygnet_flow *flow, int cpu)
{
	return raise_for(policy, flow, cpu, ACQUIRE_CPU_SECONDS);
}

void acquire_answered(const struct cygnet_policy *policy, const struct cygnet_flow *flow, int cpu)
{
	uint64_t negotiation = negotiation_of(policy, flow, cpu), before = 0, *slot;

	slot = find_entry(negotiation, &before);
	if (is_entry_of(before, negotiation))
		exchange(slot, before, 0);
}

int acquires_init(void)
{
	return random_fill(&key, sizeof(key));
}

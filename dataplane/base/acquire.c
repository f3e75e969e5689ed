/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_common.h>

#include "base/acquire.h"
#include "base/clock.h"
#include "base/event.h"
#include "base/random.h"
#include "base/sadb.h"

/* Questions that were asked lately: tag << 32 | second; 0: none. Any lcore; atomic. A set is a
 * cache line. If more questions than a set has room for are asked at a time, some are asked more
 * than once a second. */
#define SETS 512u
#define WAYS 8u
/* A question that was asked so long ago is a new one. */
#define FORGET_SECONDS 30u
/* Sources, by a hash, whose questions are limited by themselves. */
#define SOURCES 256u

static uint64_t asked[SETS][WAYS] CYGNET_ALIGNED;
/* Questions asked lately: second << 32 | how many of them are not over yet; atomic. */
static uint64_t asked_in_all CYGNET_ALIGNED;
static uint64_t asked_by_source[SOURCES];
static struct random_key key;

uint64_t acquire_hash(const void *data, size_t size)
{
	return random_hash(&key, data, size);
}

static bool selects(uint16_t lo, uint16_t hi)
{
	return lo != 0 || hi != UINT16_MAX;
}

void acquire_flow(const struct cygnet_policy *policy, const struct cygnet_flow *flow,
		  struct cygnet_flow *reduced)
{
	const struct cygnet_selector *sel = &policy->sel;

	*reduced = (struct cygnet_flow){.src = flow->src, .dst = flow->dst, .af = flow->af};
	if (selects(sel->sport_lo, sel->sport_hi))
		reduced->sport = flow->sport;
	if (selects(sel->dport_lo, sel->dport_hi))
		reduced->dport = flow->dport;
	if (reduced->sport || reduced->dport)
		reduced->proto = flow->proto;
}

/* In transport mode without outer addresses the peer is the packet's destination. */
static bool is_for_any_peer(const struct cygnet_policy *policy)
{
	return policy->mode == CYGNET_TRANSPORT && cygnet_addr_is_zero(&policy->dst);
}

static uint64_t question_of(const struct cygnet_policy *policy, const struct cygnet_flow *flow)
{
	struct {
		struct cygnet_flow flow;
		uint32_t reqid, charon;
	} question = {
		.reqid = __atomic_load_n(&policy->reqid, __ATOMIC_RELAXED),
		.charon = (uint32_t)__atomic_load_n(&sadb_charon, __ATOMIC_RELAXED),
	};

	if (is_for_any_peer(policy))
		acquire_flow(policy, flow, &question.flow);
	return acquire_hash(&question, sizeof(question));
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

	return &asked_by_source[acquire_hash(&source, sizeof(source)) % SOURCES];
}

static uint32_t tag_of(uint64_t question)
{
	return (uint32_t)(question >> 32) | 1;
}

static bool is_entry_of(uint64_t entry, uint64_t question)
{
	return entry >> 32 == tag_of(question);
}

/* The place of a question, or else that of the question in its set that was asked longest ago. */
static uint64_t *place_of(uint64_t question, uint64_t *entry)
{
	uint64_t *set = asked[question % SETS], *place = NULL;

	for (unsigned int i = 0; i < WAYS; i++) {
		uint64_t e = __atomic_load_n(&set[i], __ATOMIC_RELAXED);

		if (!place || is_entry_of(e, question) || (uint32_t)e < (uint32_t)*entry) {
			place = &set[i];
			*entry = e;
		}
		if (is_entry_of(e, question))
			break;
	}
	return place;
}

/* @return UINT32_MAX if the question was not asked lately */
static uint32_t seconds_since(uint64_t entry, uint64_t question, uint32_t now)
{
	if (!is_entry_of(entry, question))
		return UINT32_MAX;
	/* Another lcore may have seen the next second before this one. */
	return (uint32_t)entry > now ? 0 : now - (uint32_t)entry;
}

/* Count a question. @return false: there are limit already, of which some are over each second */
static bool count_in(uint64_t *count, unsigned int per_second, unsigned int limit)
{
	uint64_t old = __atomic_load_n(count, __ATOMIC_RELAXED), now, left, over;

	do {
		/* Another lcore may have seen the next second before this one. */
		now = RTE_MAX(clock_seconds() & UINT32_MAX, old >> 32);
		over = (now - (old >> 32)) * per_second;
		left = old & UINT32_MAX;
		left = left > over ? left - over : 0;
		if (left >= limit)
			return false;
	} while (!__atomic_compare_exchange_n(count, &old, now << 32 | (left + 1), true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

/* Questions that are asked again may take half of what new ones may. */
static bool is_within_limits(const struct cygnet_policy *policy, const struct cygnet_flow *flow,
			     bool again)
{
	unsigned int at_once = again ? ACQUIRES_AT_ONCE / 2 : ACQUIRES_AT_ONCE;

	return count_in(share_of(policy, flow), ACQUIRES_PER_SECOND / 2, at_once / 2) &&
	       count_in(&asked_in_all, ACQUIRES_PER_SECOND, at_once);
}

static bool post(const struct cygnet_policy *policy, const struct cygnet_flow *flow)
{
	const struct cygnet_event event = {
		.type = CYGNET_EVENT_ACQUIRE,
		.reqid = __atomic_load_n(&policy->reqid, __ATOMIC_RELAXED),
		.flow = *flow,
	};

	return event_raise(&event);
}

static bool exchange(uint64_t *place, uint64_t before, uint64_t now)
{
	return __atomic_compare_exchange_n(place, &before, now, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

bool acquire_raise(const struct cygnet_policy *policy, const struct cygnet_flow *flow,
		   unsigned int seconds)
{
	uint64_t question = question_of(policy, flow), before = 0, mine, *place;
	uint32_t now = (uint32_t)clock_seconds(), since;

	mine = (uint64_t)tag_of(question) << 32 | now;
	/* Of the lcores that would ask now one does. */
	do {
		place = place_of(question, &before);
		since = seconds_since(before, question, now);
		if (since < seconds)
			return false;
	} while (!exchange(place, before, mine));
	if (is_within_limits(policy, flow, since <= FORGET_SECONDS) && post(policy, flow))
		return true;
	exchange(place, mine, before);
	return false;
}

int acquires_init(void)
{
	return random_fill(&key, sizeof(key));
}

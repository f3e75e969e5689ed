/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks all invariants of the databases, for tests and for administrators. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "entry.h"
#include "hold.h"
#include "ike.h"
#include "lock.h"
#include "pool.h"
#include "sad.h"
#include "selector.h"
#include "spd.h"

/* Where a slot was found. */
enum { FOUND_NOWHERE, FOUND_IN_CHAIN, FOUND_FREE, FOUND_RETIRED };

struct check {
	struct cygnet_db *db;
	char *error;
	size_t size;
	int err;
};

__attribute__((format(printf, 2, 3))) static void violated(struct check *c, const char *format, ...)
{
	va_list args;

	if (c->err) /* report only the first violation */
		return;
	c->err = -EBADMSG;
	va_start(args, format);
	if (c->error && c->size)
		vsnprintf(c->error, c->size, format, args);
	va_end(args);
}

/* Mark a slot as found. @return false if the walk must stop */
static bool found(struct check *c, const struct slots *s, uint8_t *mark, uint32_t index, int as,
		  const char *kind)
{
	if (index >= s->pool->fresh)
		violated(c, "%s %u is in use, but slots from %u on were never used", kind, index,
			 s->pool->fresh);
	else if (mark[index])
		violated(c, "%s %u is in two lists", kind, index);
	else
		mark[index] = (uint8_t)as;
	return !c->err;
}

/* @param[out] last  reference to the last slot of the list. @return number of slots in it */
static uint32_t walk_list(struct check *c, const struct slots *s, uint8_t *mark, uint32_t ref,
			  int as, const char *kind, uint32_t *last)
{
	uint64_t epoch = 0;
	uint32_t n = 0;

	for (*last = 0; ref; n++) {
		uint32_t index = ref_index(ref, s->capacity);

		if (index == CYGNET_NONE) {
			violated(c, "%s list leads to slot %u of %u", kind, ref, s->capacity);
			break;
		}
		if (!found(c, s, mark, index, as, kind))
			break;
		if (as == FOUND_RETIRED && *slot_epoch(s, index) < epoch)
			violated(c, "retired %s %u is queued behind one of a later epoch", kind,
				 index);
		epoch = *slot_epoch(s, index);
		*last = ref;
		ref = *slot_link(s, index);
	}
	return n;
}

static void check_pool(struct check *c, const struct slots *s, uint8_t *mark, uint32_t chained,
		       const char *kind)
{
	uint32_t retired, last;

	walk_list(c, s, mark, s->pool->free, FOUND_FREE, kind, &last);
	retired = walk_list(c, s, mark, s->pool->retired_head, FOUND_RETIRED, kind, &last);
	if (last != s->pool->retired_tail)
		violated(c, "the queue of retired %ss ends at %u, not %u", kind, last,
			 s->pool->retired_tail);
	if (chained != s->pool->used)
		violated(c, "%u %ss in chains, %u counted", chained, kind, s->pool->used);
	if (retired != s->pool->retired)
		violated(c, "%u %ss retired, %u counted", retired, kind, s->pool->retired);
	for (uint32_t i = 0; i < s->pool->fresh && !c->err; i++) {
		uint32_t state = *slot_state(s, i);
		int expected = state == CYGNET_SLOT_FREE      ? FOUND_FREE
			       : state == CYGNET_SLOT_RETIRED ? FOUND_RETIRED
							      : FOUND_IN_CHAIN;

		if (mark[i] != expected)
			violated(c, "%s %u has state %u, but is in list %u", kind, i, state,
				 mark[i]);
		if (state != CYGNET_SLOT_FREE && !*slot_generation(s, i))
			violated(c, "%s %u has generation 0", kind, i);
	}
}

/* An id must be unique: a lookup returns one SA. */
static bool same_id(const struct cygnet_sa *a, const struct cygnet_sa *b)
{
	const struct cygnet_path *path = cygnet_sa_path(b);

	return a->spi == b->spi && a->proto == b->proto && sad_ends_at(a, path->af, &path->dst);
}

static void check_chained_sa(struct check *c, uint32_t index, uint32_t bucket)
{
	struct cygnet_db *db = c->db;
	const struct cygnet_sa *sa = &db->sas[index], *next;
	uint32_t after = ref_index(sa->next, db->geometry.sas);

	if (sad_bucket(db, sa) != &db->sa_table[bucket])
		violated(c, "SA %u is in the wrong chain", index);
	if (after == CYGNET_NONE)
		return;
	next = &db->sas[after];
	if (!(sa->flags & CYGNET_SA_INBOUND) && (next->flags & CYGNET_SA_INBOUND))
		violated(c, "inbound SA %u is behind an outbound one", after);
	if (same_id(sa, next))
		violated(c, "SAs %u and %u have the same id", index, after);
}

/* Keys must not outlive their SA. */
static void check_wiped(struct check *c, const struct slots *s)
{
	static const uint8_t zero[CYGNET_KEY_MAX];

	for (uint32_t i = 0; i < s->pool->fresh && !c->err; i++) {
		const struct cygnet_sa *sa = &c->db->sas[i];

		if (sa->state == CYGNET_SLOT_FREE && (memcmp(sa->cipher_key, zero, sizeof(zero)) ||
						      memcmp(sa->auth_key, zero, sizeof(zero))))
			violated(c, "free SA %u still has a key", i);
	}
}

static void check_sas(struct check *c, const struct slots *s, uint8_t *mark)
{
	struct cygnet_db *db = c->db;
	uint32_t chained = 0;

	for (uint32_t b = 0; b <= db->sa_mask && !c->err; b++) {
		uint32_t ref = db->sa_table[b];

		while (ref && !c->err) {
			uint32_t index = ref_index(ref, s->capacity);

			if (index == CYGNET_NONE) {
				violated(c, "SA chain leads to slot %u", ref);
				break;
			}
			if (!found(c, s, mark, index, FOUND_IN_CHAIN, "SA"))
				break;
			check_chained_sa(c, index, b);
			ref = db->sas[index].next;
			chained++;
		}
	}
	check_pool(c, s, mark, chained, "SA");
	check_wiped(c, s);
}

/* Check a policy of an entry, and its place. @param chain  NULL: it is a user */
static void check_policy(struct check *c, uint32_t index, const uint32_t *chain)
{
	const struct cygnet_policy *p = &c->db->policies[index];
	struct place place;

	if (p->dir >= CYGNET_DIRS || !p->refs) {
		violated(c, "policy %u has a direction or count out of range", index);
		return;
	}
	place = place_of(c->db, p->dir, &p->sel);
	if (chain && place.chain != chain)
		violated(c, "policy %u is in the wrong chain", index);
	if (!place_is_visited(&place, p))
		violated(c, "lookups skip the place of policy %u", index);
	if (cygnet_policy_held(p) && !hold_valid(p))
		violated(c,
			 "policy %u is held, but is a bypass, has an interface ID, or still has the reqid of an SA",
			 index);
}

/* @return the policy that a reference leads to, or NULL: it leads to none, or a violation was found */
static const struct cygnet_policy *follow_policy(struct check *c, const struct slots *s,
						 uint8_t *mark, uint32_t ref)
{
	uint32_t index = ref_index(ref, s->capacity);

	if (!ref)
		return NULL;
	if (index == CYGNET_NONE) {
		violated(c, "a list of policies leads to slot %u", ref);
		return NULL;
	}
	return found(c, s, mark, index, FOUND_IN_CHAIN, "policy") ? &c->db->policies[index] : NULL;
}

/* @return number of users of the entry */
static uint32_t check_users(struct check *c, const struct slots *s, uint8_t *mark,
			    const struct cygnet_policy *head)
{
	const struct cygnet_policy *before = head, *user;
	uint32_t n = 0;

	for (; (user = follow_policy(c, s, mark, before->user)); before = user, n++) {
		uint32_t index = cygnet_policy_index(c->db, user);

		check_policy(c, index, NULL);
		if (user->dir != head->dir || !selector_equal(&user->sel, &head->sel))
			violated(c, "policy %u is a user of an entry with another selector", index);
		if (cygnet_policy_wins(user, before))
			violated(c, "policy %u is not in the order of its entry", index);
	}
	return n;
}

/* Whether one of the first policies of a chain has a policy's selector, too. Not all of a long chain are compared:
 * nobody can install anything meanwhile. */
static bool has_equal_before(struct cygnet_db *db, const uint32_t *chain,
			     const struct cygnet_policy *policy)
{
	const struct cygnet_policy *other = chain_follow(db, chain);

	for (uint32_t left = 64; other && other != policy && left--;
	     other = chain_follow(db, &other->next))
		if (other->dir == policy->dir && selector_equal(&other->sel, &policy->sel))
			return true;
	return false;
}

static void check_policies(struct check *c, const struct slots *s, uint8_t *mark)
{
	struct cygnet_db *db = c->db;
	uint32_t chained = 0;

	for (uint32_t b = 0; b <= db->policy_mask && !c->err; b++) {
		const struct cygnet_policy *before = NULL, *policy;
		uint32_t ref = db->policy_table[b];

		for (; (policy = follow_policy(c, s, mark, ref)); ref = policy->next) {
			uint32_t index = cygnet_policy_index(db, policy);

			check_policy(c, index, &db->policy_table[b]);
			if (before && cygnet_policy_wins(policy, before))
				violated(c, "policy %u is not in the order of its chain", index);
			if (!c->err && has_equal_before(db, &db->policy_table[b], policy))
				violated(c,
					 "policy %u has an entry of its own beside one with its selector",
					 index);
			chained += 1 + check_users(c, s, mark, policy);
			before = policy;
		}
	}
	check_pool(c, s, mark, chained, "policy");
}

static void check_list(struct check *c, unsigned int l, const struct spd_list *is,
		       const struct spd_list *want)
{
	for (unsigned int bits = 0; bits < LENGTHS; bits++)
		if (is->length[bits].policies != want->length[bits].policies)
			violated(c, "list %u counts %u policies with %u bits, has %u", l,
				 is->length[bits].policies, bits, want->length[bits].policies);
	if (memcmp(&is->peer, &want->peer, sizeof(is->peer)))
		violated(c, "list %u has the wrong prefix lengths", l);
	if (is->by_ports != want->by_ports || is->by_protocol != want->by_protocol)
		violated(c, "list %u counts the wrong number of policies by ports or protocol", l);
}

/* A length may stay in a net while another net shares its counter. */
static void check_counts(struct check *c)
{
	struct cygnet_db *want = place_recount(c->db);

	if (!want) {
		violated(c, "out of memory");
		return;
	}
	for (unsigned int l = 0; l < LAYOUT_SPD_LISTS; l++)
		check_list(c, l, &c->db->header->spd[l], &want->header->spd[l]);
	for (uint32_t i = 0; i <= c->db->net_mask; i++) {
		if (c->db->peer_nets[i].policies != want->peer_nets[i].policies)
			violated(c, "net %u counts %u policies, has %u", i,
				 c->db->peer_nets[i].policies, want->peer_nets[i].policies);
		if (c->db->sharing[i] != want->sharing[i])
			violated(c, "counter %u of local prefixes is %u, should be %u", i,
				 c->db->sharing[i], want->sharing[i]);
	}
	place_recount_free(want);
}

static void check_replay(struct check *c, const struct slots *s)
{
	struct header *h = c->db->header;
	uint8_t *owned = calloc(c->db->replay_blocks, 1);
	uint32_t used = 0, free_blocks = 0;

	if (!owned) {
		violated(c, "out of memory");
		return;
	}
	for (uint32_t i = 0; i < s->pool->fresh; i++) {
		uint32_t block = c->db->sas[i].replay_block;

		if (c->db->sas[i].state == CYGNET_SLOT_FREE || block >= c->db->replay_blocks)
			continue;
		if (owned[block]++)
			violated(c, "two SAs own replay window %u", block);
		used++;
	}
	if (h->replay_fresh > c->db->replay_blocks)
		violated(c, "%u replay windows used of %u", h->replay_fresh, c->db->replay_blocks);
	for (uint32_t ref = h->replay_free; ref && !c->err; free_blocks++) {
		uint32_t block = ref_index(ref, c->db->replay_blocks);

		if (block == CYGNET_NONE || owned[block]++)
			violated(c, "the list of free replay windows is broken at %u", ref);
		else
			ref = (uint32_t)c->db->replay[block].word[0];
	}
	if (used != h->replay_used || used + free_blocks != h->replay_fresh)
		violated(c, "replay windows: %u used, %u free, %u counted of %u", used, free_blocks,
			 h->replay_used, h->replay_fresh);
	free(owned);
}

static void check_all(struct check *c, const struct slots *sas, uint8_t *sa_mark,
		      const struct slots *policies, uint8_t *policy_mark)
{
	if (sas->pool->fresh > sas->capacity)
		violated(c, "%u SA slots used of %u", sas->pool->fresh, sas->capacity);
	if (policies->pool->fresh > policies->capacity)
		violated(c, "%u policy slots used of %u", policies->pool->fresh,
			 policies->capacity);
	if (c->err) /* the checks below index arrays by these counters */
		return;
	check_sas(c, sas, sa_mark);
	check_policies(c, policies, policy_mark);
	check_counts(c);
	check_replay(c, sas);
	if (!ike_valid(c->db->header))
		violated(c, "an IKE port is out of range or registered twice");
}

EXPORT int cygnet_db_check(struct cygnet_db *db, char *error, size_t size)
{
	struct check c = {db, error, size, 0};
	struct slots sas = pool_sas(db), policies = pool_policies(db);
	uint8_t *sa_mark = calloc(sas.capacity, 1);
	uint8_t *policy_mark = calloc(policies.capacity, 1);

	if (!sa_mark || !policy_mark) {
		violated(&c, "out of memory");
	} else {
		lock_take(db);
		check_all(&c, &sas, sa_mark, &policies, policy_mark);
		lock_release(db);
	}
	free(sa_mark);
	free(policy_mark);
	return c.err;
}

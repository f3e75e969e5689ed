/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prefix.h"
#include "scope.h"

#define LEVELS (CYGNET_FLOW_SCOPES / 2)
/* Scopes of SAs start at 1 and end before SCOPE_NONE. Scopes of prefixes start at FIRST_PREFIX. */
#define SA_SCOPES    0x7ffeu
#define FIRST_PREFIX 0x8000u

_Static_assert(SA_SCOPES < SCOPE_NONE && SCOPE_NONE < FIRST_PREFIX, "nothing else has it");
_Static_assert(CYGNET_SCOPES == LAYOUT_SPD_LISTS * LAYOUT_LOGGED, "the log fills its room");

/* Lengths of the prefixes that have scopes, bits. The scope of a policy is that of the longest of them that is not
 * longer than the prefix of its selector. */
static const uint8_t levels[2][LEVELS] = {
	{8, 16, 24, 32},
	{32, 48, 64, 128},
};

static const uint8_t *levels_of(uint8_t af)
{
	return levels[af == AF_INET6];
}

static uint32_t *entry(struct cygnet_db *db, uint64_t number)
{
	uint64_t index = number % CYGNET_SCOPES;

	return &db->header->spd[index % LAYOUT_SPD_LISTS].logged[index / LAYOUT_SPD_LISTS];
}

void scope_log(struct cygnet_db *db, uint16_t scope)
{
	uint64_t number = load_relaxed(&db->header->spd_changes) + load_relaxed(&db->header->epoch);

	store_release(entry(db, number), (uint32_t)(number + 1) << 16 | scope);
}

static uint16_t scope_of_prefix(const struct cygnet_db *db, uint8_t af, bool dst, unsigned int bits,
				const struct cygnet_addr *addr)
{
	uint64_t hash = hash_mix(db->seed, (uint64_t)af << 16 | (uint64_t)dst << 8 | bits);

	return (uint16_t)(FIRST_PREFIX | prefix_hash(hash, addr, bits, af));
}

/* @return the number of levels that are not longer than the prefix of a range */
static unsigned int level_of(uint8_t af, const struct cygnet_addr *lo, const struct cygnet_addr *hi)
{
	unsigned int bits = cygnet_addr_common(af, lo, hi), n = 0;

	while (n < LEVELS && levels_of(af)[n] <= bits)
		n++;
	return n;
}

/* The scope of one side of a selector. @return CYGNET_SCOPE_ALL: its prefix is too short */
static uint16_t scope_of_side(const struct cygnet_db *db, const struct cygnet_selector *sel,
			      bool dst)
{
	const struct cygnet_addr *lo = dst ? &sel->dst_lo : &sel->src_lo;
	unsigned int level = level_of(sel->af, lo, dst ? &sel->dst_hi : &sel->src_hi);

	if (!level)
		return CYGNET_SCOPE_ALL;
	return scope_of_prefix(db, sel->af, dst, levels_of(sel->af)[level - 1], lo);
}

/* Use the peer's side, because the policies of many peers can have the same local side. */
uint16_t scope_of_selector(const struct cygnet_db *db, enum cygnet_dir dir,
			   const struct cygnet_selector *sel)
{
	uint16_t scope = scope_of_side(db, sel, dir == CYGNET_OUT);

	return scope == CYGNET_SCOPE_ALL ? scope_of_side(db, sel, dir != CYGNET_OUT) : scope;
}

EXPORT void cygnet_flow_scopes(const struct cygnet_db *db, uint8_t af,
			       const struct cygnet_addr *src, const struct cygnet_addr *dst,
			       uint16_t scope[CYGNET_FLOW_SCOPES])
{
	for (unsigned int i = 0; i < LEVELS; i++) {
		scope[i] = scope_of_prefix(db, af, false, levels_of(af)[i], src);
		scope[LEVELS + i] = scope_of_prefix(db, af, true, levels_of(af)[i], dst);
	}
}

EXPORT uint16_t cygnet_sa_scope(uint32_t index)
{
	return (uint16_t)(1 + index % SA_SCOPES);
}

EXPORT unsigned int cygnet_db_changed(struct cygnet_db *db, uint64_t from, uint64_t to,
				      uint16_t scope[CYGNET_SCOPES])
{
	unsigned int n = 0;

	if (to - from > CYGNET_SCOPES) {
		scope[0] = CYGNET_SCOPE_ALL;
		return 1;
	}
	for (uint64_t number = from; number != to; number++) {
		uint32_t logged = load_acquire(entry(db, number));

		/* The entry of another change: it was overwritten meanwhile, or this change was not logged. */
		if (logged >> 16 != ((number + 1) & UINT16_MAX))
			scope[n++] = CYGNET_SCOPE_ALL;
		else if ((uint16_t)logged != SCOPE_NONE)
			scope[n++] = (uint16_t)logged;
	}
	return n;
}

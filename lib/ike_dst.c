/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses that charon sends IKE to: a hash table. An address is in one of PLACES places from that of its hash on,
 * in any of them. Charon is the only writer.
 */
#include <string.h>
#include <unistd.h>

#include "hash.h"
#include "layout.h"

#define PLACES 16u
#define CHANGE 0xffffffu /* of a state: increases when the place is given to another address */

/* The state of a place: second of CLOCK_MONOTONIC << 32 | change << 8 | family. No family: free. */
static uint64_t state_of(uint32_t now, uint64_t change, uint8_t af)
{
	return (uint64_t)now << 32 | (change & CHANGE) << 8 | af;
}

static uint64_t change_of(uint64_t state)
{
	return state >> 8 & CHANGE;
}

static int32_t age_of(uint64_t state, uint32_t now)
{
	return (int32_t)(now - (uint32_t)(state >> 32));
}

static struct ike_dst *place(const struct cygnet_db *db, uint8_t af, const struct cygnet_addr *dst,
			     unsigned int i)
{
	uint64_t hash = hash_mix(hash_mix(hash_mix(db->seed, af), dst->words[0]), dst->words[1]);

	return &db->ike_dst[((uint32_t)hash + i) & db->ike_dst_mask];
}

/* Whether a place has an address. A writer may change it meanwhile. @param state  receives its state */
static bool place_has(const struct ike_dst *p, uint8_t af, const struct cygnet_addr *dst,
		      uint64_t *state)
{
	bool same;

	*state = load_acquire(&p->state);
	same = (uint8_t)*state == af && load_relaxed(&p->dst[0]) == dst->words[0] &&
	       load_relaxed(&p->dst[1]) == dst->words[1];
	read_barrier();
	return same && (load_relaxed(&p->state) ^ *state) << 32 == 0;
}

static void give_place(struct ike_dst *p, uint8_t af, const struct cygnet_addr *dst, uint32_t now)
{
	uint64_t change = change_of(p->state) + 1;

	store_relaxed(&p->state, state_of(0, change, 0));
	write_barrier();
	store_relaxed(&p->dst[0], dst->words[0]);
	store_relaxed(&p->dst[1], dst->words[1]);
	store_release(&p->state, state_of(now, change, af));
}

EXPORT void cygnet_ike_note(struct cygnet_db *db, uint8_t af, const struct cygnet_addr *dst,
			    uint32_t now)
{
	struct ike_dst *oldest;
	uint64_t state;

	if (!db->ike_dst)
		return;
	oldest = place(db, af, dst, 0);
	for (unsigned int i = 0; i < PLACES; i++) {
		struct ike_dst *p = place(db, af, dst, i);

		if (place_has(p, af, dst, &state)) {
			store_release(&p->state, state_of(now, change_of(state), af));
			return;
		}
		if (age_of(state, now) > age_of(oldest->state, now))
			oldest = p;
	}
	give_place(oldest, af, dst, now);
}

EXPORT void cygnet_ike_notes(struct cygnet_db *db)
{
	store_release(&db->header->ike_notes, getpid());
}

EXPORT bool cygnet_ike_noted(const struct cygnet_db *db, uint8_t af, const struct cygnet_addr *dst,
			     uint32_t now)
{
	const struct header *h = db->header;
	int32_t notes = load_acquire(&h->ike_notes);
	uint64_t state;

	if (!db->ike_dst || !notes || notes != load_relaxed(&h->role_pid[CYGNET_ROLE_CHARON]))
		return true;
	for (unsigned int i = 0; i < PLACES; i++)
		if (place_has(place(db, af, dst, i), af, dst, &state) &&
		    age_of(state, now) <= (int32_t)CYGNET_IKE_SENT_S)
			return true;
	return false;
}

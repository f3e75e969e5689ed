/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "lengths.h"
#include "place.h"

struct place place_of(struct cygnet_db *db, enum cygnet_dir dir, const struct cygnet_selector *sel)
{
	unsigned int src = cygnet_addr_common(sel->af, &sel->src_lo, &sel->src_hi);
	unsigned int dst = cygnet_addr_common(sel->af, &sel->dst_lo, &sel->dst_hi);
	bool out = dir == CYGNET_OUT;
	struct place place = {
		.list = place_list(db, dir, sel->af),
		.peer_bits = out ? dst : src,
		.local_bits = out ? src : dst,
	};
	uint64_t hash = place_peer_hash(db, dir, sel->by_if_id ? sel->interface : 0, sel->af,
					out ? &sel->dst_lo : &sel->src_lo, place.peer_bits);

	place.net = place_net(db, hash);
	place.mark = place_mark(hash);
	place.chain = place_chain(db, hash, sel->af, out ? &sel->src_lo : &sel->dst_lo,
				  place.local_bits);
	/* By the net, not by its prefix: two prefixes that share a net share its lengths. */
	place.sharing = &db->sharing[hash_mix(db->seed ^ (uint64_t)(place.net - db->peer_nets),
					      place.local_bits) &
				     db->net_mask];
	return place;
}

static void increment(uint32_t *counter)
{
	store_release(counter, load_relaxed(counter) + 1);
}

static void decrement(uint32_t *counter)
{
	store_release(counter, load_relaxed(counter) - 1);
}

static void lower(uint32_t *best, bool first, uint32_t priority)
{
	if (first || priority < load_relaxed(best))
		store_release(best, priority);
}

/* Each bound is stored before the count that lets readers look at it. */
void place_enter(const struct place *place, const struct cygnet_policy *policy)
{
	struct spd_length *length = &place->list->length[place->peer_bits];
	struct peer_net *net = place->net;

	if (cygnet_restricts_ports(&policy->sel))
		increment(&place->list->by_ports);
	if (policy->sel.proto)
		increment(&place->list->by_protocol);
	increment(place->sharing);
	store_release(&net->marks, (net->policies ? net->marks : 0) | place->mark);
	lengths_add(&net->local, place->local_bits);
	increment(&net->policies);
	lower(&length->best, !length->policies, policy->priority);
	if (!length->policies)
		store_release(&length->local, place->local_bits + 1);
	else if (length->local != place->local_bits + 1)
		store_release(&length->local, 0);
	increment(&length->policies);
	lengths_add(&place->list->peer, place->peer_bits);
}

static void leave_net(const struct place *place)
{
	static const struct lengths none;
	struct peer_net *net = place->net;

	decrement(&net->policies);
	decrement(place->sharing);
	if (!net->policies)
		lengths_store(&net->local, &none);
	else if (!*place->sharing)
		lengths_remove(&net->local, place->local_bits);
}

void place_leave(const struct place *place, const struct cygnet_policy *policy)
{
	struct spd_length *length = &place->list->length[place->peer_bits];

	decrement(&length->policies);
	if (!length->policies)
		lengths_remove(&place->list->peer, place->peer_bits);
	leave_net(place);
	if (cygnet_restricts_ports(&policy->sel))
		decrement(&place->list->by_ports);
	if (policy->sel.proto)
		decrement(&place->list->by_protocol);
}

bool place_is_visited(const struct place *place, const struct cygnet_policy *policy)
{
	const struct spd_length *length = &place->list->length[place->peer_bits];

	return lengths_have(&place->list->peer, place->peer_bits) && length->policies &&
	       (!length->local || length->local == place->local_bits + 1) &&
	       length->best <= policy->priority && place->net->policies &&
	       place->net->marks & place->mark && *place->sharing &&
	       lengths_have(&place->net->local, place->local_bits);
}

static void store_length(struct spd_length *length, const struct spd_length *fresh)
{
	store_release(&length->best, fresh->best);
	store_release(&length->policies, fresh->policies);
	store_release(&length->local, fresh->local);
}

static void store_list(struct spd_list *list, const struct spd_list *fresh)
{
	for (unsigned int bits = 0; bits < LENGTHS; bits++)
		if (memcmp(&list->length[bits], &fresh->length[bits], sizeof(fresh->length[bits])))
			store_length(&list->length[bits], &fresh->length[bits]);
	store_release(&list->by_ports, fresh->by_ports);
	store_release(&list->by_protocol, fresh->by_protocol);
	lengths_store(&list->peer, &fresh->peer);
}

static void store_net(struct peer_net *net, const struct peer_net *fresh)
{
	store_release(&net->marks, fresh->marks);
	store_release(&net->policies, fresh->policies);
	lengths_store(&net->local, &fresh->local);
}

/* Few differ. */
void place_store(struct cygnet_db *db, const struct cygnet_db *fresh)
{
	for (unsigned int l = 0; l < LAYOUT_SPD_LISTS; l++)
		store_list(&db->header->spd[l], &fresh->header->spd[l]);
	for (uint32_t i = 0; i <= db->net_mask; i++) {
		if (memcmp(&db->peer_nets[i], &fresh->peer_nets[i], sizeof(db->peer_nets[i])))
			store_net(&db->peer_nets[i], &fresh->peer_nets[i]);
		if (db->sharing[i] != fresh->sharing[i])
			store_release(&db->sharing[i], fresh->sharing[i]);
	}
}

void place_forget_all(struct cygnet_db *db)
{
	static const struct spd_list no_list;
	static const struct peer_net no_net;

	for (unsigned int l = 0; l < LAYOUT_SPD_LISTS; l++)
		store_list(&db->header->spd[l], &no_list);
	for (uint32_t i = 0; i <= db->net_mask; i++) {
		if (db->peer_nets[i].policies)
			store_net(&db->peer_nets[i], &no_net);
		if (db->sharing[i])
			store_release(&db->sharing[i], 0);
	}
}

void place_recount_free(struct cygnet_db *fresh)
{
	if (!fresh)
		return;
	free(fresh->header);
	free(fresh->peer_nets);
	free(fresh->sharing);
	free(fresh);
}

static void recount(struct cygnet_db *fresh, uint32_t slots)
{
	for (uint32_t i = 0; i < slots; i++) {
		const struct cygnet_policy *policy = &fresh->policies[i];

		if (policy->state == CYGNET_SLOT_LIVE && policy->dir < CYGNET_DIRS) {
			struct place place = place_of(fresh, policy->dir, &policy->sel);

			place_enter(&place, policy);
		}
	}
}

struct cygnet_db *place_recount(struct cygnet_db *db)
{
	struct cygnet_db *fresh = malloc(sizeof(*fresh));

	if (!fresh)
		return NULL;
	*fresh = *db;
	fresh->header = calloc(1, sizeof(*fresh->header));
	fresh->peer_nets = calloc((size_t)db->net_mask + 1, sizeof(*fresh->peer_nets));
	fresh->sharing = calloc((size_t)db->net_mask + 1, sizeof(*fresh->sharing));
	if (!fresh->header || !fresh->peer_nets || !fresh->sharing) {
		place_recount_free(fresh);
		return NULL;
	}
	recount(fresh, pool_fresh(&db->header->policy_pool, db->geometry.policies));
	return fresh;
}

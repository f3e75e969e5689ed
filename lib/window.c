/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "window.h"

/* The first word of a free block is the reference to the next free block. */
static uint32_t take_block(struct cygnet_db *db)
{
	struct header *h = db->header;
	uint32_t block = ref_index(h->replay_free, db->replay_blocks);

	if (block != CYGNET_NONE)
		h->replay_free = (uint32_t)db->replay[block].word[0];
	else if (h->replay_fresh < db->replay_blocks)
		block = h->replay_fresh++;
	else
		return CYGNET_NONE;
	h->replay_used++;
	return block;
}

static void free_block(struct cygnet_db *db, uint32_t block)
{
	db->replay[block].word[0] = db->header->replay_free;
	db->header->replay_free = block + 1;
}

int window_attach(struct cygnet_db *db, struct cygnet_sa *sa, uint32_t packets)
{
	uint32_t block = sa->replay_block;

	if (packets <= REPLAY_INLINE_MAX) {
		window_release(db, sa);
		return 0;
	}
	/* A larval SA already has a block if a writer died between here and pool_use(). */
	if (block >= db->replay_blocks)
		block = take_block(db);
	if (block == CYGNET_NONE)
		return -ENOSPC;
	memset(&db->replay[block], 0, sizeof(db->replay[block]));
	sa->replay_block = block;
	return 0;
}

void window_release(struct cygnet_db *db, struct cygnet_sa *sa)
{
	uint32_t block = sa->replay_block;

	sa->replay_block = CYGNET_NONE;
	if (block >= db->replay_blocks)
		return;
	free_block(db, block);
	db->header->replay_used--;
}

void window_rebuild(struct cygnet_db *db)
{
	struct header *h = db->header;
	uint32_t sas = pool_fresh(&h->sa_pool, db->geometry.sas);
	uint32_t fresh = h->replay_fresh < db->replay_blocks ? h->replay_fresh : db->replay_blocks;

	h->replay_fresh = fresh;
	h->replay_free = 0;
	h->replay_used = 0;
	for (uint32_t b = 0; b < fresh; b++)
		db->replay[b].owned = 0;
	for (uint32_t i = 0; i < sas; i++) {
		uint32_t block = db->sas[i].replay_block;

		/* Ignore the field of a free slot: it is 0, a valid index, in a new file. */
		if (db->sas[i].state != CYGNET_SLOT_FREE && block < fresh)
			db->replay[block].owned = 1;
	}
	for (uint32_t b = 0; b < fresh; b++) {
		if (db->replay[b].owned)
			h->replay_used++;
		else
			free_block(db, b);
	}
}

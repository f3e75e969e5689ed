/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "qsbr.h"

uint64_t qsbr_start(struct cygnet_db *db)
{
	uint64_t epoch = load_relaxed(&db->header->epoch) + 1;

	/* The unpublishing store is seen before the new epoch is: a reader that
	 * reports this epoch cannot find the slot any more. */
	full_barrier();
	store_release(&db->header->epoch, epoch);
	return epoch;
}

uint64_t qsbr_over(struct cygnet_db *db)
{
	uint64_t now = load_relaxed(&db->header->epoch), oldest = now;

	/* A reader that went online before this is seen; one that does so after it
	 * sees what was unpublished. */
	full_barrier();
	for (unsigned int i = 0; i < CYGNET_MAX_READERS; i++) {
		uint64_t seen = load_acquire(&db->header->reader[i].seen);

		if (seen && seen < oldest)
			oldest = seen;
	}
	/* The dead hold nothing back. Asking costs a system call. */
	if (oldest < now && !cygnet_role_held(db, CYGNET_ROLE_DATAPLANE))
		return now;
	return oldest;
}

void qsbr_reset(struct cygnet_db *db)
{
	for (unsigned int i = 0; i < CYGNET_MAX_READERS; i++)
		store_release(&db->header->reader[i].seen, 0);
}

static void report(struct cygnet_db *db, unsigned int id)
{
	store_release(&db->header->reader[id].seen, load_acquire(&db->header->epoch));
	/* What the reader loads next is not loaded before the writer can see it online. */
	full_barrier();
}

EXPORT int cygnet_reader_online(struct cygnet_db *db, unsigned int id)
{
	if (id >= CYGNET_MAX_READERS)
		return -EINVAL;
	if (!(db->roles & 1u << CYGNET_ROLE_DATAPLANE))
		return -EPERM;
	report(db, id);
	return 0;
}

EXPORT void cygnet_reader_offline(struct cygnet_db *db, unsigned int id)
{
	if (id < CYGNET_MAX_READERS)
		store_release(&db->header->reader[id].seen, 0);
}

EXPORT void cygnet_reader_quiescent(struct cygnet_db *db, unsigned int id)
{
	struct reader *reader = &db->header->reader[id % CYGNET_MAX_READERS];

	/* Nothing to say, and no barrier to pay, unless the writer moved on. */
	if (load_relaxed(&reader->seen) != load_relaxed(&db->header->epoch))
		report(db, id % CYGNET_MAX_READERS);
}

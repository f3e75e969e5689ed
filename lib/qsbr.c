/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "qsbr.h"
#include "scope.h"

uint64_t qsbr_start(struct cygnet_db *db, uint16_t scope)
{
	uint64_t epoch = load_relaxed(&db->header->epoch) + 1;

	scope_log(db, scope);
	/* Readers must see the slot removed before they see the new epoch: a reader
	 * that reports this epoch cannot find the slot any more. */
	full_barrier();
	store_release(&db->header->epoch, epoch);
	return epoch;
}

uint64_t qsbr_over(struct cygnet_db *db)
{
	uint64_t now = load_relaxed(&db->header->epoch), oldest = now;

	/* The loop sees readers that went online before this barrier. Readers that go
	 * online after it cannot find removed slots. */
	full_barrier();
	for (unsigned int i = 0; i < CYGNET_MAX_READERS; i++) {
		uint64_t seen = load_acquire(&db->header->reader[i].seen);

		if (seen && seen < oldest)
			oldest = seen;
	}
	/* Readers of a dead dataplane do not count. Checked last: it costs a system call. */
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
	/* The writer must see the reader online before the reader loads from the databases. */
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

	/* Without a new epoch there is nothing to report, which saves the barrier. */
	if (load_relaxed(&reader->seen) != load_relaxed(&db->header->epoch))
		report(db, id % CYGNET_MAX_READERS);
}

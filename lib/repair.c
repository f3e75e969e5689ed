/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "entry.h"
#include "pool.h"
#include "repair.h"
#include "sad.h"
#include "spd.h"
#include "window.h"

/* The mutex cannot be made consistent without the repair. */
static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

void repair(struct cygnet_db *db)
{
	struct slots sas = pool_sas(db), policies = pool_policies(db);
	uint8_t *sa = must(calloc(sas.capacity, 1)), *policy = must(calloc(policies.capacity, 1));
	struct cygnet_db *fresh;

	/* Count the dead writer's change here, and the repair as another change below. */
	spd_changed(db, CYGNET_SCOPE_ALL);
	sad_mark(db, sa);
	sad_finish_move(db, sa);
	entry_repair(db, policy);
	pool_rebuild(db, &sas, sa);
	pool_rebuild(db, &policies, policy);
	window_rebuild(db);
	fresh = must(place_recount(db));
	place_store(db, fresh);
	spd_changed(db, CYGNET_SCOPE_ALL);
	free(sa);
	free(policy);
	place_recount_free(fresh);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "pool.h"
#include "repair.h"
#include "sad.h"
#include "spd.h"
#include "window.h"

static void *zeros(size_t n, size_t size)
{
	void *array = calloc(n, size);

	if (!array) /* the mutex cannot be made consistent without the repair */
		abort();
	return array;
}

void repair(struct cygnet_db *db)
{
	struct slots sas = pool_sas(db), policies = pool_policies(db);
	uint8_t *sa = zeros(sas.capacity, 1), *policy = zeros(policies.capacity, 1);
	uint32_t (*counts)[LAYOUT_TUPLES] = zeros(LAYOUT_TUPLE_LISTS, sizeof(*counts));

	/* Count the dead writer's change here, and the repair as another change below. */
	spd_changed(db, CYGNET_SCOPE_ALL);
	sad_mark(db, sa);
	spd_mark(db, policy);
	pool_rebuild(db, &sas, sa);
	pool_rebuild(db, &policies, policy);
	window_rebuild(db);
	spd_rebuild_tuples(db, counts);
	spd_changed(db, CYGNET_SCOPE_ALL);
	free(sa);
	free(policy);
	free(counts);
}

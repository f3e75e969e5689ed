/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "pool.h"
#include "repair.h"
#include "sad.h"
#include "spd.h"

static uint8_t *marks(uint32_t slots)
{
	uint8_t *mark = calloc(slots, 1);

	if (!mark) /* of a few hundred KiB: nothing sensible can follow */
		abort();
	return mark;
}

void repair(struct cygnet_db *db)
{
	struct slots sas = pool_sas(db), policies = pool_policies(db);
	uint8_t *sa = marks(sas.capacity), *policy = marks(policies.capacity);

	sad_mark(db, sa);
	spd_mark(db, policy);
	pool_rebuild(db, &sas, sa);
	pool_rebuild(db, &policies, policy);
	sad_rebuild_replay(db);
	spd_rebuild_tuples(db);
	free(sa);
	free(policy);
}

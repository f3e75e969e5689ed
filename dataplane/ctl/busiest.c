/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/clock.h"
#include "busiest.h"
#include "databases.h"

struct grown {
	uint32_t slot;
	uint64_t packets, bytes;
};

static int compare(const void *one, const void *other)
{
	const struct grown *a = one, *b = other;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return a->slot < b->slot ? -1 : 1;
}

static struct sa_look look_at(struct cygnet_db *db, uint32_t slot)
{
	struct sa_look look = {0};
	struct cygnet_sa sa;

	if (cygnet_sa_snapshot(db, slot, &sa) && sa.state == CYGNET_SLOT_LIVE)
		look = (struct sa_look){sa.generation, true, sa.packets, sa.bytes};
	return look;
}

/* The counters of an SA that was installed since the last look began at 0. */
static struct grown growth(const struct looks *before, const struct sa_look *now, uint32_t slot)
{
	const struct sa_look *then = slot < before->n ? &before->sa[slot] : NULL;
	struct grown grown = {slot, now->packets, now->bytes};

	if (!then)
		return (struct grown){0};
	if (then->live && then->generation == now->generation) {
		grown.packets -= then->packets < now->packets ? then->packets : now->packets;
		grown.bytes -= then->bytes < now->bytes ? then->bytes : now->bytes;
	}
	return grown;
}

static json_t *make_row(struct cygnet_db *db, const struct grown *grown, double seconds)
{
	struct cygnet_sa sa;
	json_t *row;

	if (!cygnet_sa_snapshot(db, grown->slot, &sa))
		return NULL;
	row = databases_sa(&sa, NULL, clock_read_us(CLOCK_MONOTONIC) / 1000000);
	json_object_set_new(row, "packets",
			    json_integer((json_int_t)((double)grown->packets / seconds + 0.5)));
	json_object_set_new(row, "bytes",
			    json_integer((json_int_t)((double)grown->bytes / seconds + 0.5)));
	return row;
}

json_t *busiest_sas(struct cygnet_db *db, struct looks *looks, size_t most, double seconds)
{
	struct cygnet_db_info info;
	struct looks now = {0};
	struct grown *grown;
	json_t *rows = json_array();
	size_t n = 0;

	cygnet_db_info(db, &info);
	now.n = info.geometry.sas;
	now.sa = calloc(now.n, sizeof(*now.sa));
	grown = calloc(now.n, sizeof(*grown));
	if (!now.sa || !grown || !rows) {
		free(now.sa);
		free(grown);
		json_decref(rows);
		return NULL;
	}
	for (uint32_t slot = 0; slot < now.n; slot++) {
		now.sa[slot] = look_at(db, slot);
		if (now.sa[slot].live)
			grown[n] = growth(looks, &now.sa[slot], slot);
		n += now.sa[slot].live && grown[n].packets;
	}
	qsort(grown, n, sizeof(*grown), compare);
	for (size_t i = 0; i < n && i < most; i++) {
		json_t *row = make_row(db, &grown[i], seconds);

		if (row)
			json_array_append_new(rows, row);
	}
	free(grown);
	busiest_free(looks);
	*looks = now;
	return rows;
}

void busiest_free(struct looks *looks)
{
	free(looks->sa);
	*looks = (struct looks){0};
}

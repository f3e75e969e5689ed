/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_cycles.h>

#include "base/changes.h"
#include "base/sadb.h"
#include "base/settings.h"
#include "path/fast/fast.h"
#include "path/refresh.h"
#include "path/worker/neigh_wait.h"
#include "path/worker/police.h"
#include "path/worker/tx.h"

/* What a change of any kind may concern. */
static void general_changed(struct worker *w)
{
	w->settings = settings_now();
	tx_init(w);
	police_init(w);
}

static void changed(struct worker *w, uint64_t databases, uint64_t others)
{
	uint64_t general = changes_general();
	bool any = general != w->general;

	if (!++w->seen)
		w->seen = 1;
	fast_changed(w, databases, others != w->others, any);
	if (w->forget_sa)
		fast_forget_sa(w, w->forget_sa - 1);
	w->forget_sa = 0;
	w->databases = databases;
	w->others = others;
	w->general = general;
	if (any)
		general_changed(w);
	/* A next hop may have been resolved: packets that wait for it are sent first. */
	neigh_wait_retry(w);
}

void refresh_changes(struct worker *w)
{
	uint64_t databases = cygnet_db_changes(sadb), others = changes_seen();

	if (databases != w->databases || others != w->others || w->forget_sa)
		changed(w, databases, others);
}

void refresh_devices(struct worker *w)
{
	if (changes_seen() != w->others)
		tx_init(w);
}

void refresh_turn(struct worker *w)
{
	w->now = rte_get_tsc_cycles();
	fast_set_time(w);
	refresh_changes(w);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include <rte_malloc.h>

#include "base/sadb.h"
#include "path/fast/fast.h"
#include "path/fast/sa_route.h"

int fast_create(struct worker *w, uint32_t flows)
{
	int err;

	w->fast = NULL;
	if (!flows)
		return 0;
	w->fast = rte_zmalloc("known flows", sizeof(*w->fast), RTE_CACHE_LINE_SIZE);
	if (!w->fast)
		return -ENOMEM;
	w->fast->worker = w;
	err = flows_create(&w->fast->flows, flows, sa_route_renew_session);
	if (err)
		fast_free(w);
	return err;
}

void fast_free(struct worker *w)
{
	if (!w->fast)
		return;
	flows_free(&w->fast->flows);
	rte_free(w->fast);
	w->fast = NULL;
}

static void databases_changed(struct worker *w, uint64_t now)
{
	uint16_t scope[CYGNET_SCOPES];
	unsigned int n = cygnet_db_changed(sadb, w->databases, now, scope);

	for (unsigned int i = 0; i < n; i++)
		flows_changed(&w->fast->flows, scope[i]);
}

void fast_changed(struct worker *w, uint64_t databases, bool others, bool general)
{
	if (!w->fast)
		return;
	if (databases != w->databases)
		databases_changed(w, databases);
	/* Changes of neighbours and path MTUs: flow_renew() and sa_route_renew() compare them. */
	if (others)
		flows_begin_epoch(&w->fast->flows);
	if (general)
		flows_changed(&w->fast->flows, CYGNET_SCOPE_ALL);
}

void fast_forget_sa(struct worker *w, uint32_t sa)
{
	if (w->fast)
		flows_changed(&w->fast->flows, cygnet_sa_scope(sa));
}

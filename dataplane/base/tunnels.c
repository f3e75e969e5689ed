/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tunnels.h"

#define FIRST 64u /* SAs that there is room for at first */

static int compare(const void *one, const void *other)
{
	const struct tunnel_sa *a = one, *b = other;
	int order = memcmp(&a->id, &b->id, sizeof(a->id));

	if (order)
		return order;
	return a->install_time == b->install_time ? 0
						  : (a->install_time < b->install_time ? 1 : -1);
}

static struct tunnel_sa make_sa(const struct cygnet_sa *sa)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	bool inbound = sa->flags & CYGNET_SA_INBOUND;

	return (struct tunnel_sa){
		.id =
			{
				.local = inbound ? path->dst : path->src,
				.peer = inbound ? path->src : path->dst,
				.reqid = sa->reqid,
				.af = path->af,
			},
		.spi = sa->spi,
		.proto = sa->proto,
		.mode = sa->mode,
		.encap = path->encap,
		.inbound = inbound,
		.install_time = sa->install_time,
		.use_time = sa->use_time,
		.packets = sa->packets,
		.bytes = sa->bytes,
		.soft = sa->lifetime.soft_seconds,
		.hard = sa->lifetime.hard_seconds,
	};
}

/* Make room for one more SA. @param room  of all, grows */
static bool grow(struct tunnel_sas *sas, size_t *room)
{
	struct tunnel_sa *sa;

	if (sas->n < *room)
		return true;
	*room = *room ? 2 * *room : FIRST;
	sa = realloc(sas->sa, *room * sizeof(*sa));
	if (!sa)
		return false;
	sas->sa = sa;
	return true;
}

int tunnel_sas_read(struct cygnet_db *db,
		    bool (*takes)(const void *context, const struct cygnet_sa *sa),
		    const void *context, struct tunnel_sas *sas)
{
	struct cygnet_db_info info;
	struct cygnet_sa sa;
	size_t room = 0;

	*sas = (struct tunnel_sas){0};
	cygnet_db_info(db, &info);
	for (uint32_t i = 0; i < info.geometry.sas; i++) {
		if (!cygnet_sa_snapshot(db, i, &sa) || sa.state != CYGNET_SLOT_LIVE ||
		    (takes && !takes(context, &sa)))
			continue;
		if (!grow(sas, &room)) {
			tunnel_sas_free(sas);
			return -ENOMEM;
		}
		sas->sa[sas->n++] = make_sa(&sa);
	}
	if (sas->n)
		qsort(sas->sa, sas->n, sizeof(struct tunnel_sa), compare);
	return 0;
}

size_t tunnel_sas_end(const struct tunnel_sas *sas, size_t first)
{
	size_t end = first + 1;

	while (end < sas->n &&
	       !memcmp(&sas->sa[end].id, &sas->sa[first].id, sizeof(struct tunnel_id)))
		end++;
	return end;
}

struct tunnel_direction tunnel_direction(const struct tunnel_sa *sa, size_t n, bool inbound)
{
	struct tunnel_direction d = {0};

	for (size_t i = 0; i < n; i++) {
		if (sa[i].inbound != inbound)
			continue;
		if (!d.n++)
			d.newest = &sa[i];
		d.packets += sa[i].packets;
		d.bytes += sa[i].bytes;
		d.use_time = sa[i].use_time > d.use_time ? sa[i].use_time : d.use_time;
	}
	return d;
}

void tunnel_sas_free(struct tunnel_sas *sas)
{
	free(sas->sa);
	*sas = (struct tunnel_sas){0};
}

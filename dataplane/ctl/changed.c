/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/selector_text.h"
#include "changed.h"

static struct sa_seen look_at(struct cygnet_db *db, uint32_t slot)
{
	struct sa_seen seen = {0};
	struct cygnet_sa sa;

	if (!cygnet_sa_snapshot(db, slot, &sa) || sa.state != CYGNET_SLOT_LIVE)
		return seen;
	return (struct sa_seen){
		.live = true,
		.proto = sa.proto,
		.inbound = !!(sa.flags & CYGNET_SA_INBOUND),
		.generation = sa.generation,
		.spi = sa.spi,
		.reqid = sa.reqid,
		.path = *cygnet_sa_path(&sa),
	};
}

static void add_event(json_t *events, const char *name, const struct sa_seen *sa)
{
	char spi[SPI_TEXT], src[INET6_ADDRSTRLEN] = "?", dst[INET6_ADDRSTRLEN] = "?";

	inet_ntop(sa->path.af, &sa->path.src, src, sizeof(src));
	inet_ntop(sa->path.af, &sa->path.dst, dst, sizeof(dst));
	json_array_append_new(events, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:i}",
						"event", name, "spi", spi_text(sa->spi, spi), "dir",
						sa->inbound ? "in" : "out", "proto",
						sa->proto == IPPROTO_AH ? "ah" : "esp", "src", src,
						"dst", dst, "reqid", (json_int_t)sa->reqid, "sport",
						sa->path.encap ? ntohs(sa->path.sport) : 0, "dport",
						sa->path.encap ? ntohs(sa->path.dport) : 0));
}

static bool same_path(const struct cygnet_path *a, const struct cygnet_path *b)
{
	return a->af == b->af && a->encap == b->encap && a->sport == b->sport &&
	       a->dport == b->dport && !memcmp(&a->src, &b->src, sizeof(a->src)) &&
	       !memcmp(&a->dst, &b->dst, sizeof(a->dst));
}

static void compare(json_t *events, const struct sa_seen *then, const struct sa_seen *now)
{
	bool same = then->live && now->live && then->generation == now->generation;

	if (then->live && !same)
		add_event(events, "sa-delete", then);
	if (now->live && !same)
		add_event(events, "sa-add", now);
	if (same && !same_path(&then->path, &now->path))
		add_event(events, "sa-update", now);
}

int changed_sas(struct cygnet_db *db, struct sad_seen *seen, json_t *events)
{
	struct cygnet_db_info info;
	bool first;

	cygnet_db_info(db, &info);
	first = !seen->sa;
	/* A new file has replaced the old one if the number of slots differs. */
	if (seen->n != info.geometry.sas) {
		struct sa_seen *sa = calloc(info.geometry.sas, sizeof(*sa));

		if (!sa)
			return -ENOMEM;
		for (uint32_t slot = 0; slot < seen->n; slot++)
			compare(events, &seen->sa[slot], &(struct sa_seen){0});
		free(seen->sa);
		*seen = (struct sad_seen){info.geometry.sas, sa};
	}
	for (uint32_t slot = 0; slot < seen->n; slot++) {
		struct sa_seen now = look_at(db, slot);

		if (!first)
			compare(events, &seen->sa[slot], &now);
		seen->sa[slot] = now;
	}
	return 0;
}

void sad_seen_free(struct sad_seen *seen)
{
	free(seen->sa);
	*seen = (struct sad_seen){0};
}

void changed_rows(const json_t *before, const json_t *after, const char *event, const char *id,
		  const char *field, const char *also, json_t *events)
{
	json_t *then, *now;
	size_t i, j;

	json_array_foreach(after, i, now)
	{
		json_array_foreach(before, j, then)
		{
			const json_t *value = json_object_get(now, field);

			if (!json_equal(json_object_get(then, id), json_object_get(now, id)) ||
			    json_equal(json_object_get(then, field), value))
				continue;
			json_array_append_new(events,
					      json_pack("{s:s, s:O, s:O, s:O*}", "event", event, id,
							json_object_get(now, id), field, value,
							also ? also : "also",
							also ? json_object_get(now, also) : NULL));
		}
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_common.h>

#include "base/sadb.h"
#include "crypto/device/engine.h"
#include "esp/path_mtu.h"
#include "host/link.h"
#include "path/fast/sa_route.h"
#include "path/worker/neigh_wait.h"
#include "path/worker/next_hop.h"

/* The lower of two limits of which 0 is none. */
static uint64_t least(uint64_t a, uint64_t b)
{
	return RTE_MIN(a ? a : UINT64_MAX, b ? b : UINT64_MAX);
}

static void find_limits(struct sa_route *route, const struct cygnet_sa *sa)
{
	const struct cygnet_lifetime *l = &sa->lifetime;
	uint64_t last = sa->flags & CYGNET_SA_ESN ? UINT64_MAX : UINT32_MAX;

	route->bytes = least(l->soft_bytes, l->hard_bytes);
	route->packets = least(l->soft_packets, l->hard_packets);
	route->seq = last - last / 8 - 1;
}

static void find_neighbour(struct worker *w, struct sa_route *route, const struct cygnet_path *path,
			   const struct next_hop *hop)
{
	const struct neigh neigh = next_neigh(hop, path->af, &path->dst);
	struct rte_ether_addr mac = {0};

	route->interface = hop->interface;
	route->af = path->af;
	route->neigh = neigh_group(&neigh);
	route->changes += neigh_changes(route->neigh);
	route->resolved = neigh_wait_resolve(w, &neigh, &mac);
	link_header_make(&route->link, hop->interface, hop->macvlan, &mac, path->af == AF_INET6);
}

/* With AH, padding against traffic analysis (TFC) or a route to the kernel, every packet passes the
 * stages. */
static void find_route(struct worker *w, struct session *s, const struct cygnet_sa *sa)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	struct next_hop hop = sa_next_hop(sa);
	struct sa_route *route = &s->route;

	if (hop.kind != ROUTE_FORWARD)
		return;
	route->mtu = (uint16_t)path_mtu(sa, next_hop_mtu(&hop));
	if (!s->transport && !s->ah && !sa->tfc)
		route->longest = (uint16_t)esp_out_mtu(s, path, 0, route->mtu);
	find_neighbour(w, route, path, &hop);
}

/* Whether packets can go into the crypto batch without a struct packet (fast/batch.h). Inbound, ESP in
 * tunnel mode is enough. */
static bool by_batch(const struct session *s)
{
	return s->by_call && !s->transport && !s->ah && engine_device[s->device].at_once &&
	       s->crypto[s->device] && !engine_lost(s->device) &&
	       (s->inbound || (s->route.longest && s->route.resolved &&
			       esp_front_has_link(&s->front, &s->route.link)));
}

/* The path MTU that a router has reported. Its age is checked only when the route is found (path_mtu.h). */
static uint16_t reported_mtu(const struct cygnet_sa *sa)
{
	return (uint16_t)(__atomic_load_n(&sa->path_mtu, __ATOMIC_RELAXED) >> PATH_MTU_SHIFT);
}

void sa_route_find(struct worker *w, struct session *s, struct cygnet_sa *sa)
{
	s->route = (struct sa_route){
		.epoch = w->fast->flows.epoch,
		.sa = sa,
		.changes = flow_watch_sa(&w->fast->flows, s->sa),
		.neigh = NEIGH_GROUPS,
		.reported_mtu = reported_mtu(sa),
	};
	find_limits(&s->route, sa);
	if (!s->inbound)
		find_route(w, s, sa);
	if (s->route.longest) {
		esp_front_make(&s->front, sa);
		esp_front_set_link(&s->front, &s->route.link);
	}
	s->route.by_batch = by_batch(s);
}

static bool is_unchanged(const struct flow_table *flows, const struct session *s)
{
	const struct sa_route *route = &s->route;
	uint32_t neigh = route->neigh < NEIGH_GROUPS ? neigh_changes(route->neigh) : 0;

	return route->epoch && route->changes == flow_sa_changes(flows, s->sa) + neigh &&
	       (s->inbound || route->reported_mtu == reported_mtu(route->sa));
}

bool sa_route_renew(struct worker *w, struct session *s)
{
	struct cygnet_sa *sa;
	uint64_t until;

	if (s->route.epoch == w->fast->flows.epoch)
		return true;
	if (is_unchanged(&w->fast->flows, s)) {
		s->route.epoch = w->fast->flows.epoch;
		return true;
	}
	sa = cygnet_sa_get(sadb, s->sa, s->generation);
	if (!sa)
		return false;
	until = s->route.until;
	sa_route_find(w, s, sa);
	s->route.until = until;
	return true;
}

const struct sa_route *fast_find_route(struct worker *w, struct session *s)
{
	return sa_route_renew(w, s) ? &s->route : NULL;
}

bool sa_route_renew_session(struct flow_table *flows, struct session *s,
			    const struct flow_basis *on)
{
	struct worker *w = container_of(flows, struct fast, flows)->worker;

	/* A session that was released is zeroed, and may be another SA's by now. */
	return s->sa == on->sa && s->generation == on->generation && sa_route_renew(w, s) &&
	       (s->inbound || s->route.longest);
}

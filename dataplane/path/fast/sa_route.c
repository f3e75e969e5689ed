/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_common.h>

#include "crypto/device/engine.h"
#include "esp/path_mtu.h"
#include "host/port.h"
#include "path/pipeline.h"

/* The lower of two limits of which 0 is none. */
static uint64_t least(uint64_t a, uint64_t b)
{
	return RTE_MIN(a ? a : UINT64_MAX, b ? b : UINT64_MAX);
}

static void find_limits(struct way *way, const struct cygnet_sa *sa)
{
	const struct cygnet_lifetime *l = &sa->lifetime;
	uint64_t last = sa->flags & CYGNET_SA_ESN ? UINT64_MAX : UINT32_MAX;

	way->bytes = least(l->soft_bytes, l->hard_bytes);
	way->packets = least(l->soft_packets, l->hard_packets);
	way->seq = last - last / 8 - 1;
}

static void find_neighbour(struct worker *w, struct way *way, const struct cygnet_path *path,
			   const struct next_hop *hop)
{
	const struct neigh neigh = next_neigh(hop, path->af, &path->dst);
	struct rte_ether_hdr eth = {
		.src_addr = port_mac(&ports[hop->port]),
		.ether_type = rte_cpu_to_be_16(path->af == AF_INET6 ? RTE_ETHER_TYPE_IPV6
								    : RTE_ETHER_TYPE_IPV4),
	};

	way->port = hop->port;
	way->af = path->af;
	way->resolved = pending_resolve(w, &neigh, &eth.dst_addr);
	memcpy(way->eth, &eth, sizeof(way->eth));
}

/* AH, padding against traffic analysis, and what is on its way to the kernel go the long way. */
static void find_route(struct worker *w, struct session *s, const struct cygnet_sa *sa)
{
	const struct cygnet_path *path = cygnet_sa_path(sa);
	struct next_hop hop = route_lookup(path->af, &path->dst);
	struct way *way = &s->way;

	if (hop.kind != ROUTE_FORWARD)
		return;
	way->mtu = (uint16_t)path_mtu(sa, ports[hop.port].mtu);
	if (!s->transport && !s->ah && !sa->tfc)
		way->longest = (uint16_t)esp_out_mtu(s, path, 0, way->mtu);
	find_neighbour(w, way, path, &hop);
}

/* Whether packets can go the way of burst.h: inbound, ESP in tunnel mode is enough. */
static bool by_burst(const struct session *s)
{
	return s->by_call && !s->transport && !s->ah && engine_device[s->device].at_once &&
	       s->at[s->device] && !engine_lost(s->device) &&
	       (s->inbound || (s->way.longest && s->way.resolved && esp_front_has_ether(&s->front)));
}

void way_find(struct worker *w, struct session *s, struct cygnet_sa *sa)
{
	s->way = (struct way){.epoch = w->flows.epoch, .sa = sa};
	find_limits(&s->way, sa);
	if (!s->inbound)
		find_route(w, s, sa);
	if (s->way.longest) {
		esp_front_make(&s->front, sa);
		esp_front_set_ether(&s->front, s->way.eth);
	}
	s->way.by_burst = by_burst(s);
}

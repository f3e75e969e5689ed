/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_route.h
 * The route of an SA, cached for all its packets until routes, its neighbour or the SA change: next hop,
 * MTU, and remaining lifetimes.
 */
#ifndef CYGNETD_SA_ROUTE_H
#define CYGNETD_SA_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/link_header.h"

struct cygnet_sa;

struct sa_route {
	/* One cache line that each packet reads. */
	uint32_t epoch; /* of the worker's flows (path/fast/flow.h), in which the route is valid */
	uint16_t longest;     /* inner packets up to this length fit, bytes; 0: none */
	uint16_t mtu;	      /* of protected packets, bytes */
	uint64_t until;	      /* worker.now: valid for packets handed off by other workers */
	struct cygnet_sa *sa; /* in the SAD */
	uint64_t bytes, packets, seq; /* limits of the SA; below them no report to charon */
	uint8_t interface;	      /* outgoing interface */
	uint8_t af;		      /* of the outer header */
	bool by_batch; /* processed by calls to a CPU device, without struct packet */
	bool resolved; /* the next hop's MAC address is known */
	/* Seldom read. */
	struct link_header link; /* to the next hop, if resolved */
	uint16_t neigh;		 /* neigh_group() of the next hop */
	uint16_t reported_mtu; /* path MTU reported by a router when the route was found, bytes; 0: none */
	uint32_t changes; /* sum of flow_sa_changes() and neigh_changes() of that group */
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file short_way.h
 * How a packet of a known flow leaves, by the short ways of frames (shortcut.c) and of packets that
 * came out of an SA (opened.c). Inline, as both ask it for each packet.
 */
#ifndef CYGNETD_SHORT_WAY_H
#define CYGNETD_SHORT_WAY_H

#include "host/port.h"
#include "path/pipeline.h"

/** Whether a packet may take one more hop. */
static inline bool short_way_has_hops(const uint8_t *ip)
{
	return (ip[0] >> 4 == 6 ? ip[7] : ip[8]) > 1;
}

/** Whether a packet of a flow that is to leave has nothing out of the ordinary. */
static inline bool short_way_may_leave(const struct flow *f, const uint8_t *ip,
				       unsigned int len)
{
	if (!short_way_has_hops(ip))
		return false;
	if (f->kind == FLOW_PROTECT)
		return protect_is_ordinary(f->session, len);
	if (f->kind == FLOW_HAND_OUT)
		return true;
	return f->kind == FLOW_FORWARD && len <= ports[f->port].mtu;
}

/** The packet leaves as it is. */
static inline void short_way_forward(struct worker *w, struct rte_mbuf *m, const struct flow *f)
{
	struct rte_ether_addr mac;

	memcpy(&mac, f->mac, sizeof(mac));
	w->stats->forwarded++;
	transmit_resolved(w, m, f->port, &mac);
}

#endif

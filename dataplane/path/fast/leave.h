/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file leave.h
 * How a packet of a known flow leaves: of received bursts (receive.c) and of packets that came out of
 * an SA (decrypted.c). Inline, as both ask it for each packet.
 */
#ifndef CYGNETD_LEAVE_H
#define CYGNETD_LEAVE_H

#include "esp/ordinary.h"
#include "host/interface.h"
#include "path/fast/flow.h"
#include "path/worker/tx.h"

/** Whether a packet may take one more hop. */
static inline bool has_hops(const uint8_t *ip)
{
	return (ip[0] >> 4 == 6 ? ip[7] : ip[8]) > 1;
}

/** Whether a packet of a flow may leave without passing the stages. */
static inline bool flow_may_leave(const struct flow *f, const uint8_t *ip, unsigned int len)
{
	if (!has_hops(ip) || len > f->longest)
		return false;
	if (f->kind == FLOW_PROTECT)
		return is_ordinary(f->session, len);
	return f->kind == FLOW_HANDOFF_OUT || f->kind == FLOW_FORWARD;
}

/** The packet leaves as it is. */
static inline void leave_forward(struct worker *w, struct rte_mbuf *m, const struct flow *f)
{
	struct rte_ether_addr mac;

	memcpy(&mac, f->mac, sizeof(mac));
	w->stats->forwarded++;
	tx_packet(w, m, f->interface, f->macvlan, &mac);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file outbound.h
 * What the outbound policies decide about a packet.
 */
#ifndef CYGNETD_OUTBOUND_H
#define CYGNETD_OUTBOUND_H

#include "base/drop.h"
#include "ip/packet.h"

/**
 * Find the policy of plaintext that is to leave (RFC 4301, 5.1). Changes nothing. A registered reader of
 * the databases.
 * @param settings  worker.settings, or settings_now()
 * @param m         data at its IP header, checked, with its struct packet
 * @param flow      receives the selectors
 * @param policy    receives the policy that decides; NULL: none. With DROP_NONE the packet is protected
 *		    if it is there and says so, and otherwise leaves in plaintext.
 * @return DROP_NONE or why the packet does not leave
 */
enum drop_reason outbound_find(uint32_t settings, struct rte_mbuf *m,
			       struct cygnet_flow *flow, struct cygnet_policy **policy);

#endif

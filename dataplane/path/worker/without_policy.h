/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file without_policy.h
 * Plaintext that no outbound policy matches: by which interfaces it may leave.
 */
#ifndef CYGNETD_WITHOUT_POLICY_H
#define CYGNETD_WITHOUT_POLICY_H

#include "base/drop.h"
#include "path/worker/next_hop.h"

/**
 * Whether a packet may go to a next hop. Every stage that looks up another next hop asks again: routes change
 * while a packet is under way. Lcores.
 * @param settings  worker.settings, or settings_now()
 * @param m         a packet that no outbound policy matches; data at its IP header, checked
 * @return DROP_NONE or why not
 */
enum drop_reason without_policy_to(uint32_t settings, struct rte_mbuf *m,
				   const struct next_hop *hop);
/** The same for the next hop that the packet has now. */
enum drop_reason without_policy(uint32_t settings, struct rte_mbuf *m);

#endif

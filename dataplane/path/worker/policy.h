/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file policy.h
 * What the SPD says about a packet.
 */
#ifndef CYGNETD_POLICY_H
#define CYGNETD_POLICY_H

#include "base/drop.h"
#include "ip/packet.h"

struct worker;

/**
 * The selectors of a packet, for as many lookups as it meets on its way. Lcores.
 * @param m     data at its IP header, checked; from packet()->interface
 */
void policy_flow(struct rte_mbuf *m, struct cygnet_flow *flow);
/** The same, of a packet that came out of an SA: with an interface ID, it is the SA's, whatever has become of the interface. */
void policy_flow_of_sa(struct rte_mbuf *m, const struct cygnet_sa *sa, struct cygnet_flow *flow);
/**
 * Make that the selectors for CYGNET_OUT: of the port that the packet leaves by. Lcores.
 * @param m     as policy_flow() saw it
 * @param flow  of policy_flow()
 */
void policy_flow_out(struct rte_mbuf *m, struct cygnet_flow *flow);
/** The same for a packet that does not exist yet. @param flow  but for its interface */
void policy_flow_to(struct cygnet_flow *flow);
/**
 * The policy that decides about a packet (RFC 4301, 5). Lcores.
 * @param m       data at its IP header, checked
 * @param flow    of policy_flow()
 * @param dir     whose policies
 * @param policy  NULL: no policy is about it
 * @return DROP_NONE, or DROP_FRAGMENT: the packet does not show the ports or the protocol
 *         that a policy of that direction asks for, so that one may say protect, and none
 *         that is for any does (RFC 4301, 7)
 */
enum drop_reason policy_find(struct rte_mbuf *m, const struct cygnet_flow *flow,
			     enum cygnet_dir dir, struct cygnet_policy **policy);
/**
 * Whether plaintext from a port may pass: not where policy says that it comes protected. Notes that the
 * policy is used. Lcores.
 * @param dir  CYGNET_IN to this host, CYGNET_FWD to others
 * @return DROP_NONE or why not
 */
enum drop_reason policy_inbound(struct worker *w, struct rte_mbuf *m,
				const struct cygnet_flow *flow, enum cygnet_dir dir);
/**
 * Find the policy of plaintext that is to leave (RFC 4301, 5.1). Changes nothing. Lcores.
 * @param settings  worker.settings
 * @param m         data at its IP header, checked, with its struct packet
 * @param flow      receives the selectors
 * @param policy    receives the policy that decides; NULL: none. With DROP_NONE the packet is protected
 *		    if it is there and says so, and otherwise leaves in plaintext.
 * @return DROP_NONE or why the packet does not leave
 */
enum drop_reason policy_outbound_find(uint32_t settings, struct rte_mbuf *m,
				      struct cygnet_flow *flow, struct cygnet_policy **policy);
/**
 * Whether plaintext that is to leave is part of a packet that has to be whole for the
 * policies to decide, as its later parts show too little: policies ask for ports, or for
 * IPv6's protocol, and none for any of them protects it.
 * @param m     a fragment
 * @param flow  of policy_flow()
 */
bool policy_wants_whole(struct rte_mbuf *m, const struct cygnet_flow *flow);
/** Whether the outbound policy of a packet is about certain ports: parts of the packet
 * that do not show any are not for that policy's SA. */
bool policy_asks_ports(struct rte_mbuf *m);
/** Note that a policy has been used. @param policy  NULL: none decides; @param passed  whether it lets
 * the packet pass, protected or not */
void policy_use(struct worker *w, struct cygnet_policy *policy, bool passed);
/** Note that a policy refuses a packet out of an SA that it is not about: this is no use of it. */
void policy_refuse(struct worker *w, const struct cygnet_policy *policy);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file decrypted.h
 * What the inbound policies decide about a packet out of an SA.
 */
#ifndef CYGNETD_DECRYPTED_H
#define CYGNETD_DECRYPTED_H

#include "base/drop.h"
#include "ip/packet.h"

/**
 * A packet that came out of an SA has to be one that the SA's policy is about (RFC 4301, 5.2). Changes
 * nothing. A registered reader of the databases.
 * @param m       data at its IP header, checked, with its struct packet
 * @param local   it is for this host
 * @param policy  receives the policy that decides, or NULL
 * @return DROP_NONE or why the packet goes no further
 */
enum drop_reason decrypted_check(struct rte_mbuf *m, const struct cygnet_sa *sa, bool local,
				 struct cygnet_policy **policy);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file hop_group.h
 * Several next hops of one route (ECMP), and which of them a flow takes: always the same one, in proportion to the
 * weights. A group never changes: a route whose next hops change gets another group. What flows take depends on each
 * next hop alone (rendezvous hashing, Thaler and Ravishankar 1998; RFC 2991), so when one goes only its flows move,
 * and they move back when it returns. A gateway's choices differ from those of its neighbours, but not from those of
 * its next process in the same boot.
 */
#ifndef CYGNETD_HOP_GROUP_H
#define CYGNETD_HOP_GROUP_H

#include <stdint.h>

#include "cygnet.h"
#include "host/route.h"

/** Next hops of a group; a route's further ones are not used. */
#define HOP_GROUP_MEMBERS 64u
/** Groups at a time. */
#define HOP_GROUPS 512u

struct hop_share {
	struct next_hop hop; /* of this kind alone: its group is 0 */
	uint32_t weight;     /* 1 or more */
};

/**
 * The next hop that packets of a flow take. Lcores that are online, and the control thread.
 * @param group  next_hop.group, not 0
 * @param flow   ports do not count in fragments, as only the first one has them; nor does the interface
 */
const struct next_hop *hop_group_choose(uint16_t group, const struct cygnet_flow *flow);

/** Make a next hop that of a flow, if it stands for several. Lcores that are online, and the control thread. */
static inline void route_choose(struct next_hop *hop, const struct cygnet_flow *flow)
{
	if (hop->group)
		*hop = *hop_group_choose(hop->group, flow);
}

/* ------------------------------------------------ control thread only -- */

/** At the start, before routes are known. */
void hop_groups_init(void);

/**
 * A next hop that stands for several, in any order. Those that are the same count as one, with the sum of their weights.
 * @param n  1 to HOP_GROUP_MEMBERS
 * @return one of them; its group, unless 0, has a reference more. 0: there is but one, or no group is free, which
 *         is logged: all packets take this one, until a group is free and all routes are told again
 */
struct next_hop hop_group_take(const struct hop_share *share, unsigned int n);
/** A reference more or less. A group without any may be made anew at once: lcores must not know it any more.
 * @param group  0: nothing happens */
void hop_group_hold(uint16_t group);
void hop_group_put(uint16_t group);

/** Whether a group has become free, since the last call, that a route wanted in vain: all routes are to be told again. */
bool hop_groups_missed(void);

/** The next hops that one stands for: itself without a group. They stay while the group has a reference.
 * @param[out] share  the first of them; if hop has no group, *single
 * @return how many */
unsigned int hop_group_members(const struct next_hop *hop, struct hop_share *single,
			       const struct hop_share **share);

#endif

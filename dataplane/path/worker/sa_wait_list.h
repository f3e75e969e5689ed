/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_wait_list.h
 * The packets of a worker that wait for an SA (path/sa_wait.h). There is a queue for each pair of
 * addresses, or of addresses and ports where the policy selects by ports. The packets of a pair
 * keep their order.
 *
 * A full queue drops its oldest packet: the newer a packet, the likelier its sender still waits
 * for an answer. All pairs with the same addresses are in one hash bucket and are looked up
 * together: if they have SA_WAIT_PER_ADDRESSES packets, the oldest pair drops its oldest packet.
 *
 * If the worker has SA_WAIT_PACKETS, a packet is evicted. It is one of the reqid with most packets,
 * and there of the source with most packets. Of the source's pairs the least recently acquired one
 * drops its oldest packet. So a host that scans a network behind a trap evicts its own packets, and
 * not those of other hosts or of other traps.
 */
#ifndef CYGNETD_SA_WAIT_LIST_H
#define CYGNETD_SA_WAIT_LIST_H

#include <stdint.h>
#include <sys/queue.h>

#include "cygnet.h"

struct rte_mbuf;
struct stats;

#define SA_WAIT_PACKETS	      1024u /* of a worker */
#define SA_WAIT_PER_PAIR      16u
#define SA_WAIT_PER_ADDRESSES 64u /* of all pairs of ports of a pair of addresses */
#define SA_WAIT_SECONDS	      30u /* Linux's net.core.xfrm_acq_expires */

#define SA_WAIT_REQIDS	64u /* by reqid modulo this */
#define SA_WAIT_SOURCES 32u /* of a reqid, by a hash */
#define SA_WAIT_HEADS	1024u

/** What the packets of a pair have in common. */
struct sa_wait_key {
	const struct cygnet_policy *policy; /* compared, never followed: the policy may be gone */
	uint32_t generation; /* of the policy, as its slot may be another policy's by now */
	uint32_t reqid;
	uint32_t hash;		 /* of the addresses: the bucket in by_hash[] */
	struct cygnet_flow flow; /* acquire_flow() */
};

struct sa_wait_source {
	unsigned int packets;
	TAILQ_HEAD(, sa_wait_pair) pairs; /* least recently acquired first */
};

struct sa_wait_reqid {
	unsigned int packets;
	struct sa_wait_source source[SA_WAIT_SOURCES];
};

struct sa_wait_pair {
	struct sa_wait_key key;
	unsigned int n;		      /* packets */
	struct rte_mbuf *head, *tail; /* by packet()->next; data at the IP header, the hop taken */
	uint64_t changes;	 /* cygnet_spd_changes() before its packets were last looked up */
	uint64_t second;	 /* clock_seconds() of that lookup */
	uint64_t acquire_second; /* clock_seconds() when an acquire was last tried */
	struct sa_wait_reqid *reqid;
	struct sa_wait_source *source;
	LIST_ENTRY(sa_wait_pair) same_hash; /* or in the list of free ones */
	TAILQ_ENTRY(sa_wait_pair) lru, source_lru;
};

struct sa_wait_list {
	unsigned int n;		   /* packets */
	uint64_t changes;	   /* cygnet_spd_changes() when the last pass of lookups began */
	uint64_t second;	   /* clock_seconds() then */
	struct sa_wait_pair *next; /* next pair of the pass; NULL: the pass is complete */
	unsigned int used;	   /* of pair[], those above were never used */
	LIST_HEAD(, sa_wait_pair) free;
	TAILQ_HEAD(, sa_wait_pair) lru; /* all pairs; least recently acquired first */
	LIST_HEAD(, sa_wait_pair) by_hash[SA_WAIT_HEADS];
	struct sa_wait_reqid reqid[SA_WAIT_REQIDS];
	struct sa_wait_pair pair[SA_WAIT_PACKETS + 1]; /* one more: that of sa_wait_take(), empty */
};

/** The key of a packet. @param policy  protects it @param flow  its selectors */
struct sa_wait_key sa_wait_key(const struct cygnet_policy *policy, const struct cygnet_flow *flow);
/** A pair with these addresses, of any policy; NULL: none. */
struct sa_wait_pair *sa_wait_first(struct sa_wait_list *list, const struct cygnet_flow *flow);
/** Another one with the addresses of this pair; NULL: no more. */
struct sa_wait_pair *sa_wait_next(struct sa_wait_pair *pair);
/** The pair with a key; NULL: none. */
struct sa_wait_pair *sa_wait_find(struct sa_wait_list *list, const struct sa_wait_key *key);
/**
 * Append a packet to its pair. If there are too many packets, one is dropped, and its pair is
 * released if it is empty then. No pair is released for a packet of sa_wait_take(), as it has
 * left room. Takes over the packet.
 * @param counters  of the worker
 * @return          the pair; the caller sets the fields of a new one, whose second is 0
 */
struct sa_wait_pair *sa_wait_enqueue(struct sa_wait_list *list, struct stats *counters,
				     struct rte_mbuf *m, const struct sa_wait_key *key);
/** Take all packets out of a pair, which stays. @return the first one, the others by
 * packet()->next */
struct rte_mbuf *sa_wait_take(struct sa_wait_list *list, struct sa_wait_pair *pair);
/** Remove a pair if it has no packets. */
void sa_wait_release(struct sa_wait_list *list, struct sa_wait_pair *pair);
/** Note that an acquire was raised for a pair: it becomes the most recently acquired one. */
void sa_wait_acquired(struct sa_wait_list *list, struct sa_wait_pair *pair);

#endif

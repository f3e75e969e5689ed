/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file worker.h
 * A worker: one lcore with everything that it needs to carry packets. Only the ring `inbox` has
 * other producers.
 *
 * Worker w polls every queue q of a device with q % workers == w (a device with one queue is worker
 * device % n's) and the TAPs likewise. An SA belongs to one worker (owner.h), which may share it (share.h).
 */
#ifndef CYGNETD_WORKER_H
#define CYGNETD_WORKER_H

#include <rte_mbuf.h>
#include <rte_meter.h>
#include <rte_ring.h>

#include "base/drop.h"
#include "base/random.h"
#include "base/rate.h"
#include "base/stats.h"
#include "conf/conf.h"
#include "crypto/crypto.h"
#include "crypto/device/sessions.h"
#include "host/neigh_asked.h"
#include "ip/icmp.h"
#include "ip/packet.h"
#include "path/worker/sa_wait_list.h"
#include "path/worker/stage.h"

/** Packets that a port gives in one burst. */
#define BURST 64u
_Static_assert(BURST <= CRYPTO_BATCH, "the packets of a burst fit into an empty crypto batch");
_Static_assert(BURST <= STAGE_VECTOR, "a burst is a vector");

struct mbuf_batch {
	unsigned int n;
	struct rte_mbuf *m[2 * BURST];
};

/** Packets on their way to another worker. */
struct handoff {
	unsigned int n;
	struct rte_mbuf *m[BURST];
};

/** SAs at a time of which a worker has frames that wait for others. */
#define FRAMES_WAITING 128u

/** Frames of an SA that this worker has put and that have not left (send_order.h). */
struct frames_waiting {
	struct send_order *order;
	uint32_t next;	 /* the number that they wait for */
	uint32_t until;	 /* the number of the last frame */
	uint32_t behind; /* the number of the last frame at `since` */
	uint64_t since;	 /* TSC at which this worker has first seen `next` missing */
};

/** What a worker does to share outbound SAs with others (share.h). */
struct sharing {
	uint32_t offered; /* slot + 1 of an SA that this worker owns and is about to offer; 0: none */
	uint32_t offered_generation; /* of that SA */
	uint32_t wanted;     /* slot + 1 of an SA that this worker is about to join; 0: none */
	uint32_t generation; /* of the SA that is wanted, or joined */
	struct send_order *
		joined; /* order of the SA that this worker joins; NULL: none. worker.arriving is the SA */
	unsigned int owner; /* worker that owns the SA that is joined */
	uint32_t handed;    /* end of the owner's inbox behind the last packet handed off */
	bool taken;	    /* the owner has taken that packet */
	uint64_t turns;	    /* of the owner when that was seen */
};

/** Neighbours at a time, and packets of each: a neighbour that does not answer takes no room from
 * the others. */
#define NEIGH_WAIT_NEIGHBOURS 64u
#define NEIGH_WAIT_PACKETS    32u

struct waiting_neigh {
	struct neigh neigh;
	uint64_t until; /* worker.now */
	/* Those of the worker before the policies of its first packet were looked up. */
	uint64_t databases, general;
	unsigned int n;
	struct rte_mbuf *head, *tail; /* by packet()->next; data at the IP header */
};

/** Packets until their next hop is resolved (neigh_wait.h). */
struct neigh_wait {
	unsigned int n;
	struct waiting_neigh of[NEIGH_WAIT_NEIGHBOURS]; /* the oldest first */
};

/** SPIs at a time, packets of each, and of all: a negotiation that fails takes no room from the others. */
#define EARLY_SPIS    16u
#define EARLY_PER_SPI 64u
#define EARLY_PACKETS 256u

/** An SPI, as received packets name an SA. */
struct early_id {
	struct cygnet_addr dst;
	rte_be32_t spi;
	uint8_t proto, af;
};

struct early_spi {
	struct early_id id;
	uint64_t until; /* worker.now */
	unsigned int n;
	struct rte_mbuf *head, *tail; /* by packet()->next; data at the IP header */
};

/** ESP and AH that have come before their SA (path/early.h). */
struct early {
	unsigned int n, packets;
	struct early_spi of[EARLY_SPIS];
};

/** An IKE datagram that the kernel has sent in fragments. */
struct ike_datagram {
	struct cygnet_addr src, dst;
	uint32_t id;
	uint64_t second; /* when its first fragment came; clock_seconds() */
};

#define AUDIT_CAUSES 256u

/** How many audit records the worker has written lately (audit.h). */
struct audit_rates {
	struct random_key key; /* of the hash that chooses an entry of cause[] */
	struct rate reason[DROP_REASON_COUNT];
	struct rate cause[AUDIT_CAUSES];
};

#define POLICE_MANY 256u

struct police_meter {
	struct rte_meter_srtcm_profile profile;
	struct rte_meter_srtcm meter;
};

/** Meters of one rate, by a number that few things share. */
struct police_many {
	struct rte_meter_srtcm_profile profile;
	struct rte_meter_srtcm of[POLICE_MANY];
};

/** Meters of packets to the kernel (police.h). */
struct police {
	uint32_t rate[POLICE_CLASSES];	    /* of the meters, packets a second; 0: no meter */
	uint8_t share[CONF_MAX_INTERFACES]; /* workers that divide the rate of a port; 0: not set yet */
	struct police_meter port[CONF_MAX_INTERFACES][POLICE_CLASSES];
	struct police_many peer;	   /* by a hash of the peer's address */
	struct police_many sa;		   /* by the SA's slot */
	struct rate of_neigh[NEIGH_ASKED]; /* by neigh_asked() */
};

/** Those that ICMP errors answer, each by itself: what came from the wire by an interface, what the kernel sent by it, and
 * SAs, of which some share a number. */
#define ICMP_OF_KERNEL CONF_MAX_INTERFACES
#define ICMP_OF_SAS    (2 * CONF_MAX_INTERFACES)
#define ICMP_SAS       64u
#define ICMP_SIDES     (ICMP_OF_SAS + ICMP_SAS)

/** Meters of ICMP errors about SAs; some SAs share one. */
#define TOO_BIG_SAS 256u

struct capture;
struct fast;
struct send_order;
struct trace;

struct worker {
	unsigned int id, workers;
	/* interfaces_present() and interfaces_devices(), as of the changes seen so far or later: tx.c */
	uint64_t present;
	uint32_t devices;
	uint32_t settings;  /* settings_now(), as of the changes seen so far */
	bool count_stages;  /* cygnetctl show stages is asking */
	bool moved;	    /* the last turn moved a packet */
	uint32_t forget_sa; /* the next refresh_changes() makes void what was decided about flows of this SA: slot + 1; 0: none */
	uint32_t sas_most;  /* SAs that it may own before other workers own as many */
	uint64_t now;	    /* TSC, as of this turn */
	uint64_t turn_began;	 /* TSC */
	struct capture *capture; /* of this turn; NULL: none (capture.h); atomic */
	struct rte_ring *inbox;	 /* packets that other workers hand off */
	struct rte_mempool *packets;
	struct stats *stats;
	uint64_t databases, others, general; /* changes seen so far: cygnet.h, changes.h */
	uint32_t seen; /* incremented at each change. What was decided about a packet is cached only if it was
				 * received at this value. Never 0, but before the first refresh_changes() */
	struct fast *
		fast; /* the path of known flows (path/fast/fast.h); NULL: this worker does without */
	struct session_table *sessions;
	struct stages stages;
	struct crypto_worker crypto;
	struct mbuf_batch tx[CONF_MAX_DEVICES],
		tap[CONF_MAX_INTERFACES]; /* of tx[], mbuf.port is the interface */
	uint64_t tap_until; /* TSC at which the TAPs have used half of the time since they were idle (tx.c) */
	struct mbuf_batch *
		out[CONF_MAX_INTERFACES]; /* of tx[], where frames of the interface go; NULL: tx_elsewhere() */
	uint8_t tx_owner[CONF_MAX_DEVICES]; /* worker of the queue that our packets leave by */
	struct handoff handoff[CONF_MAX_WORKERS]; /* by worker */
	bool may_share; /* several workers may protect packets of an outbound SA (share.h) */
	struct sharing sharing;
	unsigned int nnoted;
	struct session *noted[CRYPTO_BATCH]; /* session.noted */
	unsigned int nwaiting;
	struct frames_waiting waiting[FRAMES_WAITING];
	struct reassembly *reassembly;
	struct random_ids fragment_ids; /* of IPv6 fragments that are made here */
	struct neigh_wait neigh_wait;
	struct sa_wait_list sa_wait; /* packets until their policy has an SA */
	struct early early;
	struct ike_datagram ike_sent[16]; /* the latest, in a ring */
	unsigned int ike_next;
	uint64_t taken; /* packets out of the inbox so far */
	uint32_t arriving,
		leaving; /* SA that moves to or from this worker (move.h), or that it joins: slot + 1; 0: none */
	unsigned int nkept; /* packets of the arriving SA, linked by packet()->next */
	struct rte_mbuf *kept, *last_kept;
	struct rate icmp[ICMP_SIDES][ICMP_WHYS]; /* of ICMP errors that are sent (icmp_error.c) */
	struct rate dhcp[CONF_MAX_INTERFACES]; /* of DHCP that is sent past the policies (dhcp.h) */
	struct audit_rates audit;
	struct police police;
	struct rate too_big[TOO_BIG_SAS]; /* of ICMP errors about SAs that are believed (too_big.c) */
	struct trace *trace;		  /* NULL, but on a trace's worker (trace_note.h) */
};

/** By number. */
extern struct worker workers[CONF_MAX_WORKERS];

static inline void drop(struct worker *w, struct rte_mbuf *m, enum drop_reason reason)
{
	packet_drop(w->stats, m, reason);
}

/** The same, of a frame: the data begins at its link-layer header. */
static inline void drop_frame(struct worker *w, struct rte_mbuf *m, enum drop_reason reason)
{
	packet_drop_as(w->stats, m, reason, true);
}

/** Which worker serves the TAP of a port. */
static inline unsigned int tap_owner(const struct worker *w, unsigned int interface)
{
	return interface % w->workers;
}

/** Put a frame that has come in front of its first stage, which begins its struct packet.
 * @param stage  STAGE_FROM_WIRE or STAGE_FROM_KERNEL; @param interface  index in interfaces[] */
static inline void frame_received(struct worker *w, enum stage stage, struct rte_mbuf *m,
				  unsigned int interface)
{
	packet(m)->interface = (uint8_t)interface;
	stage_add(&w->stages, stage, m);
}

/** Begin the struct packet of a frame that has come. @param interface  index in interfaces[] */
static inline void packet_received(const struct worker *w, struct rte_mbuf *m,
				   unsigned int interface)
{
	packet_begin(m, interface, w->seen);
}

#endif

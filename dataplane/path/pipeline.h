/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pipeline.h
 * The stages of a worker and what they share. Everything in here belongs to one
 * lcore; only the ring `inbox` has other producers.
 *
 *   receive.c   frames from ports and TAPs: what are they?
 *   proxy.c     what the kernel asks the neighbours for, where there are none
 *   reassemble.c, partial.c, fragment.c   several packets become one, one becomes several
 *   shortcut.c  frames of flows that are known: what the stages below have decided; opened.c:
 *               packets that came out of an SA; learn.c: remembers what was decided
 *   burst.c     of these, ESP that a device does when it is called: from port to port at once
 *   plain.c     plaintext packets: SPD, TTL, MTU
 *   protect.c   SAs: sequence numbers, replay windows; lifetime.c: what they may carry;
 *               mapping.c: peers that have moved
 *   crypt.c     to the crypto devices and back, in order; crypt_now.c: within the turn;
 *               crypt_row.c: by a call, or a queue and back at once; crypto_core.c: by other
 *               cores; failover.c: to another device, when one did not do it
 *   path_mtu.c  what routers on the way say about our ESP
 *   transmit.c  route, neighbour, port or TAP
 *   handover.c  to another worker
 *   pending.c   packets that wait for a neighbour
 *   hold.c      packets that wait for an SA
 */
#ifndef CYGNETD_PIPELINE_H
#define CYGNETD_PIPELINE_H

#include <rte_crypto.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "base/drop.h"
#include "base/rate.h"
#include "base/stats.h"
#include "conf/conf.h"
#include "crypto/auto/offload.h"
#include "crypto/crypt_row.h"
#include "crypto/crypto_core.h"
#include "crypto/device/sessions.h"
#include "esp/esp.h"
#include "esp/session.h"
#include "host/neigh.h"
#include "host/route.h"
#include "ip/icmp.h"
#include "ip/packet.h"
#include "path/fast/burst.h"
#include "path/fast/flow.h"
#include "path/hold.h"

#define BURST 64u
_Static_assert(BURST <= CRYPT_CALL_MAX, "a burst fits into a call");

struct mbuf_batch {
	unsigned int n;
	struct rte_mbuf *m[2 * BURST];
};

/* On their way to another worker. */
struct handover {
	unsigned int n;
	struct rte_mbuf *m[BURST];
};

struct op_batch {
	unsigned int n;
	struct rte_crypto_op *op[2 * BURST];
};

/* Packets for devices that do them when called; one job more than packets, for one that goes
 * by a queue. */
#define CRYPT_NOW CRYPT_CALL_MAX
struct crypt_now {
	unsigned int n;
	struct rte_mbuf *m[CRYPT_NOW];
	uint8_t device[CRYPT_NOW];
	struct esp_job job[CRYPT_NOW + 1] __rte_cache_aligned;
};

/* A packet that came out of an SA. */
struct opened {
	struct rte_mbuf *m;
	struct cygnet_sa *sa;	/* in the SAD; valid in this turn */
	uint32_t from;		/* PACKET_FROM_SA() */
	uint8_t port;		/* that it had come by */
	bool bare;		/* its struct packet says nothing */
	bool again;		/* its flow is that of the one before it */
	bool has_flow;		/* of this key, which would be at that place: */
	uint32_t place;
	struct flow_key key;
};

/* So many neighbours at a time, and packets for each: one that does not answer keeps nobody else's
 * packets from waiting. */
#define PENDING_NEIGHBOURS 64u
#define PENDING_PACKETS 32u

struct pending_neigh {
	struct neigh neigh;	/* whose address is waited for */
	uint64_t until;		/* flow_table.now */
	unsigned int n;
	struct rte_mbuf *head, *tail; /* packet()->next; data at the IP header */
};

struct pending {
	unsigned int n;
	struct pending_neigh of[PENDING_NEIGHBOURS]; /* the oldest first */
};

/* A datagram of charon's that the kernel has sent in fragments. */
struct ike_datagram {
	struct cygnet_addr src, dst;
	uint32_t id;
	uint64_t second;	/* when its first fragment came; clock_now */
};

struct worker {
	unsigned int id, workers;
	bool idle_sleep;
	bool drop_no_policy;
	bool pass_hairpin;
	uint32_t in_flight;	/* packets at crypto devices */
	uint32_t at[STATS_MAX_DEVICES];	/* packets that wait for each of them, or that it has */
	uint32_t going[STATS_MAX_DEVICES];	/* of these, the device has begun so many */
	/* What keeps packets from a device: failover.h. */
	uint32_t late[STATS_MAX_DEVICES];	/* not of these: the worker has given them up */
	uint32_t refusing;	/* bit mask: the device has not taken all that it was given last */
	uint32_t stalled;	/* bit mask: the device has packets, and has long given none back */
	uint64_t answered[STATS_MAX_DEVICES];	/* TSC: it gave some back, or got the first */
	uint8_t failures[STATS_MAX_DEVICES];	/* in a row: it failed so many that another one did */
	struct offload offload;
	struct rte_ring *inbox;	/* packets that others hand over */
	struct rte_mempool *ops, *packets;
	struct session_table *sessions;
	struct flow_table flows;
	uint64_t databases, others; /* changes that have been seen: cygnet.h, changes.h */
	struct stats *stats;
	struct op_batch submit[STATS_MAX_DEVICES];
	struct crypto_lane lane;
	struct crypt_now now[2];	/* one is filled while the other one is done */
	unsigned int filling;	/* that one */
	struct burst burst;	/* of frames that were received together */
	struct opened opened[CRYPT_NOW + 1]; /* since crypt_now() looked; the last: no room */
	unsigned int nopened;
	bool working;		/* the other one is being done */
	struct mbuf_batch tx[CONF_MAX_PORTS], tap[CONF_MAX_PORTS];
	uint8_t tx_owner[CONF_MAX_PORTS]; /* who fills the queue that our packets leave by */
	struct handover handover[CONF_MAX_WORKERS];	/* by worker */
	struct reassembly *reassembly;
	struct ike_datagram ike_sent[16];	/* the latest, in turn */
	unsigned int ike_next;
	struct pending pending;	/* until their next hop is resolved */
	struct hold hold;	/* until their policy has an SA */
	struct rate icmp;	/* of the errors that are sent, */
	struct rate too_big;	/* and of those that are looked at */
};

/** By number. */
extern struct worker workers[CONF_MAX_WORKERS];

/* What the stages call. Each takes over the packet. */

/** A frame from the wire side of a port. */
void receive_frame(struct worker *w, struct rte_mbuf *m, unsigned int port);
/** A frame from the kernel, out of the TAP of a port. */
void receive_from_kernel(struct worker *w, struct rte_mbuf *m, unsigned int port);
/** A packet to an address of this host: ESP, AH, IKE, or something for the kernel. */
void receive_local(struct worker *w, struct rte_mbuf *m);
/** A plaintext packet on its way to somebody else. */
void receive_forward(struct worker *w, struct rte_mbuf *m);
/** A plaintext packet that is to leave (data at its IP header, checked):
 * the outbound SPD decides. @param flow  of policy_flow(); becomes policy_flow_out()'s */
void plain_out(struct worker *w, struct rte_mbuf *m, struct cygnet_flow *flow);
/** The same for a packet whose SA went away before it was protected: a rekeyed
 * policy has another. It never leaves in plaintext. */
void plain_again(struct worker *w, struct rte_mbuf *m);
/** Protect a packet that policy says to protect, with its policy's SA, of whatever worker. */
void plain_protect(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa);
/** Whether this host forwards what came in by packet()->port, and between those
 * addresses. @return DROP_NONE or why not */
enum drop_reason plain_may_forward(struct rte_mbuf *m);
/** A decrypted packet of an SA: the inbound SPD decides. */
void plain_in(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa);
/** Protect or unprotect (packet()->stage) with SA packet()->sa, which is this worker's. */
void protect(struct worker *w, struct rte_mbuf *m);
/**
 * What came back from the crypto device (packet()->status), in the order of its SA.
 * @param sa  NULL if it is gone
 */
void protect_finish(struct worker *w, struct rte_mbuf *m, struct session *s,
		    struct cygnet_sa *sa);

/** Whether a packet meets no limit of its SA and of the way there, so that it may be given to
 * one of the two below. @param len  bytes of plaintext; 0: it is inbound */
bool protect_is_ordinary(const struct session *s, unsigned int len);
/** Whether no packet of several will, each of which is short enough for the way.
 * @param bytes  of all together */
bool protect_are_ordinary(const struct session *s, unsigned int n, uint64_t bytes);
/** Protect a packet (data at its IP header, the hop taken) with session s of a known flow. */
void protect_out_ordinary(struct worker *w, struct rte_mbuf *m, struct session *s);
/** Unprotect a received packet (data at its outer IP header, no options) of a known flow. */
void protect_in_ordinary(struct worker *w, struct rte_mbuf *m, struct session *s);

/** Do what crypt_now_add() and shortcut_opened() have collected, and what comes of that. Each
 * turn ends so. @return packets done */
unsigned int crypt_now(struct worker *w);
/** Have room for the next packet's job. What that brings to its end may take sessions away:
 * before one is looked up that is in flight nowhere yet. */
static inline void crypt_make_room(struct worker *w)
{
	if (w->now[w->filling].n == CRYPT_NOW)
		crypt_now(w);
}
/** Where to describe the next packet's job; until the next call of any crypt_ function. */
static inline struct esp_job *crypt_job(struct worker *w)
{
	struct crypt_now *now = &w->now[w->filling];

	return &now->job[now->n];
}
/** Have a device do what crypt_job() says to a packet of session packet()->session; what comes of
 * it is told to protect_finish(). Takes over the packet. */
void crypt_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa);
/** The same, if that device can do it within the turn. @return false: it cannot */
bool crypt_now_add(struct worker *w, struct rte_mbuf *m, const struct cygnet_sa *sa,
		   unsigned int device);
/** Whether another device has a packet of a session that one has failed by call:
 * failover_again(). */
static inline bool crypt_waits(const struct session *s)
{
	return s->head && packet(s->head)->called;
}
/** Then this one, which came behind it and has been done, waits for it: protect_finish() is told
 * afterwards. Takes over the packet as failover_again() does. */
__rte_cold
void crypt_wait(struct worker *w, struct rte_mbuf *m, enum rte_crypto_op_status status);
/** For failover.c: have an operation in a device's queue.
 * @return false if the device does not take the SA, or no more packets now */
bool crypt_put(struct worker *w, struct rte_crypto_op *op, const struct cygnet_sa *sa,
	       unsigned int device);
/** For failover.c: a packet that a device was called for leaves in front of what went into a queue
 * after it, and behind those that were called for before it. */
void crypt_insert(struct session *s, struct rte_mbuf *m);
/** For failover.c: a packet is back, for good. It and those that only waited for it go on. */
void crypt_release(struct worker *w, struct rte_mbuf *m, unsigned int status);
/** Whether there is room for another burst of packets on their way to the devices. What there is
 * none for waits in the ports' queues. */
bool crypt_has_room(const struct worker *w);
/** Whether a device may do packets of an SA at once: what was in a chain's queue already would come
 * back with them. */
static inline bool crypt_row_takes(const struct worker *w, const struct session *s,
				   unsigned int device)
{
	return s->form != SUITE_CHAIN || !w->at[device];
}
/** Bring collected operations to the devices, and finish what has come back.
 * @return packets that came back */
unsigned int crypt_poll(struct worker *w);
/** Give up what waits for a device: cygnetd ends. */
void crypt_drain(struct worker *w);

/** Set up a new worker; after the ports. */
void transmit_init(struct worker *w);
/** Route a packet (data at its IP header) and send it. */
void transmit_routed(struct worker *w, struct rte_mbuf *m);
/** Send a packet to a next hop. */
void transmit_hop(struct worker *w, struct rte_mbuf *m, const struct next_hop *hop);
/** Send a packet to a next hop whose MAC address is known. */
void transmit_resolved(struct worker *w, struct rte_mbuf *m, unsigned int port,
		       const struct rte_ether_addr *mac);
/** Send a packet out of a port. @param eth  its Ethernet header, 14 bytes */
void transmit_framed(struct worker *w, struct rte_mbuf *m, unsigned int port, const uint8_t *eth);
/** Keep a packet until its next hop is resolved, three seconds at the most. */
void pending_add(struct worker *w, struct rte_mbuf *m, const struct neigh *neigh);
/** Send what has been resolved meanwhile: something has changed. */
void pending_retry(struct worker *w);
/** Drop what has waited too long. Each turn. */
void pending_expire(struct worker *w);
/** The MAC address of a neighbour, for packets that are to leave now: those that wait for it go
 * before them. @return false if it is not resolved */
bool pending_resolve(struct worker *w, const struct neigh *neigh, struct rte_ether_addr *mac);
void pending_drop(struct worker *w);
/** Send a frame out of a port as it is. */
void transmit_by(struct worker *w, struct rte_mbuf *m, unsigned int port);
/** The same, out of packet()->port. */
void transmit_frame(struct worker *w, struct rte_mbuf *m);
/** Give a frame to the kernel by the TAP of packet()->port. */
void transmit_to_kernel(struct worker *w, struct rte_mbuf *m);
/** Give a packet (data at its IP header) to the kernel, as if it had come in by port;
 * in fragments, if it is longer than the TAP takes. */
void transmit_packet_to_kernel(struct worker *w, struct rte_mbuf *m);
void transmit_flush(struct worker *w);

/** Hand a packet to the worker that is to do packet()->stage next. */
void hand_over(struct worker *w, struct rte_mbuf *m, unsigned int to);
/** Send on what hand_over() has collected. Once a turn. */
void handover_flush(struct worker *w);
/** Do packet()->stage: this worker is the right one. */
void do_stage(struct worker *w, struct rte_mbuf *m);

/**
 * Answer a packet with an ICMP error (RFC 1812, 4.3.2; RFC 4443); rate limited. The
 * packet stays the caller's.
 * @param mtu  what would fit, bytes; with ICMP_TOO_BIG
 */
void icmp_error(struct worker *w, struct rte_mbuf *m, enum icmp_why why, uint16_t mtu);

/** Where a packet (data at its IP header) goes. */
static inline struct next_hop packet_route(struct rte_mbuf *m)
{
	return packet_family(m) == AF_INET6 ? route_lookup(AF_INET6, packet_ip6(m)->dst_addr)
					    : route_lookup(AF_INET, &packet_ip(m)->dst_addr);
}

/** Whose MAC address a frame carries on its way to dst. */
static inline struct neigh next_neigh(const struct next_hop *hop, uint8_t af,
				      const struct cygnet_addr *dst)
{
	return (struct neigh){
		.addr = cygnet_addr_is_zero(&hop->gateway) ? *dst : hop->gateway,
		.af = af,
		.port = hop->port,
	};
}

/** The same for a packet (data at its IP header). */
static inline struct neigh packet_neigh(struct rte_mbuf *m, const struct next_hop *hop)
{
	const struct cygnet_addr dst = packet_dst(m);

	return next_neigh(hop, packet_family(m), &dst);
}

static inline void drop(struct worker *w, struct rte_mbuf *m, enum drop_reason reason)
{
	w->stats->drop[reason]++;
	rte_pktmbuf_free(m);
}

/** Which worker owns an SA, and which serves the TAP of a port. */
static inline unsigned int sa_owner(const struct worker *w, uint32_t sa)
{
	return sa % w->workers;
}

static inline unsigned int tap_owner(const struct worker *w, unsigned int port)
{
	return port % w->workers;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file gateway_fixture.h
 * A gateway with two ports, routes, neighbours, SAs and policies. Frames are received by
 * worker_receive() and transmitted into the worker's batches. The peer of its tunnels is
 * esp_peer.h.
 */
#ifndef GATEWAY_FIXTURE_H
#define GATEWAY_FIXTURE_H

#include "esp_fixture.h"
#include "path/worker/worker.h"

#define GATEWAY_LAN 0
#define GATEWAY_WAN 1
#define GATEWAY_MTU 1500
/** Room for any frame with the headers of a tunnel. */
#define GATEWAY_FRAME 2048u

/** One network to another, both families, by an SA in each direction. */
struct tunnel {
	unsigned int number;  /* number of the network at the other end */
	bool v6;	      /* the outer header */
	struct esp_peer peer; /* of both directions */
	struct cygnet_sa *out, *in;
};

/** Group setup and teardown for cmocka. */
int gateway_start(void **state);
int gateway_stop(void **state);

/** Size of the flow cache. To be set before gateway_open(). */
extern unsigned int gateway_flows;
/** Set up the worker, with sessions for so many SAs. */
void gateway_open(struct worker *w, unsigned int sessions);
/** The same of workers[id], one of several, with counters and an inbox of its own. */
void gateway_open_one(unsigned int id, unsigned int of, unsigned int sessions);
/** The same, for a thread of its own: with a queue pair of each device, a reader of the SAD, and operations in w->crypto.ops, which
 * are the caller's to free. */
void gateway_open_thread(unsigned int id, unsigned int of, unsigned int sessions);
/** Delete all packets, SAs, policies and sessions. */
void gateway_close(struct worker *w);
/** Install a tunnel. @param esn  extended sequence numbers */
void gateway_tunnel(struct tunnel *t, const struct esp_algorithm *algorithm, unsigned int number,
		    bool esn, bool v6);

/** Route packets that come out of one tunnel into the other. */
void gateway_hub(const struct tunnel *from, const struct tunnel *to);

/** Write a packet of len bytes from one network to another whose payload has its id. The network
 * of this gateway is number 1. */
void gateway_packet(uint8_t *ip, unsigned int from, unsigned int to, bool v6, unsigned int len,
		    unsigned int id, uint8_t hops);
/**
 * Write an inner packet of len bytes whose payload has its id.
 * @param out   from this gateway to the peer
 * @param hops  its TTL
 */
void gateway_inner(uint8_t *ip, const struct tunnel *t, bool v6, bool out, unsigned int len,
		   unsigned int id, uint8_t hops);
/** The same, encrypted by the peer, in an outer header. @return length */
unsigned int gateway_sealed(uint8_t *ip, const struct tunnel *t, bool v6, unsigned int len,
			    unsigned int id, uint64_t seq);
/** A plaintext of the test's choice. @param len  a multiple of the block. @return length */
unsigned int gateway_seal(uint8_t *ip, const struct tunnel *t, uint64_t seq, const uint8_t *text,
			  unsigned int len);
/** A packet in a frame received by a port. @param room  headroom and tailroom, bytes */
struct rte_mbuf *gateway_frame_in(const uint8_t *ip, unsigned int len, unsigned int interface,
				  unsigned int headroom, unsigned int tailroom);
/** The same with enough room. */
struct rte_mbuf *gateway_frame(const uint8_t *ip, unsigned int len, unsigned int interface);

/** Number of a host on the LAN without a neighbour entry, 10.1.0.77. */
#define GATEWAY_MISSING 77
/** A received frame with ESP, under that number, for that host; its id is the number. */
struct rte_mbuf *gateway_frame_for_missing(const struct tunnel *t, uint8_t seq);

/** Check that a frame transmitted by the LAN port contains that inner packet. */
void gateway_check_in(struct rte_mbuf *m, const struct tunnel *t, bool v6, unsigned int len,
		      unsigned int id);
/** Check that a frame transmitted by the WAN port contains it encrypted, with that sequence
 * number. */
void gateway_check_out(struct rte_mbuf *m, const struct tunnel *t, bool v6, unsigned int len,
		       unsigned int id, uint64_t seq);
/** Free all frames that wait for transmission at both ports, and for their TAPs. */
void gateway_forget(struct worker *w);

#endif

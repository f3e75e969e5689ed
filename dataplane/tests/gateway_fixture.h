/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file gateway_fixture.h
 * A gateway of two ports for tests of whole ways: routes, neighbours, SAs and policies are
 * there, frames go in by worker_receive() and come out in the worker's batches. The other
 * end of its tunnels is esp_peer.h's.
 */
#ifndef GATEWAY_FIXTURE_H
#define GATEWAY_FIXTURE_H

#include "esp_fixture.h"
#include "path/worker/worker.h"

#define GATEWAY_LAN 0
#define GATEWAY_WAN 1
#define GATEWAY_MTU 1500
/** Room for any frame, with what stands around it. */
#define GATEWAY_FRAME 2048u

/** One network to another, both families, by an SA in each direction. */
struct tunnel {
	unsigned int number;	/* of the network at the other end */
	bool v6;		/* the outer header */
	struct esp_peer peer;	/* of both directions */
	struct cygnet_sa *out, *in;
};

/** Group setup and teardown for cmocka. */
int gateway_start(void **state);
int gateway_stop(void **state);

/** Set up the worker, with sessions for so many SAs. */
void gateway_open(struct worker *w, unsigned int sessions);
/** All of its packets, SAs, policies and sessions go. */
void gateway_close(struct worker *w);
/** Install a tunnel. @param esn  extended sequence numbers */
void gateway_tunnel(struct tunnel *t, const struct esp_algorithm *algorithm, unsigned int number,
		    bool esn, bool v6);

/** What comes out of one tunnel goes on into the other. */
void gateway_hub(const struct tunnel *from, const struct tunnel *to);

/** Write a packet of len bytes from one network to another that tells its own id. Ours is
 * number 1. */
void gateway_packet(uint8_t *ip, unsigned int from, unsigned int to, bool v6, unsigned int len,
		    unsigned int id, uint8_t hops);
/**
 * Write an inner packet of len bytes that tells its own id.
 * @param out   from us to the other end
 * @param hops  its TTL
 */
void gateway_inner(uint8_t *ip, const struct tunnel *t, bool v6, bool out, unsigned int len,
		   unsigned int id, uint8_t hops);
/** The same with its trailer and sealed, in an outer header. @return the length */
unsigned int gateway_sealed(uint8_t *ip, const struct tunnel *t, bool v6, unsigned int len,
			    unsigned int id, uint64_t seq);
/** A text of the test's own. @param len  a multiple of the block. @return the length */
unsigned int gateway_seal(uint8_t *ip, const struct tunnel *t, uint64_t seq, const uint8_t *text,
			  unsigned int len);
/** A packet in a frame to a port, with so much room around it. */
struct rte_mbuf *gateway_frame_in(const uint8_t *ip, unsigned int len, unsigned int interface,
				  unsigned int headroom, unsigned int tailroom);
/** The same with room enough. */
struct rte_mbuf *gateway_frame(const uint8_t *ip, unsigned int len, unsigned int interface);

/** That a frame on its way out of the LAN's port holds that inner packet. */
void gateway_check_in(struct rte_mbuf *m, const struct tunnel *t, bool v6, unsigned int len,
		      unsigned int id);
/** That one on its way out of the WAN's port holds it, protected, with that number. */
void gateway_check_out(struct rte_mbuf *m, const struct tunnel *t, bool v6, unsigned int len,
		       unsigned int id, uint64_t seq);
/** Free what is on its way out of both ports. */
void gateway_forget(struct worker *w);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file receive.h
 * The fast path: packets of known flows (flow.h, learn.h) go from a received burst to where the
 * stages sent the packets of their flow before. Each check that is about one packet is made; a
 * packet that fails one passes the stages, as the first packet of each flow does.
 */
#ifndef CYGNETD_RECEIVE_H
#define CYGNETD_RECEIVE_H

#include "path/worker/worker.h"

/** What is known of a received frame. */
struct fast_frame {
	struct flow_key key;
	uint32_t place;
	uint16_t len;	/* of the packet, bytes; 0: it has no flow */
	bool again;	/* its flow is that of the frame before it */
	const struct flow *flow; /* as it was when the burst was looked up */
};

/** A received burst. */
struct fast_burst {
	struct rte_mbuf *const *m;
	unsigned int n, next;	/* frames; the first one that has not been taken */
	unsigned int interface;
	bool direct;		/* packets may go into the crypto batch without a struct packet */
	bool without_flow;	/* a frame without flow key is in front of the stages */
	uint64_t state;		/* flow_state() when it was looked up */
	struct fast_frame frame[BURST];
};

/** Begin an epoch if anything has changed that known flows may depend on. Each turn of a worker, after
 * its last quiescent state, and before each burst. */
void fast_refresh(struct worker *w);
/**
 * Look up the flows of a burst. During a capture (capture.h) no frame is of a known flow.
 * @param m     BURST frames from the wire side of a port at most
 * @param interface  index in interfaces[]
 */
void fast_lookup(struct worker *w, struct fast_burst *burst, struct rte_mbuf *const *m,
		 unsigned int n, unsigned int interface);
/**
 * Take the frames of a burst, in order: frames of known flows go on, the others to STAGE_FROM_WIRE.
 * @return false: the crypto batch is full before the end, or frames without a flow key, fragments for
 *	   one, are in front of the stages and would be overtaken: dispatch() and call again
 */
bool fast_receive(struct worker *w, struct fast_burst *burst);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file capture.h
 * The workers' part of cygnetctl capture: copy the packets that are asked for into a ring. While
 * there is a capture, all packets of all workers pass the stages, so that each is seen; known flows
 * are not looked up. Without one, a worker tests worker.capture once for each burst.
 */
#ifndef CYGNETD_WORKER_CAPTURE_H
#define CYGNETD_WORKER_CAPTURE_H

#include <rte_bpf.h>

#include "base/capture_request.h"
#include "path/worker/worker.h"

/** Bytes of a packet's comment, with the NUL. */
#define CAPTURE_COMMENT 160u

struct capture {
	uint32_t points;  /* bit mask of 1 << enum capture_point */
	uint64_t present; /* interfaces_present() at the beginning: ports of the file */
	uint16_t device[CONF_MAX_INTERFACES]; /* their ethdevs then, by interface */
	int interface;			      /* index in interfaces[]; -1: any */
	enum drop_reason drop;		      /* DROP_NONE: any */
	rte_be32_t spi;			      /* 0: any */
	struct rte_bpf *frames, *packets; /* filters for data at an Ethernet, and at an IP header;
					   * NULL: no filter */
	uint32_t longest;		  /* bytes of a packet that are copied at most */
	struct rte_mempool *pool;
	struct rte_ring *ring; /* packets in the format of rte_pcapng_copy() */
	uint64_t missed;       /* packets for which there was no buffer or no room; atomic */
};

/** The capture that workers are to take part in; NULL: none. Atomic. After it has been set to NULL, the
 * capture may be freed when worker.capture of each worker is another one: no worker begins to use it
 * any more. Both accesses are sequentially consistent. */
extern struct capture *capture_wanted;

/** capture_refresh() when a capture begins or is over. */
void capture_notice(struct worker *w);

/** Take notice of a capture that begins or is over. Each turn of a worker. */
static inline void capture_refresh(struct worker *w)
{
	if (unlikely(__atomic_load_n(&capture_wanted, __ATOMIC_RELAXED) != w->capture))
		capture_notice(w);
}

/* The following are called with worker.capture set. Packets stay as they are, and the caller's. */

/** Capture frames that a port has received. */
void capture_received(struct worker *w, struct rte_mbuf **m, unsigned int n,
		      unsigned int interface);
/** Capture frames that are about to be sent; mbuf.port is their interface. */
void capture_sent(struct worker *w, struct rte_mbuf **m, unsigned int n);
/** Capture a packet (data at the IP header) that came out of the SA in its struct packet. */
void capture_decrypted(struct worker *w, struct rte_mbuf *m);
/** Capture a packet (data at the IP header) that the SA in its struct packet is to protect. */
void capture_to_protect(struct worker *w, struct rte_mbuf *m);
/** Capture a packet that is dropped, if its worker takes part in a capture: packet_drops_watched. */
void capture_dropped(struct stats *counters, struct rte_mbuf *m, enum drop_reason reason,
		     bool frame);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file stage.h
 * The stages that packets pass one at a time, and the queues in front of them. A stage takes a
 * vector of packets and gives each to a next stage's queue (stage_add()), to a sink (tx.h,
 * handoff.h, worker_drop()) or to a place where it waits (hold.h, neigh_wait.h, reassemble.h). It
 * calls no other stage: the dispatcher (path/dispatch.h) does.
 *
 * The order of the list is a packet's way. The dispatcher runs the first stage that has packets,
 * so those of a flow stay in order: they meet again in the queue of the next stage.
 */
#ifndef CYGNETD_STAGE_H
#define CYGNETD_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "ip/packet.h"

/* Name, text in cygnetctl, what it does. */
#define STAGES(X) \
	X(FROM_WIRE, "from-wire", "frames from a port: header checks, for this host or to be forwarded") \
	X(FROM_KERNEL, "from-kernel", "frames from a TAP: IKE and link control pass, policies decide about the rest") \
	X(REASSEMBLE, "reassemble", "fragments until their packet is whole") \
	X(LOCAL, "local", "packets to this host: ESP, AH, IKE, inbound policies") \
	X(FORWARD, "forward", "plaintext from a port to others: forward policies") \
	X(DECRYPTED, "decrypted", "packets out of an SA: the policy of that SA") \
	X(OUTBOUND, "outbound", "plaintext that leaves: TTL, outbound policies") \
	X(SA_GONE, "sa-gone", "packets whose SA was deleted on the way: the SA that replaces it") \
	X(FIT, "fit", "packets that an SA is to protect: cut to its path MTU") \
	X(PROTECT, "protect", "sequence number, ESP or AH header, crypto job") \
	X(UNPROTECT, "unprotect", "replay window, crypto job") \
	X(ROUTE, "route", "protected and plaintext packets: next hop, MTU, neighbour") \
	X(TO_KERNEL, "to-kernel", "packets to this host: cut to the TAP's MTU, framed") \
	X(TX, "tx", "frames to a port whose queue is this worker's") \
	X(TAP, "tap", "frames to a TAP that is this worker's")

enum stage {
#define X(name, text, help) STAGE_##name,
	STAGES(X)
#undef X
	STAGE_COUNT,
	/* Not entered by a queue; counted like the others. */
	STAGE_KNOWN = STAGE_COUNT,	/* received bursts: packets of known flows */
	STAGE_CRYPTO,			/* devices that work when they are called */
	STAGE_FINISH,			/* what came back from a device */
	STAGE_COUNTED
};

extern const char *const stage_name[STAGE_COUNTED];
extern const char *const stage_help[STAGE_COUNTED];

/** Packets of a vector at most. */
#define STAGE_VECTOR 64u

/** The packets in front of a stage, by packet()->next. */
struct stage_queue {
	struct rte_mbuf *head, *tail;
	uint32_t n;
};

/** The queues of a worker. */
struct stages {
	uint32_t waiting;	/* bit mask of the stages that have packets */
	bool blocked;		/* until the crypto batch has been run: stage_return() */
	struct stage_queue queue[STAGE_COUNT];
};
_Static_assert(STAGE_COUNT <= 32, "bits of waiting");

/** Put a packet behind the others in front of a stage. Takes it over; its struct packet is filled
 * in. The worker of the queues. */
static inline void stage_add(struct stages *stages, enum stage stage, struct rte_mbuf *m)
{
	struct stage_queue *q = &stages->queue[stage];

	packet(m)->next = NULL;
	if (q->n++)
		packet(q->tail)->next = m;
	else
		q->head = m;
	q->tail = m;
	stages->waiting |= 1u << stage;
}

/** Take up to n packets from in front of a stage. @return how many */
static inline unsigned int stage_take(struct stages *stages, enum stage stage, struct rte_mbuf **m,
				      unsigned int n)
{
	struct stage_queue *q = &stages->queue[stage];
	unsigned int taken = 0;

	for (; taken < n && q->n; taken++, q->n--) {
		m[taken] = q->head;
		q->head = packet(q->head)->next;
	}
	if (!q->n)
		stages->waiting &= ~(1u << stage);
	return taken;
}

/** Put packets that a stage could not take back in front of it: it waits until the crypto batch has
 * been run. @param m  the rest of its vector */
void stage_return(struct stages *stages, enum stage stage, struct rte_mbuf **m, unsigned int n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file stage.h
 * The stages that packets pass one at a time, and the queues in front of them. A stage takes a
 * vector of packets and gives each to a next stage's queue (stage_add()), to a sink (tx.h,
 * handoff.h, drop()) or to a place where it waits (sa_wait.h, neigh_wait.h, reassemble.h). It
 * calls no other stage: the dispatcher (path/dispatch.h) does.
 *
 * The order of the list is a packet's way. The dispatcher runs the first stage that has packets,
 * so packets of a flow stay in order: they meet again in the queue of the next stage. Arrows that go back up
 * are for packets that have no sequence number yet, and can put one behind later ones of its vector: to FIND_SA,
 * if the SA was deleted meanwhile, or a new policy protects plaintext that waited for a neighbour; to OUTBOUND, a packet
 * of this host that FIT has put together, and ICMP errors.
 */
#ifndef CYGNETD_STAGE_H
#define CYGNETD_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

#include "ip/packet.h"

/* Name, text in cygnetctl, what it does, the stages that its packets may go to, by the queue or handed to another
 * worker. Any stage may send a frame to TX and TAP. */
#define STAGES(X) \
	X(FROM_WIRE, "from-wire", \
	  "frames from a port: header checks, for this host or to be forwarded", \
	  TO(LOCAL) | TO(FORWARD)) \
	X(FROM_KERNEL, "from-kernel", \
	  "frames from a TAP: IKE, link control and DHCP pass, policies decide about the rest", \
	  TO(REASSEMBLE) | TO(OUTBOUND)) \
	X(REASSEMBLE, "reassemble", "fragments until their packet is whole", \
	  TO(LOCAL) | TO(FORWARD) | TO(OUTBOUND)) \
	X(LOCAL, "local", "packets to this host: ESP, AH, IKE, inbound policies", \
	  TO(REASSEMBLE) | TO(UNPROTECT) | TO(TO_KERNEL)) \
	X(FORWARD, "forward", "plaintext from a port to others: forward policies", \
	  TO(REASSEMBLE) | TO(OUTBOUND) | ICMP_ERROR) \
	X(DECRYPTED, "decrypted", "packets out of an SA: the policy of that SA", \
	  TO(OUTBOUND) | TO(TO_KERNEL)) \
	X(OUTBOUND, "outbound", "plaintext that leaves: TTL, outbound policies", \
	  TO(FIND_SA) | TO(FIT) | TO(ROUTE) | ICMP_ERROR) \
	X(FIND_SA, "find-sa", \
	  "packets whose SA was deleted, or whose policy has just come: the SA that the policy has now", \
	  TO(FIT)) \
	X(FIT, "fit", "packets that an SA is to protect: cut to its path MTU", \
	  TO(REASSEMBLE) | TO(OUTBOUND) | TO(FIND_SA) | TO(FIT) | TO(PROTECT) | ICMP_ERROR) \
	X(PROTECT, "protect", "sequence number, ESP or AH header, crypto job", \
	  TO(FIND_SA) | TO(FIT)) \
	X(UNPROTECT, "unprotect", "replay window, crypto job", TO_NONE) \
	X(ROUTE, "route", "protected and plaintext packets: next hop, MTU, neighbour", \
	  TO(FIND_SA) | TO(TO_KERNEL) | ICMP_ERROR) \
	X(TO_KERNEL, "to-kernel", "packets to this host: cut to the TAP's MTU, framed", TO_NONE) \
	X(TX, "tx", "frames to a port whose queue is this worker's", TO_NONE) \
	X(TAP, "tap", "frames to a TAP that is this worker's", TO_NONE)

enum stage {
#define X(name, text, help, next) STAGE_##name,
	STAGES(X)
#undef X
		STAGE_COUNT,
	/* Not entered by a queue; counted like the others. */
	STAGE_KNOWN = STAGE_COUNT, /* received bursts: packets of known flows */
	STAGE_CRYPTO,		   /* devices that work when they are called */
	STAGE_QUEUES,		   /* devices with queues, and crypto cores */
	STAGE_FINISH,		   /* packets that came back from a device */
	STAGE_COUNTED
};

extern const char *const stage_name[STAGE_COUNTED];
extern const char *const stage_help[STAGE_COUNTED];

/** Packets of a vector at most. */
#define STAGE_VECTOR 64u

/** Packets in front of a stage that are kept without touching them. */
#define STAGE_QUEUE (2 * STAGE_VECTOR)

/** The packets in front of a stage, in order. More than STAGE_QUEUE, as when packets are cut into many
 * fragments, are linked by packet()->next behind the others. */
struct stage_queue {
	uint32_t head, n; /* of m[], a ring */
	uint32_t nlinked;
	struct rte_mbuf *first, *last;
	struct rte_mbuf *m[STAGE_QUEUE];
};

/** The queues of a worker. */
struct stages {
	uint32_t running; /* enum stage + 1; 0: none */
	uint32_t waiting; /* bit mask of the stages that have packets */
	bool blocked;	  /* until the crypto batch has been run: stage_return() */
	struct stage_queue queue[STAGE_COUNT];
};
_Static_assert(STAGE_COUNT <= 32, "bits of waiting");

/** stage_add() to a queue whose ring is full. */
void stage_link(struct stage_queue *q, struct rte_mbuf *m);

/** Which stages the packets of a stage may go to, as STAGES says. */
extern const uint32_t stage_next[STAGE_COUNT];

/** Ends the program: the stage that runs sends a packet where STAGES does not say. */
void stage_not_next(const struct stages *stages, enum stage stage) __attribute__((noreturn));

/** In builds with assertions (DPDK's RTE_ENABLE_ASSERT): the stage that runs may send to another one. */
static inline void stage_assert_next(const struct stages *stages, enum stage stage)
{
#ifdef RTE_ENABLE_ASSERT
	if (stages->running && !(stage_next[stages->running - 1] >> stage & 1))
		stage_not_next(stages, stage);
#else
	(void)stages, (void)stage;
#endif
}

/** Put a packet behind the others in front of a stage. Takes it over; its struct packet is filled
 * in. The worker of the queues. */
static inline void stage_add(struct stages *stages, enum stage stage, struct rte_mbuf *m)
{
	struct stage_queue *q = &stages->queue[stage];

	stage_assert_next(stages, stage);
	stages->waiting |= 1u << stage;
	if (likely(q->n < STAGE_QUEUE && !q->nlinked))
		q->m[(q->head + q->n++) % STAGE_QUEUE] = m;
	else
		stage_link(q, m);
}

/** Whether a stage has packets in front of it. */
static inline bool stages_wait(const struct stages *stages, enum stage stage)
{
	return stages->waiting >> stage & 1;
}

/** Whether a packet of an SA waits in front of fit, protect or unprotect. @param sa  index of its slot */
bool stages_have_sa(const struct stages *stages, uint32_t sa);

/** Take up to n packets from in front of a stage. @return how many */
unsigned int stage_take(struct stages *stages, enum stage stage, struct rte_mbuf **m,
			unsigned int n);

/** Put packets that a stage could not take back in front of it: it waits until the crypto batch has
 * been run. Right after stage_take(). @param m  the rest of its vector */
void stage_return(struct stages *stages, enum stage stage, struct rte_mbuf **m, unsigned int n);

#endif

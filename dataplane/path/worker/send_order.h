/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file send_order.h
 * The frames of an outbound SA that several workers protect packets of (share.h) leave in the order of their sequence
 * numbers.
 *
 * A worker takes numbers from the SA's counter in the shared file, protects its packets, and puts each frame into the
 * place of its number in a window, or that there is none. Whoever has put the next number sends it, and all that follow
 * without a gap, by one worker's queue of the port, which is locked for the call. Other workers do not wait for that,
 * but for what is given up, comes late or leaves a full batch, whose sender takes the lock; and
 * of a frame only its mbuf's first cache line goes to the worker that sends it. For a number that is missing, of a worker
 * that does not run, those with frames behind it wait send_bounds.wait_us; then they give it up, and it leaves when it comes. So
 * the peer sees the order of numbers, and a replay window of 32 does, as if there were one worker. A worker takes numbers
 * in the order in which it has received packets, so a flow, whose packets one worker receives, keeps its order, too.
 *
 * rte_reorder is for one thread.
 */
#ifndef CYGNETD_SEND_ORDER_H
#define CYGNETD_SEND_ORDER_H

#include "esp/session.h"
#include "path/worker/worker.h"

/** What the numbers under way of a shared SA may need. */
struct send_bounds {
	uint32_t window;  /* numbers from the next one on whose frames are kept; a power of two */
	uint32_t wait_us; /* how long frames wait for those with lower numbers, microseconds */
};

/** Of crypto within the turn: half a millisecond of 8 million packets a second. */
#define SEND_CALLED ((struct send_bounds){4096, 500})
/** Of devices with queues, such as a GPU: each worker's collects thousands of packets, for milliseconds. */
#define SEND_QUEUED ((struct send_bounds){65536, 20000})
/** Numbers in the windows of all SAs: what bounds the SAs that have an order at a time. */
#define SEND_PLACES (4u << 20)

struct send_order;

/** send_bounds.wait_us, in TSC cycles. */
extern uint64_t send_wait;

/** Before the workers run, if they share. @param slots  of the SAD. @return 0 or -ENOMEM */
int send_orders_init(uint32_t slots, struct send_bounds bounds);
/** Free them, after the sessions. No worker runs. */
void send_orders_free(void);

/**
 * Have an SA's frames leave in order from now on. Its owner, whose packets of the SA are at a device, if they have not left.
 * @param sa    its slot, and
 * @param next  the low half of the first number that has not left
 * @param sender  worker by whose queues they leave
 * @return an order with one user, the caller; NULL: there are as many as SEND_PLACES allows
 */
struct send_order *send_order_begin(uint32_t sa, uint32_t generation, uint32_t next,
				    unsigned int sender);
/** Use the order of an SA, too. Any worker. @return NULL: it has none */
struct send_order *send_order_join(uint32_t sa, uint32_t generation);
/** An order has one user less, and ends with the last one. No frame of the worker's is waiting unnoticed: send_order_flush() */
void send_order_leave(struct worker *w, struct send_order *order);
/** Whether the SA in a slot has, or has lately had, an order. Any thread. */
bool send_order_exists(uint32_t sa);

/**
 * Send a frame of a protected packet when it is its turn. Takes it over.
 * @param s          its session, of this worker; s->shared
 * @param seq        its sequence number
 * @param interface  that it leaves by
 */
void send_in_order(struct worker *w, struct rte_mbuf *m, unsigned int interface, struct session *s,
		   uint64_t seq);
/** The same, of a packet that was cut. @param parts  its n frames, as many as a struct mbuf_batch has at most, and one at least */
void send_cut_in_order(struct worker *w, struct rte_mbuf **parts, unsigned int n,
		       unsigned int interface, struct session *s, uint64_t seq);
/** Numbers of a shared SA have been taken for packets of this turn: what no packet gets is given back at its end. */
void send_order_note(struct worker *w, struct session *s);
/** No frame comes with a number that has been taken: the others of a shared SA need not wait for it.
 * @param s    any session
 * @param seq  0: none has been taken */
void send_nothing(struct worker *w, struct session *s, uint64_t seq);

/** Send what is ready of what has been put, and add up what the SAs' counters are to have (out_use.h). After each crypto
 * batch, and at the end of a turn. */
void send_order_flush(struct worker *w);
/** Send what has become ready, and what has waited long enough. Each turn. */
void send_order_turn(struct worker *w);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file failover.h
 * Which crypto device gets a packet that another one has failed or refused. Decisions only: queue.c
 * puts packets into queues, order.h keeps their order.
 *
 * Invariant: a packet that may have been encrypted is never encrypted again with the same number.
 * In counter mode (GCM and ChaCha20-Poly1305 too) that would decrypt it, and send plaintext. So
 * another device gets an outbound packet only if the first one has not touched it: the packet was
 * still in the worker's op batch, or the device leaves packets that it fails unchanged
 * (engine_device.keeps). Otherwise the packet is lost. Any other device may get an inbound packet
 * that is back: it leaves only when its ICV has been verified, and the ICV of a changed packet is
 * wrong.
 *
 * What follows when a device
 *  - fails a packet (any status but success and not authentic): a device that has not had the
 *    packet gets it, if the invariant permits. Otherwise the packet is lost, and later packets of
 *    the SA avoid the device, until no other device has the session: then the packets may be at
 *    fault.
 *  - fails a packet in a call, or on a crypto core: the same. The SA's packets go by queue from
 *    then on (session.by_queue), so that their order is kept while another device has one of them.
 *  - finds a packet not authentic that another one has failed: the packet is lost but not counted
 *    as forged, because the other device may have changed it.
 *  - refuses a packet, because it does not support the SA or is full: another device gets the
 *    packet if a policy chooses devices, or if the device is lost or stalled. Otherwise the packet
 *    is dropped, because queues are bounded.
 *  - stalls, which is to complete none of its packets for 250 ms: others get new packets and those
 *    in its op batch, or it does if there is no other. Packets at the device stay there. The stall
 *    ends when it completes a packet.
 *  - is lost (engine_take_out()), for all workers, until cygnetd ends: as with a stall, but it gets
 *    no more packets. It is lost after 16 consecutive failures for which it is to blame, or if its
 *    queue accepts no packets of a batch (sync_queue.c). The last device is never lost.
 * A device is to blame for a failure when another device completes the same packet or, if that was
 * lost, the SA's next one (failover_masks.blame).
 */
#ifndef CYGNETD_FAILOVER_H
#define CYGNETD_FAILOVER_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_crypto.h>

#include "base/stats.h"
#include "crypto/device/engine.h"
#include "esp/session.h"
#include "ip/packet.h"

/** What a worker knows of its devices. */
struct failover {
	uint32_t stalled; /* bit mask */
	struct {
		uint64_t answered; /* TSC at which it completed packets, or got the first */
		uint8_t failures;  /* consecutive ones for which it is to blame */
	} device[STATS_MAX_DEVICES];
};

static inline bool failover_is_stalled(const struct failover *f, unsigned int device)
{
	return f->stalled >> device & 1;
}

/** The device has completed packets. */
static inline void failover_worked(struct failover *f, unsigned int device)
{
	f->device[device].failures = 0;
}

/** A stall begins 250 ms after the last of these calls. @param now  TSC */
static inline void failover_answered(struct failover *f, unsigned int device, uint64_t now)
{
	f->device[device].answered = now;
}

/** Note in each turn whether a device has completed packets.
 * @param silent  it has packets and completed none
 * @return whether it has just stalled: the packets in its op batch go to other devices */
bool failover_watch(struct failover *f, unsigned int device, bool silent);

/* --- new packets --- */

/** Before a packet is put into a queue. */
static inline void failover_begin(struct packet *p, const struct session *s)
{
	p->failover = s->failover;
}

/** A packet of failover_begin() is in a queue: what comes of it shows which device was to blame. */
static inline void failover_begun(struct session *s)
{
	s->failover.blame = 0;
}

/** Whether another device gets the new packets of an SA if it can. */
static inline bool failover_avoids(const struct failover *f, const struct session *s,
				   unsigned int device)
{
	return (s->failover.avoid | f->stalled) >> device & 1;
}

/** Whether others may get a new packet that a device is not to get, or has refused. */
bool failover_may_move(const struct failover *f, const struct session *s, unsigned int device);
/** All devices refused a packet of failover_begin().
 * @return whether the SA avoided all devices that have its session, and avoids none from now on: try
 * again */
bool failover_forgive(struct packet *p, struct session *s);

/** No device is left. */
#define FAILOVER_NONE UINT32_MAX
/**
 * Choose the device for a packet; a stalled one if there is no other.
 * @param refused  bit mask: devices that must not get the packet, or have refused it
 * @return index in engine_device[], or FAILOVER_NONE
 */
unsigned int failover_next(const struct failover *f, uint32_t refused);

/* --- packets that a device has had --- */

static inline bool failover_is_failure(const struct rte_crypto_op *op)
{
	return unlikely(op->status != RTE_CRYPTO_OP_STATUS_SUCCESS &&
			op->status != RTE_CRYPTO_OP_STATUS_AUTH_FAILED);
}

/** The invariant: whether another device may get a packet that one has failed. */
static inline bool failover_may_retry(const struct session *s, unsigned int device)
{
	return s->inbound || engine_device[device].keeps;
}

/** A device has failed a packet of a session, and may have changed it. */
void failover_shun(struct session *s, unsigned int device);
/** A device has failed a packet by queue.
 * @return whether another one may get it; otherwise it is lost */
__rte_cold bool failover_failed(const struct rte_crypto_op *op, unsigned int device);

/* The rare case of failover_done(): other devices have failed the packet. */
__rte_cold unsigned int failover_blame(struct failover *f, const struct rte_crypto_op *op);

/** A device has completed a packet by queue. @return the status that the packet leaves with */
static inline unsigned int failover_done(struct failover *f, const struct rte_crypto_op *op,
					 unsigned int device)
{
	failover_worked(f, device);
	return packet(op->sym->m_src)->failover.blame ? failover_blame(f, op) : op->status;
}

#endif

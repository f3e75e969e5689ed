/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file failover.h
 * Which crypto device has a packet next, when one did not do it. All of that is decided here, and
 * done by queue.c.
 *
 * The invariant: a packet that may have been encrypted is never encrypted again with the same number.
 * In counter mode (GCM and ChaCha20-Poly1305 too) that would decrypt it, and send plaintext. So an
 * outbound packet has one device; another may have it only if the first one cannot have touched it:
 * the packet was still in the worker's op batch, or the device says that it gives a packet that it
 * fails back as it was (engine_device.keeps). Else the packet is lost, and the next one has a
 * number of its own. An inbound packet may be tried anywhere, once it is back:
 * nothing of it leaves before its ICV has been found right, and if the first device has begun to
 * decrypt it, or has garbled it, the ICV is wrong.
 *
 * Three executors do packets (crypto.h). Below, "by call" is the worker's batch and crypto cores, for
 * devices that work when they are called (engine_device.at_once); "by queue" is queue.h.
 *  - A packet of a known flow goes into the batch if neither crypto cores nor a policy chooses for each
 *    packet (crypto_is_direct()) and no other packet of its SA is in flight.
 *  - Else a crypto core has it, if there are crypto cores, one has room, and the packet is not done
 *    sooner here than sent there.
 *  - Else it goes into the batch, if the device can be called for the suite, and no packet of the SA
 *    is in a queue.
 *  - Else it goes by queue: into the worker's op batch, then to its queue at the device, and it comes
 *    back in a later turn.
 *
 * State. Masks have a bit for each device.
 *  - session.refused: the device does not take the SA. failed: it could not set the SA up; that is
 *    forgotten after a second in which no device served the SA.
 *  - session.by_queue: a device has failed a packet of the SA. From now on all of its packets go by
 *    queue: there their order is kept while another device has one of them.
 *  - session.shunned, outbound only: the device has lost a packet of the SA, so the next packets go to
 *    others. Once no device is left that has the session it is forgotten: it may be the packets.
 *  - session.to_blame: of these, the devices of which it is not known yet whether it was their fault.
 *    The next packet takes the bits along in its failed_at.
 *  - packet.tried: the device has had the packet, or is shunned. It is not given the packet.
 *  - packet.failed_at: the device has failed the packet, or lost the one before it. If another
 *    device does this one, that is one of crypto_worker.failures for each of them.
 *  - crypto_worker.failures: consecutive failures of packets that another device completed. A packet
 *    that the device does makes it 0, at 16 the device is lost.
 *  - crypto_worker.stalled: the device has packets, and has given none back for 250 ms (answered).
 *  - crypto_worker.refusing: the device's queue did not take all of the last op batch.
 *  - engines_lost, for all workers and until cygnetd ends: the device is used no more. The last
 *    device never is lost.
 * The order in which packets leave is not decided here: order.h.
 *
 * What may happen to a packet:
 *  - A device fails it by queue (failover_judge()): it gives the packet back with a status other than
 *    success or not authentic. Inbound, or if the device keeps packets, a device that has not tried
 *    the packet has it next; if there is none it is lost. Outbound else: it is lost, and the device
 *    is shunned. Where there is only one device the packet is lost, and nothing changes.
 *  - A device fails it by call. The session goes by queue from now on. Inbound: another device has
 *    it next, by queue, and it leaves in front of packets that went into a queue after it
 *    (crypto_retry(); from a crypto core queue_retry(), for it has its place). Outbound: it is
 *    lost, and the device is shunned.
 *  - Another device finds it not authentic. It may have been until the first had it: it is lost,
 *    and does not count as forged.
 *  - A device refuses it. If the device does not take the SA, or is full, the packet goes elsewhere
 *    where a policy chooses, or the device is lost or stalled (failover_may_move()). Else it is dropped:
 *    the queue is there to be bounded. No device is to blame.
 *  - A device stalls (failover_watch()). New packets go to others, and so do packets that are still in
 *    its op batch, which it has never had; or to it, if there is no other.
 *    Packets that it has stay with it, in both directions, for it may be writing them. Packets
 *    behind them in the SA's order wait. A stall ends when the device gives a packet back.
 *  - A device is lost (engine_take_out()): it has failed what others did, or does not take a
 *    synchronous pass, whose packets then have failed by call. Its op batch goes elsewhere in both
 *    directions: the device never had it. Packets that it has are waited for. Sessions choose another
 *    device.
 */
#ifndef CYGNETD_FAILOVER_H
#define CYGNETD_FAILOVER_H

#include "crypto/crypto_worker.h"

/** No device may have the packet. */
#define FAILOVER_NONE UINT32_MAX
/** failover_judge(): another device may do the packet. */
#define FAILOVER_AGAIN RTE_CRYPTO_OP_STATUS_NOT_PROCESSED

static inline bool failover_is_stalled(const struct crypto_worker *c, unsigned int device)
{
	return c->stalled >> device & 1;
}

/* --- new packets --- */

/** A packet goes to a queue: devices that its SA shuns do not get it. */
static inline void failover_begin(struct packet *p, const struct session *s)
{
	p->tried = s->shunned;
	p->failed_at = s->to_blame;
}

/** A queue has the packet of failover_begin(): what it does shows whose fault it was. */
static inline void failover_begun(struct session *s)
{
	s->to_blame = 0;
}

/** Whether a device is not to have new packets of an SA while another can. */
static inline bool failover_avoids(const struct crypto_worker *c, const struct session *s,
				   unsigned int device)
{
	return (s->shunned | c->stalled) >> device & 1;
}

/** Whether others may have a new packet that a device is not to have, or did not take. */
bool failover_may_move(const struct crypto_worker *c, const struct session *s, unsigned int device);
/** No device took a packet of failover_begin(): whether the SA shuns all devices that have it, and from
 * now on none. */
bool failover_forgive(struct packet *p, struct session *s);
/**
 * The device to put a packet to: a stalled one if there is no other.
 * @param refused  bit mask: devices that may not have it, or did not take it
 * @return FAILOVER_NONE: no device is left
 */
unsigned int failover_next(const struct crypto_worker *c, uint32_t refused);

/* --- packets that a device has had --- */

/** A device has failed a packet of a session when it was called, or on a crypto core. */
void failover_by_call(struct crypto_worker *c, struct session *s, unsigned int device);
/** Whether another device may do a packet that one has failed. */
static inline bool failover_may_retry(const struct session *s, unsigned int device)
{
	return s->inbound || engine_device[device].keeps;
}

/* The rare cases of failover_judge(): a device has done what others failed, or fails. */
__rte_cold
unsigned int failover_did(struct crypto_worker *c, const struct rte_crypto_op *op);
__rte_cold
unsigned int failover_failed(struct crypto_worker *c, const struct rte_crypto_op *op,
			     unsigned int device);

/** A packet is back from a device's queue.
 * @return the status that it leaves with, or FAILOVER_AGAIN */
static inline unsigned int failover_judge(struct crypto_worker *c, const struct rte_crypto_op *op,
					  unsigned int device)
{
	if (op->status != RTE_CRYPTO_OP_STATUS_SUCCESS &&
	    op->status != RTE_CRYPTO_OP_STATUS_AUTH_FAILED)
		return failover_failed(c, op, device);
	c->failures[device] = 0;
	return packet(op->sym->m_src)->failed_at ? failover_did(c, op) : op->status;
}

/** Note whether a device gives something back. Each turn in which it has packets.
 * @param done  those that it has given back in this turn
 * @return whether it has just stalled: packets that it has not had yet go to other devices */
bool failover_watch(struct crypto_worker *c, unsigned int device, unsigned int done);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file failover.h
 * Which crypto device has a packet next, when one did not do it. All of that is decided here.
 *
 * The invariant: what may have been encrypted is never encrypted again with the same number. In
 * counter mode (GCM and ChaCha20-Poly1305 too) that would decrypt it, and send plaintext. So a
 * packet that goes out has one device; another may have it only if the first one cannot have
 * touched it: it was still in the worker's batch, or the device says that it gives back as it was
 * what it fails to do (engine_device.keeps). Else the packet is lost, and the next one has a
 * number of its own. A packet that has come in may be tried anywhere, once no device may still write
 * it: nothing of it leaves before its ICV has been found right, and if the first device has begun to
 * decrypt it, or has garbled it, the ICV is wrong.
 *
 * Five ways lead to a device. The first three are for devices that work when they are called
 * (engine_device.at_once), and a packet takes the first way that is open to it:
 *  - burst (burst.c): the packet has come in a burst, all about it is known (shortcut.c), and no
 *    other packet of its SA is in flight. Only where nobody has to choose for each packet who does
 *    it: there are neither crypto cores nor a policy for several devices (offload.h).
 *  - crypto core (crypto_core.c): there are such cores, one has room, and the packet is not done
 *    quicker here than sent there.
 *  - call in the turn (crypt_now.c): the device can be called for the suite, and no packet of the
 *    SA is in a queue.
 *  - trip (crypt_row.c): burst and call in the turn have their packets done in rows. Most of a row
 *    is called for (crypt_call.c). Chains of several SAs go through the worker's queue at the device
 *    and back, and the worker waits for them.
 *  - queue (crypt.c): all else. The packet is in a batch of the worker's, then in its queue at the
 *    device, and comes back in a later turn.
 * Below, "by call" is each of the first four.
 *
 * What is kept. Masks have a bit for each device.
 *  - session.refused: the device does not take the SA. failed: it could not set it up; that is
 *    forgotten after a second in which nobody served the SA.
 *  - session.by_queue: a device has failed a packet of the SA. From now on all of them go by queue:
 *    there their order is kept while another device has one of them.
 *  - session.shunned, outbound only: the device has lost a packet of the SA, so the next ones go to
 *    others. Once no device is left that has the session it is forgotten: it may be the packets.
 *  - session.to_blame: of these, the devices of which nobody knows yet whether it was their fault.
 *    The next packet takes the bits along in its failed_at.
 *  - packet.tried: the device has had the packet, or is shunned. It is not given the packet.
 *  - packet.failed_at: the device has failed the packet, or lost the one before it. If another
 *    device does this one, that is one of worker.failures for each of them.
 *  - worker.failures: so often in a row. A packet that the device does makes it 0, at 16 the device
 *    is lost.
 *  - worker.stalled: the device has packets, and has given none back for 250 ms (worker.answered).
 *  - worker.refusing: the device's queue did not take all of the last batch.
 *  - worker.late: packets that the device has not given back from a trip.
 *  - engines_lost, for all workers and until cygnetd ends: the device is used no more. The last
 *    one never is lost.
 * In which order packets leave is not decided here: packet.called and packet.back (crypt.c).
 *
 * What may happen to a packet:
 *  - A device fails it by queue (failover_judge()), that is gives it back with a status other than
 *    success, or not authentic. Inbound, or if the device keeps packets: one
 *    that has not tried it has it next; if there is none it is lost. Outbound else: it is lost, and
 *    the device is shunned. Where there is only one device it is lost, and nothing changes.
 *  - A device fails it by call. The session goes by queue from now on. Inbound: another device has
 *    it next, by queue, and it leaves in front of those that went into a queue after it
 *    (failover_again(); from a crypto core failover_retry(), for it has its place). Outbound: it is
 *    lost, and the device is shunned.
 *  - Another device finds it not authentic. It may have been until the first had it: it is lost,
 *    and does not count as forged.
 *  - A device refuses it. If it does not take the SA, or is full, the packet goes elsewhere where a
 *    policy chooses, or the device is lost or stalled (failover_put()). Else it is dropped: the
 *    queue is there to be bounded. Nobody is to blame.
 *  - A device stalls (failover_watch()). New packets go to others, and so does what is still in its
 *    batch (failover_move_away()), which it has never had; or to it, if there is no other.
 *    What it has stays with it, in both directions, for it may be writing it. Those behind in the
 *    SA's order wait. A stall ends when the device gives something back.
 *  - A device is lost (engine_take_out()): it has failed what others did, or has not given back a
 *    trip. What is still in the batch goes elsewhere in both directions (failover_move_away()): it
 *    never was there. What the device has is waited for. Sessions choose another device.
 *  - A device does not give it back from a trip, in a thousand tries: the device is lost, and this
 *    is a failure by call. The device may still write the packet: its buffer, operation and session
 *    stay until it comes, and inbound another device has a copy.
 */
#ifndef CYGNETD_FAILOVER_H
#define CYGNETD_FAILOVER_H

#include "path/pipeline.h"

/** A device has failed a packet of a session, and may have encrypted it. */
void failover_shun(struct session *s, unsigned int device);

static inline bool failover_is_stalled(const struct worker *w, unsigned int device)
{
	return w->stalled >> device & 1;
}

/** A new packet, which a device is not to have, or did not take: give it to another, if that may
 * be. @return false: nobody has it */
bool failover_put(struct worker *w, struct rte_crypto_op *op, const struct cygnet_sa *sa,
		  unsigned int device);

/* What is rare in failover_judge(): a device has done what others failed, or fails. */
__rte_cold
unsigned int failover_did(struct worker *w, const struct rte_crypto_op *op);
__rte_cold
unsigned int failover_failed(struct worker *w, struct rte_crypto_op *op, unsigned int device);

/** A packet is back from a device's queue.
 * @return the status that it leaves with; NOT_PROCESSED: another device has it now */
static inline unsigned int failover_judge(struct worker *w, struct rte_crypto_op *op,
					  unsigned int device)
{
	if (op->status != RTE_CRYPTO_OP_STATUS_SUCCESS &&
	    op->status != RTE_CRYPTO_OP_STATUS_AUTH_FAILED)
		return failover_failed(w, op, device);
	w->failures[device] = 0;
	return packet(op->sym->m_src)->failed_at ? failover_did(w, op) : op->status;
}

/** A device has failed a packet otherwise than by this worker's queue: have another one do it by
 * its queue, as job says. @return false: nobody has it */
bool failover_retry(struct worker *w, struct rte_mbuf *m, const struct esp_job *job,
		    unsigned int device);
/** The same for a received packet that the device was called for, or had in a row. It and those of
 * its SA behind it leave in the order in which they came. Takes over the packet, of which struct
 * packet says everything. */
__rte_cold
void failover_again(struct worker *w, struct rte_mbuf *m, const struct esp_job *job,
		    unsigned int device);
/** What waits for a device that is lost or stalled, and was never there, goes to others. If there is none it
 * stays with one that is stalled, and is lost with one that is. */
void failover_move_away(struct worker *w, unsigned int device);
/** Note whether a device gives something back. Each turn in which it has packets.
 * @param done  those that it has given back in this turn */
void failover_watch(struct worker *w, unsigned int device, unsigned int done);

#endif

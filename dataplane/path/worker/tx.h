/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tx.h
 * Frames on their way out: of a port, or to the kernel by the TAP of a port. They are collected,
 * and sent once a turn. Each call takes over the packet.
 */
#ifndef CYGNETD_TX_H
#define CYGNETD_TX_H

#include <rte_ether.h>

#include "host/link.h"
#include "path/worker/worker.h"

/** Find out which ports there are, and which worker sends by each. After the ports, when they have changed, and in
 * any place of a turn: what is removed stays until the turn's end. */
void tx_init(struct worker *w);

/** Send what has been collected. While another worker sends by this one's queues, frames wait until the next call. */
void tx_flush(struct worker *w);
/** The same, of everything: it waits for that worker. */
void tx_flush_all(struct worker *w);

/** Where workers share SAs (worker.may_share), one worker may send by another one's queues. Take a worker's queues, to send by
 * them or to flush them: between tx_trylock() and tx_unlock() nobody else does. @return false: another worker has them */
bool tx_trylock(unsigned int worker);
/** The same; waits for the other worker. */
void tx_lock(unsigned int worker);
void tx_unlock(unsigned int worker);
/** Send frames by the queues of a worker, which have been taken, and empty the batch; mbuf.port is a frame's interface. */
void tx_send_by(struct worker *w, struct mbuf_batch *batch, unsigned int worker);

/** Put a frame into a batch of this worker. */
static inline void tx_add(struct worker *w, struct mbuf_batch *batch, struct rte_mbuf *m)
{
	batch->m[batch->n++] = m;
	if (unlikely(batch->n == RTE_DIM(batch->m)))
		tx_flush_all(w);
}

/** tx_frame(), of an interface whose device has no queue of this worker, or that lies on none. */
void tx_elsewhere(struct worker *w, struct rte_mbuf *m, unsigned int interface);

/** Send a frame out of an interface, by the worker of its device's queue. */
static inline void tx_frame(struct worker *w, struct rte_mbuf *m, unsigned int interface)
{
	struct mbuf_batch *batch = w->out[interface];

	if (unlikely(!batch)) {
		tx_elsewhere(w, m, interface);
		return;
	}
	m->port = (uint16_t)interface;
	tx_add(w, batch, m);
}

/** tx_frame(), of an Ethernet frame as the kernel has it: a VLAN's gets the tags. */
void tx_ethernet(struct worker *w, struct rte_mbuf *m, unsigned int interface);

/** Give a frame to the kernel by the TAP of packet()->interface, by the worker of that TAP. Bulk (packet()->bulk)
 * gets half of that worker's time at most. */
void tap_frame(struct worker *w, struct rte_mbuf *m);

/** Send a packet (data at its IP header) out of a port, to a neighbour.
 * @param macvlan  whose MAC address is the source (macvlan.h)
 * @param mac      of the neighbour */
void tx_packet(struct worker *w, struct rte_mbuf *m, unsigned int interface, unsigned int macvlan,
	       const struct rte_ether_addr *mac);
/** Put the header of the next hop in front of a packet. @return false: it has been dropped */
bool tx_prepend(struct worker *w, struct rte_mbuf *m, const struct link_header *header);
/** tx_packet(), with the header of the next hop. */
void tx_packet_behind(struct worker *w, struct rte_mbuf *m, unsigned int interface,
		      const struct link_header *header);
/** Give a packet (data at its IP header, not longer than the TAP's MTU) to the kernel, as if it
 * had come in by packet()->interface: from TAP_DECRYPTED_MAC if packet()->decrypted says so. */
void tap_packet(struct worker *w, struct rte_mbuf *m);

#endif

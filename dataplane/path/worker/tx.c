/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_spinlock.h>

#include "host/macvlan.h"
#include "ip/priority.h"
#include "path/worker/capture.h"
#include "path/worker/handoff.h"
#include "path/worker/tx.h"

#define TAP_FRAME (uint32_t)(RTE_ETHER_MTU + RTE_ETHER_HDR_LEN)
/* The TAPs may be ahead of their share of the time by so many parts of a second. A batch counts as at most a quarter
 * of that: if it takes longer, the machine has been busy with something else. */
#define TAP_AHEAD 100u

/* Drop a frame that was to leave by an interface, which struct packet need not say. */
static void drop_unsent(struct worker *w, struct rte_mbuf *m, unsigned int interface,
			enum drop_reason reason)
{
	packet(m)->interface = (uint8_t)interface;
	drop_frame(w, m, reason);
}

/* How many frames, from the first one on, leave by the same interface.
 * @param bytes  receives how many these are */
static unsigned int run_length(struct rte_mbuf *const *m, unsigned int n, uint64_t *bytes)
{
	unsigned int i = 0;

	*bytes = 0;
	for (; i < n && m[i]->port == m[0]->port; i++)
		*bytes += rte_pktmbuf_pkt_len(m[i]);
	return i;
}

/* net_tap of DPDK 22.11 drops packets whose pkt_len exceeds its MTU, which cannot be raised above 1,500
 * (host/tap.c), but sends data_len bytes: cap pkt_len. */
static void fit_tap(struct mbuf_batch *batch)
{
	for (unsigned int i = 0; i < batch->n; i++)
		batch->m[i]->pkt_len = RTE_MIN(batch->m[i]->pkt_len, TAP_FRAME);
}

/* The kernel refuses frames of a TAP that is down. */
static enum drop_reason tap_refuses(const struct interface *interface)
{
	return __atomic_load_n(&interface->up, __ATOMIC_RELAXED) ? DROP_TAP_FULL : DROP_TAP_DOWN;
}

/* Where workers share SAs, they send by each other's queues (send_order.h). */
static struct {
	rte_spinlock_t lock; /* of the queues that the worker owns */
} __rte_cache_aligned queues_of[CONF_MAX_WORKERS];

bool tx_trylock(unsigned int worker)
{
	return rte_spinlock_trylock(&queues_of[worker].lock);
}

void tx_lock(unsigned int worker)
{
	rte_spinlock_lock(&queues_of[worker].lock);
}

void tx_unlock(unsigned int worker)
{
	rte_spinlock_unlock(&queues_of[worker].lock);
}

static void drop_removed(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		drop_unsent(w, m[i], m[i]->port, DROP_PORT_REMOVED);
}

/* What is done to frames of an interface just before they are sent. */
static void finish_frames(struct worker *w, struct rte_mbuf **m, unsigned int n)
{
	/* What is known of a flow does not have the priority. */
	uint8_t priority = __atomic_load_n(&interfaces[m[0]->port].priority, __ATOMIC_RELAXED);

	if (unlikely(priority))
		priority_set(m, n, priority);
	if (unlikely(w->capture != NULL))
		capture_sent(w, m, n);
}

/* Frames of a batch that leave by the same interface, one after the other. */
struct run {
	uint16_t interface;
	uint16_t frames;
	uint64_t bytes; /* once the device has the frames, they are not ours to read */
};

/* Finish the frames of a batch, and drop those that the device is not for: since they were put there, it may have got the place of
 * another one. Those that stay come together. @return runs
 * @param kept  receives how many frames stay */
static unsigned int make_runs(struct worker *w, struct rte_mbuf **m, unsigned int n,
			      const struct device *device, struct run *run, unsigned int *kept)
{
	unsigned int runs = 0;

	*kept = 0;
	for (unsigned int from = 0, some; from < n; from += some) {
		struct run *next = &run[runs];

		next->interface = m[from]->port;
		some = run_length(m + from, n - from, &next->bytes);
		next->frames = (uint16_t)some;
		if (unlikely(interface_device(&interfaces[next->interface]) != device)) {
			drop_removed(w, m + from, some);
			continue;
		}
		finish_frames(w, m + from, some);
		if (unlikely(*kept != from))
			memmove(m + *kept, m + from, some * sizeof(*m));
		*kept += some;
		runs++;
	}
	return runs;
}

/* Count the frames of a run, and drop those that the device has not taken.
 * @param sent  how many it has */
static void count_run(struct worker *w, struct rte_mbuf **m, const struct run *run,
		      unsigned int sent)
{
	struct stats_interface *count = &w->stats->interface[run->interface];

	count->tx_packets += sent;
	count->tx_bytes += run->bytes;
	for (unsigned int i = sent; i < run->frames; i++) {
		count->tx_bytes -= rte_pktmbuf_pkt_len(m[i]);
		drop_unsent(w, m[i], run->interface, DROP_TX_FULL);
	}
}

/* Send frames by a queue of a device, in one burst for all VLANs on it. */
static void send_batch(struct worker *w, struct rte_mbuf **m, unsigned int n, unsigned int index,
		       uint16_t queue)
{
	struct run run[RTE_DIM(w->tx[0].m)];
	unsigned int kept, runs = make_runs(w, m, n, &devices[index], run, &kept), sent;

	sent = kept ? rte_eth_tx_burst(devices[index].id, queue, m, (uint16_t)kept) : 0;
	for (unsigned int i = 0; i < runs; i++) {
		unsigned int mine = RTE_MIN(sent, run[i].frames);

		count_run(w, m, &run[i], mine);
		sent -= mine;
		m += run[i].frames;
	}
}

/* @param waits  for a worker that sends by this one's queues; otherwise frames may stay until the next turn */
static void flush_device(struct worker *w, unsigned int index, bool waits)
{
	struct mbuf_batch *batch = &w->tx[index];
	uint16_t queue = (uint16_t)(w->id % devices[index].queues);

	if (w->may_share && !tx_trylock(w->id)) {
		if (!waits)
			return;
		tx_lock(w->id);
	}
	send_batch(w, batch->m, batch->n, index, queue);
	batch->n = 0;
	if (w->may_share)
		tx_unlock(w->id);
}

static void flush_tap(struct worker *w, unsigned int index)
{
	const struct interface *interface = &interfaces[index];
	struct mbuf_batch *batch = &w->tap[index];
	unsigned int sent;

	if (interface->mtu > RTE_ETHER_MTU)
		fit_tap(batch);
	sent = rte_eth_tx_burst(interface->tap.id, 0, batch->m, (uint16_t)batch->n);
	w->stats->interface[index].to_kernel += sent;
	for (unsigned int i = sent; i < batch->n; i++)
		drop_unsent(w, batch->m[i], index, tap_refuses(interface));
	batch->n = 0;
}

/* The kernel receives a frame, up to its socket or its next interface, inside the system call. */
static void flush_tap_timed(struct worker *w, unsigned int index)
{
	uint64_t begun = rte_rdtsc(), most = rte_get_tsc_hz() / TAP_AHEAD / 4;

	flush_tap(w, index);
	w->tap_until = RTE_MAX(w->tap_until, w->now) + 2 * RTE_MIN(rte_rdtsc() - begun, most);
}

/* Whether the TAPs have had more than half of the worker's time lately: the rest is for receiving, so that what
 * floods the kernel fills no port's queue, in which IKE would be lost. */
static bool taps_are_ahead(const struct worker *w)
{
	return w->tap_until > w->now + rte_get_tsc_hz() / TAP_AHEAD;
}

/* The port has been removed since. */
static void drop_device(struct worker *w, unsigned int index)
{
	drop_removed(w, w->tx[index].m, w->tx[index].n);
	w->tx[index].n = 0;
}

static void drop_tap(struct worker *w, unsigned int index)
{
	for (unsigned int i = 0; i < w->tap[index].n; i++)
		drop_unsent(w, w->tap[index].m[i], index, DROP_PORT_REMOVED);
	w->tap[index].n = 0;
}

/* Whether an interface is present. Another worker may hand off a frame of one that was added in this turn. This one
 * then sees all additions early, which is safe: what it has seen before stays until the turn's end. */
static bool is_there(struct worker *w, unsigned int index)
{
	if (!(w->present >> index & 1))
		tx_init(w);
	return w->present >> index & 1;
}

static void flush(struct worker *w, bool waits)
{
	unsigned int n = __atomic_load_n(&ninterfaces, __ATOMIC_RELAXED);

	/* There are no more devices than interfaces. */
	for (unsigned int d = 0; d < RTE_MIN(n, CONF_MAX_DEVICES); d++) {
		if (!(w->devices >> d & 1))
			drop_device(w, d);
		else if (w->tx[d].n)
			flush_device(w, d, waits);
	}
	for (unsigned int i = 0; i < n; i++) {
		if (!w->tap[i].n)
			continue;
		if (is_there(w, i))
			flush_tap_timed(w, i);
		else
			drop_tap(w, i);
	}
}

void tx_flush(struct worker *w)
{
	flush(w, false);
}

void tx_flush_all(struct worker *w)
{
	flush(w, true);
}

/* A device with a single queue has one sender, and devices are spread over the workers. */
static uint8_t queue_owner(const struct worker *w, unsigned int worker, unsigned int device)
{
	unsigned int queues = devices[device].queues;

	return (uint8_t)(queues == 1 ? device % w->workers : worker % queues);
}

void tx_init(struct worker *w)
{
	w->present = interfaces_present();
	w->devices = interfaces_devices(w->present);
	for (unsigned int d = 0; d < CONF_MAX_DEVICES; d++)
		if (w->devices >> d & 1)
			w->tx_owner[d] = queue_owner(w, w->id, d);
	for (unsigned int i = 0; i < CONF_MAX_INTERFACES; i++) {
		const struct device *on = w->present >> i & 1 ? interface_device(&interfaces[i])
							      : NULL;
		unsigned int device = on ? (unsigned int)(on - devices) : DEVICE_NONE;

		w->out[i] = on && w->devices >> device & 1 && w->tx_owner[device] == w->id
				    ? &w->tx[device]
				    : NULL;
	}
}

void tx_elsewhere(struct worker *w, struct rte_mbuf *m, unsigned int interface)
{
	const struct device *device = is_there(w, interface)
					      ? interface_device(&interfaces[interface])
					      : NULL;

	packet(m)->interface = (uint8_t)interface;
	if (!device || !(w->devices >> (device - devices) & 1))
		drop_frame(w, m, DROP_PORT_REMOVED);
	else if (w->out[interface])
		tx_frame(w, m, interface);
	else
		handoff(w, m, w->tx_owner[device - devices], STAGE_TX);
}

/* Frames of one interface. */
static void send_run(struct worker *w, struct rte_mbuf **m, unsigned int n, unsigned int worker)
{
	unsigned int interface = m[0]->port;
	const struct device *device = is_there(w, interface)
					      ? interface_device(&interfaces[interface])
					      : NULL;
	unsigned int index = device ? (unsigned int)(device - devices) : DEVICE_NONE;

	if (device && queue_owner(w, worker, index) == worker) {
		send_batch(w, m, n, index, (uint16_t)(worker % device->queues));
		return;
	}
	/* Since the SA was shared, it has got a route by a port without a queue of that worker. Not by tx_frame(), which may
	 * take the queues of this one. */
	for (unsigned int i = 0; i < n; i++) {
		packet(m[i])->interface = (uint8_t)interface;
		if (device)
			handoff(w, m[i], queue_owner(w, w->id, index), STAGE_TX);
		else
			drop_frame(w, m[i], DROP_PORT_REMOVED);
	}
}

void tx_send_by(struct worker *w, struct mbuf_batch *batch, unsigned int worker)
{
	for (unsigned int from = 0, n; from < batch->n; from += n) {
		uint64_t bytes;

		n = run_length(batch->m + from, batch->n - from, &bytes);
		send_run(w, batch->m + from, n, worker);
	}
	batch->n = 0;
}

void tap_frame(struct worker *w, struct rte_mbuf *m)
{
	unsigned int interface = packet(m)->interface, owner = tap_owner(w, interface);

	if (owner != w->id)
		handoff(w, m, owner, STAGE_TAP);
	else if (packet(m)->bulk && taps_are_ahead(w))
		drop_frame(w, m, DROP_TAP_FULL);
	else
		tx_add(w, &w->tap[interface], m);
}

bool tx_prepend(struct worker *w, struct rte_mbuf *m, const struct link_header *header)
{
	char *frame = rte_pktmbuf_prepend(m, header->len);

	if (!frame) {
		drop(w, m, DROP_NO_BUFFER);
		return false;
	}
	memcpy(frame, header->bytes, header->len);
	return true;
}

void tx_packet_behind(struct worker *w, struct rte_mbuf *m, unsigned int interface,
		      const struct link_header *header)
{
	if (tx_prepend(w, m, header))
		tx_frame(w, m, interface);
}

void tx_ethernet(struct worker *w, struct rte_mbuf *m, unsigned int interface)
{
	if (likely(link_tag(m, interface)))
		tx_frame(w, m, interface);
	else
		drop(w, m, DROP_NO_BUFFER);
}

void tx_packet(struct worker *w, struct rte_mbuf *m, unsigned int interface, unsigned int macvlan,
	       const struct rte_ether_addr *mac)
{
	bool v6 = packet_family(m) == AF_INET6;
	char *frame = rte_pktmbuf_prepend(m, (uint16_t)link_header_len(interface));

	if (!frame) {
		drop(w, m, DROP_NO_BUFFER);
		return;
	}
	link_header_write(frame, interface, macvlan, mac, v6);
	tx_frame(w, m, interface);
}

/* A TAP has Ethernet frames, whatever the interface lies on. */
void tap_packet(struct worker *w, struct rte_mbuf *m)
{
	bool v6 = packet_family(m) == AF_INET6;
	struct rte_ether_hdr *eth = (void *)rte_pktmbuf_prepend(m, sizeof(*eth));

	if (!eth) {
		drop(w, m, DROP_NO_BUFFER);
		return;
	}
	eth->dst_addr = interface_mac(&interfaces[packet(m)->interface]);
	eth->src_addr = packet(m)->decrypted ? TAP_DECRYPTED_MAC : eth->dst_addr;
	eth->ether_type = v6 ? rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV6)
			     : rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	tap_frame(w, m);
}

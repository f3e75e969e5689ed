/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file offload.h
 * Which crypto device serves which packet with `engine = auto`, after SSLShader's
 * opportunistic offload: little load is served by the device that answers
 * soonest; once a worker has more to do than that device takes easily, and enough
 * of it to fill a batch, packets go to the device that is fastest with batches, as
 * long as it keeps up; the rest stays. What is soonest and fastest has been
 * measured (measure.h). Whether batches carry more than the other device did is seen
 * at work: what has been measured may no longer hold, on a GPU that others use as well.
 */
#ifndef CYGNETD_OFFLOAD_H
#define CYGNETD_OFFLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "crypto/device/algorithm.h"

struct measured;
struct rte_mempool;

/** What is made of what has been measured. One word: workers read it while it changes. */
struct offload_class {
	uint8_t light, full;	/* indices in engine_device[], or OFFLOAD_NONE */
	uint8_t pays;		/* bool: `full` is another device than `light` */
	uint8_t spills;		/* bool: while `full` has too many packets, `light` gets packets,
				 * until half of those at `full` are completed */
	uint16_t cost;		/* of a packet at `light`, ns */
} __attribute__((aligned(8)));
#define OFFLOAD_NONE UINT8_MAX
extern struct offload_class offload_class[ALGORITHMS_MAX + 1][LENGTH_CLASSES];

/** Whether the policy chooses devices. Set before the workers start. */
extern bool offload_enabled;

/** A worker's view of its load, in windows of time. */
#define OFFLOAD_WINDOW_US 200u
#define OFFLOAD_SCALE 256u
struct offload {
	bool full;		/* batches are being sent to `full` */
	bool spilling;		/* packets go to `light` until `full` has caught up */
	uint32_t resume;	/* spilling ends below this number of packets at `full` */
	uint8_t streak;		/* successive windows in favour of the other state */
	uint16_t beaten;	/* windows in which `full` carried less than `light` would */
	uint32_t bursts, full_bursts;	/* received in this window: all, and those of maximum size */
	uint32_t frames;	/* received in this window; those of SAs are protected */
	uint32_t protected;
	bool starved;		/* at the window's end the ports had no buffers */
	bool mixed;		/* packets were in queues of devices during the window */
	uint32_t packets;	/* protected packets for which batches pay */
	uint64_t cost;		/* of all protected packets at `light`, ns */
	uint32_t scale;		/* a worker's whole time for a packet at `light`, in OFFLOAD_SCALE of
				 * that cost; */
	uint8_t learned;	/* from so many windows */
	uint32_t pause;		/* windows left in which `full` is not tried */
	uint32_t next_pause;	/* length of the next pause, if `full` is beaten again */
	uint32_t proven;	/* carried more for so many windows */
	uint64_t began;		/* TSC */
	uint64_t switches;	/* atomic: between light and full, either way */
};

/**
 * Choose for one algorithm and length.
 * @param m       of each device
 * @param usable  bit mask of the devices that may be chosen
 */
struct offload_class offload_choose(const struct measured *const *m, unsigned int devices,
				    uint32_t usable);
/**
 * The load of one worker with packets of one class from which on `full` has them.
 * @return Gbps; 0: from none
 */
float offload_pays_from(const struct offload_class *class, unsigned int bytes);
/** Choose for all, without the devices that are lost. */
void offload_choose_all(void);
/** Whether a device has been chosen for anything. */
bool offload_uses(unsigned int device);
/**
 * Close a window of a worker.
 * @param elapsed_ns  since it was opened; longer than a window if the worker was busy
 * @return whether the state changed
 */
bool offload_decide(struct offload *o, uint64_t elapsed_ns);
/**
 * Whether the time of a window is over. Each turn of a worker.
 * @param in_flight  packets in queues of devices
 */
bool offload_is_over(struct offload *o, uint32_t in_flight);
/**
 * Close it, and open the next one.
 * @param in_flight  packets in queues of devices
 * @param starved    whether the ports cannot receive for that
 */
void offload_turn(struct offload *o, uint32_t in_flight, bool starved);
/** Whether few packets are left in the pool that ports receive into. */
bool offload_starves(const struct rte_mempool *packets);

/** Note a burst of packets that was received. @param max  that it could have been */
static inline void offload_received(struct offload *o, unsigned int n, unsigned int max)
{
	o->frames += n;
	o->bursts += n > 0;
	o->full_bursts += n == max;
}

/**
 * Choose the device of one packet.
 * @param at        packets that are waiting for or at each device
 * @param refusing  bit mask of the devices that have not taken all that they were given last,
 * @param stalled   and of those that have long given nothing back
 * @return an index in engine_device[], or OFFLOAD_NONE: no opinion
 */
static inline unsigned int offload_packet(struct offload *o, unsigned int algorithm,
					  unsigned int bytes, const uint32_t *at, uint32_t refusing,
					  uint32_t stalled)
{
	struct offload_class class;

	__atomic_load(&offload_class[algorithm][length_class(bytes)], &class, __ATOMIC_RELAXED);
	o->cost += class.cost;
	o->protected++;
	o->packets += class.pays;
	if (!o->full || !class.pays || stalled >> class.full & 1)
		return class.light;
	if (!class.spills)
		return class.full;
	if (o->spilling) {
		o->spilling = at[class.full] >= o->resume;
	} else if (refusing >> class.full & 1) {
		o->spilling = true;
		o->resume = at[class.full] / 2 + 1;
	}
	return o->spilling ? class.light : class.full;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file offload.h
 * Chooses the crypto device of each packet with `engine = auto`, after the opportunistic offload of
 * SSLShader. Under light load packets go to the device with the lowest latency (`light`). When a worker
 * is near its limit with that device, and has enough packets for a batch, they go to the device with the
 * highest throughput (`full`), as long as it keeps up. Latency and throughput are measured (measure.h).
 * A GPU that other processes use too may be slower than measured, so each worker also observes whether
 * `full` processes more than `light` would.
 */
#ifndef CYGNETD_OFFLOAD_H
#define CYGNETD_OFFLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "crypto/device/algorithm.h"

struct measured;
struct rte_mempool;

/** The devices chosen for one algorithm and packet length. A single word, because workers read it while
 * the control thread replaces it. */
struct offload_class {
	uint8_t light, full; /* indices in engine_device[], or OFFLOAD_NONE */
	uint8_t pays;	     /* bool: `full` is another device than `light` */
	uint8_t spills;	     /* bool: when `full` refuses packets, `light` gets packets until half
				 * of those at `full` are completed */
	uint16_t cost;	     /* of a packet at `light`, ns */
} __attribute__((aligned(8)));
#define OFFLOAD_NONE UINT8_MAX
extern struct offload_class offload_class[ALGORITHMS_MAX + 1][LENGTH_CLASSES];

/** Whether the policy chooses devices. Set before the workers start. */
extern bool offload_enabled;

/** A worker's view of its load, in windows of time. */
#define OFFLOAD_WINDOW_US 200u
#define OFFLOAD_SCALE	  256u
struct offload {
	bool full;	 /* batches are being sent to `full` */
	bool spilling;	 /* packets go to `light` until `full` has caught up */
	uint32_t resume; /* spilling ends below this number of packets at `full` */
	uint8_t streak;	 /* successive windows in favour of the other state */
	uint16_t beaten; /* successive windows in which `full` was slower than `light` would be */
	uint32_t bursts, full_bursts; /* received in this window: all, and those of maximum size */
	uint32_t frames;	      /* received in this window; those of SAs are protected */
	uint32_t protected;
	bool starved;	     /* at the window's end the ports had no buffers */
	bool mixed;	     /* packets were in queues of devices during the window */
	uint32_t packets;    /* protected packets for which batches pay */
	uint64_t cost;	     /* of all protected packets at `light`, ns */
	uint32_t scale;	     /* the worker's total time per packet divided by its cost at `light`,
				 * in 1/OFFLOAD_SCALE */
	uint8_t learned;     /* windows from which scale was learned, WINDOWS_FIRST at most */
	uint32_t pause;	     /* windows left in which `full` is not tried */
	uint32_t next_pause; /* length of the next pause if `full` is beaten again, windows;
				 * 0: the shortest one */
	uint32_t proven;     /* successive windows in which `full` was not beaten */
	uint64_t began;	     /* start of the window, TSC */
	uint64_t switches;   /* atomic: changes between `light` and `full` in both directions */
};

/**
 * Choose the devices of one algorithm and packet length.
 * @param m       measurements of each device
 * @param usable  bit mask of the devices that may be chosen
 */
struct offload_class offload_choose(const struct measured *const *m, unsigned int devices,
				    uint32_t usable);
/**
 * The load of one worker with packets of one class from which on they go to `full`.
 * @return Gbps; 0: they never go there
 */
float offload_pays_from(const struct offload_class *class, unsigned int bytes);
/** Choose the devices of all measured algorithms and lengths among those that are not lost; no device (OFFLOAD_NONE) of the
 * others. */
void offload_choose_all(void);
/** Whether a device is chosen for any algorithm and length. */
bool offload_uses(unsigned int device);
/**
 * Close a window of a worker.
 * @param elapsed_ns  since the start of the window; more than a window if the worker was busy
 * @return whether the state changed
 */
bool offload_decide(struct offload *o, uint64_t elapsed_ns);
/**
 * Whether the time of a window is over. To be called in each iteration of a worker.
 * @param in_flight  packets in queues of devices
 */
bool offload_is_over(struct offload *o, uint32_t in_flight);
/**
 * Close a window and start the next one.
 * @param in_flight  packets in queues of devices
 * @param starved    whether these packets leave the ports too few buffers
 */
void offload_turn(struct offload *o, uint32_t in_flight, bool starved);
/** Whether the pool that ports receive into has few free packets. */
bool offload_starves(const struct rte_mempool *packets);

/** Count a received burst of n packets. @param max  maximum size of a burst */
static inline void offload_received(struct offload *o, unsigned int n, unsigned int max)
{
	o->frames += n;
	o->bursts += n > 0;
	o->full_bursts += n == max;
}

/**
 * Choose the device of one packet.
 * @param pending   packets waiting for or at each device
 * @param refusing  bit mask of the devices that did not accept all packets of their last burst
 * @param stalled   bit mask of the devices that have completed no packet for long
 * @return an index in engine_device[], or OFFLOAD_NONE: no opinion
 */
static inline unsigned int offload_packet(struct offload *o, unsigned int algorithm,
					  unsigned int bytes, const uint32_t *pending,
					  uint32_t refusing, uint32_t stalled)
{
	struct offload_class class;

	__atomic_load(&offload_class[algorithm][length_class(bytes)], &class, __ATOMIC_RELAXED);
	o->cost += class.cost;
	o->protected ++;
	o->packets += class.pays;
	if (!o->full || !class.pays || stalled >> class.full & 1)
		return class.light;
	if (!class.spills)
		return class.full;
	if (o->spilling) {
		o->spilling = pending[class.full] >= o->resume;
	} else if (refusing >> class.full & 1) {
		o->spilling = true;
		o->resume = pending[class.full] / 2 + 1;
	}
	return o->spilling ? class.light : class.full;
}

#endif

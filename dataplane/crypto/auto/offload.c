/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_cycles.h>
#include <rte_mempool.h>

#include "crypto/auto/measured.h"
#include "crypto/auto/offload.h"
#include "crypto/device/engine.h"

#define HALF	      0.5f
#define FAR_BETTER    1.5f
#define LOAD_HIGH     75u /* % of a core */
#define LOAD_LOW      40u
#define WINDOWS_UP    2u  /* successive windows before the worker changes to `full` */
#define WINDOWS_FIRST 16u /* the same until the scale is known, and windows to learn it from */
#define WINDOWS_DOWN \
	8u /* successive windows before it changes back; outlasts gaps between bursts */
#define BEATEN	      512u   /* windows, 0.1 s: an idle GPU is slow at first */
#define PAUSE_MOST    16384u /* windows, 3.3 s */
#define PROVEN	      1024u
#define SCALE_UNKNOWN (4u * OFFLOAD_SCALE)
#define SCALE_LEAST   (OFFLOAD_SCALE / 16)
#define SCALE_MOST    (64u * OFFLOAD_SCALE)
#define STARVED	      64u /* free packets in the worker's pool, fewer starve the ports */

struct offload_class offload_class[ALGORITHMS_MAX + 1][LENGTH_CLASSES];
bool offload_enabled;

/* The device with the lowest latency. Of equal devices the first one in the order of preference. */
static uint8_t choose_light(const struct measured *const *m, unsigned int devices, uint32_t usable)
{
	uint8_t light = OFFLOAD_NONE;

	for (unsigned int d = 0; d < devices; d++)
		if (usable >> d & 1 && m[d]->gbps > 0 &&
		    (light == OFFLOAD_NONE ||
		     m[d]->latency_us * MEASURED_BETTER < m[light]->latency_us))
			light = (uint8_t)d;
	return light;
}

/* Under full load another device pays if its throughput is higher. It also pays if it has at least half
 * of the throughput for less than half of the CPU time, because the core can then process more. */
static bool pays(const struct measured *other, const struct measured *light)
{
	float gbps = other->gbps, than = light->gbps;

	return gbps > than * MEASURED_BETTER ||
	       (gbps > than * HALF && other->cost_ns < light->cost_ns * HALF);
}

static uint8_t choose_full(const struct measured *const *m, unsigned int devices, uint32_t usable,
			   uint8_t light)
{
	uint8_t full = light;

	for (unsigned int d = 0; d < devices; d++)
		if (usable >> d & 1 && d != light && pays(m[d], m[light]) &&
		    (full == light || m[d]->gbps > m[full]->gbps))
			full = (uint8_t)d;
	return full;
}

struct offload_class offload_choose(const struct measured *const *m, unsigned int devices,
				    uint32_t usable)
{
	struct offload_class class = {.light = choose_light(m, devices, usable)};

	class.full = class.light;
	if (class.light == OFFLOAD_NONE)
		return class;
	class.cost = (uint16_t)RTE_MIN(m[class.light]->cost_ns, (float)UINT16_MAX);
	class.full = choose_full(m, devices, usable, class.light);
	if (class.full == class.light)
		return class;
	class.pays = true;
	/* While the core encrypts packets itself it sends none to `full`. That loses throughput if `full` is
	 * far faster. */
	class.spills = m[class.full]->gbps <= m[class.light]->gbps * FAR_BETTER;
	return class;
}

bool offload_uses(unsigned int device)
{
	for (unsigned int a = 0; a < algorithm_count; a++)
		for (unsigned int l = 0; l < LENGTH_CLASSES; l++)
			if (offload_class[a][l].light == device ||
			    offload_class[a][l].full == device)
				return true;
	return false;
}

/* The two conditions of speaks_for_full() as a rate: high CPU load, and enough packets for a batch. */
float offload_pays_from(const struct offload_class *class, unsigned int bytes)
{
	float batches, load;

	if (!class->pays)
		return 0;
	batches = (float)MEASURED_BATCH / (OFFLOAD_WINDOW_US * 1000.0f);
	load = (float)LOAD_HIGH / 100 / (float)RTE_MAX(class->cost, 1);
	return RTE_MAX(batches, load) * (float)bytes * 8;
}

static uint32_t usable_devices(void)
{
	uint32_t usable = 0;

	for (unsigned int d = 0; d < engine_devices; d++)
		usable |= (uint32_t)!engine_lost(d) << d;
	return usable;
}

void offload_choose_all(void)
{
	unsigned int known = __atomic_load_n(&measured_algorithms, __ATOMIC_ACQUIRE);
	uint32_t usable = usable_devices();

	for (unsigned int a = 0; a <= ALGORITHMS_MAX; a++) {
		for (unsigned int l = 0; l < LENGTH_CLASSES; l++) {
			struct offload_class class = {.light = OFFLOAD_NONE, .full = OFFLOAD_NONE};
			const struct measured *m[STATS_MAX_DEVICES];

			for (unsigned int d = 0; a < known && d < engine_devices; d++)
				m[d] = &measured[d][a][l];
			if (a < known)
				class = offload_choose(m, engine_devices, usable);
			__atomic_store(&offload_class[a][l], &class, __ATOMIC_RELAXED);
		}
	}
}

/* Whether more frames wait at the ports: half of the bursts have maximum size, or the ports starve. */
static bool has_backlog(const struct offload *o)
{
	return (o->full_bursts && o->full_bursts * 2 >= o->bursts) || o->starved;
}

/* CPU load if `light` processed all packets of a window, percent. */
static uint64_t load_of(const struct offload *o, uint32_t scale, uint64_t elapsed_ns)
{
	return o->cost * scale / OFFLOAD_SCALE * 100 / elapsed_ns;
}

/* How many packets a window had, in halves of the smallest measured batch. Fewer than one batch a
 * window do not pay. */
static uint64_t halves_of(const struct offload *o, uint64_t elapsed_ns)
{
	return (uint64_t)o->packets * OFFLOAD_WINDOW_US * 1000 * 2 / elapsed_ns / MEASURED_BATCH;
}

/* Learn the worker's total time per packet from a window in which `light` had all of that time. Such a
 * window has a backlog, no packets at other devices, and at least half of its frames belong to SAs of
 * this worker, because other frames take time too. Other processes can only lengthen the time, so a
 * shorter time changes the scale quickly and a longer one slowly. */
static void learn(struct offload *o, uint64_t elapsed_ns)
{
	uint64_t scale;

	if (o->full || o->mixed || !o->cost || !has_backlog(o) || o->protected * 2 < o->frames)
		return;
	scale = RTE_MAX(elapsed_ns * OFFLOAD_SCALE / o->cost, (uint64_t)SCALE_LEAST);
	scale = RTE_MIN(scale, (uint64_t)SCALE_MOST);
	if (!o->learned || scale < o->scale)
		o->scale = (uint32_t)((o->learned ? o->scale + scale : 2 * scale) / 2);
	else
		o->scale += (uint32_t)(scale - o->scale) / 32;
	o->learned += o->learned < WINDOWS_FIRST;
}

static uint32_t scale_of(const struct offload *o, uint32_t unknown)
{
	return o->learned < WINDOWS_FIRST ? unknown : o->scale;
}

/* Whether a window speaks for `full`. The thresholds to change to it are higher than those to stay. */
static bool speaks_for_full(const struct offload *o, uint64_t elapsed_ns)
{
	uint64_t load = load_of(o, scale_of(o, OFFLOAD_SCALE), elapsed_ns);
	uint64_t halves = halves_of(o, elapsed_ns);

	/* A backlog with few packets in a window is a matter of is_beaten(). */
	if (o->full)
		return has_backlog(o) || (load >= LOAD_LOW && halves >= 1);
	return !o->pause && (has_backlog(o) || load >= LOAD_HIGH) && halves >= 2;
}

/* Whether `full` had a backlog for BEATEN windows that `light` would have processed in time. */
static bool is_beaten(struct offload *o, uint64_t elapsed_ns)
{
	bool beaten = o->full && has_backlog(o) &&
		      load_of(o, scale_of(o, SCALE_UNKNOWN), elapsed_ns) < LOAD_HIGH;

	o->beaten = beaten ? (uint16_t)(o->beaten + 1) : 0;
	o->proven = o->full && !beaten ? o->proven + 1 : 0;
	if (o->proven == PROVEN)
		o->next_pause = 0;
	if (o->beaten < BEATEN)
		return false;
	o->pause = RTE_MAX(o->next_pause, BEATEN);
	o->next_pause = RTE_MIN(2 * o->pause, PAUSE_MOST);
	return true;
}

static bool change(struct offload *o, bool full)
{
	o->streak = o->beaten = 0;
	o->spilling = false;
	o->full = full;
	__atomic_store_n(&o->switches, o->switches + 1, __ATOMIC_RELAXED);
	return true;
}

static bool decide(struct offload *o, uint64_t elapsed_ns)
{
	unsigned int up = o->learned < WINDOWS_FIRST ? WINDOWS_FIRST : WINDOWS_UP;
	bool want = speaks_for_full(o, elapsed_ns);

	learn(o, elapsed_ns);
	o->pause -= o->pause > 0;
	if (is_beaten(o, elapsed_ns))
		return change(o, false);
	o->streak = want == o->full ? 0 : (uint8_t)(o->streak + 1);
	if (o->streak < (o->full ? WINDOWS_DOWN : up))
		return false;
	return change(o, want);
}

bool offload_decide(struct offload *o, uint64_t elapsed_ns)
{
	bool changed = decide(o, RTE_MAX(elapsed_ns, (uint64_t)1));

	o->cost = 0;
	o->packets = o->protected = o->frames = 0;
	o->bursts = o->full_bursts = 0;
	return changed;
}

/* Free packets in caches of lcores are not counted, because reading all caches takes long. */
bool offload_starves(const struct rte_mempool *packets)
{
	return rte_mempool_get_ops(packets->ops_index)->get_count(packets) < STARVED;
}

bool offload_is_over(struct offload *o, uint32_t in_flight)
{
	o->mixed |= in_flight > 0;
	return rte_get_tsc_cycles() - o->began >= rte_get_tsc_hz() / 1000000 * OFFLOAD_WINDOW_US;
}

void offload_turn(struct offload *o, uint32_t in_flight, bool starved)
{
	uint64_t now = rte_get_tsc_cycles(), per_us = rte_get_tsc_hz() / 1000000;

	o->starved = in_flight && starved;
	offload_decide(o, (now - o->began) * 1000 / per_us);
	o->mixed = in_flight > 0;
	o->began = now;
}

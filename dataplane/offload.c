/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <rte_cycles.h>

#include "engine.h"
#include "offload.h"

#define BETTER 1.1f	    /* than another, to be preferred to it */
#define HALF 0.5f
#define FAR_BETTER 1.5f
#define MOST_IN_FLIGHT 6144u
#define LOAD_HIGH 75u	    /* % of a core */
#define LOAD_LOW 40u
#define WINDOWS_UP 2u	    /* in a row, to begin with batches */
#define WINDOWS_DOWN 8u	    /* to end that: a pause between two bursts is short */

const uint16_t offload_step[OFFLOAD_STEPS] = {32, 512, 4096};
struct measured measured[STATS_MAX_DEVICES][ALGORITHMS_MAX][LENGTH_CLASSES];
struct offload_class offload_class[ALGORITHMS_MAX + 1][LENGTH_CLASSES];
bool offload_enabled;

unsigned int measured_step(const struct measured *m)
{
	unsigned int best = 0;

	for (unsigned int i = 1; i < OFFLOAD_STEPS; i++)
		if (m->gbps[i] > m->gbps[best] * BETTER)
			best = i;
	return best;
}

float measured_gbps(const struct measured *m)
{
	return m->gbps[measured_step(m)];
}

/* Between equals the first in the order of preference. */
static uint8_t choose_light(const struct measured *const *m, unsigned int devices, uint32_t usable)
{
	uint8_t light = OFFLOAD_NONE;

	for (unsigned int d = 0; d < devices; d++)
		if (usable >> d & 1 && measured_gbps(m[d]) > 0 &&
		    (light == OFFLOAD_NONE || m[d]->latency_us * BETTER < m[light]->latency_us))
			light = (uint8_t)d;
	return light;
}

/* Under full load another device pays if it does more by itself, or if it adds to
 * what the core can do: a fair part more, for much less of the core's time. */
static bool pays(const struct measured *other, const struct measured *light)
{
	float gbps = measured_gbps(other), than = measured_gbps(light);

	return gbps > than * BETTER ||
	       (gbps > than * HALF && other->cost_ns < light->cost_ns * HALF);
}

static uint8_t choose_full(const struct measured *const *m, unsigned int devices, uint32_t usable,
			   uint8_t light)
{
	uint8_t full = light;

	for (unsigned int d = 0; d < devices; d++)
		if (usable >> d & 1 && d != light && pays(m[d], m[light]) &&
		    (full == light || measured_gbps(m[d]) > measured_gbps(m[full])))
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
	/* As packets come faster more of them are in flight, by themselves, and the device does more.
	 * Only so few that each is a batch of its own are not for it. */
	class.fill = (uint16_t)(OFFLOAD_BATCH / offload_step[0]);
	class.most = (uint16_t)RTE_MIN(2u * offload_step[measured_step(m[class.full])],
				       MOST_IN_FLIGHT);
	/* What the core does itself it does not bring to the other one, which does more in that time. */
	if (measured_gbps(m[class.full]) > measured_gbps(m[class.light]) * FAR_BETTER)
		class.most = UINT16_MAX;
	return class;
}

bool offload_uses(unsigned int device)
{
	for (unsigned int a = 0; a < algorithm_count; a++)
		for (unsigned int l = 0; l < LENGTH_CLASSES; l++)
			if (offload_class[a][l].light == device || offload_class[a][l].full == device)
				return true;
	return false;
}

/* As speaks_for_full() below has it: enough of a core's time, and enough for a batch. */
float offload_pays_from(const struct offload_class *class, unsigned int bytes)
{
	float batches, load;

	if (!class->fill)
		return 0;
	batches = (float)OFFLOAD_BATCH / (float)class->fill / (OFFLOAD_WINDOW_US * 1000.0f);
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
	uint32_t usable = usable_devices();

	for (unsigned int a = 0; a <= ALGORITHMS_MAX; a++) {
		for (unsigned int l = 0; l < LENGTH_CLASSES; l++) {
			struct offload_class class = {OFFLOAD_NONE, OFFLOAD_NONE, 0, 0, 0};
			const struct measured *m[STATS_MAX_DEVICES];

			for (unsigned int d = 0; a < algorithm_count && d < engine_devices; d++)
				m[d] = &measured[d][a][l];
			if (a < algorithm_count)
				class = offload_choose(m, engine_devices, usable);
			__atomic_store(&offload_class[a][l], &class, __ATOMIC_RELAXED);
		}
	}
}

/* Whether a window speaks for batches, or still does: more has to happen to begin
 * than to go on. */
static bool speaks_for_full(const struct offload *o, uint64_t elapsed_ns)
{
	bool backlog = o->full_bursts && o->full_bursts * 2 >= o->bursts;
	uint64_t load = o->cost * 100 / elapsed_ns;
	uint64_t fill = o->fill * OFFLOAD_WINDOW_US * 1000 / elapsed_ns;

	if (o->full)
		return (backlog || load >= LOAD_LOW) && fill >= OFFLOAD_BATCH / 2;
	return (backlog || load >= LOAD_HIGH) && fill >= OFFLOAD_BATCH;
}

bool offload_decide(struct offload *o, uint64_t elapsed_ns)
{
	bool want = speaks_for_full(o, RTE_MAX(elapsed_ns, (uint64_t)1));
	unsigned int needed = o->full ? WINDOWS_DOWN : WINDOWS_UP;

	o->cost = o->fill = 0;
	o->bursts = o->full_bursts = 0;
	o->streak = want == o->full ? 0 : (uint8_t)(o->streak + 1);
	if (o->streak < needed)
		return false;
	o->streak = 0;
	o->full = want;
	__atomic_store_n(&o->switches, o->switches + 1, __ATOMIC_RELAXED);
	return true;
}

void offload_turn(struct offload *o)
{
	uint64_t now = rte_get_tsc_cycles(), elapsed = now - o->began;
	uint64_t per_us = rte_get_tsc_hz() / 1000000;

	if (elapsed < OFFLOAD_WINDOW_US * per_us)
		return;
	offload_decide(o, elapsed * 1000 / per_us);
	o->began = now;
}

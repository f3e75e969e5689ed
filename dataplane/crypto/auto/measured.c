/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crypto/auto/measured.h"

const uint16_t measured_in_flight[MEASURED_STEPS] = {32, 512, 4096};
struct measured measured[STATS_MAX_DEVICES][ALGORITHMS_MAX][LENGTH_CLASSES];
unsigned int measured_algorithms;

unsigned int measured_step(const struct measured *m)
{
	unsigned int best = 0;

	for (unsigned int i = 1; i < MEASURED_STEPS; i++)
		if (m->gbps[i] > m->gbps[best] * MEASURED_BETTER)
			best = i;
	return best;
}

float measured_gbps(const struct measured *m)
{
	return m->gbps[measured_step(m)];
}

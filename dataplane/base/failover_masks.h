/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file failover_masks.h
 * The state of SAs and of packets for failover (crypto/failover.h). A packet begins with a copy of
 * its SA's state.
 */
#ifndef CYGNETD_FAILOVER_MASKS_H
#define CYGNETD_FAILOVER_MASKS_H

#include <stdint.h>

#include "base/stats.h"

/** Bit masks of crypto devices. */
struct failover_masks {
	uint16_t avoid; /* devices that do not get the packet, or packets of the SA: they had it or
			 * failed one */
	uint16_t blame; /* of these, devices that are at fault if another one completes the packet,
			 * or the SA's next one */
};
_Static_assert(STATS_MAX_DEVICES <= 16, "bits of the masks");

#endif

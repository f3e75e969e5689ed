/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "log.h"
#include "state.h"

#define TO(state) (1u << OCL_##state)
#define FINAL	  (TO(DONE) | TO(LOST) | TO(UNSENT))

static const unsigned int allowed[OCL_STATES] = {
	[OCL_EMPTY] = TO(FILLING),
	[OCL_FILLING] = TO(CLOSED) |
			TO(EMPTY), /* EMPTY: its packets are staged again, as records */
	[OCL_CLOSED] = TO(LAUNCHED) | FINAL,
	[OCL_LAUNCHED] = TO(OVERDUE) | FINAL,
	[OCL_OVERDUE] = FINAL,
	[OCL_DONE] = TO(EMPTY),
	[OCL_LOST] = TO(EMPTY),
	[OCL_UNSENT] = TO(EMPTY),
};

static const char *const names[OCL_STATES] = {
	[OCL_EMPTY] = "empty",	     [OCL_FILLING] = "filling", [OCL_CLOSED] = "closed",
	[OCL_LAUNCHED] = "launched", [OCL_OVERDUE] = "overdue", [OCL_DONE] = "done",
	[OCL_LOST] = "lost",	     [OCL_UNSENT] = "unsent",
};

bool ocl_state_allows(enum ocl_state from, enum ocl_state to)
{
	return allowed[from] >> to & 1;
}

bool ocl_state_move(enum ocl_state *state, enum ocl_state to)
{
	if (ocl_state_allows(*state, to)) {
		*state = to;
		return true;
	}
	OCL_LOG(ERR, "a chunk cannot go from %s to %s", names[*state], names[to]);
#if defined(__SANITIZE_ADDRESS__) || defined(RTE_ENABLE_ASSERT)
	abort();
#endif
	return false;
}

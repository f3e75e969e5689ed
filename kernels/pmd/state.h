/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file state.h
 * The state of a batch and of its chunk. Only the thread that uses the queue pair reads and writes it:
 * the launcher's thread reports through the chunk's atomics, `claim` and `returned`.
 *
 *	EMPTY <--> FILLING --> CLOSED --> LAUNCHED --> OVERDUE
 *	  ^			 |	     |		  |
 *	  |			 v	     v		  v
 *	  +------------------- DONE, LOST or UNSENT <-----+
 */
#ifndef OCL_STATE_H
#define OCL_STATE_H

#include <stdbool.h>

enum ocl_state {
	OCL_EMPTY,   /* no packets */
	OCL_FILLING, /* packets are added */
	OCL_CLOSED, /* complete; waits for the lock around OpenCL, or for room in the launcher's ring */
	OCL_LAUNCHED, /* with the device, or with the launcher's thread */
	OCL_OVERDUE,  /* launched; timeout_ms has passed once and was extended */
	OCL_DONE,     /* the device has finished: each packet has its status */
	OCL_LOST,     /* no results, and the device may have seen the packets */
	OCL_UNSENT,   /* no results, and the device has seen nothing */
	OCL_STATES
};

/** Whether the table of transitions has that one. */
bool ocl_state_allows(enum ocl_state from, enum ocl_state to);

/**
 * Change the state. A transition that is not in the table is a bug of the driver: it is logged and
 * not made; in builds with sanitizers or RTE_ENABLE_ASSERT it aborts the process.
 * @return whether it was made
 */
bool ocl_state_move(enum ocl_state *state, enum ocl_state to);

static inline bool ocl_state_is_launched(enum ocl_state state)
{
	return state == OCL_LAUNCHED || state == OCL_OVERDUE;
}

/** Whether nothing more happens to it until its packets have left. */
static inline bool ocl_state_is_final(enum ocl_state state)
{
	return state >= OCL_DONE;
}

#endif

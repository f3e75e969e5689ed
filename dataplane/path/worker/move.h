/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file move.h
 * How an SA moves to another worker under traffic. The control thread moves SAs from an overloaded worker (balance.h),
 * one at a time. The steps of a move, each taken by one thread:
 *
 *   KEEP    the new owner is told to keep packets of the SA instead of working on them
 *   SWITCH  the old owner names the new one: from here on packets go there
 *   FINISH  the old owner completes its packets: of other workers that have not seen the switch, in its
 *           inbox, in front of its stages and at its crypto devices; then it releases its session
 *   ARRIVE  the new owner sends the packets in its inbox that the old one has handed off for a port
 *   TAKE    the new owner works on the packets that it has kept, in order, and then on later ones
 *
 * So no two workers work on the SA at the same time, and no packet overtakes another one of its flow.
 */
#ifndef CYGNETD_MOVE_H
#define CYGNETD_MOVE_H

#include "path/worker/worker.h"

/** Take this worker's next step of a move, if there is one. At the start of each turn, before refresh_turn(), when the
 * crypto batch is empty. Packets may be in front of the stages afterwards. */
void move_turn(struct worker *w);

/**
 * Begin to move an SA. Control thread.
 * @param sa  index of its slot
 * @param to  number of its new owner
 * @return false: a move is under way, or the SA is there, or has no owner yet
 */
bool move_begin(uint32_t sa, unsigned int to);
/** Whether a move is under way. Any thread. */
bool move_is_under_way(void);
/** Forget the move that was under way when the workers ended. No worker runs. */
void move_cancel(void);

#endif

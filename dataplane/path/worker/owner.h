/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file owner.h
 * Which worker owns an SA, and how an SA moves to another worker under traffic.
 *
 * An SA has one owner, so that its sequence numbers, replay window and order need no lock. At first that is
 * the worker that the number of its slot names. The control thread moves an SA from an overloaded worker
 * (balance.h), one at a time. The steps of a move, each taken by one thread:
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
#ifndef CYGNETD_OWNER_H
#define CYGNETD_OWNER_H

#include "path/worker/worker.h"

/** Packets of a moving SA that its new owner keeps at most. */
#define MOVE_KEEP_MOST 4096u

/** By SA slot: 0, or a worker's number + 1. Read through sa_owner(). */
extern uint8_t sa_moved_to[CYGNET_MAX_ENTRIES];

/** Which worker owns an SA. Any thread. @param sa  index of its slot */
static inline unsigned int sa_owner(const struct worker *w, uint32_t sa)
{
	unsigned int moved = __atomic_load_n(&sa_moved_to[sa], __ATOMIC_RELAXED);

	return moved ? moved - 1 : sa % w->workers;
}

/** Have a packet pass STAGE_FIT or STAGE_UNPROTECT on the worker that owns its SA, which may be this one.
 * Takes over the packet, whose struct packet is filled in for that stage. */
void owner_handoff(struct worker *w, struct rte_mbuf *m, enum stage stage);

/**
 * Whether a packet that was handed off to this worker is not for its stages now: the SA is about to arrive
 * and the packet is kept, or the SA has left and the packet follows it. Takes over the packet if so.
 * @param m  packet()->stage is STAGE_FIT or STAGE_UNPROTECT
 */
bool owner_diverts(struct worker *w, struct rte_mbuf *m);

/** Take this worker's next step of a move, if there is one. At the start of each turn, before refresh_turn(), when the
 * crypto batch is empty. Packets may be in front of the stages afterwards. */
void owner_turn(struct worker *w);
/** Drop the packets that are kept: the worker ends. */
void owner_drop(struct worker *w);

/**
 * Begin to move an SA. Control thread.
 * @param sa  index of its slot
 * @param to  number of its new owner
 * @return false: a move is under way, or the SA is there
 */
bool owner_move(uint32_t sa, unsigned int to);
/** Whether a move is under way. Any thread. */
bool owner_moving(void);
/** Forget the move that was under way when the workers ended. No worker runs. */
void owner_cancel(void);

#endif

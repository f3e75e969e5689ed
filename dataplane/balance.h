/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file balance.h
 * Moves SAs from an overloaded worker to workers that have less to do (move.h). Control thread.
 *
 * A worker is overloaded if packets pile up in its inbox, or if it has been at work nearly all of the time.
 * The load of a worker is computed from the counters of its SAs. SAs are chosen so that the difference
 * between the two workers becomes as small as possible; small differences, and an SA that has moved a short
 * time ago, stay.
 */
#ifndef CYGNETD_BALANCE_H
#define CYGNETD_BALANCE_H

/** After the SAD is open. @return 0 or -ENOMEM */
int balance_init(void);
void balance_free(void);

/** Begin a move if one is due. Every few milliseconds. */
void balance_turn(void);

#endif

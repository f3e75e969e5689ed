/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file judge.h
 * The state of a gateway from cygnetd's answers, as monitoring plugins report it.
 */
#ifndef CYGNETCTL_JUDGE_H
#define CYGNETCTL_JUDGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/** Exit statuses of Nagios's plugins. */
enum judgement { HEALTH_OK, HEALTH_WARNING, HEALTH_CRITICAL, HEALTH_UNKNOWN };

/** Slots in use of the SAD or SPD that are a warning, percent: rekeying needs two slots for an SA. */
#define JUDGE_NEARLY_FULL 90
/** charon that is gone is a warning, and critical from then on, seconds, as the alert CygnetCharonDown: charon that is
 * restarted is back before. */
#define JUDGE_CHARON_DOWN_S 120

struct answers {
	json_t *info, *ports, *engines;
	json_t *stats, *stats_later; /* two answers, the second one later */
};

/** Whether each worker has finished an iteration of its loop ("turns") between stats and stats_later. */
bool judge_workers_turn(const struct answers *answers);
/**
 * Judge the answers.
 * @param reason  receives one line without newline: what is wrong, the worst first, or what is served
 * @param size    of reason, bytes
 */
enum judgement judge(const struct answers *answers, char *reason, size_t size);

#endif

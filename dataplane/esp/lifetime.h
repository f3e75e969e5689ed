/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file lifetime.h
 * What an SA may carry: limits of bytes, packets and time, and the numbers that packets get.
 * Charon hears of each that is reached, once.
 */
#ifndef CYGNETD_LIFETIME_H
#define CYGNETD_LIFETIME_H

#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"

/**
 * Tell charon of a limit of an SA that has been reached. Any lcore that is a reader, and not
 * per packet: one that is ordinary (protect_is_ordinary()) is below all of them.
 * @return false once it is a hard one
 */
bool lifetime_allows(struct cygnet_sa *sa);
/** Tell charon before the sequence numbers of an outbound SA are used up.
 * @param seq  the last one that was taken */
void lifetime_watch_sequence(struct cygnet_sa *sa, uint64_t seq);
/** Tell charon that they are used up. */
void lifetime_no_sequence(struct cygnet_sa *sa);

/**
 * Tell again what charon was not told because there was no room, of SAs that no packet may
 * come for: some slots of the SAD at a time, all of it after something was not told, and once
 * at the start, when it is the one before that may not have been able to. Control thread, as
 * often as it posts events.
 */
void lifetime_tell_again(void);

#endif

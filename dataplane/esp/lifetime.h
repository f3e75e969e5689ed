/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file lifetime.h
 * Lifetimes of an SA: limits of bytes, packets and time, and exhaustion of sequence numbers. Each
 * limit that is reached is reported to charon once.
 */
#ifndef CYGNETD_LIFETIME_H
#define CYGNETD_LIFETIME_H

#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"

/**
 * Report a reached limit of an SA to charon. Any lcore that is a reader. Not called for each packet:
 * for an ordinary packet (esp/ordinary.h) the SA is below all limits.
 * @return false: a hard limit is reached
 */
bool lifetime_allows(struct cygnet_sa *sa);
/** Report to charon that the sequence numbers of an outbound SA will soon be exhausted.
 * @param seq  the last reserved one */
void lifetime_watch_sequence(struct cygnet_sa *sa, uint64_t seq);
/** Report to charon that the sequence numbers of an SA are exhausted. */
void lifetime_no_sequence(struct cygnet_sa *sa);

/**
 * Report limits again that could not be reported because the event queue was full. The SA may have
 * no further packets. Each call scans some slots of the SAD. A scan of the whole SAD follows each
 * failed report, and the start, because an earlier cygnetd may have failed to report. Control
 * thread, as often as it posts events.
 */
void lifetime_tell_again(void);

#endif

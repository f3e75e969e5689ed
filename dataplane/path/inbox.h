/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file inbox.h
 * Packets that other workers hand off to this one (worker/handoff.h).
 */
#ifndef CYGNETD_INBOX_H
#define CYGNETD_INBOX_H

#include "path/worker/worker.h"

/** Take a burst out of the worker's inbox: ordinary packets for an SA of this worker go into the crypto
 * batch, the others to the stages that the other worker has named. The worker, each turn.
 * @return packets */
unsigned int inbox_poll(struct worker *w);

#endif

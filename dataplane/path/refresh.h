/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file refresh.h
 * A worker takes notice of what has changed.
 */
#ifndef CYGNETD_REFRESH_H
#define CYGNETD_REFRESH_H

#include "path/worker/worker.h"

/** Make void what a worker has cached and what has changed since the last call: which interfaces there are, settings,
 * meters, decisions about flows. Before each burst. */
void refresh_changes(struct worker *w);
/** Find out which ports there are, if anything has changed. Each turn, before anything is sent: since the last quiescent
 * state a device may have been closed. */
void refresh_devices(struct worker *w);
/** Set the worker's clock and refresh_changes(). Each turn of a worker, after its last quiescent state. */
void refresh_turn(struct worker *w);

#endif

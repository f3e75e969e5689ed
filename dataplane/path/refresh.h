/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file refresh.h
 * A worker takes notice of what has changed.
 */
#ifndef CYGNETD_REFRESH_H
#define CYGNETD_REFRESH_H

#include "path/worker/worker.h"

/** Set the worker's clock, and make void what it has cached and what has changed since the last call: which interfaces
 * there are, settings, meters, decisions about flows. Each turn of a worker, after its last quiescent state, and
 * before each burst. */
void refresh(struct worker *w);

#endif

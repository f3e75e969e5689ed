/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pooled.h
 * Random operations on packets of the driver's own pools, in runs: packets of one kind bring
 * their heads if the device has a copy of the pool, other packets have records.
 */
#ifndef POOLED_H
#define POOLED_H

#include "jobs.h"

/**
 * Of each kind as many as it has to do, on a device of their own. Heads that it has, and does not
 * use, are a failure.
 * @param args  the device's, each with a comma behind it
 */
void pooled_run(const char *args, struct kind *kinds, unsigned int n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file cost.h
 * Measures how long the device takes for a bin of each kind; the scheduler sorts bins by that.
 */
#ifndef OCL_COST_H
#define OCL_COST_H

#include "device.h"
#include "memory.h"
#include "scheduler.h"

/**
 * Measure every kind the driver offers and set sched->cost. Takes fractions of a
 * second on a processor, milliseconds on a GPU.
 * @return 0, -ENOMEM, or -EIO if the device fails, logged
 */
int ocl_cost_measure(struct ocl_sched *sched, struct ocl_device *dev,
		     const struct ocl_memory *memory);

#endif

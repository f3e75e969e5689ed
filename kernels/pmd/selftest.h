/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file selftest.h
 * Known answers at start: every algorithm the driver offers, run once on the
 * device and once by the same code compiled for the host. Also the first
 * launch, which makes the device compile. May take seconds.
 */
#ifndef OCL_SELFTEST_H
#define OCL_SELFTEST_H

#include "device.h"
#include "memory.h"
#include "scheduler.h"

/** @return 0, or -EIO if the device computes wrong or not at all, logged */
int ocl_selftest(struct ocl_device *dev, const struct ocl_memory *memory,
		 const struct ocl_sched *sched);

#endif

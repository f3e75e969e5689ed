/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pmd.h
 * The driver's instance, one a virtual device, and its operations.
 */
#ifndef OCL_PMD_H
#define OCL_PMD_H

#include <cryptodev_pmd.h>

#include "args.h"
#include "device.h"
#include "launcher.h"
#include "memory.h"
#include "pool.h"
#include "scheduler.h"
#include "store.h"
#include "table.h"

struct ocl_pmd {
	struct ocl_args args;
	struct ocl_device device;
	struct ocl_sched sched;
	struct ocl_store *store; /* shared with the driver's other devices */
	struct ocl_table table;
	struct ocl_pools pools;
	const struct ocl_memory *memory;
	struct ocl_launcher *launcher; /* NULL: queue pairs launch by themselves */
	bool stuck; /* the launcher's thread hangs in OpenCL and may still use chunks: they are not freed */
};

extern const struct rte_cryptodev_capabilities ocl_capabilities[];
extern struct rte_cryptodev_ops ocl_ops;

#endif

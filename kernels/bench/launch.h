/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file launch.h
 * The kernel on a device, its buffers, and the time of a launch, for bench-kernel. Every
 * error ends the program.
 */
#ifndef BENCH_LAUNCH_H
#define BENCH_LAUNCH_H

#include "device.h"
#include "inc_types.h"

#define PITCH	 2304 /* bytes from packet to packet */
#define LAUNCHES 20

/** A device with what its kernel works on. */
struct bench {
	struct ocl_device dev;
	cl_command_queue queue;
	cl_kernel kernel;
	uint32_t group; /* that the kernel is built for, in work-items; 0: none */
	bool banked;	/* the device by nature: it is built without where that does not fit */
	cl_mem chunk, pool, sessions;
	uint32_t order, results; /* where they are in the chunk, bytes */
};

/** End the program unless err is CL_SUCCESS. */
void check(cl_int err, const char *what);

/** Open a device by name, as ocl_device_open(). @param packets  that the pool has room for */
void bench_open(struct bench *b, const char *device, uint32_t packets);

/** Build the kernel for work-groups of that many, unless that is what it is built for.
 * @return 0, or what ocl_device_build() says if the device cannot have them */
int bench_build(struct bench *b, uint32_t group);

/** @param init  what is in it, bytes long, or NULL */
cl_mem bench_buffer(struct bench *b, size_t bytes, void *init);

/** Give the kernel the buffers as they are now. */
void bench_arguments(struct bench *b);

/** One launch of so many work-items. @return microseconds by the device's clock */
double bench_launch(struct bench *b, size_t items);

/** Sort them. @return the median */
double bench_median(double *values, uint32_t n);

#endif

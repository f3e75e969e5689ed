/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file device.h
 * One OpenCL device with its context and the built program.
 */
#ifndef OCL_DEVICE_H
#define OCL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#define CL_TARGET_OPENCL_VERSION	  300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue: works on 1.2 platforms, too */
#include <CL/cl.h>

struct ocl_device {
	char name[128];
	char version[256]; /* the name, and the driver's version */
	cl_device_id id;
	cl_context context;
	cl_program program;    /* ocl_device_build() */
	size_t group_multiple; /* preferred divisor of a work-group's size */
	size_t max_group;
	uint32_t units;	  /* compute units */
	bool cpu;	  /* and its memory is the host's */
	bool banked;	  /* local memory has banks: the kernel spreads its tables over them */
	bool banked_only; /* by the argument tables=banks */
	bool svm;	  /* fine-grained buffers */
	bool svm_atomics;
	struct ocl_resident *resident; /* the persistent path's kernel; NULL: none */
	bool lost;		       /* atomic; never reset */
};

/**
 * Choose a device and create its context.
 * @param select  an index over all platforms' devices, a part of a name without
 *		  regard to case, or "" for the first GPU, else the first device
 * @return 0; -ENODEV if there is no such device or no OpenCL at all, -EIO if it
 *	   cannot be used; logged
 */
int ocl_device_open(struct ocl_device *dev, const char *select);

/**
 * Build the kernel for work-groups of that size: with one copy of AES's tables if a copy for each bank
 * does not fit, unless the argument is tables=banks.
 * @return 0 or -EIO, logged
 */
int ocl_device_build(struct ocl_device *dev, uint32_t group_size);
void ocl_device_close(struct ocl_device *dev);

/**
 * Give the device up after an error: logged once, and from now on all operations
 * complete with an error status.
 */
void ocl_device_fail(struct ocl_device *dev, const char *what, cl_int err);

static inline bool ocl_device_lost(const struct ocl_device *dev)
{
	return __atomic_load_n(&dev->lost, __ATOMIC_RELAXED);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file device.h
 * One OpenCL device with its context and the built program.
 */
#ifndef OCL_DEVICE_H
#define OCL_DEVICE_H

#include <stdbool.h>

#define CL_TARGET_OPENCL_VERSION	  300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue: works on 1.2 platforms, too */
#include <CL/cl.h>

/* Work-items a group: a warp on NVIDIA, and enough groups for a CPU's cores. */
#define OCL_WORK_GROUP 32

struct ocl_device {
	char name[128];
	cl_device_id id;
	cl_context context;
	cl_program program;
	bool cpu;  /* its memory is the host's */
	bool svm;  /* fine-grained buffers */
	bool lost; /* atomic; never reset */
};

/**
 * Choose a device, create its context and build the kernel.
 * @param select  an index over all platforms' devices, a part of a name without
 *		  regard to case, or "" for the first GPU, else the first device
 * @return 0; -ENODEV if there is no such device or no OpenCL at all, -EIO if it
 *	   cannot be used or the program does not build; logged
 */
int ocl_device_open(struct ocl_device *dev, const char *select);
void ocl_device_close(struct ocl_device *dev);

/**
 * Give the device up after an error: logged once, and from now on whatever is
 * enqueued completes with an error status.
 */
void ocl_device_fail(struct ocl_device *dev, const char *what, cl_int err);

static inline bool ocl_device_lost(const struct ocl_device *dev)
{
	return __atomic_load_n(&dev->lost, __ATOMIC_RELAXED);
}

#endif

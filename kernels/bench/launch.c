/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "launch.h"

void check(cl_int err, const char *what)
{
	if (err == CL_SUCCESS)
		return;
	fprintf(stderr, "bench-kernel: %s: OpenCL error %d\n", what, err);
	exit(1);
}

cl_mem bench_buffer(struct bench *b, size_t bytes, void *init)
{
	cl_int err;
	cl_mem mem = clCreateBuffer(b->dev.context,
				    CL_MEM_READ_WRITE | (init ? CL_MEM_COPY_HOST_PTR : 0), bytes,
				    init, &err);

	check(err, "buffer");
	return mem;
}

void bench_open(struct bench *b, const char *device, uint32_t packets)
{
	cl_int err;

	if (ocl_device_open(&b->dev, device))
		exit(1);
	b->banked = b->dev.banked;
	b->queue = clCreateCommandQueue(b->dev.context, b->dev.id, CL_QUEUE_PROFILING_ENABLE, &err);
	check(err, "queue");
	b->pool = bench_buffer(b, (size_t)packets * PITCH, NULL);
}

int bench_build(struct bench *b, uint32_t group)
{
	cl_int err;
	int ret;

	if (b->group == group)
		return 0;
	if (b->group) {
		clReleaseKernel(b->kernel);
		clReleaseProgram(b->dev.program);
	}
	b->group = 0;
	b->dev.banked = b->banked;
	ret = ocl_device_build(&b->dev, group);
	if (ret)
		return ret;
	b->kernel = clCreateKernel(b->dev.program, "crypto_opencl", &err);
	check(err, "kernel");
	b->group = group;
	return 0;
}

void bench_arguments(struct bench *b)
{
	static const struct ocl_head_rows no_rows;
	static const cl_mem none;

	check(clSetKernelArg(b->kernel, 0, sizeof(b->chunk), &b->chunk), "argument");
	check(clSetKernelArg(b->kernel, 1, sizeof(b->order), &b->order), "argument");
	check(clSetKernelArg(b->kernel, 2, sizeof(b->results), &b->results), "argument");
	check(clSetKernelArg(b->kernel, 3, sizeof(b->sessions), &b->sessions), "argument");
	check(clSetKernelArg(b->kernel, 4, sizeof(no_rows), &no_rows), "argument");
	for (int i = 0; i < OCL_POOLS; i++)
		check(clSetKernelArg(b->kernel, 5 + i, sizeof(cl_mem), i ? &none : &b->pool),
		      "argument");
}

double bench_launch(struct bench *b, size_t items)
{
	size_t local = b->group;
	cl_ulong start, end;
	cl_event event;

	check(clEnqueueNDRangeKernel(b->queue, b->kernel, 1, NULL, &items, &local, 0, NULL, &event),
	      "launch");
	check(clWaitForEvents(1, &event), "wait");
	check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start), &start,
				      NULL),
	      "time");
	check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL),
	      "time");
	clReleaseEvent(event);
	return (end - start) / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), by_size);
	return values[n / 2];
}

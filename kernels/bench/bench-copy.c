/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rates of the device's copy engines for rows of a rectangle between pinned
 * memory and the device, by rows, width, pitch and first column, each way and
 * both ways at once; and with how many queues.
 *
 *   bench-copy [-d DEVICE] [-q QUEUES]
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "device.h"

#define TOTAL  (32 * 1024) /* rows a measurement moves */
#define BUFFER ((size_t)TOTAL * 4096)
#define QUEUES 16

static struct ocl_device dev;
static cl_command_queue queues[2][QUEUES]; /* in, out */
static cl_mem device_memory, pinned;
static char *host;

static void check(cl_int err, const char *what)
{
	if (err == CL_SUCCESS)
		return;
	fprintf(stderr, "bench-copy: %s: OpenCL error %d\n", what, err);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

struct shape {
	size_t rows, width, host_pitch, device_pitch, host_column, device_column;
};

static double enqueue(const struct shape *s, int ways, int nqueues, double *calls)
{
	double start = now(), end;
	int n = 0;

	for (size_t row = 0; row + s->rows <= TOTAL; row += s->rows, n++) {
		const size_t there[3] = {s->device_column, row, 0};
		const size_t here[3] = {s->host_column, row, 0};
		const size_t region[3] = {s->width, s->rows, 1};

		if (ways & 1)
			check(clEnqueueWriteBufferRect(queues[0][n % nqueues], device_memory,
						       CL_FALSE, there, here, region,
						       s->device_pitch, 0, s->host_pitch, 0, host,
						       0, NULL, NULL),
			      "write");
		if (ways & 2)
			check(clEnqueueReadBufferRect(queues[1][n % nqueues], device_memory,
						      CL_FALSE, there, here, region,
						      s->device_pitch, 0, s->host_pitch, 0, host, 0,
						      NULL, NULL),
			      "read");
	}
	*calls = now() - start;
	for (int i = 0; i < nqueues; i++) {
		check(clFinish(queues[0][i]), "finish");
		check(clFinish(queues[1][i]), "finish");
	}
	end = now();
	*calls /= n * (ways == 3 ? 2 : 1);
	return end - start;
}

static void measure(const struct shape *s, int nqueues)
{
	printf("%4zu rows x %4zu, host %4zu+%3zu, device %4zu+%3zu:", s->rows, s->width,
	       s->host_pitch, s->host_column, s->device_pitch, s->device_column);
	for (int ways = 1; ways <= 3; ways++) {
		double calls, us;

		enqueue(s, ways, nqueues, &calls);
		us = enqueue(s, ways, nqueues, &calls);
		printf("  %s %5.1f GB/s, call %4.1f us",
		       ways == 1   ? "in"
		       : ways == 2 ? "out"
				   : "each",
		       (double)TOTAL * s->width / us / 1e3, calls);
	}
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct shape shapes[] = {
		{512, 1024, 2304, 2304, 0, 0},	    {1024, 1024, 2304, 2304, 0, 0},
		{2048, 1024, 2304, 2304, 0, 0},	    {4096, 1024, 2304, 2304, 0, 0},
		{1024, 1024, 2304, 2320, 0, 0},	    {1024, 1024, 2304, 2560, 0, 0},
		{1024, 1024, 2304, 2304, 128, 128}, {1024, 1060, 2304, 2304, 136, 136},
		{1024, 1060, 2304, 2320, 136, 136}, {1024, 1088, 2304, 2304, 128, 128},
		{1024, 1088, 2304, 2320, 128, 128}, {1024, 1060, 2304, 2320, 142, 144},
		{1024, 1088, 2304, 2320, 128, 144}, {1024, 1024, 2048, 2048, 0, 0},
		{1024, 1088, 2176, 2176, 128, 128}, {256, 1088, 2304, 2304, 128, 128},
		{1024, 320, 2304, 2304, 128, 128},  {1024, 128, 2304, 2304, 128, 128},
	};
	int option, nqueues = 4;
	const char *name = "";
	cl_int err;

	while ((option = getopt(argc, argv, "d:q:")) != -1) {
		switch (option) {
		case 'd':
			name = optarg;
			break;
		case 'q':
			nqueues = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	if (nqueues < 1 || nqueues > QUEUES || ocl_device_open(&dev, name))
		return 1;
	for (int i = 0; i < 2 * nqueues; i++) {
		queues[i & 1][i / 2] = clCreateCommandQueue(dev.context, dev.id, 0, &err);
		check(err, "queue");
	}
	device_memory = clCreateBuffer(dev.context, CL_MEM_READ_WRITE, BUFFER, NULL, &err);
	check(err, "buffer");
	pinned = clCreateBuffer(dev.context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, BUFFER,
				NULL, &err);
	check(err, "pinned buffer");
	host = clEnqueueMapBuffer(queues[0][0], pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
				  BUFFER, 0, NULL, NULL, &err);
	check(err, "map");
	printf("%s, %d queues each way\n", dev.name, nqueues);
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		measure(&shapes[i], nqueues);
	return 0;
}

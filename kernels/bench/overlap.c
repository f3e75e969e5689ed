/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much the driver's launches overlap, by OpenCL's own clock. A library between a
 * program and OpenCL: it makes all command queues record when their commands began and ended, and prints at
 * the end, for the last launches, their times and how much of the time transfers in, kernels and
 * transfers out were active beside each other:
 *
 *   LD_PRELOAD=.libs/overlap.so bench-pmd ...
 *
 * A launch is the commands of one queue: transfers in, the kernel, transfers out. Each of them counts from
 * the start of the first command to the end of the last one.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CL_TARGET_OPENCL_VERSION	  300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue */
#include <CL/cl.h>

#define LAUNCHES 256 /* the last ones: these are looked at */
#define SHOWN	 12
#define QUEUES	 1024
#define EXPORT	 __attribute__((visibility("default")))

enum stage { IN, KERNEL, OUT, STAGES };
enum { FIRST, FINAL }; /* commands of a stage */

struct launch {
	unsigned int queue;
	cl_event event[STAGES][2]; /* each has one of their references */
};

static struct queue {
	cl_command_queue id;
	cl_event in[2];	       /* of the next launch */
	struct launch *launch; /* whose kernel it has; NULL: none since the last transfer in */
} queues[QUEUES];

static struct launch launches[LAUNCHES]; /* a ring */
static unsigned long launched;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void report(void);

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static void put(cl_event *to, cl_event event)
{
	if (event)
		clRetainEvent(event);
	if (*to)
		clReleaseEvent(*to);
	*to = event;
}

static void extend(cl_event stage[2], cl_event event)
{
	if (stage[FIRST] == NULL)
		put(&stage[FIRST], event);
	put(&stage[FINAL], event);
}

static struct launch *begin(struct queue *q)
{
	struct launch *launch = &launches[launched++ % LAUNCHES];

	if (launched == 1)
		atexit(report); /* before OpenCL goes: it has come by now */
	launch->queue = (unsigned int)(q - queues);
	for (int end = FIRST; end <= FINAL; end++) {
		put(&launch->event[IN][end], q->in[end]);
		put(&q->in[end], NULL);
		put(&launch->event[KERNEL][end], NULL);
		put(&launch->event[OUT][end], NULL);
	}
	return launch;
}

static void note(cl_command_queue id, enum stage stage, cl_event event)
{
	struct queue *q = queues;

	pthread_mutex_lock(&lock);
	while (q < &queues[QUEUES - 1] && q->id && q->id != id)
		q++;
	q->id = id;
	if (stage != OUT)
		q->launch = stage == KERNEL ? begin(q) : NULL;
	if (stage == IN)
		extend(q->in, event);
	else if (q->launch)
		extend(q->launch->event[stage], event);
	pthread_mutex_unlock(&lock);
}

/* With an event, if the caller wants one or not. */
#define ENQUEUE(name, stage, parameters, ...) \
	EXPORT cl_int name parameters \
	{ \
		cl_int(*next) parameters = real(#name); \
		cl_event own, *caller = event; \
		cl_int err; \
\
		event = caller ? caller : &own; \
		err = next(__VA_ARGS__); \
		if (err == CL_SUCCESS) \
			note(queue, stage, *event); \
		if (err == CL_SUCCESS && !caller) \
			clReleaseEvent(own); \
		return err; \
	}

#define WAIT cl_uint nwait, const cl_event *wait, cl_event *event
#define RECT \
	const size_t *there, const size_t *here, const size_t *region, size_t there_row, \
		size_t there_slice, size_t here_row, size_t here_slice

ENQUEUE(clEnqueueWriteBuffer, IN,
	(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
	 const void *data, WAIT),
	queue, buffer, blocking, offset, size, data, nwait, wait, event)
ENQUEUE(clEnqueueWriteBufferRect, IN,
	(cl_command_queue queue, cl_mem buffer, cl_bool blocking, RECT, const void *data, WAIT),
	queue, buffer, blocking, there, here, region, there_row, there_slice, here_row, here_slice,
	data, nwait, wait, event)
ENQUEUE(clEnqueueNDRangeKernel, KERNEL,
	(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
	 const size_t *global, const size_t *local, WAIT),
	queue, kernel, dims, offset, global, local, nwait, wait, event)
ENQUEUE(clEnqueueReadBuffer, OUT,
	(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
	 void *data, WAIT),
	queue, buffer, blocking, offset, size, data, nwait, wait, event)
ENQUEUE(clEnqueueReadBufferRect, OUT,
	(cl_command_queue queue, cl_mem buffer, cl_bool blocking, RECT, void *data, WAIT), queue,
	buffer, blocking, there, here, region, there_row, there_slice, here_row, here_slice, data,
	nwait, wait, event)

EXPORT cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
					     cl_command_queue_properties properties, cl_int *err)
{
	cl_command_queue (*next)(cl_context, cl_device_id, cl_command_queue_properties,
				 cl_int *) = real("clCreateCommandQueue");

	return next(context, device, properties | CL_QUEUE_PROFILING_ENABLE, err);
}

static cl_ulong time_of(cl_event event, cl_profiling_info what)
{
	cl_ulong t;

	return event && !clGetEventProfilingInfo(event, what, sizeof(t), &t, NULL) ? t : 0;
}

/* Where a stage of a launch begins or ends. */
struct edge {
	cl_ulong time;
	enum stage stage;
	int by;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static void add_up(const struct edge *edges, unsigned int n)
{
	double active[STAGES + 1] = {0}, all = (edges[n - 1].time - edges[0].time) / 100.0;
	int now[STAGES] = {0};

	for (unsigned int i = 0; i + 1 < n; i++) {
		now[edges[i].stage] += edges[i].by;
		active[!!now[IN] + !!now[KERNEL] + !!now[OUT]] += edges[i + 1].time - edges[i].time;
	}
	printf("overlap: %u launches in %.0f us: in, kernel and out at once %.0f percent of the time, "
	       "two of them %.0f, one %.0f\n",
	       n / 2 / STAGES, all / 10, active[3] / all, active[2] / all, active[1] / all);
}

static void report(void)
{
	static struct edge edges[LAUNCHES][2 * STAGES];
	unsigned long i = launched > LAUNCHES ? launched - LAUNCHES : 0;
	unsigned int n = 0;

	printf("overlap: queue; microseconds at which transfers in, kernel, transfers out began and ended\n");
	for (; i < launched; i++) {
		const struct launch *l = &launches[i % LAUNCHES];
		struct edge *e = edges[n];

		for (int s = 0; s < STAGES; s++) {
			e[2 * s] = (struct edge){time_of(l->event[s][FIRST],
							 CL_PROFILING_COMMAND_START),
						 s, 1};
			e[2 * s + 1] = (struct edge){time_of(l->event[s][FINAL],
							     CL_PROFILING_COMMAND_END),
						     s, -1};
		}
		if (e[0].time == 0 || e[2 * STAGES - 1].time == 0)
			continue; /* no packets, or not back */
		if (n++ >= SHOWN)
			continue;
		printf("overlap: %5u", l->queue);
		for (int k = 0; k < 2 * STAGES; k++)
			printf("%10.1f", (e[k].time - edges[0][0].time) / 1e3);
		printf("\n");
	}
	qsort(edges, 2 * STAGES * n, sizeof(edges[0][0]), by_time);
	if (n)
		add_up(edges[0], 2 * STAGES * n);
}

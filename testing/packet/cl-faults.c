/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded into cygnetd: once the file $CL_FAULT exists, OpenCL fails as its text says. "refuse":
 * no kernel is launched; "error": each launched kernel ends in an error; "hang": none ends. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

typedef cl_int launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
		      const size_t *global, const size_t *local, cl_uint nwait,
		      const cl_event *wait, cl_event *event);
typedef cl_int event_info(cl_event event, cl_event_info what, size_t size, void *value,
			  size_t *size_ret);

__attribute__((visibility("default"))) launch clEnqueueNDRangeKernel;
__attribute__((visibility("default"))) event_info clGetEventInfo;

/* RTLD_NEXT does not find libOpenCL: the driver loads it at run time, outside the global scope. */
static void *real(const char *name)
{
	return dlsym(dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD), name);
}

static int fails(const char *how)
{
	const char *path = getenv("CL_FAULT");
	char text[16] = "";
	FILE *file;

	if (!path || access(path, F_OK))
		return 0;
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strcmp(text, how) == 0;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
			      const size_t *offset, const size_t *global, const size_t *local,
			      cl_uint nwait, const cl_event *wait, cl_event *event)
{
	static launch *next;

	if (!next)
		next = (launch *)real("clEnqueueNDRangeKernel");
	if (fails("refuse"))
		return CL_OUT_OF_RESOURCES;
	return next(queue, kernel, dims, offset, global, local, nwait, wait, event);
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void *value,
		      size_t *size_ret)
{
	static event_info *next;
	cl_int err;

	if (!next)
		next = (event_info *)real("clGetEventInfo");
	err = next(event, what, size, value, size_ret);
	if (err != CL_SUCCESS || what != CL_EVENT_COMMAND_EXECUTION_STATUS)
		return err;
	if (fails("hang"))
		*(cl_int *)value = CL_RUNNING;
	else if (fails("error") && *(cl_int *)value == CL_COMPLETE)
		/* Not before: while it runs, its memory is not to be used for something else. */
		*(cl_int *)value = CL_OUT_OF_RESOURCES;
	return err;
}

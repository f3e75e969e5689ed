/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preloaded into cygnetd: from the moment on when the file $CL_FAULT exists OpenCL
 * launches no kernel any more, as if the device were lost. */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

typedef cl_int launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
		      const size_t *offset, const size_t *global, const size_t *local,
		      cl_uint nwait, const cl_event *wait, cl_event *event);

__attribute__((visibility("default"))) launch clEnqueueNDRangeKernel;

/* Not the next one: the driver is loaded at run time, out of the global scope. */
static launch *real(void)
{
	static launch *found;

	if (!found)
		found = (launch *)dlsym(dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD),
					"clEnqueueNDRangeKernel");
	return found;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
			      const size_t *offset, const size_t *global, const size_t *local,
			      cl_uint nwait, const cl_event *wait, cl_event *event)
{
	const char *fault = getenv("CL_FAULT");

	if (fault && access(fault, F_OK) == 0)
		return CL_OUT_OF_RESOURCES;
	return real()(queue, kernel, dims, offset, global, local, nwait, wait, event);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <rte_common.h>

#include "chunk.h"
#include "memory.h"

cl_int ocl_memory_run(struct ocl_chunk *chunk, size_t items, const cl_event *after, cl_event *done)
{
	const size_t local = chunk->bins.sched->bin_size;

	return clEnqueueNDRangeKernel(chunk->queue, chunk->kernel, 1, NULL, &items, &local,
				      after ? 1 : 0, after, done);
}

cl_int ocl_memory_status(struct ocl_chunk *chunk)
{
	cl_int status, err;

	err = clGetEventInfo(chunk->done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
			     &status, NULL);
	return err == CL_SUCCESS ? status : err;
}

const struct ocl_memory *ocl_memory_choose(const struct ocl_device *dev, const char *name)
{
	/* Best first; the last only by name. */
	static const struct ocl_memory *const paths[] = {&ocl_memory_svm, &ocl_memory_staged,
							 &ocl_memory_persistent};

	for (unsigned int i = 0; i < RTE_DIM(paths); i++) {
		if ((strcmp(name, "auto") == 0 || strcmp(name, paths[i]->name) == 0) &&
		    paths[i]->usable(dev))
			return paths[i];
	}
	return NULL;
}

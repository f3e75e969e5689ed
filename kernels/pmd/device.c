/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "device.h"
#include "log.h"

#define MAX_PLATFORMS 16
#define MAX_DEVICES   64
/* PoCL keeps the private memory of a whole work-group on one thread's stack, without a check: 2,048
 * work-items of this kernel overflow it. */
#define MAX_GROUP_OF_CPU ((size_t)1024)

extern const char ocl_kernel_source[];

struct found {
	cl_platform_id platform;
	cl_device_id id;
	cl_device_type type;
	char name[128];
};

static unsigned int list_platform(cl_platform_id platform, struct found *found, unsigned int room)
{
	cl_device_id ids[MAX_DEVICES];
	char platform_name[64] = "";
	cl_uint n = 0;

	if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, RTE_MIN(room, (unsigned int)MAX_DEVICES),
			   ids, &n) != CL_SUCCESS)
		return 0;
	n = RTE_MIN(n, room);
	clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(platform_name) - 1, platform_name,
			  NULL);
	for (cl_uint i = 0; i < n; i++) {
		char name[64] = "";

		clGetDeviceInfo(ids[i], CL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
		found[i].platform = platform;
		found[i].id = ids[i];
		clGetDeviceInfo(ids[i], CL_DEVICE_TYPE, sizeof(found[i].type), &found[i].type,
				NULL);
		snprintf(found[i].name, sizeof(found[i].name), "%.60s, %.60s", name, platform_name);
	}
	return n;
}

static unsigned int list_devices(struct found found[MAX_DEVICES])
{
	cl_platform_id platforms[MAX_PLATFORMS];
	cl_uint nplatforms = 0;
	unsigned int n = 0;

	if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &nplatforms) != CL_SUCCESS)
		return 0;
	nplatforms = RTE_MIN(nplatforms, (cl_uint)MAX_PLATFORMS);
	for (cl_uint i = 0; i < nplatforms; i++)
		n += list_platform(platforms[i], found + n, MAX_DEVICES - n);
	return n;
}

static const struct found *choose(const struct found *found, unsigned int n, const char *select)
{
	char *end;
	unsigned long index;

	if (*select == '\0') {
		for (unsigned int i = 0; i < n; i++) {
			if (found[i].type & CL_DEVICE_TYPE_GPU)
				return &found[i];
		}
		return n ? &found[0] : NULL;
	}
	index = strtoul(select, &end, 10);
	if (*end == '\0')
		return index < n ? &found[index] : NULL;
	for (unsigned int i = 0; i < n; i++) {
		if (strcasestr(found[i].name, select))
			return &found[i];
	}
	return NULL;
}

static void log_build(const struct ocl_device *dev, cl_program program)
{
	size_t size = 0;
	char *text;

	clGetProgramBuildInfo(program, dev->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
	text = calloc(1, size + 1);
	if (text == NULL)
		return;
	clGetProgramBuildInfo(program, dev->id, CL_PROGRAM_BUILD_LOG, size, text, NULL);
	OCL_LOG(ERR, "the kernel does not build on %s:\n%s", dev->name, text);
	free(text);
}

static int build(struct ocl_device *dev, const char *source, const char *options, bool quiet,
		 cl_program *program)
{
	cl_int err;

	*program = clCreateProgramWithSource(dev->context, 1, &source, NULL, &err);
	if (err != CL_SUCCESS) {
		OCL_LOG(ERR, "no program on %s: OpenCL error %d", dev->name, err);
		return -EIO;
	}
	err = clBuildProgram(*program, 1, &dev->id, options, NULL, NULL);
	if (err == CL_SUCCESS)
		return 0;
	if (!quiet)
		log_build(dev, *program);
	clReleaseProgram(*program);
	*program = NULL;
	return -EIO;
}

/* Asked of an empty kernel, because the real one has to know the size when it is built. */
static int ask_group_multiple(struct ocl_device *dev)
{
	cl_program program = NULL;
	cl_kernel kernel = NULL;
	cl_int err = CL_SUCCESS;
	int ret;

	ret = build(dev, "__kernel void probe(__global int *p) { *p = 0; }", "", false, &program);
	if (!ret)
		kernel = clCreateKernel(program, "probe", &err);
	if (kernel)
		err = clGetKernelWorkGroupInfo(kernel, dev->id,
					       CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
					       sizeof(dev->group_multiple), &dev->group_multiple,
					       NULL);
	if (err == CL_SUCCESS)
		err = clGetDeviceInfo(dev->id, CL_DEVICE_MAX_WORK_GROUP_SIZE,
				      sizeof(dev->max_group), &dev->max_group, NULL);
	if (dev->cpu)
		dev->max_group = RTE_MIN(dev->max_group, MAX_GROUP_OF_CPU);
	if (kernel)
		clReleaseKernel(kernel);
	if (program)
		clReleaseProgram(program);
	if (!ret && (err != CL_SUCCESS || dev->group_multiple == 0)) {
		OCL_LOG(ERR, "%s does not say how it groups work: OpenCL error %d", dev->name, err);
		ret = -EIO;
	}
	return ret;
}

static int build_kernel(struct ocl_device *dev, uint32_t group_size, bool quiet)
{
	char options[64];

	snprintf(options, sizeof(options), "-cl-std=CL1.2 -DOCL_WORK_GROUP=%u%s", group_size,
		 dev->banked ? " -DOCL_BANKS" : "");
	return build(dev, ocl_kernel_source, options, quiet, &dev->program);
}

int ocl_device_build(struct ocl_device *dev, uint32_t group_size)
{
	bool may_do_without = dev->banked && !dev->banked_only;
	int err = build_kernel(dev, group_size, may_do_without);

	if (err && may_do_without) {
		dev->banked = false;
		err = build_kernel(dev, group_size, false);
		if (!err)
			OCL_LOG(NOTICE, "work-groups of %u leave %s no room for tables=banks",
				group_size, dev->name);
	}
	if (err)
		OCL_LOG(ERR,
			"chunk= and bins= make work-groups of %u, for which the kernel does not build on %s",
			group_size, dev->name);
	return err;
}

static int examine(struct ocl_device *dev)
{
	cl_device_svm_capabilities svm = 0;
	cl_device_type type = 0;
	cl_bool little = CL_FALSE, available = CL_FALSE, compiler = CL_FALSE;

	clGetDeviceInfo(dev->id, CL_DEVICE_ENDIAN_LITTLE, sizeof(little), &little, NULL);
	clGetDeviceInfo(dev->id, CL_DEVICE_AVAILABLE, sizeof(available), &available, NULL);
	clGetDeviceInfo(dev->id, CL_DEVICE_COMPILER_AVAILABLE, sizeof(compiler), &compiler, NULL);
	if (!little || !available || !compiler) {
		OCL_LOG(ERR, "%s is %s", dev->name,
			!available  ? "not available"
			: !compiler ? "without a compiler"
				    : "big-endian");
		return -EIO;
	}
	clGetDeviceInfo(dev->id, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
	dev->cpu = type & CL_DEVICE_TYPE_CPU;
	dev->banked = !dev->cpu;
	clGetDeviceInfo(dev->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(dev->units), &dev->units,
			NULL);
	/* Fails before OpenCL 2.0, and svm stays 0. */
	clGetDeviceInfo(dev->id, CL_DEVICE_SVM_CAPABILITIES, sizeof(svm), &svm, NULL);
	dev->svm = svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
	dev->svm_atomics = svm & CL_DEVICE_SVM_ATOMICS;
	return 0;
}

static int find(struct ocl_device *dev, const char *select, cl_platform_id *platform)
{
	struct found found[MAX_DEVICES];
	unsigned int n = list_devices(found);
	const struct found *one = choose(found, n, select);
	char version[96] = "";

	if (n == 0) {
		OCL_LOG(ERR, "no OpenCL device: is its driver named in /etc/OpenCL/vendors?");
		return -ENODEV;
	}
	if (one == NULL) {
		OCL_LOG(ERR, "device=%s matches none of %u:", select, n);
		for (unsigned int i = 0; i < n; i++)
			OCL_LOG(ERR, "  %u: %s", i, found[i].name);
		return -ENODEV;
	}
	dev->id = one->id;
	*platform = one->platform;
	memcpy(dev->name, one->name, sizeof(dev->name));
	clGetDeviceInfo(one->id, CL_DRIVER_VERSION, sizeof(version) - 1, version, NULL);
	snprintf(dev->version, sizeof(dev->version), "%s, driver %s", dev->name, version);
	return 0;
}

int ocl_device_open(struct ocl_device *dev, const char *select)
{
	cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, 0, 0};
	cl_platform_id platform;
	cl_int cl_err;
	int err;

	memset(dev, 0, sizeof(*dev));
	err = find(dev, select, &platform);
	if (!err)
		err = examine(dev);
	if (err)
		return err;
	properties[1] = (cl_context_properties)platform;
	dev->context = clCreateContext(properties, 1, &dev->id, NULL, NULL, &cl_err);
	if (cl_err != CL_SUCCESS) {
		OCL_LOG(ERR, "no context on %s: OpenCL error %d", dev->name, cl_err);
		return -EIO;
	}
	err = ask_group_multiple(dev);
	if (err)
		ocl_device_close(dev);
	return err;
}

void ocl_device_close(struct ocl_device *dev)
{
	if (dev->program)
		clReleaseProgram(dev->program);
	if (dev->context)
		clReleaseContext(dev->context);
	dev->program = NULL;
	dev->context = NULL;
}

void ocl_device_fail(struct ocl_device *dev, const char *what, cl_int err)
{
	if (__atomic_exchange_n(&dev->lost, true, __ATOMIC_RELAXED))
		return;
	OCL_LOG(CRIT, "%s is given up: %s (OpenCL error %d)", dev->name, what, err);
}

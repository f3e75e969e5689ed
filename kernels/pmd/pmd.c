/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include <bus_vdev_driver.h>

#include "cost.h"
#include "log.h"
#include "pmd.h"
#include "qp.h"
#include "selftest.h"

#define DRIVER_NAME crypto_opencl

static uint8_t driver_id;

/* An OpenCL on the CPU starts its workers with the affinity of the thread that
 * creates the context; EAL has bound this one to a single core. */
static void widen_affinity(cpu_set_t *saved)
{
	cpu_set_t all;

	if (pthread_getaffinity_np(pthread_self(), sizeof(*saved), saved))
		CPU_ZERO(saved);
	CPU_ZERO(&all);
	for (int i = 0; i < CPU_SETSIZE; i++)
		CPU_SET(i, &all);
	pthread_setaffinity_np(pthread_self(), sizeof(all), &all);
}

static void restore_affinity(const cpu_set_t *saved)
{
	if (CPU_COUNT(saved))
		pthread_setaffinity_np(pthread_self(), sizeof(*saved), saved);
}

/* The path to test and measure kernels with: a launched one, also if the device gets a persistent kernel. */
static const struct ocl_memory *launched(const struct ocl_pmd *pmd)
{
	return pmd->memory->start ? ocl_memory_choose(&pmd->device, "svm") : pmd->memory;
}

/* A device may be unable to run this kernel in work-groups as large as it reports: then it fails here. */
static int test(struct ocl_pmd *pmd)
{
	int err = ocl_selftest(&pmd->device, launched(pmd), &pmd->sched);

	if (err)
		OCL_LOG(ERR, "%s fails in work-groups of %u, which chunk=%u and bins=%u make",
			pmd->device.name, pmd->sched.bin_size, pmd->sched.chunk,
			pmd->args.bins ? pmd->args.bins : pmd->sched.bins);
	return err;
}

static int start_memory(struct ocl_pmd *pmd)
{
	cl_int err;

	if (pmd->memory->start == NULL)
		return 0;
	ocl_table_write_home(&pmd->table);
	err = pmd->memory->start(&pmd->device, pmd->table.buffer);
	if (err == CL_SUCCESS)
		return 0;
	OCL_LOG(ERR, "memory=%s: %s does not start: OpenCL error %d", pmd->memory->name,
		pmd->device.name, err);
	return -EIO;
}

static void close_table(struct ocl_pmd *pmd)
{
	ocl_store_leave(pmd->store, &pmd->table);
	ocl_table_free(&pmd->table);
	ocl_store_put(pmd->store);
}

static int open_table(struct ocl_pmd *pmd)
{
	int err;

	err = ocl_store_get(&pmd->store, pmd->args.max_sessions);
	if (err)
		return err;
	err = ocl_table_init(&pmd->table, &pmd->device, pmd->args.max_sessions);
	if (err) {
		ocl_store_put(pmd->store);
		return err;
	}
	err = start_memory(pmd);
	if (!err)
		err = ocl_store_join(pmd->store, &pmd->table);
	if (err) {
		if (pmd->memory->stop)
			pmd->memory->stop(&pmd->device);
		close_table(pmd);
	}
	return err;
}

static int open_device(struct ocl_pmd *pmd)
{
	int err;

	err = ocl_device_open(&pmd->device, pmd->args.device);
	if (err)
		return err;
	pmd->memory = ocl_memory_choose(&pmd->device, pmd->args.memory);
	if (pmd->memory == NULL) {
		OCL_LOG(ERR, "memory=%s: %s cannot do that", pmd->args.memory, pmd->device.name);
		err = -ENOTSUP;
		goto close;
	}
	if (strcmp(pmd->args.tables, "auto") != 0)
		pmd->device.banked = pmd->device.banked_only = strcmp(pmd->args.tables, "banks") ==
							       0;
	err = ocl_sched_init(&pmd->sched, &pmd->args, &pmd->device);
	if (!err)
		err = ocl_device_build(&pmd->device, pmd->sched.bin_size);
	if (!err)
		err = test(pmd);
	if (!err)
		err = ocl_cost_measure(&pmd->sched, &pmd->device, launched(pmd));
	if (err)
		goto close;
	err = open_table(pmd);
	if (err)
		goto close;
	OCL_LOG(NOTICE, "%s, memory path %s", pmd->device.name, pmd->memory->name);
	return 0;
close:
	if (!ocl_device_lost(&pmd->device))
		ocl_device_close(&pmd->device);
	return err;
}

static void close_device(struct ocl_pmd *pmd)
{
	bool lost;

	if (pmd->memory->stop)
		pmd->memory->stop(&pmd->device);
	lost = ocl_device_lost(&pmd->device);
	ocl_pools_free(pmd);
	close_table(pmd);
	/* Closing a device that does not answer may never return. */
	if (!lost)
		ocl_device_close(&pmd->device);
}

static int create(struct rte_vdev_device *vdev, const struct ocl_args *args)
{
	struct rte_cryptodev_pmd_init_params params = {
		.private_data_size = sizeof(struct ocl_pmd),
		.socket_id = args->socket_id,
		.max_nb_queue_pairs = args->max_queue_pairs,
	};
	struct rte_cryptodev *dev;
	struct ocl_pmd *pmd;
	cpu_set_t saved;
	int err;

	dev = rte_cryptodev_pmd_create(rte_vdev_device_name(vdev), &vdev->device, &params);
	if (dev == NULL)
		return -ENOMEM;
	pmd = dev->data->dev_private;
	pmd->args = *args;
	widen_affinity(&saved);
	err = open_device(pmd);
	restore_affinity(&saved);
	if (err) {
		rte_cryptodev_pmd_destroy(dev);
		return err;
	}
	dev->driver_id = driver_id;
	dev->dev_ops = &ocl_ops;
	dev->enqueue_burst = ocl_qp_enqueue;
	dev->dequeue_burst = ocl_qp_dequeue;
	dev->feature_flags = RTE_CRYPTODEV_FF_SYMMETRIC_CRYPTO |
			     RTE_CRYPTODEV_FF_SYM_OPERATION_CHAINING |
			     RTE_CRYPTODEV_FF_OOP_LB_IN_LB_OUT;
	if (!pmd->device.cpu)
		dev->feature_flags |= RTE_CRYPTODEV_FF_HW_ACCELERATED;
	/* For applications that store measurements: the device and its driver's version. */
	vdev->device.bus_info = pmd->device.version;
	rte_cryptodev_pmd_probing_finish(dev);
	return 0;
}

static int probe(struct rte_vdev_device *vdev)
{
	struct ocl_args args;
	int err;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		OCL_LOG(ERR, "%s: works in the primary process only", rte_vdev_device_name(vdev));
		return -ENOTSUP;
	}
	err = ocl_args_parse(&args, rte_vdev_device_args(vdev));
	if (err)
		return err;
	return create(vdev, &args);
}

static int remove_device(struct rte_vdev_device *vdev)
{
	struct rte_cryptodev *dev = rte_cryptodev_pmd_get_named_dev(rte_vdev_device_name(vdev));
	struct ocl_pmd *pmd;

	if (dev == NULL)
		return -ENODEV;
	pmd = dev->data->dev_private;
	if (dev->data->dev_started)
		return -EBUSY;
	vdev->device.bus_info = NULL;
	ocl_ops.dev_close(dev);
	close_device(pmd);
	return rte_cryptodev_pmd_destroy(dev);
}

static struct rte_vdev_driver driver = {
	.probe = probe,
	.remove = remove_device,
};

static struct cryptodev_driver crypto_driver;

RTE_PMD_REGISTER_VDEV(DRIVER_NAME, driver);
RTE_PMD_REGISTER_PARAM_STRING(DRIVER_NAME, OCL_PARAM_STRING);
RTE_PMD_REGISTER_CRYPTO_DRIVER(crypto_driver, driver.driver, driver_id);
RTE_LOG_REGISTER(ocl_logtype, pmd.crypto.opencl, NOTICE);

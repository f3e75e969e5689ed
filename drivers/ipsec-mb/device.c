/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include <rte_errno.h>

#include "device.h"

int mb_device_configure(struct rte_cryptodev *dev __rte_unused,
			struct rte_cryptodev_config *config __rte_unused)
{
	return 0;
}

int mb_device_start(struct rte_cryptodev *dev __rte_unused)
{
	return 0;
}

void mb_device_stop(struct rte_cryptodev *dev __rte_unused)
{
}

int mb_device_close(struct rte_cryptodev *dev)
{
	struct mb_device *device = dev->data->dev_private;

	for (uint16_t i = 0; i < dev->data->nb_queue_pairs; i++)
		mb_qp_release(dev, i);
	mb_manager_close(device->mgr);
	device->mgr = NULL;
	return 0;
}

void mb_device_info(struct rte_cryptodev *dev, struct rte_cryptodev_info *info)
{
	const struct mb_device *device = dev->data->dev_private;

	info->driver_id = dev->driver_id;
	info->feature_flags = dev->feature_flags;
	info->capabilities = device->driver->capabilities;
	info->max_nb_queue_pairs = device->max_queue_pairs;
	info->sym.max_nb_sessions = 0; /* no limit */
}

static int open_device(struct mb_device *device, const struct mb_driver *driver)
{
	device->driver = driver;
	device->mgr = mb_manager_open(driver);
	if (device->mgr == NULL)
		return -rte_errno;
	return driver->open ? driver->open(device) : 0;
}

static int create(struct rte_vdev_device *vdev, const struct mb_driver *driver,
		  struct rte_cryptodev_pmd_init_params *params)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_cryptodev *dev = rte_cryptodev_pmd_create(name, &vdev->device, params);
	struct mb_device *device;
	int err;

	if (dev == NULL)
		return -ENOMEM;
	device = dev->data->dev_private;
	device->max_queue_pairs = params->max_nb_queue_pairs;
	err = open_device(device, driver);
	if (err) {
		mb_manager_close(device->mgr);
		rte_cryptodev_pmd_destroy(dev);
		return err;
	}
	dev->driver_id = *driver->id;
	dev->dev_ops = driver->ops;
	dev->enqueue_burst = mb_qp_enqueue;
	dev->dequeue_burst = mb_qp_dequeue;
	dev->feature_flags = RTE_CRYPTODEV_FF_SYMMETRIC_CRYPTO |
			     RTE_CRYPTODEV_FF_SYM_OPERATION_CHAINING |
			     RTE_CRYPTODEV_FF_SYM_CPU_CRYPTO | RTE_CRYPTODEV_FF_CPU_AESNI |
			     driver->features;
	rte_cryptodev_pmd_probing_finish(dev);
	return 0;
}

int mb_device_probe(struct rte_vdev_device *vdev, const struct mb_driver *driver)
{
	struct rte_cryptodev_pmd_init_params params = {
		.private_data_size = driver->device_size,
		.socket_id = (int)rte_socket_id(),
		.max_nb_queue_pairs = RTE_CRYPTODEV_PMD_DEFAULT_MAX_NB_QUEUE_PAIRS,
	};
	int err;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		MB_LOG(driver, ERR, "%s: supported in the primary process only",
		       rte_vdev_device_name(vdev));
		return -ENOTSUP;
	}
	err = rte_cryptodev_pmd_parse_input_args(&params, rte_vdev_device_args(vdev));
	if (err) {
		MB_LOG(driver, ERR, "%s: invalid arguments; valid are " MB_DEVICE_ARGUMENTS,
		       rte_vdev_device_name(vdev));
		return err;
	}
	return create(vdev, driver, &params);
}

int mb_device_remove(struct rte_vdev_device *vdev)
{
	struct rte_cryptodev *dev = rte_cryptodev_pmd_get_named_dev(rte_vdev_device_name(vdev));

	if (dev == NULL)
		return -ENODEV;
	if (dev->data->dev_started)
		return -EBUSY;
	mb_device_close(dev);
	return rte_cryptodev_pmd_destroy(dev);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AES-GCM by the one call that ipsec_mb has for a whole text. DPDK's crypto_aesni_gcm takes three
 * a packet: begin, text, end. */
#include <errno.h>

#include <bus_vdev_driver.h>

#include "log.h"
#include "pmd.h"
#include "qp.h"

#define DRIVER_NAME crypto_ipsec_mb_gcm
#define ARGUMENTS   "max_nb_queue_pairs=<int> socket_id=<int>"

static uint8_t driver_id;

static int create(struct rte_vdev_device *vdev, struct rte_cryptodev_pmd_init_params *params)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_cryptodev *dev = rte_cryptodev_pmd_create(name, &vdev->device, params);
	struct gcm_pmd *pmd;
	int err;

	if (dev == NULL)
		return -ENOMEM;
	pmd = dev->data->dev_private;
	pmd->max_queue_pairs = params->max_nb_queue_pairs;
	err = gcm_library_open(pmd->library);
	if (err) {
		rte_cryptodev_pmd_destroy(dev);
		return err;
	}
	dev->driver_id = driver_id;
	dev->dev_ops = &gcm_ops;
	dev->enqueue_burst = gcm_qp_enqueue;
	dev->dequeue_burst = gcm_qp_dequeue;
	dev->feature_flags = RTE_CRYPTODEV_FF_SYMMETRIC_CRYPTO |
			     RTE_CRYPTODEV_FF_SYM_OPERATION_CHAINING |
			     RTE_CRYPTODEV_FF_SYM_CPU_CRYPTO | RTE_CRYPTODEV_FF_CPU_AESNI |
			     RTE_CRYPTODEV_FF_IN_PLACE_SGL | RTE_CRYPTODEV_FF_OOP_LB_IN_LB_OUT |
			     RTE_CRYPTODEV_FF_OOP_LB_IN_SGL_OUT |
			     RTE_CRYPTODEV_FF_OOP_SGL_IN_LB_OUT |
			     RTE_CRYPTODEV_FF_OOP_SGL_IN_SGL_OUT;
	rte_cryptodev_pmd_probing_finish(dev);
	return 0;
}

static int probe(struct rte_vdev_device *vdev)
{
	struct rte_cryptodev_pmd_init_params params = {
		.private_data_size = sizeof(struct gcm_pmd),
		.socket_id = (int)rte_socket_id(),
		.max_nb_queue_pairs = RTE_CRYPTODEV_PMD_DEFAULT_MAX_NB_QUEUE_PAIRS,
	};
	int err;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		GCM_LOG(ERR, "%s: works in the primary process only", rte_vdev_device_name(vdev));
		return -ENOTSUP;
	}
	err = rte_cryptodev_pmd_parse_input_args(&params, rte_vdev_device_args(vdev));
	if (err) {
		GCM_LOG(ERR, "%s: arguments are " ARGUMENTS, rte_vdev_device_name(vdev));
		return err;
	}
	return create(vdev, &params);
}

static int remove_device(struct rte_vdev_device *vdev)
{
	struct rte_cryptodev *dev = rte_cryptodev_pmd_get_named_dev(rte_vdev_device_name(vdev));

	if (dev == NULL)
		return -ENODEV;
	if (dev->data->dev_started)
		return -EBUSY;
	gcm_ops.dev_close(dev);
	return rte_cryptodev_pmd_destroy(dev);
}

static struct rte_vdev_driver driver = {
	.probe = probe,
	.remove = remove_device,
};

static struct cryptodev_driver crypto_driver;

RTE_PMD_REGISTER_VDEV(DRIVER_NAME, driver);
RTE_PMD_REGISTER_PARAM_STRING(DRIVER_NAME, ARGUMENTS);
RTE_PMD_REGISTER_CRYPTO_DRIVER(crypto_driver, driver.driver, driver_id);
RTE_LOG_REGISTER(gcm_logtype, pmd.crypto.ipsec_mb_gcm, NOTICE);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file device.h
 * Base of the drivers that use ipsec_mb: a virtual crypto device that processes operations when
 * they are enqueued.
 */
#ifndef MB_DEVICE_H
#define MB_DEVICE_H

#include <stddef.h>

#include <bus_vdev_driver.h>
#include <cryptodev_pmd.h>
#include <intel-ipsec-mb.h>
#include <rte_log.h>

#include "qp.h"
#include "qp_stats.h"

struct mb_device;

/* A driver. Functions may be NULL, except work(). */
struct mb_driver {
	const char *name;
	const uint8_t *id;
	const int *logtype;
	const struct rte_cryptodev_capabilities *capabilities;
	struct rte_cryptodev_ops *ops; /* MB_DEVICE_OPS and the operations of sessions */
	uint64_t features;	       /* RTE_CRYPTODEV_FF_*, in addition to those of all drivers */
	uint64_t needs;		       /* IMB_FEATURE_*, in addition to AES-NI */
	size_t device_size;  /* of a device's data, which begins with struct mb_device; bytes */
	size_t scratch_size; /* of the working memory of a queue pair; bytes */
	/** Initialise a device's data. Its manager is valid until the device is closed.
	 * @return 0 or -errno */
	int (*open)(struct mb_device *device);
	/** Initialise the working memory of a queue pair, which is zeros.
	 * @return 0, or -errno; then it holds no resources */
	int (*scratch_open)(void *scratch);
	/** Release and wipe the working memory of a queue pair. */
	void (*scratch_close)(void *scratch);
	/** Process operations and set their status. One thread at a time for each scratch. */
	void (*work)(void *scratch, struct rte_crypto_op **ops, uint16_t n);
};

#define MB_LOG(driver, level, fmt, ...) \
	rte_log(RTE_LOG_##level, *(driver)->logtype, "%s: " fmt "\n", (driver)->name, ##__VA_ARGS__)

/* A device's data. */
struct mb_device {
	const struct mb_driver *driver;
	unsigned int max_queue_pairs;
	IMB_MGR *mgr; /* only for functions that store nothing in it, so that any thread may call them */
};

/**
 * Allocate and initialise a manager of ipsec_mb, which has the functions for this CPU.
 * @return a manager, to be freed with mb_manager_close(); NULL, logged and with rte_errno set to
 *	   ENOTSUP (the CPU lacks a feature), ENOMEM, or EIO (the library's self-test fails)
 */
IMB_MGR *mb_manager_open(const struct mb_driver *driver);
/** Wipe and free a manager. @param mgr  may be NULL */
void mb_manager_close(IMB_MGR *mgr);

/** Implements probe of a vdev driver. @return 0, or -errno, logged */
int mb_device_probe(struct rte_vdev_device *vdev, const struct mb_driver *driver);
/** Implements remove of a vdev driver. @return 0, -ENODEV, or -EBUSY (the device is started) */
int mb_device_remove(struct rte_vdev_device *vdev);

#define MB_DEVICE_ARGUMENTS "max_nb_queue_pairs=<int> socket_id=<int>"

/* Operations of struct rte_cryptodev_ops on devices. */
int mb_device_configure(struct rte_cryptodev *dev, struct rte_cryptodev_config *config);
int mb_device_start(struct rte_cryptodev *dev);
void mb_device_stop(struct rte_cryptodev *dev);
int mb_device_close(struct rte_cryptodev *dev);
void mb_device_info(struct rte_cryptodev *dev, struct rte_cryptodev_info *info);

#define MB_DEVICE_OPS \
	.dev_configure = mb_device_configure, .dev_start = mb_device_start, \
	.dev_stop = mb_device_stop, .dev_close = mb_device_close, .dev_infos_get = mb_device_info, \
	.stats_get = qp_stats_get, .stats_reset = qp_stats_reset, .queue_pair_setup = mb_qp_setup, \
	.queue_pair_release = mb_qp_release

/* Register a struct mb_driver as a vdev driver. */
#define MB_DRIVER_REGISTER(vdev_name, mb_driver, driver_id) \
	static int probe(struct rte_vdev_device *vdev) \
	{ \
		return mb_device_probe(vdev, &(mb_driver)); \
	} \
	static struct rte_vdev_driver vdev_driver = { \
		.probe = probe, \
		.remove = mb_device_remove, \
	}; \
	static struct cryptodev_driver crypto_driver; \
	RTE_PMD_REGISTER_VDEV(vdev_name, vdev_driver); \
	RTE_PMD_REGISTER_PARAM_STRING(vdev_name, MB_DEVICE_ARGUMENTS); \
	RTE_PMD_REGISTER_CRYPTO_DRIVER(crypto_driver, vdev_driver.driver, driver_id)

#endif

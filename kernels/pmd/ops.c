/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "pmd.h"
#include "qp.h"
#include "qp_stats.h"
#include "session.h"

static int configure(struct rte_cryptodev *dev __rte_unused,
		     struct rte_cryptodev_config *config __rte_unused)
{
	return 0;
}

/* With a device that is the processor there are no transfers to call for. */
static bool wants_thread(const struct ocl_pmd *pmd)
{
	if (strcmp(pmd->args.launches, "auto") == 0)
		return !pmd->device.cpu;
	return strcmp(pmd->args.launches, "thread") == 0;
}

static int start(struct rte_cryptodev *dev)
{
	struct ocl_pmd *pmd = dev->data->dev_private;

	if (ocl_device_lost(&pmd->device))
		return -EIO;
	return wants_thread(pmd) ? ocl_launcher_start(pmd) : 0;
}

static void stop(struct rte_cryptodev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_queue_pairs; i++) {
		if (dev->data->queue_pairs[i])
			ocl_qp_drain(dev->data->queue_pairs[i]);
	}
	ocl_launcher_stop(dev->data->dev_private);
}

static int close_device(struct rte_cryptodev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_queue_pairs; i++)
		ocl_qp_release(dev, i);
	return 0;
}

static void get_info(struct rte_cryptodev *dev, struct rte_cryptodev_info *info)
{
	struct ocl_pmd *pmd = dev->data->dev_private;

	info->driver_id = dev->driver_id;
	info->feature_flags = dev->feature_flags;
	info->capabilities = ocl_capabilities;
	info->max_nb_queue_pairs = pmd->args.max_queue_pairs;
	info->sym.max_nb_sessions = pmd->args.max_sessions;
}

struct rte_cryptodev_ops ocl_ops = {
	.dev_configure = configure,
	.dev_start = start,
	.dev_stop = stop,
	.dev_close = close_device,
	.dev_infos_get = get_info,
	.stats_get = qp_stats_get,
	.stats_reset = qp_stats_reset,
	.queue_pair_setup = ocl_qp_setup,
	.queue_pair_release = ocl_qp_release,
	.sym_session_get_size = ocl_session_size,
	.sym_session_configure = ocl_session_configure,
	.sym_session_clear = ocl_session_clear,
};

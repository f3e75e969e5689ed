/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "call.h"
#include "pmd.h"
#include "qp.h"
#include "qp_stats.h"
#include "session.h"

static int configure(struct rte_cryptodev *dev __rte_unused,
		     struct rte_cryptodev_config *config __rte_unused)
{
	return 0;
}

static int start(struct rte_cryptodev *dev __rte_unused)
{
	return 0;
}

static void stop(struct rte_cryptodev *dev __rte_unused)
{
}

static int close_device(struct rte_cryptodev *dev)
{
	for (uint16_t i = 0; i < dev->data->nb_queue_pairs; i++)
		gcm_qp_release(dev, i);
	return 0;
}

static void get_info(struct rte_cryptodev *dev, struct rte_cryptodev_info *info)
{
	const struct gcm_pmd *pmd = dev->data->dev_private;

	info->driver_id = dev->driver_id;
	info->feature_flags = dev->feature_flags;
	info->capabilities = gcm_capabilities;
	info->max_nb_queue_pairs = pmd->max_queue_pairs;
	info->sym.max_nb_sessions = 0; /* as many as there is memory for */
}

struct rte_cryptodev_ops gcm_ops = {
	.dev_configure = configure,
	.dev_start = start,
	.dev_stop = stop,
	.dev_close = close_device,
	.dev_infos_get = get_info,
	.stats_get = qp_stats_get,
	.stats_reset = qp_stats_reset,
	.queue_pair_setup = gcm_qp_setup,
	.queue_pair_release = gcm_qp_release,
	.sym_session_get_size = gcm_session_size,
	.sym_session_configure = gcm_session_configure,
	.sym_session_clear = gcm_session_clear,
	.sym_cpu_process = gcm_call,
};

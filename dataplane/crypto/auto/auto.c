/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <rte_cycles.h>

#include "base/log.h"
#include "crypto/auto/auto.h"
#include "crypto/auto/measure.h"
#include "crypto/auto/measured.h"
#include "crypto/auto/offload.h"
#include "crypto/device/engine.h"

/* Save the measurements for the next start. They are not saved if a device failed, because all later
 * starts would read that it serves no algorithm, even once it works again. */
static void keep(const struct conf *conf, const char *path, int err)
{
	if (err != -EAGAIN)
		err = mkdir(conf->state, 0755) && errno != EEXIST ? -errno : measured_write(path);
	if (err == -EAGAIN)
		log_warn("%s: not written: the engines will be measured again at the next start",
			 path);
	else if (err)
		log_warn("%s: %s: the engines will be measured again at the next start", path,
			 strerror(-err));
}

static const char *reason(int err)
{
	if (err == -EINVAL)
		return "damaged";
	return err == -ESTALE ? "of other devices or versions" : strerror(-err);
}

void auto_measure(const struct conf *conf)
{
	char path[PATH_MAX + 16];
	int err;

	if (conf->engine != ENGINE_AUTO || engine_devices < 2)
		return;
	snprintf(path, sizeof(path), "%s/engines", conf->state);
	err = measured_read(path);
	if (!err)
		log_info("%s: throughput of the engines read from this file", path);
	else if (err != -ENOENT)
		log_warn("%s: not used, because it is %s: measuring the engines again", path,
			 reason(err));
	if (measured_algorithms < algorithm_count) {
		uint64_t began = rte_get_tsc_cycles();

		err = measure_all(conf->workers, MEASURE_MS);
		if (err == -ENOMEM) {
			log_error("no memory to measure the engines");
			return;
		}
		log_info("engines measured in %u ms",
			 (unsigned int)((rte_get_tsc_cycles() - began) * 1000 / rte_get_tsc_hz()));
		keep(conf, path, err);
	}
	offload_choose_all();
	offload_enabled = true;
}

void auto_stop(void)
{
	offload_enabled = false;
}

bool auto_memory_pays(void)
{
	const struct engine_device *with_memory = engine_with_memory();
	unsigned int device = with_memory ? (unsigned int)(with_memory - engine_device) : 0;

	if (!with_memory || engine_lost(device))
		return false;
	return offload_enabled ? offload_uses(device) : device == 0;
}

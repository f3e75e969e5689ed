/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file telemetry.h
 * The commands of DPDK's telemetry socket that cygnetctl uses.
 */
#ifndef CYGNETD_TELEMETRY_H
#define CYGNETD_TELEMETRY_H

#include <stdbool.h>

#include "conf/conf.h"

/** The configuration that is shown. Before telemetry_start(). @param in_force  changes under control_lock() only */
void telemetry_show_conf(const struct conf *in_force);
/** Whether this process has taken over from another one, which is no restart. Before telemetry_start(). */
void telemetry_taken_over(bool whether);
/** Register the commands under /cygnet/. Call after interfaces, engines and routes exist.
 * @return 0 or -errno */
int telemetry_start(unsigned int workers);
/** Stop answering, so that the data behind the commands can be freed. Waits for a running command. */
void telemetry_stop(void);

#endif

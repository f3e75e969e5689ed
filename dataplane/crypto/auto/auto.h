/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file auto.h
 * `engine = auto`: measures the crypto devices once and enables the choice between them (offload.h).
 */
#ifndef CYGNETD_AUTO_H
#define CYGNETD_AUTO_H

#include <stdbool.h>

#include "conf/conf.h"

/**
 * With `engine = auto`, read the measurements of an earlier start, or measure the devices if the file
 * does not fit, and enable the choice between devices (offload.h). Without memory to measure, the first
 * device that accepts an SA serves it. Without a state folder, the next start measures again. Both are
 * logged. To be called after engines_start() and before the workers start.
 */
void auto_measure(const struct conf *conf);
/** Whether the device with its own memory (engine_with_memory()) is chosen for any packets. To be
 * called after auto_measure(). */
bool auto_memory_pays(void);
/** Disable the choice between devices. To be called before engines_stop(). */
void auto_stop(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file auto.h
 * `engine = auto`: the devices are measured once, and packets go to what the measurements say.
 */
#ifndef CYGNETD_AUTO_H
#define CYGNETD_AUTO_H

#include <stdbool.h>

#include "conf/conf.h"

/**
 * With `engine = auto`, find out how fast the devices are, from the file of an earlier start if
 * there is one that fits, and have the policy decide (offload.h). Without memory or state folder
 * the first device that takes an SA serves it, or the next start measures again; logged. After
 * engines_start(), before the workers start.
 */
void auto_measure(const struct conf *conf);
/** Whether the device with memory of its own (engine_with_memory()) is to have any packets. After
 * auto_measure(). */
bool auto_memory_pays(void);
/** Stop deciding: before engines_stop(). */
void auto_stop(void);

#endif

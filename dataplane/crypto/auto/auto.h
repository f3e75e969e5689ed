/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file auto.h
 * `engine = auto`: measures the crypto devices once, while the workers serve, and chooses between them (offload.h). Where
 * all devices are the CPU's nothing is measured: the first one that accepts an SA serves it, as with `engine = cpu`.
 * All functions are for the main thread.
 */
#ifndef CYGNETD_AUTO_H
#define CYGNETD_AUTO_H

#include <stdbool.h>

#include "conf/conf.h"

/**
 * With `engine = auto` and a device other than the CPU's, read the measurements of an earlier start, if the file fits, and
 * choose between devices (offload.h). Of algorithms that are not measured yet the first device that accepts an SA serves it.
 * Call after engines_start() and before the workers start.
 */
void auto_read(const struct conf *conf);
/** Whether the device with its own memory (engine_with_memory()) is chosen for any packets, or may be once it is
 * measured. Call after auto_read(). */
bool auto_memory_pays(void);
/** If there is something to measure, make a thread for it that runs on the CPUs that workers leave free, and allocate what it
 * needs. Without memory for it nothing is measured, logged. Call after all that the workers need has been allocated, before
 * threads lose their rights (user_become()). */
void auto_prepare(const struct conf *conf);
/** Let the thread begin. Call when the workers serve; later calls do nothing. */
void auto_begin(void);
/** Call in each turn of the control thread. @return whether the measuring has ended; offload_choose_all() then has to choose
 * again. Its results are in the file of measurements */
bool auto_report(void);
/** End the measuring, and keep what has been measured; disable the choice between devices. Call when the workers have
 * ended, before engines_stop(). */
void auto_stop(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file eal.h
 * Start DPDK's environment (EAL) with arguments from the configuration.
 */
#ifndef CYGNETD_EAL_H
#define CYGNETD_EAL_H

#include <stdbool.h>

#include "conf/conf.h"

/** Whether one of the EAL's configured arguments begins so. */
bool eal_has(const struct conf *conf, const char *begin);
/** Whether there are, or may be, PCI devices: as ports, or among the EAL's arguments. */
bool eal_has_cards(const struct conf *conf);
/** Start the EAL. Lcore 0 is the control thread, lcores 1 to conf->workers are the workers, the next
 * conf->ncrypto_cores lcores are the crypto cores.
 * @param beside  another cygnetd serves: the EAL gets a runtime folder of its own (runtime.h)
 * @return 0 or -errno, logged */
int eal_start(const struct conf *conf, const char *program, bool beside);

#endif

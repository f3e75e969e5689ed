/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file eal.h
 * DPDK's environment, from our configuration.
 */
#ifndef CYGNETD_EAL_H
#define CYGNETD_EAL_H

#include "conf/conf.h"

/** Start the EAL: lcore 0 is the control thread, lcores 1 to conf->workers work, those behind them
 * are the crypto cores.
 * @return 0 or -errno, logged */
int eal_start(const struct conf *conf, const char *program);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file log.h
 * cygnetd's messages, through DPDK's log. Keys must not be logged.
 */
#ifndef CYGNETD_LOG_H
#define CYGNETD_LOG_H

#include <rte_log.h>

extern int log_type;

#define log_error(format, ...) rte_log(RTE_LOG_ERR, log_type, "cygnetd: " format "\n", ##__VA_ARGS__)
#define log_warn(format, ...) rte_log(RTE_LOG_WARNING, log_type, "cygnetd: " format "\n", ##__VA_ARGS__)
#define log_info(format, ...) rte_log(RTE_LOG_INFO, log_type, "cygnetd: " format "\n", ##__VA_ARGS__)

#endif

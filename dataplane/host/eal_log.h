/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file eal_log.h
 * Messages of DPDK, and of the libraries below its drivers, through cygnetd's log. Messages that every
 * good start has, and that only look like errors, have level debug.
 */
#ifndef CYGNETD_EAL_LOG_H
#define CYGNETD_EAL_LOG_H

#include <stddef.h>
#include <stdint.h>

/** Route DPDK's messages through log_say(). Before eal_start(). @return 0 or -errno */
int eal_log_open(void);
/** Route the messages of libxdp and libbpf likewise, if a driver has loaded them. After rte_eal_init(). */
void eal_log_libraries(void);
/** Which messages of DPDK are shown. Replaces levels of --log-level. @param level  RTE_LOG_ERR to RTE_LOG_DEBUG */
void eal_log_set_level(uint32_t level);
/** Log a text of DPDK, a message a line. For tests. */
void eal_log_take(const char *from, uint32_t level, const char *text, size_t len);

#endif

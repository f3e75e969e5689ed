/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCM_LOG_H
#define GCM_LOG_H

#include <rte_log.h>

extern int gcm_logtype; /* pmd.crypto.ipsec_mb_gcm */

#define GCM_LOG(level, fmt, ...)                                                                   \
	rte_log(RTE_LOG_##level, gcm_logtype, "crypto_ipsec_mb_gcm: " fmt "\n", ##__VA_ARGS__)

#endif

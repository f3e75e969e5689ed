/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OCL_LOG_H
#define OCL_LOG_H

#include <rte_log.h>

extern int ocl_logtype; /* pmd.crypto.opencl */

#define OCL_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_##level, ocl_logtype, "crypto_opencl: " fmt "\n", ##__VA_ARGS__)

#endif

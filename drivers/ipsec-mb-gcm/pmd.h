/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pmd.h
 * The driver's instance, one a virtual device, and its operations.
 */
#ifndef GCM_PMD_H
#define GCM_PMD_H

#include <cryptodev_pmd.h>

#include "library.h"

struct gcm_pmd {
	struct gcm_library library[GCM_KEY_SIZES];
	unsigned int max_queue_pairs;
};

extern const struct rte_cryptodev_capabilities gcm_capabilities[];
extern struct rte_cryptodev_ops gcm_ops;

#endif

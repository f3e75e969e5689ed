/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file pmd.h
 * The data of a device.
 */
#ifndef GCM_PMD_H
#define GCM_PMD_H

#include "device.h"
#include "library.h"

struct gcm_pmd {
	struct mb_device device; /* must be first */
	struct gcm_library library[GCM_KEY_SIZES];
	uint32_t own_below; /* texts in one segment that are shorter, bytes, are processed by vaes.h */
};

extern const struct rte_cryptodev_capabilities gcm_capabilities[];

#endif

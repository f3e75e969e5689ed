/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CHAIN_CAPABILITIES_H
#define CHAIN_CAPABILITIES_H

#include <rte_cryptodev.h>

extern const struct rte_cryptodev_capabilities chain_capabilities[];

#endif

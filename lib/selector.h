/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file selector.h
 * Selectors of policies against flows of packets (RFC 4301, 4.4.1.1).
 */
#ifndef CYGNET_SELECTOR_H
#define CYGNET_SELECTOR_H

#include "layout.h"

/** The bytes that an address of that family does not use are zero. */
bool addr_padded(const struct cygnet_addr *addr, uint8_t af);
/** Ranges the right way round, a known family, IPv4 padded with zeros. */
bool selector_valid(const struct cygnet_selector *sel);
bool selector_equal(const struct cygnet_selector *a, const struct cygnet_selector *b);
bool selector_matches(const struct cygnet_selector *sel, const struct cygnet_flow *flow);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file selector.h
 * Selectors of policies, and how they match flows (RFC 4301, 4.4.1.1).
 */
#ifndef CYGNET_SELECTOR_H
#define CYGNET_SELECTOR_H

#include "layout.h"

/** Whether the bytes that an address of family af does not use are zero. */
bool addr_padded(const struct cygnet_addr *addr, uint8_t af);
/** Whether the family is known, each range's low end is not above its high end, and IPv4
 * addresses are padded with zeros. */
bool selector_valid(const struct cygnet_selector *sel);
bool selector_equal(const struct cygnet_selector *a, const struct cygnet_selector *b);
bool selector_matches(const struct cygnet_selector *sel, const struct cygnet_flow *flow);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file unreliable.h
 * ipsec_mb where it does not do what it shall, and what it leaves in its memory.
 */
#ifndef UNRELIABLE_H
#define UNRELIABLE_H

#include "harness.h"

/** Nothing verifies with a tag of before, and what was not encrypted or decrypted is an error. */
void not_worked_on(const struct device *dev);
/** Of a forged packet the right ICV is nowhere afterwards. */
void nothing_left(const struct device *dev);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file faulty_library.h
 * Tests with a faulty ipsec_mb, which does not process all texts, and of what it leaves in memory.
 */
#ifndef FAULTY_LIBRARY_H
#define FAULTY_LIBRARY_H

#include "harness.h"

/** Texts that the library has not processed fail, and none verifies with an earlier ICV. */
void unprocessed_texts(const struct device *dev);
/** The correct ICV of a forged text is not in memory afterwards. */
void icv_is_wiped(const struct device *dev);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file refused.h
 * Tests of sessions, calls and operations that the driver must refuse without changing a packet.
 */
#ifndef REFUSED_H
#define REFUSED_H

#include "harness.h"

/** Sessions with unsupported chains, algorithms and lengths. */
void refused_sessions(const struct device *dev);
/** Synchronous calls: one of three texts is refused, the others are processed. */
void refused_calls(const struct device *dev);
/** Operations: one of three is refused, the others are processed. */
void refused_operations(const struct device *dev);

#endif

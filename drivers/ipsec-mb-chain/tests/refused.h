/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file refused.h
 * What the driver must not take, and what it must not touch then.
 */
#ifndef REFUSED_H
#define REFUSED_H

#include "harness.h"

void refused_sessions(const struct device *dev);
/** One of three texts is refused; the others are done. */
void refused_calls(const struct device *dev);
void refused_operations(const struct device *dev);

#endif

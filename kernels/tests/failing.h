/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file failing.h
 * Devices that fail, at each point that there is.
 */
#ifndef FAILING_H
#define FAILING_H

#include "harness.h"

/** @param sound  another device, which none of that touches */
void failing_devices(const struct device *sound);

/** A session's upload fails. No other device is open: it would get the session, too, and fail. */
void failing_uploads(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file keys.h
 * A suite's two sessions, and what published vectors are written in.
 */
#ifndef KEYS_H
#define KEYS_H

#include "harness.h"

struct keys {
	struct suite suite;
	void *session[2]; /* decrypting, encrypting */
};

void keys_open(const struct device *dev, struct keys *keys);
void keys_close(const struct device *dev, struct keys *keys);

/** @return how many bytes that was; aborts if there is no room for them */
uint32_t unhex(const char *hex, uint8_t *to, size_t room);

#endif

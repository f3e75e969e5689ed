/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file keys.h
 * The two sessions of a suite, and conversion of published vectors from hexadecimal.
 */
#ifndef KEYS_H
#define KEYS_H

#include "harness.h"

struct keys {
	struct suite suite;
	void *session[2]; /* for decryption, for encryption */
};

/** Create both sessions of keys->suite. */
void keys_open(const struct device *dev, struct keys *keys);
/** Free both sessions. */
void keys_close(const struct device *dev, struct keys *keys);

/** Convert hexadecimal digits. Aborts if the result is longer than room bytes.
 * @return number of bytes */
uint32_t unhex(const char *hex, uint8_t *to, size_t room);

#endif

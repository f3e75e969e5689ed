/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "keys.h"

void keys_open(const struct device *dev, struct keys *keys)
{
	for (int encrypt = 0; encrypt < 2; encrypt++) {
		keys->session[encrypt] = suite_session(dev, &keys->suite, encrypt);
		CHECK(keys->session[encrypt]);
	}
}

void keys_close(const struct device *dev, struct keys *keys)
{
	session_free(dev, keys->session[0]);
	session_free(dev, keys->session[1]);
}

uint32_t unhex(const char *hex, uint8_t *to, size_t room)
{
	size_t len = strlen(hex) / 2;

	CHECK(len <= room);
	for (size_t i = 0; i < len; i++) {
		char byte[3] = {hex[2 * i], hex[2 * i + 1]};

		to[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return len;
}

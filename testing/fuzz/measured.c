/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of measurements of engine = auto: the input is the whole file, or its content without the checksum. */
#include <stdio.h>
#include <stdlib.h>

#include <zlib.h>

#include "crypto/auto/measured.h"
#include "crypto/device/engine.h"
#include "input.h"

#define ROOM 65536u

static char path[] = "engines", copy[] = "copy";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	engine_devices = 2;
	engine_device[0] = (struct engine_device){.name = "a", .driver = "b", .version = "1"};
	engine_device[1] = (struct engine_device){.name = "c", .driver = "d", .version = "2"};
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = fopen(path, "w");
	char text[ROOM];
	size_t len;

	if (!file || size > ROOM - 200)
		abort();
	len = 0;
	if (size && data[0] & 1)
		len = (size_t)snprintf(text, ROOM,
				       "cygnet engines 4 2\ndevice a|b|1\ndevice c|d|2\n");
	if (size)
		memcpy(text + len, data + 1, size - 1);
	len += size ? size - 1 : 0;
	if (size && data[0] & 2)
		len += (size_t)snprintf(text + len, ROOM - len, "end %08x\n",
					(unsigned int)crc32(0, (const uint8_t *)text, (uInt)len));
	if (fwrite(text, 1, len, file) != len || fclose(file))
		abort();
	/* An accepted file can be written, and read again. */
	if (measured_read(path) == 0 && (measured_write(copy) || measured_read(copy)))
		abort();
	return 0;
}

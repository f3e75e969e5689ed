/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of charon's vici protocol, which have names and identities of peers, to cygnetctl. */
#include <stdlib.h>
#include <string.h>

#include "charon.h"
#include "input.h"
#include "vici_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A buffer of exactly this length, so that ASan detects reads beyond it. */
	uint8_t *copy = malloc(size ? size : 1);
	json_t *children = json_object(), *message;

	if (!copy || !children)
		abort();
	memcpy(copy, data, size);
	message = vici_message_parse(copy, size);
	if (message && charon_add(children, message))
		abort();
	json_decref(message);
	json_decref(children);
	free(copy);
	return 0;
}

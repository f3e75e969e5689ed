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
	json_t *messages = json_array(), *children;

	if (!copy || !messages)
		abort();
	memcpy(copy, data, size);
	json_array_append_new(messages, vici_message_parse(copy, size));
	children = charon_index(messages);
	if (!children)
		abort();
	json_decref(children);
	json_decref(messages);
	free(copy);
	return 0;
}

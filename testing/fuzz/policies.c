/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of the last run's policies, which are held after a boot: the input is the file, or, if the first byte is
 * odd, what follows a valid header. An accepted file is written as the same text, and the library accepts its
 * policies. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "input.h"
#include "policy_file.h"

#define MOST 64u
#define HEAD "cygnet policies 1\nsadb /s\n"

static struct cygnet_db *db;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const struct cygnet_geometry geometry = {1, MOST};

	(void)argc;
	(void)argv;
	unlink("./sadb");
	return cygnet_db_open_flags("./sadb", &geometry, CYGNET_OPEN_ON_DISK, &db, NULL, 0);
}

static void hold(const struct policy_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		int err = cygnet_policy_hold(db, &list->policy[i]);

		/* The library must accept every policy that the parser accepts. */
		if (err && err != -EEXIST)
			abort();
	}
	if (cygnet_db_check(db, NULL, 0))
		abort();
	cygnet_db_flush(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool head = size && data[0] & 1;
	char *text = calloc(1, sizeof(HEAD) + size), *again, why[128], *copy;
	struct policy_list list;
	size_t len;

	if (!text)
		abort();
	if (head)
		memcpy(text, HEAD, sizeof(HEAD) - 1);
	if (size)
		memcpy(text + (head ? sizeof(HEAD) - 1 : 0), data + 1, size - 1);
	copy = strdup(text);
	if (copy && policy_list_parse(copy, "/s", MOST, &list, why, sizeof(why)) == 0) {
		again = policy_list_text(&list, "/s", &len);
		if (!again || strcmp(again, text))
			abort();
		free(again);
		hold(&list);
		policy_list_free(&list);
	}
	free(copy);
	free(text);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "table.h"
#include "trace.h"

#define REQUEST	   960 /* bytes; DPDK reads 1,024 */
#define CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_-"

static const struct column columns[] = {
	{"stage", "STAGE"},
	{"decision", "DECISION"},
	{"detail", "DETAIL"},
	{NULL, NULL},
};

/* Join the words by blanks. No word may have a comma, which ends a parameter of telemetry.
 * @return NULL, or what is wrong */
static const char *make_request(char **words, char *request)
{
	size_t used = (size_t)sprintf(request, "/cygnet/trace");

	for (char **word = words; *word; word++) {
		size_t len = strlen(*word);

		if (!len || strspn(*word, CHARACTERS) != len)
			return "a word is not a keyword, nor a value";
		if (used + len + 2 > REQUEST)
			return "too many words";
		used += (size_t)sprintf(request + used, "%c%s", word == words ? ',' : ' ', *word);
	}
	return NULL;
}

int trace(const struct options *options, int argc, char **argv)
{
	char request[REQUEST], error[1024];
	const char *wrong = argc < 2 ? NULL : make_request(argv + 1, request);
	json_t *rows;
	int fd;

	if (argc < 2)
		return COMMAND_USAGE;
	fd = wrong ? -1 : options_connect(options, error, sizeof(error));
	rows = fd < 0 ? NULL : client_table(fd, request, error, sizeof(error));
	if (fd >= 0)
		close(fd);
	if (rows && !wrong)
		wrong = json_string_value(json_object_get(json_array_get(rows, 0), "error"));
	if (!rows || wrong)
		fprintf(stderr, "cygnetctl: %s%s\n", wrong ? "trace: " : "", wrong ? wrong : error);
	else
		table_output(rows, columns, options->json);
	json_decref(rows);
	return wrong ? 2 : !rows || fflush(stdout) || ferror(stdout);
}

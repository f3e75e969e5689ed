/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "table.h"
#include "trace.h"

#define REQUEST 960	/* bytes; DPDK reads 1,024 */

static const struct column columns[] = {
	{"stage", "STAGE"}, {"decision", "DECISION"}, {"detail", "DETAIL"}, {NULL, NULL},
};

/* Join the words by blanks. No word may have a comma, which ends a parameter of telemetry.
 * @return 0, or -1 with the reason in error */
static int make_request(int argc, char **argv, char *request, char *error, size_t size)
{
	size_t at = (size_t)sprintf(request, "/cygnet/trace");

	for (int i = 0; i < argc; i++) {
		size_t len = strlen(argv[i]);

		if (!len || strspn(argv[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					    "0123456789.:_-") != len) {
			snprintf(error, size, "trace: '%s': not a keyword, nor a value", argv[i]);
			return -1;
		}
		if (at + len + 2 > REQUEST) {
			snprintf(error, size, "trace: too many words");
			return -1;
		}
		request[at++] = i ? ' ' : ',';
		memcpy(request + at, argv[i], len + 1);
		at += len;
	}
	return 0;
}

static int print_rows(const json_t *rows, bool json)
{
	const char *error = json_string_value(json_object_get(json_array_get(rows, 0), "error"));

	if (error) {
		fprintf(stderr, "cygnetctl: trace: %s\n", error);
		return 2;
	}
	if (json) {
		json_dumpf(rows, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		table_print(stdout, rows, columns);
	}
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}

int trace(const struct options *options, int argc, char **argv)
{
	char request[REQUEST], error[1024];
	json_t *rows;
	int fd, status;

	if (argc < 2)
		return COMMAND_USAGE;
	if (make_request(argc - 1, argv + 1, request, error, sizeof(error))) {
		fprintf(stderr, "cygnetctl: %s\n", error);
		return 2;
	}
	fd = options_connect(options, error, sizeof(error));
	rows = fd < 0 ? NULL : client_table(fd, request, error, sizeof(error));
	if (fd >= 0)
		close(fd);
	if (!rows) {
		fprintf(stderr, "cygnetctl: %s\n", error);
		return 1;
	}
	status = print_rows(rows, options->json);
	json_decref(rows);
	return status;
}

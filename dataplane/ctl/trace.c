/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "commands.h"
#include "report.h"
#include "table.h"
#include "words.h"

#define REQUEST	   960 /* bytes; DPDK reads 1,024 */
#define CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_-"

static const struct column columns[] = {
	{"stage", "STAGE", 0},
	{"decision", "DECISION", 0},
	{"detail", "DETAIL", 0},
	{NULL, NULL, 0},
};

static const char *const keywords[] = {
	"src", "dst", "proto", "sport", "dport", "in", "size", "df", "encap", "spi", "inner", NULL,
};

/* Each keyword but `inner` has a value behind it. @return the first word that should be a keyword; NULL: none */
static const char *unknown_keyword(char **words)
{
	while (*words) {
		if (!words_have(keywords, *words))
			return *words;
		words += strcmp(*words, "inner") && words[1] ? 2 : 1;
	}
	return NULL;
}

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
	const char *wrong;
	json_t *rows;
	int fd;

	if (argc < 2)
		return COMMAND_USAGE;
	if (unknown_keyword(argv + 1))
		return report_word(options, "keyword", unknown_keyword(argv + 1), keywords);
	wrong = make_request(argv + 1, request);
	fd = wrong ? -1 : options_connect(options, error, sizeof(error));
	rows = fd < 0 ? NULL : client_table(fd, request, error, sizeof(error));
	if (fd >= 0)
		close(fd);
	if (rows && !wrong)
		wrong = json_string_value(json_object_get(json_array_get(rows, 0), "error"));
	if (!rows || wrong)
		report_error(options, wrong ? 2 : 1, "%s%s", wrong ? "trace: " : "",
			     wrong ? wrong : error);
	else if (options->json)
		table_print_json(rows);
	else
		table_print(stdout, rows, columns, options->wide);
	json_decref(rows);
	return wrong ? 2 : !rows || fflush(stdout) || ferror(stdout);
}

/* Behind each keyword but `inner` is its value. */
const char *const *trace_next(int argc, char **argv)
{
	int i = 1;

	while (i < argc)
		i += strcmp(argv[i], "inner") ? 2 : 1;
	return i == argc ? keywords : NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "text.h"
#include "words.h"

#define TEXT 1280 /* a reason of 1,024 and what is before it */

/* @param nearest  a word; NULL: none */
static void put(const struct options *options, const char *text, const char *nearest, int status)
{
	json_t *object;

	if (!options->json) {
		fprintf(stderr, "cygnetctl: %s\n", text);
		return;
	}
	object = json_pack("{s:o, s:s*, s:i}", "error", text_json(text, strlen(text)), "nearest",
			   nearest, "status", status);
	json_dumpf(object, stderr, JSON_COMPACT);
	fputc('\n', stderr);
	json_decref(object);
}

int report_error(const struct options *options, int status, const char *format, ...)
{
	char text[TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put(options, text, NULL, status);
	return status;
}

int report_word(const struct options *options, const char *what, const char *word,
		const char *const *list)
{
	const char *nearest = words_nearest(list, word);
	char text[TEXT];
	size_t used;

	used = (size_t)snprintf(text, sizeof(text), "there is no %s %.64s%s", what, word,
				nearest ? ": did you mean " : "; there are ");
	if (nearest)
		snprintf(text + used, sizeof(text) - used, "%s?", nearest);
	for (; !nearest && *list && used < sizeof(text); list++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", *list,
					 list[1] ? ", " : "");
	put(options, text, nearest, 2);
	return 2;
}

void report_note(const struct options *options, const char *format, ...)
{
	va_list args;

	if (options->json)
		return;
	va_start(args, format);
	fputs("cygnetctl: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <string.h>

#include "commands.h"
#include "complete.h"
#include "words.h"

#define ARGUMENTS_MAX 64

static const char *const options_with_value[] = {"-c", "-s", "-p", "--count", "--vici", NULL};

static void print_matching(FILE *out, const char *const *list, const char *begin)
{
	for (; list && *list; list++)
		if (!strncmp(*list, begin, strlen(begin)))
			fprintf(out, "%s\n", *list);
}

/* The words without options and their values, and without the last one.
 * @return their number; -1: the last word is the value of an option */
static int arguments(int argc, char **argv, char **found)
{
	int n = 0;

	for (int i = 0; i < argc - 1; i++) {
		if (words_have(options_with_value, argv[i])) {
			if (++i == argc - 1)
				return -1;
		} else if (argv[i][0] != '-' && n < ARGUMENTS_MAX) {
			found[n++] = argv[i];
		}
	}
	return n;
}

void complete_words(FILE *out, const char *const *options, int argc, char **argv)
{
	const char *last = argc ? argv[argc - 1] : "";
	char *found[ARGUMENTS_MAX + 1] = {0};
	int n = arguments(argc, argv, found);
	const struct command *command = n > 0 ? command_find(found[0]) : NULL;

	if (n < 0)
		return;
	if (*last == '-')
		print_matching(out, options, last);
	else if (!n)
		print_matching(out, command_names(), last);
	else if (command && command->next)
		print_matching(out, command->next(n, found), last);
}

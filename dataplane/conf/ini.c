/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/ini.h"

#define COMMENT '#'

struct ini {
	ini_take *take;
	void *arg;
	unsigned int line;
	bool in_section, skips; /* skips: the section's own line is wrong */
};

static char *trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

static void cut_comment(char *text)
{
	char *out = text;

	for (; *text && *text != COMMENT; text++) {
		if (text[0] == '\\' && text[1] == COMMENT)
			text++;
		*out++ = *text;
	}
	*out = '\0';
}

static bool has_control(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (iscntrl((unsigned char)text[i]) && !isspace((unsigned char)text[i]))
			return true;
	return false;
}

/* @return the error; NULL: none */
static const char *take_section(struct ini *in, char *text)
{
	char *end = strchr(text, ']');

	in->in_section = in->skips = true;
	if (!end)
		return "no ']' at the end of the section's name";
	if (end[1])
		return "something follows the section's name";
	*end = '\0';
	text = trim(text + 1);
	if (!*text)
		return "a section without name";
	in->skips = false;
	in->take(in->arg, in->line, INI_SECTION, text, NULL);
	return NULL;
}

static const char *take_key(struct ini *in, char *text)
{
	char *value = strchr(text, '=');

	if (!value)
		return "neither [section] nor key = value";
	if (!in->in_section)
		return "a key in front of the first [section]";
	*value++ = '\0';
	text = trim(text);
	value = trim(value);
	if (!*text)
		return "no key in front of '='";
	if (!*value)
		return "no value after '='";
	if (!in->skips)
		in->take(in->arg, in->line, INI_KEY, text, value);
	return NULL;
}

static void take_line(struct ini *in, char *text, size_t len)
{
	const char *wrong = NULL;

	if (has_control(text, len)) {
		wrong = "a control character";
	} else {
		cut_comment(text);
		text = trim(text);
		if (*text)
			wrong = *text == '[' ? take_section(in, text) : take_key(in, text);
	}
	if (wrong)
		in->take(in->arg, in->line, INI_WRONG, wrong, NULL);
}

int ini_read(const char *path, ini_take *take, void *arg)
{
	struct ini in = {.take = take, .arg = arg};
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t len;
	int err;

	if (!file)
		return -errno;
	errno = 0;
	for (; (len = getline(&text, &room, file)) >= 0; errno = 0) {
		in.line++;
		take_line(&in, text, (size_t)len);
	}
	err = feof(file) ? 0 : errno ? -errno : -EIO;
	free(text);
	fclose(file);
	return err;
}

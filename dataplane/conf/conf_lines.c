/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cfgfile.h>

#include "conf/conf_lines.h"

/* Capacity of rte_cfgfile's line buffer, without "\n\0". */
#define LINE_MAX_LEN (CFG_NAME_LEN + CFG_VALUE_LEN)

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

/* The first comment character begins a comment, unless it is escaped; as in rte_cfgfile. */
static void cut_comment(char *text)
{
	char *comment = strchr(text, CONF_COMMENT);

	if (comment && (comment == text || comment[-1] != '\\'))
		*comment = '\0';
}

static int append(unsigned int **list, unsigned int *n, unsigned int line)
{
	unsigned int *grown = reallocarray(*list, *n + 1, sizeof(**list));

	if (!grown)
		return -ENOMEM;
	grown[(*n)++] = line;
	*list = grown;
	return 0;
}

/* @return the error in a section's line; NULL: none */
static const char *check_section(char *text)
{
	char *end = strchr(text, ']');

	if (!end)
		return "no ']' at the end of the section's name";
	if (end[1])
		return "something follows the section's name";
	*end = '\0';
	text = trim(text + 1);
	if (!*text)
		return "a section without name";
	if (strlen(text) >= CFG_NAME_LEN)
		return "the section's name is too long";
	return NULL;
}

static const char *check_key(char *text)
{
	char *value = strchr(text, '=');

	if (!value)
		return "neither [section] nor key = value";
	*value++ = '\0';
	text = trim(text);
	value = trim(value);
	if (!*text)
		return "no key in front of '='";
	if (strlen(text) >= CFG_NAME_LEN)
		return "the key is too long";
	if (!*value)
		return "no value after '='";
	if (strlen(value) >= CFG_VALUE_LEN)
		return "the value is too long";
	return NULL;
}

static const char *check_bytes(const char *text, size_t len)
{
	if (len > LINE_MAX_LEN)
		return "the line is too long";
	for (size_t i = 0; i < len; i++)
		if (iscntrl((unsigned char)text[i]) && !isspace((unsigned char)text[i]))
			return "a control character";
	return NULL;
}

static int read_line(struct conf_lines *lines, char *text, size_t len, unsigned int number,
		     const char **reason)
{
	*reason = check_bytes(text, len);
	if (*reason)
		return -EINVAL;
	cut_comment(text);
	text = trim(text);
	if (!*text)
		return 0;
	if (*text == '[') {
		*reason = check_section(text);
		return *reason ? -EINVAL : append(&lines->section, &lines->nsections, number);
	}
	*reason = lines->nsections ? check_key(text) : "a key in front of the first [section]";
	return *reason ? -EINVAL : append(&lines->key, &lines->nkeys, number);
}

int conf_lines_read(struct conf_lines *lines, const char *path, char *error, size_t size)
{
	const char *reason = NULL;
	unsigned int number = 0;
	char *text = NULL;
	size_t room = 0;
	ssize_t len;
	int rc = 0;
	FILE *file;

	memset(lines, 0, sizeof(*lines));
	file = fopen(path, "re");
	if (!file) {
		rc = -errno;
		snprintf(error, size, "%s: %s", path, strerror(-rc));
		return rc;
	}
	while (rc == 0 && (len = getline(&text, &room, file)) >= 0)
		rc = read_line(lines, text, (size_t)len, ++number, &reason);
	if (rc == 0 && ferror(file))
		rc = -EIO;
	if (reason)
		snprintf(error, size, "%s:%u: %s", path, number, reason);
	else if (rc)
		snprintf(error, size, "%s: %s", path, strerror(-rc));
	free(text);
	fclose(file);
	return rc;
}

void conf_lines_free(struct conf_lines *lines)
{
	free(lines->section);
	free(lines->key);
	memset(lines, 0, sizeof(*lines));
}

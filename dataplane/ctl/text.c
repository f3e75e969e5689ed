/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "text.h"

void text_make_ascii(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] >= 0x80)
			text[i] = '?';
}

json_t *text_json(const char *text, size_t len)
{
	json_t *value;
	char *copy;

	len = strnlen(text, len);
	value = json_stringn(text, len);
	if (value)
		return value;
	copy = malloc(len + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	text_make_ascii(copy, len);
	value = json_stringn(copy, len);
	free(copy);
	return value;
}

const char *text_of(const json_t *object, const char *key, const char *missing)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : missing;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <string.h>

#include "text.h"
#include "vici_message.h"

#define NAME_SIZE 256 /* a length is one byte */

/* What is left of the message, and the sections and lists that are open. */
struct parser {
	const uint8_t *next;
	size_t left;
	json_t *open[VICI_DEPTH + 1]; /* [0]: the message; the last one may be a list */
	unsigned int depth;
};

static bool take(struct parser *p, size_t n, const uint8_t **bytes)
{
	if (p->left < n)
		return false;
	*bytes = p->next;
	p->next += n;
	p->left -= n;
	return true;
}

/* A name has a length of one byte. One with a zero in it, or a byte beyond ASCII, is none that charon has. */
static bool take_name(struct parser *p, char name[NAME_SIZE])
{
	const uint8_t *bytes, *length;

	if (!take(p, 1, &length) || !take(p, *length, &bytes))
		return false;
	for (size_t i = 0; i < *length; i++)
		if (!bytes[i] || bytes[i] >= 0x80)
			return false;
	memcpy(name, bytes, *length);
	name[*length] = '\0';
	return true;
}

/* A value has a length of two bytes, in network byte order. @return NULL: the message ends before */
static json_t *take_value(struct parser *p)
{
	const uint8_t *bytes, *length;

	if (!take(p, 2, &length) || !take(p, (size_t)length[0] << 8 | length[1], &bytes))
		return NULL;
	return text_json((const char *)bytes, (size_t)length[0] << 8 | length[1]);
}

static bool start(struct parser *p, json_t *container)
{
	char name[NAME_SIZE];

	if (p->depth == VICI_DEPTH || !take_name(p, name)) {
		json_decref(container);
		return false;
	}
	if (json_object_set_new(p->open[p->depth], name, container))
		return false;
	p->open[++p->depth] = container;
	return true;
}

static bool end(struct parser *p)
{
	if (!p->depth)
		return false;
	p->depth--;
	return true;
}

static bool put_value(struct parser *p)
{
	char name[NAME_SIZE];

	return take_name(p, name) &&
	       json_object_set_new(p->open[p->depth], name, take_value(p)) == 0;
}

/* Lists have items only, and sections no items. */
static bool parse_element(struct parser *p, uint8_t type)
{
	bool list = json_is_array(p->open[p->depth]);

	switch (type) {
	case VICI_SECTION_START:
		return !list && start(p, json_object());
	case VICI_LIST_START:
		return !list && start(p, json_array());
	case VICI_KEY_VALUE:
		return !list && put_value(p);
	case VICI_LIST_ITEM:
		return list && json_array_append_new(p->open[p->depth], take_value(p)) == 0;
	case VICI_SECTION_END:
		return !list && end(p);
	case VICI_LIST_END:
		return list && end(p);
	default:
		return false;
	}
}

json_t *vici_message_parse(const uint8_t *data, size_t len)
{
	struct parser p = {.next = data, .left = len, .open = {json_object()}};
	const uint8_t *type;
	bool valid = p.open[0];

	while (valid && take(&p, 1, &type))
		valid = parse_element(&p, *type);
	if (valid && !p.depth)
		return p.open[0];
	json_decref(p.open[0]);
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "vici_bytes.h"
#include "vici_message.h"

static void put(struct bytes *bytes, const void *data, size_t len)
{
	assert_true(bytes->len + len <= sizeof(bytes->data));
	memcpy(bytes->data + bytes->len, data, len);
	bytes->len += len;
}

static void put_byte(struct bytes *bytes, unsigned int byte)
{
	const uint8_t one = (uint8_t)byte;

	put(bytes, &one, 1);
}

void put_name(struct bytes *bytes, unsigned int type, const char *name)
{
	put_byte(bytes, type);
	put_byte(bytes, (unsigned int)strlen(name));
	put(bytes, name, strlen(name));
}

static void put_value(struct bytes *bytes, const char *value)
{
	put_byte(bytes, (unsigned int)strlen(value) >> 8);
	put_byte(bytes, (unsigned int)strlen(value) & 255);
	put(bytes, value, strlen(value));
}

void put_elements(struct bytes *bytes, const char *const *elements)
{
	for (; *elements; elements++) {
		char name[64];
		const char *equals = strchr(*elements, '=');
		size_t len = strcspn(*elements, "={[");

		memcpy(name, *elements, len);
		name[len] = '\0';
		if (equals == *elements) {
			put_byte(bytes, VICI_LIST_ITEM);
			put_value(bytes, equals + 1);
		} else if (equals) {
			put_name(bytes, VICI_KEY_VALUE, name);
			put_value(bytes, equals + 1);
		} else if (**elements == '}') {
			put_byte(bytes, VICI_SECTION_END);
		} else if (**elements == ']') {
			put_byte(bytes, VICI_LIST_END);
		} else {
			put_name(bytes,
				 (*elements)[len] == '{' ? VICI_SECTION_START : VICI_LIST_START,
				 name);
		}
	}
}

void put_packet(struct bytes *bytes, const struct bytes *packet)
{
	uint32_t length = htonl((uint32_t)packet->len);

	put(bytes, &length, sizeof(length));
	put(bytes, packet->data, packet->len);
}

struct bytes packet_of(unsigned int type)
{
	struct bytes packet = {0}, bytes = {0};

	put_byte(&packet, type);
	put_packet(&bytes, &packet);
	return bytes;
}

struct bytes list_of(const char *const *elements)
{
	struct bytes event = {0}, response = packet_of(1), answer = {0};

	put_name(&event, 7, "list-sa");
	put_elements(&event, elements);
	put_packet(&answer, &event);
	put(&answer, response.data, response.len);
	return answer;
}

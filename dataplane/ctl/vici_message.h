/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file vici_message.h
 * Messages of charon's vici protocol (README.md of strongSwan's vici plugin) as JSON: sections are objects, lists
 * arrays, values strings.
 */
#ifndef CYGNETCTL_VICI_MESSAGE_H
#define CYGNETCTL_VICI_MESSAGE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/** Sections in sections, most. charon has four. */
#define VICI_DEPTH 16u

/** Types of a message's elements. */
enum vici_element {
	VICI_SECTION_START = 1,
	VICI_SECTION_END,
	VICI_KEY_VALUE,
	VICI_LIST_START,
	VICI_LIST_ITEM,
	VICI_LIST_END,
};

/** @return an object; NULL: the bytes are no message, or there is no memory */
json_t *vici_message_parse(const uint8_t *data, size_t len);

#endif

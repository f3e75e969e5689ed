/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file text.h
 * Text of others (names of files and interfaces, answers of charon) as JSON, and text in JSON.
 */
#ifndef CYGNETCTL_TEXT_H
#define CYGNETCTL_TEXT_H

#include <jansson.h>
#include <stddef.h>

/** A string. If the text is not UTF-8, its bytes beyond ASCII become "?"; a zero ends it. @return NULL: no memory */
json_t *text_json(const char *text, size_t len);
/** Make bytes beyond ASCII "?". */
void text_make_ascii(char *text, size_t len);
/** A member of an object that is text. @return missing if there is none, or it is no text */
const char *text_of(const json_t *object, const char *key, const char *missing);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file row_asserts.h
 * What a row of a table has. After cmocka.h.
 */
#ifndef CYGNETD_TESTS_ROW_ASSERTS_H
#define CYGNETD_TESTS_ROW_ASSERTS_H

#include <jansson.h>

static inline void assert_text(const json_t *row, const char *key, const char *want)
{
	assert_non_null(json_string_value(json_object_get(row, key)));
	assert_string_equal(json_string_value(json_object_get(row, key)), want);
}

static inline void assert_number(const json_t *row, const char *key, json_int_t want)
{
	assert_true(json_is_integer(json_object_get(row, key)));
	assert_int_equal(json_integer_value(json_object_get(row, key)), want);
}

#endif

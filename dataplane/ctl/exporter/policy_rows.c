/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdio.h>

#include "exporter/policy_rows.h"
#include "text.h"

static void add(json_t *sum, const json_t *policy, const char *key)
{
	json_object_set_new(sum, key,
			    json_integer(json_integer_value(json_object_get(sum, key)) +
					 json_integer_value(json_object_get(policy, key))));
}

static bool add_policy(json_t *rows, json_t *by_key, json_t *policy)
{
	char key[512];
	json_t *row;

	snprintf(key, sizeof(key), "%s %s %" JSON_INTEGER_FORMAT " %s", text_of(policy, "dir", ""),
		 text_of(policy, "action", ""),
		 json_integer_value(json_object_get(policy, "reqid")),
		 text_of(policy, "selector", ""));
	row = json_object_get(by_key, key);
	if (row) {
		add(row, policy, "passed");
		add(row, policy, "dropped");
		return true;
	}
	return !json_object_set(by_key, key, policy) && !json_array_append(rows, policy);
}

json_t *policy_rows(const json_t *policies)
{
	json_t *rows = json_array(), *by_key = json_object(), *policy;
	bool done = rows && by_key;
	size_t i;

	json_array_foreach(policies, i, policy)
	{
		if (done)
			done = add_policy(rows, by_key, policy);
	}
	json_decref(by_key);
	if (done)
		return rows;
	json_decref(rows);
	return NULL;
}

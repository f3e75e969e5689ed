/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "config.h"
#include "info.h"
#include "report.h"
#include "table.h"
#include "vici.h"

/* charon's version; null if it does not answer. */
static json_t *ask_strongswan(const struct options *options)
{
	const char *socket = options_vici(options);
	json_t *answer = NULL, *version;
	char error[512];
	int fd;

	if (!socket)
		return json_null();
	fd = vici_connect(socket, error, sizeof(error));
	if (fd >= 0) {
		answer = vici_ask(fd, "version", error, sizeof(error));
		close(fd);
	}
	if (!answer)
		report_note(options, "%s: without the version of strongSwan", error);
	version = json_incref(json_object_get(answer, "version"));
	json_decref(answer);
	return version ? version : json_null();
}

static json_int_t uptime(const json_t *row)
{
	json_int_t started = json_integer_value(json_object_get(row, "started")),
		   now = (json_int_t)time(NULL);

	return now > started ? now - started : 0;
}

int info_add(int fd, const struct options *options, json_t *rows, char *error, size_t size)
{
	json_t *row = json_array_get(rows, 0), *conf;

	conf = client_table(fd, "/cygnet/conf", error, size);
	if (!conf)
		return -EPROTO;
	json_object_set_new(row, "uptime", json_integer(uptime(row)));
	json_object_set_new(row, "cygnetctl", json_string(PACKAGE_VERSION));
	json_object_set_new(row, "cygnetctl_abi", json_integer(CYGNET_ABI_VERSION));
	json_object_set_new(row, "strongswan", ask_strongswan(options));
	json_object_set_new(row, "configuration", conf);
	return 0;
}

static bool is_default(const json_t *key)
{
	const char *value = json_string_value(json_object_get(key, "value"));
	const char *of_default = json_string_value(json_object_get(key, "default"));

	return value && of_default &&
	       (!strcmp(value, of_default) || (!strcmp(value, "0") && !*of_default));
}

static json_t *changed_keys(const json_t *row, bool all)
{
	json_t *keys = json_array(), *key;
	size_t i;

	json_array_foreach(json_object_get(row, "configuration"), i, key)
	{
		if (all || !is_default(key))
			json_array_append(keys, key);
	}
	return keys;
}

void info_print(FILE *out, const json_t *rows, bool wide)
{
	static const struct column fields[] = {
		{"version", "cygnetd", 0},
		{"cygnetctl", "cygnetctl", 0},
		{"dpdk", "DPDK", 0},
		{"strongswan", "strongSwan", 0},
		{"abi", "ABI of the shared file", 0},
		{"sadb", "shared file", 0},
		{"pid", "process", 0},
		{"uptime", "up", COLUMN_TIME},
		{"charon_pid", "charon's process", 0},
		{"workers", "workers", 0},
		{"sas", "SAs", 0},
		{"policies", "policies", 0},
		{NULL, NULL, 0},
	};
	static const struct column keys[] = {
		{"section", "SECTION", 0}, {"key", "KEY", 0},  {"value", "VALUE", 0},
		{"default", "DEFAULT", 0}, {"given", "BY", 0}, {NULL, NULL, 0},
	};
	json_t *changed = changed_keys(json_array_get(rows, 0), wide);

	table_print_fields(out, json_array_get(rows, 0), fields);
	fputc('\n', out);
	table_print(out, changed, keys, wide);
	json_decref(changed);
}

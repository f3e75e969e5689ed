/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "changed.h"
#include "client.h"
#include "commands.h"
#include "report.h"
#include "terminal.h"

#define LOOK_MS 200u

/* State at the last look. */
struct seen {
	bool any, up;
	json_t *info, *ports, *engines;
	uint32_t next_event;
	struct sad_seen sad;
};

static void put_time(json_t *event)
{
	json_int_t ms = json_integer_value(json_object_get(event, "time_ms"));
	char text[64];
	struct tm tm;
	time_t second;
	size_t len;

	if (!ms)
		ms = (json_int_t)(clock_read_us(CLOCK_REALTIME) / 1000);
	second = (time_t)(ms / 1000);
	gmtime_r(&second, &tm);
	len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + len, sizeof(text) - len, ".%03dZ", (int)(ms % 1000));
	json_object_del(event, "time_ms");
	json_object_del(event, "number");
	json_object_set_new(event, "time", json_string(text));
}

/* @return number of events printed; -1: standard output is closed */
static int print_events(const json_t *events)
{
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		char *line;

		put_time(event);
		line = json_dumps(event, JSON_COMPACT);
		if (line)
			puts(line);
		free(line);
	}
	return fflush(stdout) || ferror(stdout) ? -1 : (int)json_array_size(events);
}

static json_int_t info_number(const json_t *info, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(info, 0), key));
}

/* Whether another cygnetd has answered, whose event numbers start again. */
static bool was_restarted(const struct seen *seen, const json_t *info)
{
	return info_number(seen->info, "pid") != info_number(info, "pid") ||
	       info_number(seen->info, "started") != info_number(info, "started");
}

static void add_cygnetd_up(struct seen *seen, const json_t *info, json_t *events)
{
	json_array_append_new(events,
			      json_pack("{s:s, s:O, s:O, s:O, s:O}", "event",
					seen->any ? "cygnetd-up" : "watch", "version",
					json_object_get(json_array_get(info, 0), "version"), "pid",
					json_object_get(json_array_get(info, 0), "pid"), "sas",
					json_object_get(json_array_get(info, 0), "sas"), "policies",
					json_object_get(json_array_get(info, 0), "policies")));
	if (was_restarted(seen, info))
		seen->next_event = seen->any ? 0 : (uint32_t)info_number(info, "events");
	json_decref(seen->ports);
	json_decref(seen->engines);
	seen->ports = seen->engines = NULL;
}

static void compare_charon(const struct seen *seen, const json_t *info, json_t *events)
{
	json_int_t then = info_number(seen->info, "charon_pid"),
		   now = info_number(info, "charon_pid");

	if (!seen->info || then == now)
		return;
	if (then)
		json_array_append_new(events,
				      json_pack("{s:s, s:I}", "event", "charon-down", "pid", then));
	if (now)
		json_array_append_new(events,
				      json_pack("{s:s, s:I}", "event", "charon-up", "pid", now));
}

/* Add cygnetd's events for charon by number; a gap means that cygnetd has discarded older events. */
static int add_charon_events(int fd, struct seen *seen, json_t *events, char *error, size_t size)
{
	char command[64];
	json_t *rows, *row;
	size_t i;

	snprintf(command, sizeof(command), "/cygnet/events,%u", seen->next_event);
	rows = client_table(fd, command, error, size);
	json_array_foreach(rows, i, row)
	{
		uint32_t number = (uint32_t)json_integer_value(json_object_get(row, "number"));

		if (number != seen->next_event)
			json_array_append_new(events,
					      json_pack("{s:s, s:I}", "event", "lost", "events",
							(json_int_t)(number - seen->next_event)));
		seen->next_event = number + 1;
		json_array_append(events, row);
	}
	if (!rows)
		return -1;
	json_decref(rows);
	return 0;
}

static int compare_cygnetd(int fd, struct seen *seen, json_t *events, char *error, size_t size)
{
	json_t *info = client_table(fd, "/cygnet/info", error, size);
	json_t *ports = info ? client_table(fd, "/cygnet/ports", error, size) : NULL;
	json_t *engines = ports ? client_table(fd, "/cygnet/engines", error, size) : NULL;

	if (!engines) {
		json_decref(info);
		json_decref(ports);
		return -1;
	}
	if (!seen->up || was_restarted(seen, info))
		add_cygnetd_up(seen, info, events);
	compare_charon(seen, info, events);
	changed_rows(seen->ports, ports, "port-link", "name", "link", NULL, events);
	changed_rows(seen->ports, ports, "port-state", "name", "state", "tap", events);
	changed_rows(seen->engines, engines, "engine", "device", "state", "engine", events);
	json_decref(seen->info);
	json_decref(seen->ports);
	json_decref(seen->engines);
	seen->info = info;
	seen->ports = ports;
	seen->engines = engines;
	seen->up = seen->any = true;
	return add_charon_events(fd, seen, events, error, size);
}

static int look_at_cygnetd(const struct options *options, struct seen *seen, json_t *events,
			   char *error, size_t size)
{
	int fd = options_connect(options, error, size);
	int err = fd < 0 ? -1 : compare_cygnetd(fd, seen, events, error, size);

	if (fd >= 0)
		close(fd);
	if (err && seen->up) {
		json_array_append_new(events, json_pack("{s:s, s:s}", "event", "cygnetd-down",
							"reason", error));
		seen->up = false;
	}
	return err;
}

/* Open the file at each look, because it may have been replaced. */
static int look_at_sad(const struct options *options, struct seen *seen, json_t *events,
		       char *error, size_t size)
{
	struct cygnet_db *db = options_sadb(options, error, size);
	int err = db ? changed_sas(db, &seen->sad, events) : -1;

	cygnet_db_close(db);
	return err;
}

static void free_seen(struct seen *seen)
{
	json_decref(seen->info);
	json_decref(seen->ports);
	json_decref(seen->engines);
	sad_seen_free(&seen->sad);
}

/* Only the first look requires that cygnetd and its file can be opened.
 * @return events printed; -1: the end */
static int look(const struct options *options, struct seen *seen)
{
	char error[1024] = "out of memory";
	json_t *events = json_array();
	bool first = !seen->any;
	int err, n;

	err = look_at_cygnetd(options, seen, events, error, sizeof(error));
	if (!first || !err)
		err = look_at_sad(options, seen, events, error, sizeof(error));
	if (first && err)
		report_error(options, 1, "%s", error);
	n = first && err ? -1 : print_events(events);
	json_decref(events);
	return n;
}

static int run(const struct options *options)
{
	struct seen seen = {0};
	unsigned int printed = 0;
	int n;

	do {
		n = look(options, &seen);
		printed += n > 0 ? (unsigned int)n : 0;
	} while (n >= 0 && (!options->count || printed < options->count) && terminal_wait(LOOK_MS));
	free_seen(&seen);
	return n < 0 ? 1 : 0;
}

int watch(const struct options *options, int argc, char **argv)
{
	int status;

	(void)argv;
	if (argc != 1)
		return COMMAND_USAGE;
	terminal_open(false);
	status = run(options);
	terminal_close();
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "commands.h"
#include "doctor.h"
#include "report.h"
#include "table.h"
#include "vici.h"

static json_t *ask_charon(const struct options *options)
{
	const char *socket = options_vici(options);
	json_t *stats = NULL;
	char error[512];
	int fd = socket ? vici_connect(socket, error, sizeof(error)) : -1;

	if (fd < 0)
		return NULL;
	stats = vici_ask(fd, "stats", error, sizeof(error));
	close(fd);
	return stats;
}

static json_t *ask_cygnetd(const struct options *options, const char *command)
{
	char error[1024];
	int fd = options_connect(options, error, sizeof(error));
	json_t *rows = fd < 0 ? NULL : client_table(fd, command, error, sizeof(error));

	if (fd >= 0)
		close(fd);
	return rows;
}

static void check_conf(struct diagnosis *d, const struct options *options)
{
	static struct conf conf;
	char error[1024];

	if (options_conf(options, &conf, error, sizeof(error))) {
		diagnosis_add(d, "configuration", FOUND_PROBLEM, "cygnetd --check", "%s", error);
		return;
	}
	d->conf = &conf;
	diagnosis_add(d, "configuration", conf.nports ? FOUND_WELL : FOUND_PROBLEM,
		      conf.nports ? NULL : "add ports: cygnetd.conf(5)", "%s: %u ports",
		      *conf.path ? conf.path : "defaults", conf.nports);
}

static void check_all(struct diagnosis *d, const struct options *options)
{
	json_t *info = ask_cygnetd(options, "/cygnet/info");
	json_t *ports = info ? ask_cygnetd(options, "/cygnet/ports") : NULL;
	json_t *stats = ask_charon(options);
	char error[1024];

	d->db = options_sadb(options, error, sizeof(error));
	d->db_errno = errno;
	d->db_error = error;
	check_conf(d, options);
	doctor_huge_pages(d,
			  (int)json_integer_value(json_object_get(json_array_get(info, 0), "pid")));
	doctor_devices(d);
	doctor_numa(d);
	doctor_kernel(d, ports);
	doctor_clock(d);
	doctor_role(d, info);
	doctor_plugin(d, stats);
	doctor_links(d, ports);
	doctor_mtu(d, ports);
	cygnet_db_close(d->db);
	json_decref(info);
	json_decref(ports);
	json_decref(stats);
}

static bool has_problem(const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (!strcmp(json_string_value(json_object_get(row, "state")), "problem"))
			return true;
	}
	return false;
}

/* A line for each row: "OK", "TO DO" with what to do behind what was found, or "?". */
static void print(json_t *rows)
{
	static const struct column columns[] = {{"check", "CHECK", 0},
						{"result", "RESULT", 0},
						{"line", "WHAT", 0},
						{NULL, NULL, 0}};
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *state = json_string_value(json_object_get(row, "state"));
		const char *todo = json_string_value(json_object_get(row, "todo"));
		char line[1024];

		snprintf(line, sizeof(line), "%s%s%s",
			 json_string_value(json_object_get(row, "text")), todo ? ": " : "",
			 todo ? todo : "");
		json_object_set_new(row, "line", json_string(line));
		json_object_set_new(row, "result",
				    json_string(!strcmp(state, "ok")	    ? "OK"
						: !strcmp(state, "problem") ? "TO DO"
									    : "?"));
	}
	table_print(stdout, rows, columns, false);
}

int doctor(const struct options *options, int argc, char **argv)
{
	struct diagnosis d = {.root = "", .rows = json_array()};
	bool problem;

	(void)argv;
	if (argc != 1) {
		json_decref(d.rows);
		return COMMAND_USAGE;
	}
	check_all(&d, options);
	problem = has_problem(d.rows);
	if (options->json)
		table_print_json(d.rows);
	else
		print(d.rows);
	json_decref(d.rows);
	return problem ? 1 : 0;
}

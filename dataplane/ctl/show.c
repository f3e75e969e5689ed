/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "charon.h"
#include "client.h"
#include "commands.h"
#include "cygnet.h"
#include "databases.h"
#include "engines.h"
#include "info.h"
#include "report.h"
#include "routes.h"
#include "stages.h"
#include "table.h"
#include "things.h"
#include "tunnels.h"

static bool serves(int fd, const char *sadb)
{
	char error[512], ours[PATH_MAX], theirs[PATH_MAX];
	json_t *info = client_table(fd, "/cygnet/info", error, sizeof(error));
	const char *path = json_string_value(json_object_get(json_array_get(info, 0), "sadb"));
	bool same = path && realpath(path, theirs) && realpath(sadb, ours) && !strcmp(ours, theirs);

	json_decref(info);
	return same;
}

/* Add cygnetd's counters to policies. They stay null unless cygnetd runs with this file. */
static void add_counts(const struct options *options, const char *sadb, json_t *policies)
{
	char error[512];
	int fd = options_connect(options, error, sizeof(error));
	json_t *counts = NULL;

	if (fd < 0)
		return;
	if (serves(fd, sadb))
		counts = client_table(fd, "/cygnet/policies", error, sizeof(error));
	if (counts)
		databases_add_counts(policies, counts);
	json_decref(counts);
	close(fd);
}

/* The names of SAs are null if charon does not answer. */
static json_t *ask_charon(const struct options *options)
{
	const char *socket = options_vici(options);
	json_t *children;
	char error[512];

	if (!socket)
		return NULL;
	children = charon_children(socket, true, error, sizeof(error));
	if (!children)
		report_note(options, "%s: without the names of SAs", error);
	return children;
}

static json_t *read_sas(const struct thing *thing, const struct options *options,
			const struct sa_filter *filter, struct cygnet_db *db)
{
	json_t *children = ask_charon(options);
	uint64_t now = clock_read_us(CLOCK_MONOTONIC) / 1000000;
	json_t *rows = thing == &things[THING_SAD] ? databases_sad(db, filter, children, now)
						   : tunnels_rows(db, filter, children, now);

	json_decref(children);
	return rows;
}

static json_t *read_policies(const struct options *options, struct cygnet_db *db)
{
	json_t *rows = databases_spd(db, clock_read_us(CLOCK_MONOTONIC) / 1000000);
	struct cygnet_db_info info;

	cygnet_db_info(db, &info);
	if (rows)
		add_counts(options, info.path, rows);
	return rows;
}

static json_t *read_databases(const struct thing *thing, const struct options *options,
			      const struct sa_filter *filter, char *error, size_t size)
{
	struct cygnet_db *db = options_sadb(options, error, size);
	json_t *rows;

	if (!db)
		return NULL;
	rows = thing == &things[THING_SPD] ? read_policies(options, db)
					   : read_sas(thing, options, filter, db);
	cygnet_db_close(db);
	return rows;
}

/* Workers count stages only for a limited time after a request, so request twice. */
static json_t *ask_again(int fd, json_t *before, char *error, size_t size)
{
	const struct timespec wait = {STAGES_MS / 1000, STAGES_MS % 1000 * 1000000};
	json_t *after, *rows;

	nanosleep(&wait, NULL);
	after = client_table(fd, "/cygnet/stages", error, size);
	rows = after ? stages_between(before, after) : NULL;
	json_decref(before);
	json_decref(after);
	return rows;
}

static json_t *add_measured(int fd, json_t *devices, char *error, size_t size)
{
	json_t *measured = client_table(fd, "/cygnet/measured", error, size);

	if (!measured || engines_add_measured(devices, measured)) {
		json_decref(devices);
		devices = NULL;
	}
	json_decref(measured);
	return devices;
}

static json_t *ask_cygnetd(const struct thing *thing, const struct options *options, char *error,
			   size_t size)
{
	int fd = options_connect(options, error, size);
	json_t *rows;

	if (fd < 0)
		return NULL;
	rows = client_table(fd, thing->command, error, size);
	if (rows && thing == &things[THING_ENGINES])
		rows = add_measured(fd, rows, error, size);
	if (rows && thing == &things[THING_STAGES])
		rows = ask_again(fd, rows, error, size);
	if (rows && thing == &things[THING_INFO] && info_add(fd, options, rows, error, size)) {
		json_decref(rows);
		rows = NULL;
	}
	close(fd);
	/* If memory for sorting runs out, show routes unsorted. */
	if (rows && thing == &things[THING_ROUTES])
		routes_sort(rows);
	return rows;
}

/* The second table of `show engines`. */
static void print_measured(const struct options *options, const json_t *devices,
			   const char *algorithm)
{
	json_t *rows = algorithm ? engines_measured(devices, algorithm) : engines_chosen(devices);

	if (json_array_size(rows)) {
		putchar('\n');
		table_print(stdout, rows, algorithm ? things_measured : things_chosen,
			    options->wide);
	}
	json_decref(rows);
}

static int print_rows(const struct thing *thing, const json_t *rows, const struct options *options,
		      const char *algorithm)
{
	if (options->json)
		table_print_json(rows);
	else if (thing == &things[THING_INFO])
		info_print(stdout, rows, options->wide);
	else
		table_print(stdout, rows, thing->columns, options->wide);
	if (!options->json && (algorithm || options->measurements))
		print_measured(options, rows, algorithm);
	if (fflush(stdout) || ferror(stdout))
		return report_error(options, 1, "cannot write: %s", strerror(errno));
	return 0;
}

/* SAs have filters, engines an algorithm or --measurements. @return 0, or the exit status */
static int parse(const struct options *options, const struct thing *thing, int argc, char **argv,
		 struct sa_filter *filter)
{
	bool engines = thing == &things[THING_ENGINES];
	bool sas = thing == &things[THING_SAD] || thing == &things[THING_TUNNELS];

	if (options->measurements && !engines)
		return report_error(options, 2, "show %s: has no --measurements", thing->name);
	if (sas)
		return sa_filter_parse(filter, options, argc, argv);
	if (argc > (engines ? 1 : 0))
		return report_error(options, 2, "show %s: there is no argument %s", thing->name,
				    argv[engines ? 1 : 0]);
	return 0;
}

int show(const struct options *options, int argc, char **argv)
{
	const struct thing *thing = argc > 1 ? things_find(argv[1]) : NULL;
	char error[1024] = "out of memory";
	struct sa_filter filter;
	json_t *rows;
	int status;

	if (argc < 2)
		return COMMAND_USAGE;
	if (!thing)
		return report_word(options, "thing", argv[1], things_names());
	status = parse(options, thing, argc - 2, argv + 2, &filter);
	if (status)
		return status;
	rows = thing->command ? ask_cygnetd(thing, options, error, sizeof(error))
			      : read_databases(thing, options, &filter, error, sizeof(error));
	if (!rows)
		return report_error(options, 1, "%s", error);
	status = print_rows(thing, rows, options, thing == &things[THING_ENGINES] ? argv[2] : NULL);
	json_decref(rows);
	return status;
}

const char *const *show_next(int argc, char **argv)
{
	bool sas = argc > 1 && (!strcmp(argv[1], "sad") || !strcmp(argv[1], "tunnels"));

	if (argc == 1)
		return things_names();
	/* Behind a keyword is its value. */
	return sas && argc % 2 == 0 ? sa_filter_keywords : NULL;
}

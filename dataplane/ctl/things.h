/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file things.h
 * What cygnetctl show can show: the rows of each thing come from a telemetry command of cygnetd, or are read from the
 * databases.
 */
#ifndef CYGNETCTL_THINGS_H
#define CYGNETCTL_THINGS_H

#include <stdio.h>

#include "table.h"

enum thing_id {
	THING_INFO,
	THING_SAD,
	THING_TUNNELS,
	THING_SPD,
	THING_PORTS,
	THING_ROUTES,
	THING_IKE,
	THING_ENGINES,
	THING_STATS,
	THING_DROPS,
	THING_STAGES,
	THINGS
};

struct thing {
	const char *name;
	const char *command;	      /* NULL: read from the databases */
	const struct column *columns; /* NULL: of info, which has tables of its own */
	const char *help;
};

extern const struct thing things[THINGS];

/** Columns of the second table of `show engines`: all measurements, and the engines that serve each algorithm. */
extern const struct column things_measured[], things_chosen[];

/** The names of all things, ended by NULL. */
const char *const *things_names(void);
/** @return NULL: there is none of this name */
const struct thing *things_find(const char *name);
/** Print the names, and what each is. */
void things_help(FILE *out);

#endif

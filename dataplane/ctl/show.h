/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file show.h
 * cygnetctl show: a table of the databases or of cygnetd's counters.
 */
#ifndef CYGNETCTL_SHOW_H
#define CYGNETCTL_SHOW_H

#include "options.h"

/** @return exit status, or COMMAND_USAGE */
int show(const struct options *options, int argc, char **argv);

#endif

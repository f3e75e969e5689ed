/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file watch.h
 * cygnetctl watch: events of the gateway as lines of JSON.
 */
#ifndef CYGNETCTL_WATCH_H
#define CYGNETCTL_WATCH_H

#include "options.h"

/** @return exit status, or COMMAND_USAGE */
int watch(const struct options *options, int argc, char **argv);

#endif

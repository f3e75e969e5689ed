/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file trace.h
 * cygnetctl trace: ask cygnetd where a packet would go and why.
 */
#ifndef CYGNETCTL_TRACE_H
#define CYGNETCTL_TRACE_H

#include "options.h"

/** Ask cygnetd and print its answer. @return exit status, or COMMAND_USAGE */
int trace(const struct options *options, int argc, char **argv);

#endif

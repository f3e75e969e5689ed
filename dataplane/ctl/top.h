/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file top.h
 * cygnetctl top: rates a second of workers, ports, crypto devices, SAs and drops.
 */
#ifndef CYGNETCTL_TOP_H
#define CYGNETCTL_TOP_H

#include "options.h"

/** @return exit status, or COMMAND_USAGE */
int top(const struct options *options, int argc, char **argv);

#endif

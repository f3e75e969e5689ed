/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file commands.h
 * The commands of cygnetctl, with their arguments; argv[0] is the command's name. They return the exit status, or
 * COMMAND_USAGE.
 */
#ifndef CYGNETCTL_COMMANDS_H
#define CYGNETCTL_COMMANDS_H

#include "options.h"

/** An archive with the state of a gateway for support, without keys. */
int bundle(const struct options *options, int argc, char **argv);
/** Write packets that cygnetd receives, sends, drops, decrypts or is to protect to a pcapng file, until a limit is
 * reached or a signal ends it. */
int capture(const struct options *options, int argc, char **argv);
/** The state of the gateway in one line, for load balancers and Nagios. @return an enum judgement */
int health(const struct options *options, int argc, char **argv);
/** A table of the databases or of cygnetd's counters. */
int show(const struct options *options, int argc, char **argv);
/** Rates a second of workers, ports, crypto devices, SAs and drops. */
int top(const struct options *options, int argc, char **argv);
/** Events of the gateway as lines of JSON. */
int watch(const struct options *options, int argc, char **argv);

#endif

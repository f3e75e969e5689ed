/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file commands.h
 * The commands of cygnetctl, with their arguments; argv[0] is the command's name. They return the exit status, or
 * COMMAND_USAGE.
 */
#ifndef CYGNETCTL_COMMANDS_H
#define CYGNETCTL_COMMANDS_H

#include <stdio.h>

#include "options.h"

struct command {
	const char *name;
	int (*run)(const struct options *options, int argc, char **argv);
	const char *arguments; /* in the line of usage; lines after the first begin with "\n" */
	const char *brief; /* what it does, in one line; NULL: it is for programs, and not listed */
	const char *help;  /* lines about the arguments; may be "" */
	/* The words that may be behind the arguments so far, for completion; NULL: none that is listed. */
	const char *const *(*next)(int argc, char **argv);
};

/** Ended by a name of NULL. */
extern const struct command commands[];

/** @return NULL: there is none of this name */
const struct command *command_find(const char *name);
/** The names of all commands, ended by NULL. */
const char *const *command_names(void);
/** Print what cygnetctl or one command does. @param command  NULL: cygnetctl */
void command_help(FILE *out, const struct command *command);

/** command.next of these commands. */
const char *const *capture_next(int argc, char **argv);
const char *const *schema_next(int argc, char **argv);
const char *const *show_next(int argc, char **argv);
const char *const *trace_next(int argc, char **argv);

/** An archive with the state of a gateway for support, without keys. */
int bundle(const struct options *options, int argc, char **argv);
/** Write packets that cygnetd receives, sends, drops, decrypts or is to protect to a pcapng file, until a limit is
 * reached or a signal ends it. */
int capture(const struct options *options, int argc, char **argv);
/** Check all invariants of the databases. */
int check(const struct options *options, int argc, char **argv);
/** What is wrong with the gateway and its host, and what to do. */
int doctor(const struct options *options, int argc, char **argv);
/** The state of the gateway in one line, for load balancers and Nagios. @return an enum judgement */
int health(const struct options *options, int argc, char **argv);
/** The JSON Schema of a command's output, or of all. */
int schema(const struct options *options, int argc, char **argv);
/** A table of the databases or of cygnetd's counters. */
int show(const struct options *options, int argc, char **argv);
/** Rates a second of workers, ports, crypto devices, SAs and drops. */
int top(const struct options *options, int argc, char **argv);
/** Ask cygnetd where a packet would go and why. */
int trace(const struct options *options, int argc, char **argv);
/** Events of the gateway as lines of JSON. */
int watch(const struct options *options, int argc, char **argv);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file options.h
 * Options of the command line, and access to the cygnetd and the databases that they select.
 */
#ifndef CYGNETCTL_OPTIONS_H
#define CYGNETCTL_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "conf/conf.h"
#include "cygnet.h"

/** A command returns this for arguments that it does not know: cygnetctl prints its usage. */
#define COMMAND_USAGE (-1)

/** Long options, for getopt_long(). */
extern const struct option options_long[];
/** The same with "--" before them, ended by NULL. */
const char *const *options_names(void);

struct options {
	const char *conf;   /* NULL: CONF_PATH, if it exists */
	const char *sadb;   /* NULL: of the configuration */
	const char *prefix; /* file prefix or socket; NULL: of the configuration */
	const char *vici;   /* value of --vici: options_vici() */
	bool json;
	bool wide;	    /* tables have all columns */
	bool measurements;  /* show engines: also what cygnetd has measured */
	unsigned int count; /* top: intervals; watch: events; 0: until a signal */
};

/** Read the configuration, or its defaults if none is named and CONF_PATH does not exist.
 * @return 0, or -errno with the reason in error */
int options_conf(const struct options *options, struct conf *conf, char *error, size_t size);
/** Find the path of cygnetd's telemetry socket. @return 0, or -EINVAL with the reason in error: the
 * configuration is wrong */
int options_socket(const struct options *options, char *path, size_t path_size, char *error,
		   size_t size);
/** charon's vici socket: what --vici names, or charon's default. @return NULL: charon is not asked ("--vici none") */
const char *options_vici(const struct options *options);
/** Connect to cygnetd's telemetry socket.
 * @return a socket, or -errno with the reason in error; -EINVAL: the configuration is wrong */
int options_connect(const struct options *options, char *error, size_t size);
/** Open the SAD/SPD file. @return NULL with the reason in error and errno; EINVAL: the configuration is wrong */
struct cygnet_db *options_sadb(const struct options *options, char *error, size_t size);

#endif

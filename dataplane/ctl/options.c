/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "conf/conf.h"
#include "options.h"
#include "vici.h"

const struct option options_long[] = {
	{"json", no_argument, NULL, 'j'},	  {"count", required_argument, NULL, 'n'},
	{"measurements", no_argument, NULL, 'm'}, {"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},	  {"wide", no_argument, NULL, 'w'},
	{"vici", required_argument, NULL, 'v'},	  {NULL, 0, NULL, 0},
};

const char *const *options_names(void)
{
	static char text[sizeof(options_long) / sizeof(options_long[0])][24];
	static const char *names[sizeof(options_long) / sizeof(options_long[0])];

	for (size_t i = 0; options_long[i].name; i++) {
		snprintf(text[i], sizeof(text[i]), "--%s", options_long[i].name);
		names[i] = text[i];
	}
	return names;
}

/* As cygnetd does. */
int options_conf(const struct options *options, struct conf *conf, char *error, size_t size)
{
	if (!options->conf && access(CONF_PATH, F_OK) < 0 && errno == ENOENT) {
		conf_defaults(conf);
		return 0;
	}
	return conf_read(conf, options->conf ? options->conf : CONF_PATH, error, size);
}

int options_socket(const struct options *options, char *path, size_t path_size, char *error,
		   size_t size)
{
	char prefix[sizeof(((struct conf *)0)->eal)];
	static struct conf conf;

	if (!options->prefix) {
		if (options_conf(options, &conf, error, size))
			return -EINVAL;
		conf_file_prefix(&conf, prefix, sizeof(prefix));
	}
	client_socket_path(options->prefix ? options->prefix : prefix, path, path_size);
	return 0;
}

const char *options_vici(const struct options *options)
{
	if (!options->vici)
		return VICI_SOCKET;
	return strcmp(options->vici, "none") ? options->vici : NULL;
}

int options_connect(const struct options *options, char *error, size_t size)
{
	char path[PATH_MAX];
	int err = options_socket(options, path, sizeof(path), error, size);

	return err ? err : client_connect(path, error, size);
}

struct cygnet_db *options_sadb(const struct options *options, char *error, size_t size)
{
	static struct conf conf;
	struct cygnet_db *db;
	int err;

	if (!options->sadb && options_conf(options, &conf, error, size)) {
		errno = EINVAL;
		return NULL;
	}
	/* Only processes that write the file require it to be in memory. */
	err = cygnet_db_open_flags(options->sadb ? options->sadb : conf.sadb, NULL,
				   CYGNET_OPEN_ON_DISK, &db, error, size);
	errno = -err;
	return db;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "conf/conf.h"
#include "config.h"
#include "judge.h"
#include "options.h"
#include "trace.h"

static int check(const struct options *options, int argc, char **argv);

static const struct {
	const char *name;
	int (*run)(const struct options *options, int argc, char **argv);
} commands[] = {
	{"show", show},	  {"check", check},	{"health", health}, {"top", top},
	{"watch", watch}, {"capture", capture}, {"trace", trace},   {"bundle", bundle},
};

static void usage(FILE *out)
{
	fprintf(out,
		"usage: cygnetctl [OPTION...] show THING\n"
		"       cygnetctl [OPTION...] show engines [--measurements | ALGORITHM]\n"
		"       cygnetctl [OPTION...] check\n"
		"       cygnetctl [OPTION...] health\n"
		"       cygnetctl [OPTION...] [--count N] top [SECONDS]\n"
		"       cygnetctl [OPTION...] [--count N] watch\n"
		"       cygnetctl [OPTION...] capture FILE [at POINT,...] [port NAME] [drop REASON]\n"
		"                 [spi SPI] [count N] [seconds N] [filter EXPRESSION]\n"
		"       cygnetctl [OPTION...] trace src ADDRESS dst ADDRESS [proto PROTOCOL] [sport N]\n"
		"                 [dport N] [in PORT|kernel] [size BYTES] [df yes]\n"
		"       cygnetctl [OPTION...] trace spi SPI dst ADDRESS [proto esp|ah] [encap udp]\n"
		"                 [in PORT] [inner src ADDRESS dst ADDRESS ...]\n"
		"       cygnetctl [OPTION...] bundle ARCHIVE\n"
		"  THING      sad, spd, ports, routes, ike, engines, stats, drops or stages\n"
		"  --measurements, ALGORITHM\n"
		"             with engines: what serves which algorithm, or all measurements of the\n"
		"             algorithms whose names begin with ALGORITHM\n"
		"  check      check all invariants of the SAD and the SPD\n"
		"  health     one line; exit status 0: well, 1: warning, 2: critical, 3: unknown\n"
		"  top        rates a second, every SECONDS (1), N times; q ends it\n"
		"  watch      events as lines of JSON, until N of them have been printed\n"
		"  capture    packets into FILE as pcapng, with comments: rx, tx, drop, decrypted, to-protect\n"
		"  trace      where such a packet would go and why\n"
		"  bundle     collect what support needs in ARCHIVE, a new .tar.gz; without keys\n"
		"  -c FILE    cygnetd's configuration, %s if not given\n"
		"  -s SADB    the SAD/SPD file, instead of the configuration's\n"
		"  -p PREFIX  file prefix of cygnetd's EAL, or path of its telemetry socket\n"
		"  --json     JSON instead of a table\n"
		"  -V         print the version\n",
		CONF_PATH);
}

static int check_db(struct cygnet_db *db, char *error, size_t size)
{
	struct cygnet_db_info info;
	int err = cygnet_db_check(db, error, size);

	cygnet_db_info(db, &info);
	if (!err)
		printf("%s: %u SAs, %u policies, %u deleted ones to be wiped: no error found\n",
		       info.path, info.sas, info.policies,
		       info.sas_waiting + info.policies_waiting);
	return err;
}

static int check(const struct options *options, int argc, char **argv)
{
	struct cygnet_db *db;
	char error[1024];
	int err;

	(void)argv;
	if (argc != 1)
		return COMMAND_USAGE;
	db = options_sadb(options, error, sizeof(error));
	err = db ? check_db(db, error, sizeof(error)) : -1;
	cygnet_db_close(db);
	if (err)
		fprintf(stderr, "cygnetctl: %s\n", error);
	return err ? 1 : 0;
}

/* health must not return 2 for wrong usage: Nagios takes 2 for a critical state. */
static int wrong_usage(int argc, char **argv)
{
	return argc && !strcmp(argv[argc - 1], "health") ? HEALTH_UNKNOWN : 2;
}

static int run_command(const struct options *options, int argc, char **argv)
{
	for (size_t i = 0; argc && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[0], commands[i].name))
			return commands[i].run(options, argc, argv);
	return COMMAND_USAGE;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},	  {"count", required_argument, NULL, 'n'},
		{"measurements", no_argument, NULL, 'm'}, {"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},	  {NULL, 0, NULL, 0},
	};
	struct options options = {0};
	int option, status;

	while ((option = getopt_long(argc, argv, "c:s:p:hV", longs, NULL)) != -1) {
		switch (option) {
		case 'c':
			options.conf = optarg;
			break;
		case 's':
			options.sadb = optarg;
			break;
		case 'p':
			options.prefix = optarg;
			break;
		case 'n':
			options.count = (unsigned int)strtoul(optarg, NULL, 10);
			if (options.count)
				break;
			fprintf(stderr, "cygnetctl: --count %s: not a number from 1 on\n", optarg);
			return 2;
		case 'j':
			options.json = true;
			break;
		case 'm':
			options.measurements = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'V':
			printf("cygnetctl %s\n", PACKAGE_VERSION);
			return 0;
		default:
			usage(stderr);
			return wrong_usage(argc, argv);
		}
	}
	status = run_command(&options, argc - optind, argv + optind);
	if (status != COMMAND_USAGE)
		return status;
	usage(stderr);
	return 2;
}

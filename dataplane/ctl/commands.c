/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "commands.h"
#include "complete.h"
#include "conf/conf.h"
#include "report.h"
#include "things.h"
#include "words.h"

static int complete(const struct options *options, int argc, char **argv);
static const char *const *help_next(int argc, char **argv);
static int help(const struct options *options, int argc, char **argv);

const struct command commands[] = {
	{"show", show, "THING [FILTER VALUE]... | engines [ALGORITHM]", "a table of THING",
	 "  --wide     all columns, however wide\n"
	 "  --vici SOCKET\n"
	 "             of charon, which knows the names of SAs; none: do not ask\n",
	 show_next},
	{"check", check, "", "check all invariants of the SAD and the SPD", "", NULL},
	{"health", health, "", "one line; exit status 0: well, 1: warning, 2: critical, 3: unknown",
	 "", NULL},
	{"doctor", doctor, "", "what is wrong with the gateway and its host, and what to do",
	 "  exit status 0: nothing to do, 1: something\n", NULL},
	{"top", top, "[SECONDS]", "rates a second, every SECONDS (1)",
	 "  --count N  end after N intervals; the key q ends it, too\n", NULL},
	{"watch", watch, "", "events as lines of JSON", "  --count N  end after N events\n", NULL},
	{"capture", capture,
	 "FILE [at POINT,...] [port NAME] [drop REASON] [spi SPI]\n[count N] [seconds N] [filter EXPRESSION]",
	 "packets into FILE as pcapng, with comments",
	 "  FILE       a new file; -: standard output\n"
	 "  POINT      rx, tx, drop, decrypted or to-protect\n"
	 "  REASON     as in cygnetctl show drops\n"
	 "  count      packets, 10000 if not given; 0: no limit\n"
	 "  seconds    60 if not given; 0: no limit\n"
	 "  filter     as in pcap-filter(7), one argument\n",
	 capture_next},
	{"trace", trace,
	 "src ADDRESS dst ADDRESS [proto PROTOCOL] [sport N] [dport N]\n"
	 "[in PORT|kernel] [size BYTES] [df yes]\n"
	 "| spi SPI dst ADDRESS [proto esp|ah] [encap udp] [in PORT]\n"
	 "[inner src ADDRESS dst ADDRESS ...]",
	 "where such a packet would go and why", "", trace_next},
	{"bundle", bundle, "ARCHIVE",
	 "collect what support needs in ARCHIVE, a new .tar.gz; without keys", "", NULL},
	{"schema", schema, "[NAME]", "JSON Schema of what a command prints with --json, or of all",
	 "  NAME       a THING of show, a command, or error\n", schema_next},
	{"help", help, "[COMMAND]", "what cygnetctl or one of its commands does", "", help_next},
	{"complete", complete, "-- WORD...", NULL, "", NULL},
	{NULL, NULL, NULL, NULL, NULL, NULL},
};

const struct command *command_find(const char *name)
{
	for (const struct command *command = commands; command->name; command++)
		if (!strcmp(command->name, name))
			return command;
	return NULL;
}

const char *const *command_names(void)
{
	static const char *names[WORDS_MAX];

	size_t n = 0;

	for (size_t i = 0; commands[i].name && i < WORDS_MAX - 1; i++)
		if (commands[i].brief)
			names[n++] = commands[i].name;
	return names;
}

/* Lines after the first are indented to where the first one's arguments begin. */
static void print_usage(FILE *out, const struct command *command)
{
	int indent = fprintf(out, "usage: cygnetctl [OPTION...] %s ", command->name);

	for (const char *c = command->arguments; *c; c++) {
		fputc(*c, out);
		if (*c == '\n')
			fprintf(out, "%*s", indent, "");
	}
	fputc('\n', out);
}

static void print_options(FILE *out)
{
	fprintf(out,
		"options:\n"
		"  -c FILE    cygnetd's configuration, %s if not given\n"
		"  -s SADB    the SAD/SPD file, instead of the configuration's\n"
		"  -p PREFIX  file prefix of cygnetd's EAL, or path of its telemetry socket\n"
		"  --json     JSON instead of a table, and as errors\n"
		"  --help     what a command does\n"
		"  -V         print the version\n",
		CONF_PATH);
}

void command_help(FILE *out, const struct command *command)
{
	if (command) {
		print_usage(out, command);
		fprintf(out, "%s: %s\n%s", command->name,
			command->brief ? command->brief : "the words that may be next, for shells",
			command->help);
		if (command->run == show)
			things_help(out);
	} else {
		fprintf(out, "usage: cygnetctl [OPTION...] COMMAND [ARGUMENT...]\n"
			     "commands (cygnetctl help COMMAND has more):\n");
		for (command = commands; command->brief; command++)
			fprintf(out, "  %-9s  %s\n", command->name, command->brief);
	}
	print_options(out);
}

static int help(const struct options *options, int argc, char **argv)
{
	const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;

	if (argc > 1 && !command)
		return report_word(options, "command", argv[1], command_names());
	command_help(stdout, command);
	return 0;
}

static const char *const *help_next(int argc, char **argv)
{
	(void)argv;
	return argc == 1 ? command_names() : NULL;
}

static int complete(const struct options *options, int argc, char **argv)
{
	(void)options;
	complete_words(stdout, options_names(), argc - 1, argv + 1);
	return 0;
}

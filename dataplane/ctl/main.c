/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "config.h"
#include "judge.h"
#include "options.h"
#include "report.h"

/* An option that is wrong: reported when all others have been read, --json among them. */
struct wrong {
	const char *option; /* as it was typed; NULL: none */
	bool no_value;
	const char *count; /* the value of --count that is no number; NULL: none */
};

/* @return exit status */
static int report_wrong(const struct options *options, const struct wrong *wrong)
{
	if (wrong->count)
		return report_error(options, 2, "--count %s: not a number from 1 on", wrong->count);
	if (wrong->no_value)
		return report_error(options, 2, "%s: no value", wrong->option);
	if (strncmp(wrong->option, "--", 2))
		return report_error(options, 2, "there is no option %s: see cygnetctl help",
				    wrong->option);
	return report_word(options, "option", wrong->option, options_names());
}

static void set_count(struct options *options, struct wrong *wrong, const char *text)
{
	char *end;

	options->count = (unsigned int)strtoul(text, &end, 10);
	if (!options->count || *end || *text == '-')
		wrong->count = text;
}

/* @param[out] help  whether --help is among them. @return false: cygnetctl is to print its version only */
static bool parse(int argc, char **argv, struct options *options, struct wrong *wrong, bool *help)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":c:s:p:hV", options_long, NULL)) != -1) {
		static char letter[] = "-?";

		switch (option) {
		case 'c':
			options->conf = optarg;
			break;
		case 's':
			options->sadb = optarg;
			break;
		case 'p':
			options->prefix = optarg;
			break;
		case 'n':
			set_count(options, wrong, optarg);
			break;
		case 'j':
			options->json = true;
			break;
		case 'm':
			options->measurements = true;
			break;
		case 'w':
			options->wide = true;
			break;
		case 'v':
			options->vici = optarg;
			break;
		case 'h':
			*help = true;
			break;
		case 'V':
			return false;
		default:
			/* optopt is a letter; of a long option it is 0, or val where one has no value. */
			letter[1] = (char)optopt;
			wrong->no_value = option == ':';
			wrong->option = optopt && optopt != 'n' && optopt != 'v' ? letter
										 : argv[optind - 1];
		}
	}
	return true;
}

static int report_usage(const struct options *options, const struct command *command)
{
	if (options->json)
		return report_error(options, 2, "%s: wrong arguments", command->name);
	command_help(stderr, command);
	return 2;
}

static int run(const struct options *options, const struct wrong *wrong, bool wants_help, int argc,
	       char **argv)
{
	const struct command *command = argc ? command_find(argv[0]) : NULL;
	int status;

	if (wrong->option || wrong->count)
		return report_wrong(options, wrong);
	if (argc && !command)
		return report_word(options, "command", argv[0], command_names());
	if (wants_help) {
		command_help(stdout, command);
		return 0;
	}
	if (!command && options->json)
		return report_error(options, 2, "no command");
	if (!command) {
		command_help(stderr, NULL);
		return 2;
	}
	status = command->run(options, argc, argv);
	return status == COMMAND_USAGE ? report_usage(options, command) : status;
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct wrong wrong = {0};
	bool help = false;
	int status;

	/* Large tables are freed as a whole. With fastbins glibc walks all of them again and again meanwhile: a fifth of
	 * the time of 100,000 SAs with names. */
	mallopt(M_MXFAST, 0);
	if (!parse(argc, argv, &options, &wrong, &help)) {
		printf("cygnetctl %s\n", PACKAGE_VERSION);
		return 0;
	}
	status = run(&options, &wrong, help, argc - optind, argv + optind);
	/* Nagios takes 2 for a critical state. */
	if (status == 2 && (wrong.option || wrong.count) && optind < argc &&
	    !strcmp(argv[optind], "health"))
		return HEALTH_UNKNOWN;
	return status;
}

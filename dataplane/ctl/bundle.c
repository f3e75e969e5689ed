/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "collect.h"
#include "commands.h"
#include "conf/conf.h"
#include "report.h"
#include "text.h"

#define SELF	 "/proc/self/exe"
#define MAX_ARGS 16

/* The bundle must have no keys. It leaves out the SAD's file, charon's secrets and keys, charon's log (keys at its
 * highest level) and `ip xfrm`. */
static const char readme[] =
	"Made by cygnetctl bundle, see cygnetctl(8). It has no keys: nothing of /etc/swanctl, /etc/ipsec.secrets and\n"
	"the file of the SAD is in it, and no log of charon. It does have addresses, names of hosts and peers,\n"
	"selectors and the journal of cygnetd: read it before you pass it on.\n";

/* Commands of cygnetctl. */
static const struct {
	const char *name;
	const char *argv[5];
} own[] = {
	{"version.txt", {"--version"}},
	{"health.txt", {"health"}},
	{"doctor.txt", {"doctor"}},
	{"info.json", {"--json", "show", "info"}},
	{"sad.json", {"--json", "show", "sad"}},
	{"tunnels.json", {"--json", "show", "tunnels"}},
	{"spd.json", {"--json", "show", "spd"}},
	{"ports.json", {"--json", "show", "ports"}},
	{"routes.json", {"--json", "show", "routes"}},
	{"ike.json", {"--json", "show", "ike"}},
	{"engines.json", {"--json", "show", "engines"}},
	{"stats.json", {"--json", "show", "stats"}},
	{"drops.json", {"--json", "show", "drops"}},
	{"stages.json", {"--json", "show", "stages"}},
	{"top.txt", {"--count", "1", "top"}},
	{"check.txt", {"check"}},
};

static const struct {
	const char *name;
	const char *argv[MAX_ARGS];
} programs[] = {
	{"uname.txt", {"uname", "-a"}},
	{"links.txt", {"ip", "-d", "-s", "link"}},
	{"addresses.txt", {"ip", "address"}},
	{"kernel-routes.txt", {"ip", "route", "show", "table", "all"}},
	{"kernel-rules.txt", {"ip", "rule"}},
	{"neighbours.txt", {"ip", "neighbour"}},
	{"lspci.txt", {"lspci", "-nnk"}},
	{"numa.txt", {"lscpu"}},
	{"packages.txt",
	 {"dpkg-query", "-W", "*cygnet*", "*strongswan*", "libcharon*", "dpdk*", "librte*",
	  "*intel-ipsec-mb*", "libipsec-mb*", "pocl*", "*opencl*", "linux-image*"}},
	{"unit.txt", {"systemctl", "--no-pager", "--full", "status", "cygnetd", "cygnet-exporter"}},
	{"journal.txt",
	 {"journalctl", "--no-pager", "-n", "20000", "-u", "cygnetd", "-u", "cygnet-exporter"}},
	{"kernel-log.txt", {"journalctl", "--no-pager", "-n", "2000", "-k"}},
	{"ike-sas.txt", {"swanctl", "--list-sas"}},
	{"ike-connections.txt", {"swanctl", "--list-conns"}},
	{"ike-policies.txt", {"swanctl", "--list-pols"}},
	{"ike-stats.txt", {"swanctl", "--stats"}},
};

static const struct {
	const char *name, *pattern;
} files[] = {
	{"os-release.txt", "/etc/os-release"},
	{"memory.txt", "/proc/meminfo"},
	{"hugepages.txt", "/sys/kernel/mm/hugepages/hugepages-*/*"},
	{"hugepages.txt", "/sys/devices/system/node/node*/hugepages/hugepages-*/*"},
	{"processors.txt", "/proc/cpuinfo"},
	{"kernel-command-line.txt", "/proc/cmdline"},
	{"modules.txt", "/proc/modules"},
	{"interrupts.txt", "/proc/interrupts"},
};

/* Append the options of this cygnetctl to the arguments of a child. @return number of arguments */
static size_t add_options(const struct options *options, const char **argv)
{
	size_t n = 0;

	argv[n++] = SELF;
	if (options->conf) {
		argv[n++] = "-c";
		argv[n++] = options->conf;
	}
	if (options->sadb) {
		argv[n++] = "-s";
		argv[n++] = options->sadb;
	}
	if (options->vici) {
		argv[n++] = "--vici";
		argv[n++] = options->vici;
	}
	if (options->prefix) {
		argv[n++] = "-p";
		argv[n++] = options->prefix;
	}
	return n;
}

static void collect_own(const char *folder, const struct options *options)
{
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		const char *argv[MAX_ARGS] = {0};
		size_t n = add_options(options, argv);

		for (size_t j = 0; own[i].argv[j]; j++)
			argv[n++] = own[i].argv[j];
		collect_output(folder, own[i].name, argv);
	}
}

static void collect_all(const char *folder, const struct options *options)
{
	const char *conf = options->conf ? options->conf : CONF_PATH;
	char pattern[PATH_MAX];

	collect_text(folder, "README", readme);
	collect_own(folder, options);
	collect_files(folder, "cygnetd.conf", conf);
	snprintf(pattern, sizeof(pattern), "%s.d/*.conf", conf);
	collect_files(folder, "cygnetd.conf", pattern);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		collect_output(folder, programs[i].name, programs[i].argv);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		collect_files(folder, files[i].name, files[i].pattern);
}

static void print_made(const char *path, bool json)
{
	json_t *row;

	if (!json) {
		printf("%s: read it before you pass it on; it has no keys, but addresses and names\n",
		       path);
		return;
	}
	row = json_pack("{s:o}", "archive", text_json(path, strlen(path)));
	json_dumpf(row, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(row);
}

int bundle(const struct options *options, int argc, char **argv)
{
	char folder[PATH_MAX];
	int err;

	if (argc != 2)
		return COMMAND_USAGE;
	if (access(argv[1], F_OK) == 0)
		return report_error(options, 1, "%s: exists already", argv[1]);
	err = collect_begin(folder, sizeof(folder));
	if (err)
		return report_error(options, 1, "%s: %s", folder, strerror(-err));
	collect_all(folder, options);
	err = collect_pack(folder, argv[1]);
	collect_end(folder);
	if (err)
		return report_error(options, 1, "%s: %s", argv[1], strerror(-err));
	print_made(argv[1], options->json);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cygnet-exporter: metrics of cygnetd for Prometheus, in a process of its own. The parser of HTTP shares
 * no address space with keys, and a scrape takes no time of cygnetd's control thread. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "conf/conf.h"
#include "config.h"
#include "exporter/http.h"
#include "exporter/listen.h"

#define DEFAULT_LISTEN "127.0.0.1:9760"
#define MAX_ROWS       65536ul /* with metrics of their own */
#define TUNNELS	       1000u
#define WAIT_MS	       1000

static volatile sig_atomic_t ending;

static void end(int signal)
{
	(void)signal;
	ending = 1;
}

static void usage(FILE *out)
{
	fprintf(out,
		"usage: cygnet-exporter [-c FILE] [-p PREFIX|SOCKET] [-l ADDRESS] [--sas N] [--tunnels N]\n"
		"                       [--policies N] [--vici SOCKET] [--stages]\n"
		"  -c FILE     cygnetd's configuration, %s if not given\n"
		"  -p PREFIX   file prefix of cygnetd's EAL, or path of its telemetry socket\n"
		"  -l ADDRESS  loopback address and port, or path of a Unix socket; " DEFAULT_LISTEN
		"\n"
		"  --sas N     metrics of each SA, of N SAs at most; 0 if not given\n"
		"  --tunnels N metrics of each tunnel, of N tunnels at most; 1000 if not given\n"
		"  --policies N\n"
		"              metrics of each policy that has had packets, of N at most; 0 if not given\n"
		"  --vici SOCKET\n"
		"              of charon, for the names of tunnels; it is not asked if not given\n"
		"  --stages    metrics of each stage; workers count them all the time\n"
		"  --once      print the metrics once, as OpenMetrics, and serve nothing\n"
		"  -V          print the version\n",
		CONF_PATH);
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = end};

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int serve(const struct metrics *metrics, const char *where)
{
	struct MHD_Daemon *daemon;
	uint64_t asked = 0;
	char error[512];
	int listener = listen_open(where, error, sizeof(error));
	bool serves = true;

	if (listener < 0) {
		fprintf(stderr, "cygnet-exporter: %s\n", error);
		return 1;
	}
	daemon = http_start(listener, metrics);
	if (!daemon) {
		fprintf(stderr, "cygnet-exporter: %s: the HTTP server does not start\n", where);
		close(listener);
		return 1;
	}
	while (!ending && serves) {
		uint64_t now = clock_read_us(CLOCK_MONOTONIC);

		if (metrics->stages && now - asked >= METRICS_STAGES_MS * 1000) {
			metrics_keep_stages(metrics);
			asked = now;
		}
		serves = http_serve(daemon, WAIT_MS);
	}
	http_stop(daemon);
	if (where[0] == '/')
		unlink(where);
	/* A signal interrupts the wait as a failure does. */
	return ending ? 0 : 1;
}

static int print_once(const struct metrics *metrics)
{
	size_t length;
	char *text = metrics_text(metrics, true, &length);
	bool failed = !text || fwrite(text, 1, length, stdout) != length || fflush(stdout);

	free(text);
	if (failed)
		fprintf(stderr, "cygnet-exporter: cannot write the metrics\n");
	return failed;
}

/* An error is reported. */
static bool parse_number(const char *option, const char *text, unsigned long most,
			 unsigned int *number)
{
	char *end_of_number;
	unsigned long value = strtoul(text, &end_of_number, 10);

	*number = (unsigned int)value;
	if (*text >= '0' && *text <= '9' && !*end_of_number && value <= most)
		return true;
	fprintf(stderr, "cygnet-exporter: %s %s: not a number from 0 to %lu\n", option, text, most);
	return false;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"sas", required_argument, NULL, 'n'},
		{"stages", no_argument, NULL, 't'},
		{"once", no_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{"tunnels", required_argument, NULL, 'u'},
		{"vici", required_argument, NULL, 'v'},
		{"policies", required_argument, NULL, 'y'},
		{NULL, 0, NULL, 0},
	};
	struct metrics metrics = {.tunnels = TUNNELS};
	const char *where = DEFAULT_LISTEN;
	bool once = false;
	int option;

	while ((option = getopt_long(argc, argv, "c:p:l:hV", longs, NULL)) != -1) {
		switch (option) {
		case 'c':
			metrics.options.conf = optarg;
			break;
		case 'p':
			metrics.options.prefix = optarg;
			break;
		case 'l':
			where = optarg;
			break;
		case 'n':
			if (!parse_number("--sas", optarg, MAX_ROWS, &metrics.sas))
				return 2;
			break;
		case 'u':
			if (!parse_number("--tunnels", optarg, MAX_ROWS, &metrics.tunnels))
				return 2;
			break;
		case 'y':
			if (!parse_number("--policies", optarg, MAX_ROWS, &metrics.policies))
				return 2;
			break;
		case 'v':
			metrics.options.vici = optarg;
			break;
		case 't':
			metrics.stages = true;
			break;
		case 'o':
			once = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'V':
			printf("cygnet-exporter %s\n", PACKAGE_VERSION);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind != argc) {
		usage(stderr);
		return 2;
	}
	if (once)
		return print_once(&metrics);
	catch_signals();
	return serve(&metrics, where);
}

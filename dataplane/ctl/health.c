/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "commands.h"
#include "judge.h"
#include "perfdata.h"

/* A worker that has finished no iteration of its loop in this time is stuck. */
#define STUCK_MS 3000u
#define LOOK_MS	 50u

static const char *const names[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};

static void free_answers(struct answers *answers)
{
	json_decref(answers->info);
	json_decref(answers->ports);
	json_decref(answers->engines);
	json_decref(answers->stats);
	json_decref(answers->stats_later);
}

/* Repeat the request until each worker has finished an iteration of its loop or is stuck. */
static int ask_workers(int fd, struct answers *answers, char *error, size_t size)
{
	const struct timespec look = {.tv_nsec = LOOK_MS * 1000000l};

	answers->stats = client_table(fd, "/cygnet/stats", error, size);
	for (unsigned int ms = 0; answers->stats && ms < STUCK_MS; ms += LOOK_MS) {
		nanosleep(&look, NULL);
		json_decref(answers->stats_later);
		answers->stats_later = client_table(fd, "/cygnet/stats", error, size);
		if (!answers->stats_later || judge_workers_turn(answers))
			break;
	}
	return answers->stats_later ? 0 : -EPROTO;
}

static int ask_all(int fd, struct answers *answers, char *error, size_t size)
{
	answers->info = client_table(fd, "/cygnet/info", error, size);
	answers->ports = answers->info ? client_table(fd, "/cygnet/ports", error, size) : NULL;
	answers->engines = answers->ports ? client_table(fd, "/cygnet/engines", error, size) : NULL;
	return answers->engines ? ask_workers(fd, answers, error, size) : -EPROTO;
}

/* @param[out] numbers  perfdata_rows(), if cygnetd answers */
static enum judgement ask_and_judge(const struct options *options, json_t **numbers, char *reason,
				    size_t size)
{
	struct answers answers = {0};
	enum judgement judgement;
	int fd;

	fd = options_connect(options, reason, size);
	/* The state is unknown without permission or with a configuration that cannot be read. */
	if (fd < 0)
		return fd == -ENOENT || fd == -ECONNREFUSED || fd == -ETIMEDOUT ? HEALTH_CRITICAL
										: HEALTH_UNKNOWN;
	judgement = HEALTH_CRITICAL;
	if (!ask_all(fd, &answers, reason, size)) {
		judgement = judge(&answers, reason, size);
		*numbers = perfdata_rows(&answers);
	}
	close(fd);
	free_answers(&answers);
	return judgement;
}

static void print(enum judgement judgement, const char *reason, const json_t *numbers)
{
	printf("%s: %s", names[judgement], reason);
	if (numbers)
		fputs(" | ", stdout);
	perfdata_print(stdout, numbers);
	putchar('\n');
}

static void print_json(enum judgement judgement, const char *reason, json_t *numbers)
{
	json_t *row = json_pack("{s:s, s:i, s:s, s:o}", "state", names[judgement], "status",
				(int)judgement, "reason", reason, "perfdata",
				numbers ? json_incref(numbers) : json_array());

	json_dumpf(row, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(row);
}

int health(const struct options *options, int argc, char **argv)
{
	char reason[4096] = "out of memory";
	enum judgement judgement;
	json_t *numbers = NULL;

	(void)argv;
	if (argc != 1) {
		printf("UNKNOWN: cygnetctl health takes no arguments\n");
		return HEALTH_UNKNOWN;
	}
	judgement = ask_and_judge(options, &numbers, reason, sizeof(reason));
	if (options->json)
		print_json(judgement, reason, numbers);
	else
		print(judgement, reason, numbers);
	json_decref(numbers);
	return (int)judgement;
}

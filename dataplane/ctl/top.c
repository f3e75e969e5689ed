/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "busiest.h"
#include "client.h"
#include "commands.h"
#include "rates.h"
#include "report.h"
#include "table.h"
#include "terminal.h"

#define SAS_SHOWN	10
#define DEFAULT_SECONDS 1.0
#define MAX_SECONDS	3600.0

static const char *const stats_fields[] = {
	"forwarded",	 "encapsulated", "decapsulated", "dummies",    "keepalives",
	"waited_for_sa", "came_early",	 "reassembled",	 "handed_off", "crypto_cores",
	"shortcut",	 "dropped",	 "turns",	 NULL,
};
static const char *const ports_fields[] = {
	"rx_packets",  "rx_bytes",  "tx_packets", "tx_bytes",  "to_kernel",
	"from_kernel", "rx_missed", "rx_errors",  "tx_errors", NULL,
};
static const char *const engines_fields[] = {"packets", "encrypted", "decrypted",
					     "bytes",	"failed",    NULL};
static const char *const drops_fields[] = {"packets", NULL};

static const struct column workers_columns[] = {
	{"worker", "WORKER", 0},
	{"busy", "BUSY%", 0},
	{"encapsulated", "PROTECTED", COLUMN_COUNT},
	{"decapsulated", "UNPROTECTED", COLUMN_COUNT},
	{"forwarded", "PLAINTEXT", COLUMN_COUNT},
	{"shortcut", "KNOWN", COLUMN_COUNT},
	{"handed_off", "HANDED-OFF", COLUMN_COUNT},
	{"dropped", "DROPPED", COLUMN_COUNT},
	{NULL, NULL, 0},
};
static const struct column ports_columns[] = {
	{"name", "PORT", 0},
	{"link", "LINK", 0},
	{"state", "STATE", 0},
	{"rx_packets", "RX", COLUMN_COUNT},
	{"rx_mbit", "RX-MBIT", 0},
	{"tx_packets", "TX", COLUMN_COUNT},
	{"tx_mbit", "TX-MBIT", 0},
	{"to_kernel", "TO-KERNEL", COLUMN_COUNT},
	{"rx_missed", "MISSED", COLUMN_COUNT},
	{NULL, NULL, 0},
};
static const struct column engines_columns[] = {
	{"device", "DEVICE", 0},
	{"engine", "ENGINE", 0},
	{"state", "STATE", 0},
	{"sas", "SAS", 0},
	{"encrypted", "ENCRYPTED", COLUMN_COUNT},
	{"decrypted", "DECRYPTED", COLUMN_COUNT},
	{"mbit", "MBIT", 0},
	{"failed", "FAILED", 0},
	{NULL, NULL, 0},
};
static const struct column sas_columns[] = {
	{"spi", "SPI", 0},   {"dir", "DIR", 0},	    {"src", "SRC", 0},
	{"dst", "DST", 0},   {"reqid", "REQID", 0}, {"packets", "PACKETS", COLUMN_COUNT},
	{"mbit", "MBIT", 0}, {NULL, NULL, 0},
};
static const struct column drops_columns[] = {
	{"packets", "DROPPED", COLUMN_COUNT},
	{"reason", "REASON", 0},
	{"help", "WHAT IT MEANS", 0},
	{NULL, NULL, 0},
};

/* Counters at one moment. */
struct sample {
	double time; /* seconds */
	json_t *info, *stats, *ports, *engines, *drops;
};

static void free_sample(struct sample *sample)
{
	json_decref(sample->info);
	json_decref(sample->stats);
	json_decref(sample->ports);
	json_decref(sample->engines);
	json_decref(sample->drops);
	*sample = (struct sample){0};
}

static int take_sample(const struct options *options, struct sample *sample, char *error,
		       size_t size)
{
	const struct {
		const char *command;
		json_t **rows;
	} wanted[] = {
		{"/cygnet/info", &sample->info},   {"/cygnet/stats", &sample->stats},
		{"/cygnet/ports", &sample->ports}, {"/cygnet/engines", &sample->engines},
		{"/cygnet/drops", &sample->drops},
	};
	int fd = options_connect(options, error, size), err = fd < 0 ? -1 : 0;

	*sample = (struct sample){.time = (double)clock_read_us(CLOCK_MONOTONIC) / 1e6};
	for (size_t i = 0; !err && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		*wanted[i].rows = client_table(fd, wanted[i].command, error, size);
		err = *wanted[i].rows ? 0 : -1;
	}
	if (fd >= 0)
		close(fd);
	if (err)
		free_sample(sample);
	return err;
}

/* Read the SAD from the shared file. Show no SAs without permission to open it. */
static json_t *sample_sas(const struct options *options, struct looks *looks, double seconds)
{
	char error[512];
	struct cygnet_db *db = options_sadb(options, error, sizeof(error));
	json_t *rows = db ? busiest_sas(db, looks, SAS_SHOWN, seconds) : NULL;

	cygnet_db_close(db);
	rates_add_mbit(rows, "bytes", "mbit");
	return rows;
}

static bool is_same_cygnetd(const struct sample *a, const struct sample *b)
{
	const json_t *one = json_array_get(a->info, 0), *other = json_array_get(b->info, 0);

	return json_equal(json_object_get(one, "pid"), json_object_get(other, "pid")) &&
	       json_equal(json_object_get(one, "started"), json_object_get(other, "started"));
}

/* @return an object of tables; NULL: no memory */
static json_t *make_rates(const struct sample *before, const struct sample *after, json_t *sas)
{
	double seconds = after->time - before->time;
	json_t *workers = rates_between(before->stats, after->stats, "worker", stats_fields,
					seconds);
	json_t *ports = rates_between(before->ports, after->ports, "name", ports_fields, seconds);
	json_t *engines = rates_between(before->engines, after->engines, "device", engines_fields,
					seconds);
	json_t *drops = rates_between(before->drops, after->drops, "reason", drops_fields, seconds);

	rates_add_busy(workers, before->stats, after->stats);
	rates_add_mbit(ports, "rx_bytes", "rx_mbit");
	rates_add_mbit(ports, "tx_bytes", "tx_mbit");
	rates_add_mbit(engines, "bytes", "mbit");
	rates_keep(drops, "packets");
	return json_pack("{s:f, s:O, s:o, s:o, s:o, s:o, s:o}", "seconds", seconds, "info",
			 json_array_get(after->info, 0), "workers", workers, "ports", ports,
			 "engines", engines, "sas", sas ? sas : json_array(), "drops", drops);
}

static void print_head(FILE *out, const json_t *rates)
{
	const json_t *info = json_object_get(rates, "info");
	json_int_t started = json_integer_value(json_object_get(info, "started"));
	long long up = (long long)time(NULL) - started;

	fprintf(out,
		"cygnetd %s, process %" JSON_INTEGER_FORMAT
		", up %lld:%02lld:%02lld, charon %s, %" JSON_INTEGER_FORMAT
		" SAs, %" JSON_INTEGER_FORMAT " policies; rates a second over %.1f s\n",
		json_string_value(json_object_get(info, "version")),
		json_integer_value(json_object_get(info, "pid")), up / 3600, up / 60 % 60, up % 60,
		json_integer_value(json_object_get(info, "charon_pid")) ? "runs" : "does not run",
		json_integer_value(json_object_get(info, "sas")),
		json_integer_value(json_object_get(info, "policies")),
		json_real_value(json_object_get(rates, "seconds")));
}

static char *make_text(const json_t *rates)
{
	static const struct {
		const char *key;
		const struct column *columns;
	} tables[] = {
		{"workers", workers_columns}, {"ports", ports_columns},
		{"engines", engines_columns}, {"sas", sas_columns},
		{"drops", drops_columns},
	};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	print_head(out, rates);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const json_t *rows = json_object_get(rates, tables[i].key);

		if (!json_array_size(rows))
			continue;
		fputc('\n', out);
		table_print(out, rows, tables[i].columns, false);
	}
	fclose(out);
	return text;
}

static void draw(const struct options *options, const json_t *rates)
{
	char *text = options->json ? json_dumps(rates, JSON_COMPACT) : make_text(rates);

	if (options->json && text) {
		puts(text);
		fflush(stdout);
	} else if (text) {
		terminal_draw(text);
	}
	free(text);
}

/* Take another sample and show the rates since the last one.
 * @return 1: shown, 0: not yet; -1: cygnetd does not answer, reason in error */
static int refresh(const struct options *options, struct sample *last, struct looks *looks,
		   char *error, size_t size)
{
	struct sample sample;
	json_t *sas, *rates;
	bool shown;

	if (take_sample(options, &sample, error, size)) {
		free_sample(last);
		return -1;
	}
	sas = sample_sas(options, looks, last->info ? sample.time - last->time : 1);
	shown = last->info && is_same_cygnetd(last, &sample);
	if (shown) {
		rates = make_rates(last, &sample, sas);
		draw(options, rates);
		json_decref(rates);
	} else {
		json_decref(sas);
	}
	free_sample(last);
	*last = sample;
	return shown;
}

static bool parse_seconds(int argc, char **argv, double *seconds)
{
	char *end = NULL;

	*seconds = argc == 2 ? strtod(argv[1], &end) : DEFAULT_SECONDS;
	return (argc == 1 || (end != argv[1] && !*end)) && *seconds >= 0.1 &&
	       *seconds <= MAX_SECONDS;
}

/* If cygnetd does not answer, retry on a terminal, but end with an error if a program reads the output. */
static int run(const struct options *options, double seconds, bool screen)
{
	struct looks looks = {0};
	struct sample last = {0};
	unsigned int shown = 0;
	char error[1024];
	int err;

	do {
		err = refresh(options, &last, &looks, error, sizeof(error));
		if (err < 0 && screen)
			terminal_draw(error);
		else if (err > 0)
			shown++;
	} while ((err >= 0 || screen) && (!options->count || shown < options->count) &&
		 terminal_wait((unsigned int)(seconds * 1000)));
	free_sample(&last);
	busiest_free(&looks);
	/* On a screen the error has been drawn. */
	if (err < 0 && !screen)
		report_error(options, 1, "%s", error);
	return err < 0 ? 1 : 0;
}

int top(const struct options *options, int argc, char **argv)
{
	double seconds;
	int status;

	if (argc > 2)
		return COMMAND_USAGE;
	if (!parse_seconds(argc, argv, &seconds))
		return report_error(options, 2, "top: %s: not a number of seconds from 0.1 to %.0f",
				    argv[1], MAX_SECONDS);
	status = run(options, seconds, terminal_open(!options->json));
	terminal_close();
	return status;
}

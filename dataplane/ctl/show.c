/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "client.h"
#include "commands.h"
#include "cygnet.h"
#include "databases.h"
#include "engines.h"
#include "routes.h"
#include "stages.h"
#include "table.h"

/* The rows come from a telemetry command of cygnetd, or are read from the databases. */
struct thing {
	const char *name;
	const char *command;
	json_t *(*read)(struct cygnet_db *db, uint64_t now);
	const struct column *columns;
};

static const struct column sad_columns[] = {
	{"spi", "SPI"},		{"dir", "DIR"},	    {"src", "SRC"},	   {"dst", "DST"},
	{"proto", "PROTO"},	{"encap", "ENCAP"}, {"cipher", "CIPHER"},  {"key_bits", "BITS"},
	{"auth", "AUTH"},	{"icv", "ICV"},	    {"reqid", "REQID"},	   {"seq", "SEQ"},
	{"packets", "PACKETS"}, {"bytes", "BYTES"}, {"last_used", "USED"}, {"window", "WINDOW"},
	{NULL, NULL},
};

static const struct column spd_columns[] = {
	{"dir", "DIR"},
	{"selector", "SELECTOR"},
	{"action", "ACTION"},
	{"held", "HELD"},
	{"priority", "PRIORITY"},
	{"reqid", "REQID"},
	{"spi", "SPI"},
	{"last_used", "USED"},
	{"passed", "PASSED"},
	{"dropped", "DROPPED"},
	{NULL, NULL},
};

static const struct column ports_columns[] = {
	{"name", "PORT"},
	{"tap", "TAP"},
	{"driver", "DRIVER"},
	{"address", "ADDRESS"},
	{"mac", "MAC"},
	{"mtu", "MTU"},
	{"state", "STATE"},
	{"queues", "QUEUES"},
	{"rx_packets", "RX"},
	{"rx_bytes", "RX-BYTES"},
	{"tx_packets", "TX"},
	{"tx_bytes", "TX-BYTES"},
	{"to_kernel", "TO-KERNEL"},
	{"from_kernel", "FROM-KERNEL"},
	{"rx_missed", "MISSED"},
	{NULL, NULL},
};

static const struct column routes_columns[] = {
	{"prefix", "PREFIX"}, {"kind", "KIND"},	    {"gateway", "GATEWAY"}, {"port", "PORT"},
	{"table", "TABLE"},   {"metric", "METRIC"}, {"mtu", "MTU"},	    {NULL, NULL},
};

static const struct column ike_columns[] = {
	{"family", "FAMILY"},
	{"port", "PORT"},
	{"passes", "PASSES"},
	{NULL, NULL},
};

static const struct column engines_columns[] = {
	{"device", "DEVICE"},
	{"driver", "DRIVER"},
	{"engine", "ENGINE"},
	{"state", "STATE"},
	{"sas", "SAS"},
	{"encrypted", "ENCRYPTED"},
	{"decrypted", "DECRYPTED"},
	{"bytes", "BYTES"},
	{"failed", "FAILED"},
	{NULL, NULL},
};

static const struct column measured_columns[] = {
	{"algorithm", "ALGORITHM"},
	{"length", "BYTES"},
	{"device", "DEVICE"},
	{"packet_ns", "PACKET-NS"},
	{"gbps", "GBPS"},
	{"core_ns", "CORE-NS"},
	{"latency_us", "LATENCY-US"},
	{"chosen", "CHOSEN"},
	{"pays_from_gbps", "PAYS-FROM-GBPS"},
	{NULL, NULL},
};

/* Columns by packet length, as measured by cygnetd; Gbps. */
static const struct column chosen_columns[] = {
	{"algorithm", "ALGORITHM"}, {"64", "64 BYTES"},	    {"256", "256 BYTES"},
	{"1024", "1024 BYTES"},	    {"1408", "1408 BYTES"}, {NULL, NULL},
};

static const struct column stats_columns[] = {
	{"worker", "WORKER"},
	{"forwarded", "FORWARDED"},
	{"encapsulated", "ENCAPSULATED"},
	{"decapsulated", "DECAPSULATED"},
	{"dummies", "DUMMIES"},
	{"keepalives", "KEEPALIVES"},
	{"waited_for_sa", "WAITED-FOR-SA"},
	{"reassembled", "REASSEMBLED"},
	{"too_big_learned", "TOO-BIG-LEARNED"},
	{"too_big_ignored", "TOO-BIG-IGNORED"},
	{"handed_off", "HANDED-OFF"},
	{"sas_moved", "SAS-MOVED"},
	{"crypto_cores", "CRYPTO-CORES"},
	{"shortcut", "SHORTCUT"},
	{"dropped", "DROPPED"},
	{NULL, NULL},
};

static const struct column drops_columns[] = {
	{"packets", "PACKETS"},
	{"reason", "REASON"},
	{"help", "WHAT IT MEANS"},
	{NULL, NULL},
};

static const struct column stages_columns[] = {
	{"stage", "STAGE"},
	{"packets", "PACKETS"},
	{"vectors", "VECTORS"},
	{"packets_per_vector", "PER-VECTOR"},
	{"cycles_per_packet", "CYCLES"},
	{"help", "WHAT IT DOES"},
	{NULL, NULL},
};

static const struct thing things[] = {
	{"sad", NULL, databases_sad, sad_columns},
	{"spd", NULL, databases_spd, spd_columns},
	{"ports", "/cygnet/ports", NULL, ports_columns},
	{"routes", "/cygnet/routes", NULL, routes_columns},
	{"ike", "/cygnet/ike", NULL, ike_columns},
	{"engines", "/cygnet/engines", NULL, engines_columns},
	{"stats", "/cygnet/stats", NULL, stats_columns},
	{"drops", "/cygnet/drops", NULL, drops_columns},
	{"stages", "/cygnet/stages", NULL, stages_columns},
};

static const struct thing *find_thing(const char *name)
{
	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++)
		if (strcmp(name, things[i].name) == 0)
			return &things[i];
	return NULL;
}

static bool serves(int fd, const char *sadb)
{
	char error[512], ours[PATH_MAX], theirs[PATH_MAX];
	json_t *info = client_table(fd, "/cygnet/info", error, sizeof(error));
	const char *path = json_string_value(json_object_get(json_array_get(info, 0), "sadb"));
	bool same = path && realpath(path, theirs) && realpath(sadb, ours) && !strcmp(ours, theirs);

	json_decref(info);
	return same;
}

/* Add cygnetd's counters to policies. They stay null unless cygnetd runs with this file. */
static void add_counts(const struct options *options, const char *sadb, json_t *policies)
{
	char error[512];
	int fd = options_connect(options, error, sizeof(error));
	json_t *counts = NULL;

	if (fd < 0)
		return;
	if (serves(fd, sadb))
		counts = client_table(fd, "/cygnet/policies", error, sizeof(error));
	if (counts)
		databases_add_counts(policies, counts);
	json_decref(counts);
	close(fd);
}

static json_t *read_databases(const struct thing *thing, const struct options *options, char *error,
			      size_t size)
{
	struct cygnet_db *db = options_sadb(options, error, size);
	struct cygnet_db_info info;
	json_t *rows;

	if (!db)
		return NULL;
	rows = thing->read(db, clock_read_us(CLOCK_MONOTONIC) / 1000000);
	cygnet_db_info(db, &info);
	if (rows && thing->columns == spd_columns)
		add_counts(options, info.path, rows);
	cygnet_db_close(db);
	return rows;
}

/* Workers count stages only for a limited time after a request, so request twice. */
static json_t *ask_again(int fd, json_t *before, char *error, size_t size)
{
	const struct timespec wait = {STAGES_MS / 1000, STAGES_MS % 1000 * 1000000};
	json_t *after, *rows;

	nanosleep(&wait, NULL);
	after = client_table(fd, "/cygnet/stages", error, size);
	rows = after ? stages_between(before, after) : NULL;
	json_decref(before);
	json_decref(after);
	return rows;
}

static json_t *add_measured(int fd, json_t *devices, char *error, size_t size)
{
	json_t *measured = client_table(fd, "/cygnet/measured", error, size);

	if (!measured || engines_add_measured(devices, measured)) {
		json_decref(devices);
		devices = NULL;
	}
	json_decref(measured);
	return devices;
}

static json_t *ask_cygnetd(const struct thing *thing, const struct options *options, char *error,
			   size_t size)
{
	int fd = options_connect(options, error, size);
	json_t *rows;

	if (fd < 0)
		return NULL;
	rows = client_table(fd, thing->command, error, size);
	if (rows && thing->columns == engines_columns)
		rows = add_measured(fd, rows, error, size);
	if (rows && thing->columns == stages_columns)
		rows = ask_again(fd, rows, error, size);
	close(fd);
	/* If memory for sorting runs out, show routes unsorted. */
	if (rows && thing->columns == routes_columns)
		routes_sort(rows);
	return rows;
}

/* The second table of `show engines`. */
static void print_measured(const json_t *devices, const char *algorithm)
{
	json_t *rows = algorithm ? engines_measured(devices, algorithm) : engines_chosen(devices);

	if (json_array_size(rows)) {
		putchar('\n');
		table_print(stdout, rows, algorithm ? measured_columns : chosen_columns);
	}
	json_decref(rows);
}

static int print_rows(const struct thing *thing, const json_t *rows, const struct options *options,
		      const char *algorithm)
{
	table_output(rows, thing->columns, options->json);
	if (!options->json && (algorithm || options->measurements))
		print_measured(rows, algorithm);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "cygnetctl: cannot write: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}

int show(const struct options *options, int argc, char **argv)
{
	const struct thing *thing = argc == 2 || argc == 3 ? find_thing(argv[1]) : NULL;
	char error[1024] = "out of memory";
	json_t *rows;
	int err;

	if (!thing || ((argc == 3 || options->measurements) && thing->columns != engines_columns))
		return COMMAND_USAGE;
	rows = thing->read ? read_databases(thing, options, error, sizeof(error))
			   : ask_cygnetd(thing, options, error, sizeof(error));
	if (!rows) {
		fprintf(stderr, "cygnetctl: %s\n", error);
		return 1;
	}
	err = print_rows(thing, rows, options, argc == 3 ? argv[2] : NULL);
	json_decref(rows);
	return err;
}

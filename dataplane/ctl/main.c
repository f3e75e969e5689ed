/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/sadb.h"
#include "client.h"
#include "conf/conf.h"
#include "config.h"
#include "cygnet.h"
#include "databases.h"
#include "engines.h"
#include "routes.h"
#include "stages.h"
#include "table.h"

struct options {
	const char *conf;   /* NULL: CONF_PATH, if it is there */
	const char *sadb;   /* NULL: what the configuration says */
	const char *prefix; /* file prefix or socket; NULL: what the configuration says */
	const char *algorithm; /* whose measurements are shown; NULL: in short those of all */
	bool json;
};

/* Either a telemetry command or a reader of the databases makes the rows. */
struct thing {
	const char *name;
	const char *command;
	json_t *(*read)(struct cygnet_db *db, uint64_t now);
	const struct column *columns;
};

static const struct column sad_columns[] = {
	{"spi", "SPI"},		{"dir", "DIR"},	    {"src", "SRC"},	  {"dst", "DST"},
	{"proto", "PROTO"},	{"encap", "ENCAP"}, {"cipher", "CIPHER"}, {"key_bits", "BITS"},
	{"auth", "AUTH"},	{"icv", "ICV"},	    {"reqid", "REQID"},	  {"seq", "SEQ"},
	{"packets", "PACKETS"}, {"bytes", "BYTES"}, {"last_used", "USED"}, {"window", "WINDOW"},
	{NULL, NULL},
};

static const struct column spd_columns[] = {
	{"dir", "DIR"},	       {"selector", "SELECTOR"}, {"action", "ACTION"},
	{"priority", "PRIORITY"}, {"reqid", "REQID"},	 {"spi", "SPI"},
	{"last_used", "USED"}, {NULL, NULL},
};

static const struct column ports_columns[] = {
	{"name", "PORT"},	    {"tap", "TAP"},	     {"driver", "DRIVER"},
	{"address", "ADDRESS"},	    {"mac", "MAC"},		    {"mtu", "MTU"},	     {"state", "STATE"},
	{"queues", "QUEUES"},	    {"rx_packets", "RX"},    {"rx_bytes", "RX-BYTES"},
	{"tx_packets", "TX"},	    {"tx_bytes", "TX-BYTES"}, {"to_kernel", "TO-KERNEL"},
	{"from_kernel", "FROM-KERNEL"}, {"rx_missed", "MISSED"}, {NULL, NULL},
};

static const struct column routes_columns[] = {
	{"prefix", "PREFIX"}, {"kind", "KIND"},	  {"gateway", "GATEWAY"}, {"port", "PORT"},
	{"table", "TABLE"},   {"metric", "METRIC"}, {NULL, NULL},
};

static const struct column ike_columns[] = {
	{"family", "FAMILY"}, {"port", "PORT"}, {"passes", "PASSES"}, {NULL, NULL},
};

static const struct column engines_columns[] = {
	{"device", "DEVICE"},	    {"driver", "DRIVER"},	{"engine", "ENGINE"},
	{"state", "STATE"},
	{"sas", "SAS"},		    {"encrypted", "ENCRYPTED"}, {"decrypted", "DECRYPTED"},
	{"bytes", "BYTES"},	    {"failed", "FAILED"},	{NULL, NULL},
};

static const struct column measured_columns[] = {
	{"algorithm", "ALGORITHM"}, {"length", "BYTES"},
	{"device", "DEVICE"},	    {"packet_ns", "PACKET-NS"},
	{"gbps", "GBPS"},	    {"core_ns", "CORE-NS"},
	{"latency_us", "LATENCY-US"}, {"chosen", "CHOSEN"},
	{"pays_from_gbps", "PAYS-FROM-GBPS"}, {NULL, NULL},
};

/* By length, as cygnetd measures them; Gbps. */
static const struct column chosen_columns[] = {
	{"algorithm", "ALGORITHM"}, {"64", "64 BYTES"}, {"256", "256 BYTES"},
	{"1024", "1024 BYTES"},	    {"1408", "1408 BYTES"}, {NULL, NULL},
};

static const struct column stats_columns[] = {
	{"worker", "WORKER"},		  {"forwarded", "FORWARDED"},
	{"encapsulated", "ENCAPSULATED"}, {"decapsulated", "DECAPSULATED"},
	{"dummies", "DUMMIES"},		  {"keepalives", "KEEPALIVES"},
	{"held", "HELD"},		  {"reassembled", "REASSEMBLED"},
	{"too_big_learned", "TOO-BIG-LEARNED"}, {"too_big_ignored", "TOO-BIG-IGNORED"},
	{"handed_over", "HANDED-OVER"},	  {"crypto_cores", "CRYPTO-CORES"},
	{"shortcut", "SHORTCUT"},	  {"dropped", "DROPPED"},
	{NULL, NULL},
};

static const struct column drops_columns[] = {
	{"packets", "PACKETS"}, {"reason", "REASON"}, {"help", "WHAT IT MEANS"}, {NULL, NULL},
};

static const struct column stages_columns[] = {
	{"stage", "STAGE"},	{"packets", "PACKETS"},
	{"vectors", "VECTORS"}, {"packets_per_vector", "PER-VECTOR"},
	{"cycles_per_packet", "CYCLES"}, {"help", "WHAT IT DOES"}, {NULL, NULL},
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

static void usage(FILE *out)
{
	fprintf(out,
		"usage: cygnetctl [-c FILE] [-s SADB] [-p PREFIX|SOCKET] [--json] show THING [ALGORITHM]\n"
		"       cygnetctl [-c FILE] [-s SADB] check\n"
		"  THING      sad, spd, ports, routes, ike, engines, stats, drops or stages\n"
		"  ALGORITHM  with engines: show how fast they are with those that begin so\n"
		"  check      walk the SAD and the SPD and check all that has to hold in them\n"
		"  -c FILE    cygnetd's configuration, %s if not given\n"
		"  -s SADB    the SAD/SPD file, instead of the configuration's\n"
		"  -p PREFIX  file prefix of cygnetd's EAL, or path of its telemetry socket\n"
		"  --json     an array of objects instead of a table\n"
		"  -V         print the version\n",
		CONF_PATH);
}

static const struct thing *find_thing(int argc, char **argv)
{
	if (argc < 2 || argc > 3 || strcmp(argv[0], "show"))
		return NULL;
	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++)
		if (strcmp(argv[1], things[i].name) == 0)
			return argc == 2 || things[i].columns == engines_columns ? &things[i] : NULL;
	return NULL;
}

/* Without a file in the usual place the defaults are what cygnetd would use. */
static int read_conf(const struct options *options, struct conf *conf, char *error, size_t size)
{
	if (!options->conf && access(CONF_PATH, F_OK) < 0 && errno == ENOENT) {
		conf_defaults(conf);
		return 0;
	}
	return conf_read(conf, options->conf ? options->conf : CONF_PATH, error, size);
}

static json_t *read_databases(const struct thing *thing, const char *path, char *error,
			      size_t size)
{
	struct cygnet_db *db;
	struct timespec now;
	json_t *rows;

	if (cygnet_db_open(path, NULL, &db, error, size))
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &now);
	rows = thing->read(db, (uint64_t)now.tv_sec);
	cygnet_db_close(db);
	return rows;
}

/* Workers count stages only while somebody asks. */
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

static json_t *ask_cygnetd(const struct thing *thing, const char *prefix, char *error, size_t size)
{
	char path[PATH_MAX];
	json_t *rows;
	int fd;

	client_socket_path(prefix, path, sizeof(path));
	fd = client_connect(path, error, size);
	if (fd < 0)
		return NULL;
	rows = client_table(fd, thing->command, error, size);
	if (rows && thing->columns == engines_columns) {
		json_t *measured = client_table(fd, "/cygnet/measured", error, size);

		if (!measured || engines_add_measured(rows, measured)) {
			json_decref(rows);
			rows = NULL;
		}
		json_decref(measured);
	}
	if (rows && thing->columns == stages_columns)
		rows = ask_again(fd, rows, error, size);
	close(fd);
	/* Unsorted, rather than not at all, if there is no memory for it. */
	if (rows && thing->columns == routes_columns)
		routes_sort(rows);
	return rows;
}

static json_t *get_rows(const struct thing *thing, const struct options *options, char *error,
			size_t size)
{
	const char *given = thing->read ? options->sadb : options->prefix;
	char prefix[sizeof(((struct conf *)0)->eal)];
	static struct conf conf;

	if (!given && read_conf(options, &conf, error, size))
		return NULL;
	if (thing->read)
		return read_databases(thing, given ? given : conf.sadb, error, size);
	conf_file_prefix(&conf, prefix, sizeof(prefix));
	return ask_cygnetd(thing, given ? given : prefix, error, size);
}

/* The second table of `show engines`, if there is something in it. */
static void print_measured(const json_t *devices, const char *algorithm)
{
	json_t *rows = algorithm ? engines_measured(devices, algorithm) : engines_chosen(devices);

	if (json_array_size(rows)) {
		putchar('\n');
		table_print(stdout, rows, algorithm ? measured_columns : chosen_columns);
	}
	json_decref(rows);
}

static int show(const struct thing *thing, const struct options *options)
{
	char error[1024] = "out of memory";
	json_t *rows = get_rows(thing, options, error, sizeof(error));

	if (!rows) {
		fprintf(stderr, "cygnetctl: %s\n", error);
		return 1;
	}
	if (options->json) {
		json_dumpf(rows, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		table_print(stdout, rows, thing->columns);
		if (thing->columns == engines_columns)
			print_measured(rows, options->algorithm);
	}
	json_decref(rows);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "cygnetctl: cannot write: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}

static int check_db(const char *path, char *error, size_t size)
{
	struct cygnet_db_info info;
	struct cygnet_db *db;
	int err = cygnet_db_open(path, NULL, &db, error, size);

	if (err)
		return err;
	err = cygnet_db_check(db, error, size);
	cygnet_db_info(db, &info);
	if (!err)
		printf("%s: %u SAs, %u policies, %u deleted ones to be wiped: all is well\n",
		       info.path, info.sas, info.policies,
		       info.sas_waiting + info.policies_waiting);
	cygnet_db_close(db);
	return err;
}

static int check(const struct options *options)
{
	static struct conf conf;
	char error[1024];

	if ((!options->sadb && read_conf(options, &conf, error, sizeof(error))) ||
	    check_db(options->sadb ? options->sadb : conf.sadb, error, sizeof(error))) {
		fprintf(stderr, "cygnetctl: %s\n", error);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	struct options options = {0};
	const struct thing *thing;
	int option;

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
		case 'j':
			options.json = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'V':
			printf("cygnetctl %s\n", PACKAGE_VERSION);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (argc - optind == 1 && !strcmp(argv[optind], "check"))
		return check(&options);
	thing = find_thing(argc - optind, argv + optind);
	if (!thing) {
		usage(stderr);
		return 2;
	}
	options.algorithm = argc - optind == 3 ? argv[optind + 2] : NULL;
	return show(thing, &options);
}

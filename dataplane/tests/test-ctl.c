/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cygnetctl: tables, the databases as rows, and answers over the socket. */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "busiest.h"
#include "changed.h"
#include "client.h"
#include "commands.h"
#include "cygnet.h"
#include "databases.h"
#include "dialogue.h"
#include "engines.h"
#include "judge.h"
#include "perfdata.h"
#include "rates.h"
#include "report.h"
#include "routes.h"
#include "table.h"
#include "text.h"
#include "things.h"
#include "words.h"

static void assert_rows(json_t *rows, const struct column *columns, const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(rows);
	table_print(out, rows, columns, false);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
	json_decref(rows);
}

static void assert_table(const char *json, const struct column *columns, const char *want)
{
	assert_rows(json_loads(json, 0, NULL), columns, want);
}

static void tables(void **state)
{
	static const struct column columns[] = {{"name", "NAME", 0},
						{"n", "N", 0},
						{"note", "NOTE", 0},
						{NULL, NULL, 0}};
	static const struct column number_last[] = {{"name", "NAME", 0},
						    {"n", "COUNT", 0},
						    {NULL, NULL, 0}};

	(void)state;
	assert_table("[]", columns, "NAME  N  NOTE\n");
	assert_table("[{\"name\": \"a\", \"n\": 5, \"note\": \"x\"},"
		     " {\"name\": \"long-name\", \"n\": 12345, \"note\": true}]",
		     columns,
		     "NAME           N  NOTE\n"
		     "a              5  x\n"
		     "long-name  12345  yes\n");
	assert_table("[{\"name\": \"\", \"n\": null}, {\"n\": 10, \"note\": \"a\\u001b[2Jb\"}]",
		     columns,
		     "NAME   N  NOTE\n"
		     "-      -  -\n"
		     "-     10  a?[2Jb\n");
	assert_table("[{\"name\": \"a\", \"n\": 1}, {\"name\": \"bcdef\", \"n\": 1234567}]",
		     number_last,
		     "NAME     COUNT\n"
		     "a            1\n"
		     "bcdef  1234567\n");
}

/* A table that is too wide: counters become shorter, the last text continues in further lines, others are cut. */
static void narrow_tables(void **state)
{
	static const struct column columns[] = {{"name", "NAME", 0},
						{"n", "N", COLUMN_COUNT},
						{"id", "ID", 0},
						{"age", "AGE", COLUMN_TIME},
						{"more", "MORE", COLUMN_WIDE},
						{"note", "NOTE", 0},
						{NULL, NULL, 0}};
	static const char rows[] =
		"[{\"name\": \"%s\", \"n\": 12345678901234567, \"id\": 123456, \"age\": 90061,"
		" \"more\": 1, \"note\": [\"first words of a text that goes on\", \"second\"]}]";
	char name[101], json[512];

	(void)state;
	memset(name, 'x', 100);
	name[100] = '\0';
	snprintf(json, sizeof(json), rows, name);
	assert_table(
		json, columns,
		"NAME                                                  N      ID    AGE  NOTE\n"
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx~  12.3P  123456  1d01h  first words of a text that\n"
		"                                                                        goes on, second\n");
}

/* Names of algorithms and devices are whole in the tables of engines. */
static void engines_fit(void **state)
{
	static const char measured[] =
		"[{\"algorithm\": \"aes-cbc-256 hmac-sha256-128\", \"length\": 1408, \"device\": "
		"\"crypto_ipsec_mb_chain0\", \"packet_ns\": 1234.5, \"gbps\": 123.4, \"core_ns\": 1234.5,"
		" \"latency_us\": 123.4, \"chosen\": \"light, full\"}]";
	static const char devices[] =
		"[{\"device\": \"crypto_ipsec_mb_chain0\", \"driver\": \"crypto_ipsec_mb_chain\", \"engine\": "
		"\"opencl\", \"state\": \"failed\", \"sas\": 65536, \"encrypted\": 1234567890123, \"decrypted\":"
		" 1234567890123, \"bytes\": 1234567890123456, \"failed\": 0}]";

	(void)state;
	assert_table(measured, things_measured,
		     "ALGORITHM                    BYTES  DEVICE                   GBPS  CORE-NS  "
		     "LATENCY-US  CHOSEN\n"
		     "aes-cbc-256 hmac-sha256-128   1408  crypto_ipsec_mb_chain0  123.4   1234.5  "
		     "     123.4  light, full\n");
	assert_table(
		devices, things_find("engines")->columns,
		"DEVICE                  ENGINE  STATE     SAS  ENCRYPTED  DECRYPTED  BYTES  FAILED\n"
		"crypto_ipsec_mb_chain0  opencl  failed  65536      1.23T      1.23T  1.23P       0\n");
}

static void sorted_routes(void **state)
{
	static const char *const want[] = {"0.0.0.0/0",	  "9.255.255.255/32", "10.0.0.0/8",
					   "10.0.0.0/16", "10.0.0.0/24",      "200.1.2.0/24",
					   "none"};
	json_t *rows = json_pack("[{s:s},{s:s},{s:s},{s:s},{s:s},{s:s},{s:s}]", "prefix",
				 "10.0.0.0/24", "prefix", "none", "prefix", "200.1.2.0/24",
				 "prefix", "0.0.0.0/0", "prefix", "10.0.0.0/8", "prefix",
				 "9.255.255.255/32", "prefix", "10.0.0.0/16");

	(void)state;
	assert_non_null(rows);
	assert_int_equal(routes_sort(rows), 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_string_equal(json_string_value(
					    json_object_get(json_array_get(rows, i), "prefix")),
				    want[i]);
	json_decref(rows);
}

/* --- words and errors --- */

static void nearest_words(void **state)
{
	static const char *const list[] = {"show", "check", "in", "capture", NULL};

	(void)state;
	assert_string_equal(words_nearest(list, "shwo"), "show");
	assert_string_equal(words_nearest(list, "shw"), "show");
	assert_string_equal(words_nearest(list, "chekc"), "check");
	assert_string_equal(words_nearest(list, "captures"), "capture");
	assert_string_equal(words_nearest(list, "im"), "in");
	assert_null(words_nearest(list, "route"));
	assert_null(words_nearest(list, "xy"));
	assert_null(words_nearest(list, ""));
	assert_null(words_nearest(list, "a-word-that-is-longer-than-any-that-cygnetctl-knows"));
	assert_true(words_have(list, "show"));
	assert_false(words_have(list, "sho"));
}

/* What a function, which returns 2, writes to standard error. */
static char *errors_of(int (*write)(const struct options *options), const struct options *options)
{
	FILE *file = tmpfile();
	int before = dup(STDERR_FILENO);
	static char text[2048];
	size_t n;

	assert_non_null(file);
	fflush(stderr);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	assert_int_equal(write(options), 2);
	fflush(stderr);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

static int wrong_word(const struct options *options)
{
	return report_word(options, "thing", "sda", things_names());
}

static int wrong_bytes(const struct options *options)
{
	return report_error(options, 2, "%s: exists already", "a\xff\"");
}

static void reports(void **state)
{
	const struct options text = {0}, json = {.json = true};

	(void)state;
	assert_string_equal(errors_of(wrong_word, &text),
			    "cygnetctl: there is no thing sda: did you mean sad?\n");
	assert_string_equal(
		errors_of(wrong_word, &json),
		"{\"error\":\"there is no thing sda: did you mean sad?\",\"nearest\":\"sad\",\"status\":2}\n");
	assert_string_equal(errors_of(wrong_bytes, &json),
			    "{\"error\":\"a?\\\": exists already\",\"status\":2}\n");
}

/* Each command and each thing is described, in lines of at most 100 columns. */
static void help_texts(void **state)
{
	(void)state;
	for (const struct command *command = commands; command->name; command++) {
		char *text = NULL, *line;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		command_help(out, command);
		fclose(out);
		assert_ptr_equal(command_find(command->name), command);
		assert_non_null(strstr(text, command->name));
		for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(strlen(line) <= 100);
		free(text);
	}
	assert_null(command_find("shwo"));
	for (const char *const *name = things_names(); *name; name++)
		assert_string_equal(things_find(*name)->name, *name);
}

/* --- the databases --- */

static char folder[32], sadb[64];
static struct cygnet_db *db;

static int open_db(void **state)
{
	const struct cygnet_geometry geometry = {64, 64};

	(void)state;
	strcpy(folder, "./test-ctl-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(sadb, sizeof(sadb), "%s/sadb", folder);
	return cygnet_db_open_flags(sadb, &geometry, CYGNET_OPEN_ON_DISK, &db, NULL, 0);
}

static int close_db(void **state)
{
	(void)state;
	cygnet_db_close(db);
	unlink(sadb);
	return rmdir(folder);
}

static void set_addr(struct cygnet_addr *addr, const char *text)
{
	memset(addr, 0, sizeof(*addr));
	assert_int_equal(inet_pton(strchr(text, ':') ? AF_INET6 : AF_INET, text, addr->bytes), 1);
}

static void assert_text(const json_t *row, const char *key, const char *want)
{
	assert_non_null(json_string_value(json_object_get(row, key)));
	assert_string_equal(json_string_value(json_object_get(row, key)), want);
}

static void assert_number(const json_t *row, const char *key, json_int_t want)
{
	assert_true(json_is_integer(json_object_get(row, key)));
	assert_int_equal(json_integer_value(json_object_get(row, key)), want);
}

static void sad(void **state)
{
	struct cygnet_sa_params params = {
		.id = {.spi = htonl(0xc0000001), .proto = IPPROTO_ESP, .af = AF_INET},
		.path = {.encap = 1, .sport = htons(4500), .dport = htons(61234), .af = AF_INET},
		.flags = CYGNET_SA_INBOUND | CYGNET_SA_ESN,
		.reqid = 3,
		.cipher = CYGNET_CIPHER_AES_CBC,
		.auth = CYGNET_AUTH_HMAC_SHA256,
		.icv_len = 16,
		.cipher_key_len = 16,
		.auth_key_len = 32,
		.replay_window = 32,
	};
	json_t *rows, *row;
	char *text;

	(void)state;
	set_addr(&params.path.src, "192.0.2.1");
	set_addr(&params.path.dst, "192.0.2.2");
	params.id.dst = params.path.dst;
	memset(params.cipher_key, 'K', 16);
	memset(params.auth_key, 'K', 32);
	rows = databases_sad(db, &(struct sa_filter){0}, NULL, 1000);
	assert_int_equal(json_array_size(rows), 0);
	json_decref(rows);
	assert_int_equal(cygnet_sa_add(db, &params), 0);
	rows = databases_sad(db, &(struct sa_filter){0}, NULL, 1000);
	assert_int_equal(json_array_size(rows), 1);
	row = json_array_get(rows, 0);
	assert_text(row, "spi", "0xc0000001");
	assert_text(row, "dir", "in");
	assert_text(row, "state", "live");
	assert_text(row, "src", "192.0.2.1");
	assert_text(row, "dst", "192.0.2.2");
	assert_text(row, "proto", "esp");
	assert_text(row, "mode", "tunnel");
	assert_text(row, "encap", "udp");
	assert_number(row, "sport", 4500);
	assert_number(row, "dport", 61234);
	assert_text(row, "cipher", "aes-cbc");
	assert_number(row, "key_bits", 128);
	assert_text(row, "auth", cygnet_auth_name(CYGNET_AUTH_HMAC_SHA256));
	assert_number(row, "icv", 16);
	assert_number(row, "reqid", 3);
	assert_true(json_is_true(json_object_get(row, "esn")));
	assert_number(row, "seq", 0);
	assert_number(row, "packets", 0);
	assert_number(row, "bytes", 0);
	assert_number(row, "window", 32);
	assert_number(row, "replay_drops", 0);
	assert_number(row, "auth_drops", 0);
	assert_true(json_is_null(json_object_get(row, "last_used")));
	assert_true(json_is_null(json_object_get(row, "path_mtu")));
	text = json_dumps(rows, 0);
	assert_null(strstr(text, "KKK"));
	free(text);
	json_decref(rows);
}

static void add_policy(struct cygnet_policy_params *params, const char *src_lo, const char *src_hi,
		       const char *dst_lo, const char *dst_hi)
{
	params->sel.af = strchr(src_lo, ':') ? AF_INET6 : AF_INET;
	set_addr(&params->sel.src_lo, src_lo);
	set_addr(&params->sel.src_hi, src_hi);
	set_addr(&params->sel.dst_lo, dst_lo);
	set_addr(&params->sel.dst_hi, dst_hi);
	assert_int_equal(cygnet_policy_add(db, params), 0);
}

static const json_t *find_row(const json_t *rows, const char *key, json_int_t value)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) if (json_integer_value(json_object_get(row, key)) ==
					     value) return row;
	fail_msg("no row with %s %lld", key, (long long)value);
	return NULL;
}

static void spd(void **state)
{
	struct cygnet_policy_params params = {
		.sel = {.sport_hi = 65535, .dport_hi = 65535},
		.priority = 100,
		.reqid = 7,
		.spi = htonl(0xc0000002),
		.dir = CYGNET_OUT,
		.action = CYGNET_PROTECT,
		.proto = IPPROTO_ESP,
		.af = AF_INET,
	};
	const json_t *row;
	json_t *rows;

	(void)state;
	add_policy(&params, "10.1.0.0", "10.1.255.255", "10.2.0.5", "10.2.0.5");
	params.priority = 200;
	params.sel.proto = IPPROTO_TCP;
	params.sel.dport_lo = params.sel.dport_hi = 80;
	params.sel.sport_hi = 1023;
	params.action = CYGNET_DISCARD;
	params.dir = CYGNET_FWD;
	params.spi = params.reqid = 0;
	add_policy(&params, "0.0.0.0", "255.255.255.255", "10.0.0.1", "10.0.0.9");
	params.priority = 300;
	params.action = CYGNET_BYPASS;
	params.dir = CYGNET_IN;
	add_policy(&params, "2001:db8::", "2001:db8::ffff", "::1", "::1");
	params.priority = 400;
	params.action = CYGNET_DISCARD;
	params.dir = CYGNET_OUT;
	assert_int_equal(cygnet_policy_hold(db, &params), 0);
	rows = databases_spd(db, 50);
	assert_int_equal(json_array_size(rows), 4);

	assert_true(json_is_true(json_object_get(find_row(rows, "priority", 400), "held")));

	row = find_row(rows, "priority", 100);
	assert_text(row, "dir", "out");
	assert_text(row, "selector", "10.1.0.0/16 === 10.2.0.5/32");
	assert_text(row, "src", "10.1.0.0/16");
	assert_text(row, "dst", "10.2.0.5/32");
	assert_text(row, "proto", "any");
	assert_text(row, "sport", "any");
	assert_text(row, "dport", "any");
	assert_text(row, "action", "protect");
	assert_true(json_is_false(json_object_get(row, "held")));
	assert_number(row, "reqid", 7);
	assert_text(row, "spi", "0xc0000002");
	assert_text(row, "sa_proto", "esp");
	assert_text(row, "mode", "tunnel");
	assert_number(row, "refs", 1);
	assert_true(json_is_null(json_object_get(row, "last_used")));

	row = find_row(rows, "priority", 200);
	assert_text(row, "dir", "fwd");
	assert_text(row, "selector", "0.0.0.0/0 === 10.0.0.1-10.0.0.9 tcp 0-1023 80");
	assert_text(row, "action", "discard");
	assert_true(json_is_null(json_object_get(row, "spi")));

	row = find_row(rows, "priority", 300);
	assert_text(row, "selector", "2001:db8::/112 === ::1/128 tcp 0-1023 80");
	assert_text(row, "action", "bypass");
	json_decref(rows);
}

/* Replaces libc's interfaces of this host. */
static struct if_nameindex interfaces[] = {{1, (char *)"lo"},
					   {7, (char *)"wan0"},
					   {9, (char *)"l\xe4n"},
					   {0, NULL}};
static unsigned int asked_for, given_back;

struct if_nameindex *if_nameindex(void)
{
	asked_for++;
	return interfaces;
}

void if_freenameindex(struct if_nameindex *list)
{
	assert_ptr_equal(list, interfaces);
	given_back++;
}

/* The kernel is asked only once about an interface, however many policies are bound to it. */
static void bound_policies(void **state)
{
	static const char *const names[] = {"wan0", "gone0", "lo", "l\xe4n"};
	struct cygnet_policy_params params = {
		.sel = {.sport_hi = 65535, .dport_hi = 65535},
		.action = CYGNET_BYPASS,
	};
	const json_t *row;
	char gone[16];
	json_t *rows;

	(void)state;
	for (; params.priority < 4; params.priority++) {
		params.sel.interface = cygnet_interface(names[params.priority]);
		add_policy(&params, "10.1.0.0", "10.1.255.255", "0.0.0.0", "255.255.255.255");
	}
	asked_for = given_back = 0;
	rows = databases_spd(db, 50);
	assert_int_equal(asked_for, 1);
	assert_int_equal(given_back, 1);
	row = find_row(rows, "priority", 0);
	assert_text(row, "interface", "wan0");
	assert_text(row, "selector", "10.1.0.0/16 === 0.0.0.0/0 dev wan0");
	/* A name that is no UTF-8. */
	row = find_row(rows, "priority", 3);
	assert_text(row, "interface", "l?n");
	assert_text(row, "selector", "10.1.0.0/16 === 0.0.0.0/0 dev l?n");
	/* An interface that this host does not have is shown by its number. */
	snprintf(gone, sizeof(gone), "0x%08x", cygnet_interface("gone0"));
	assert_text(find_row(rows, "priority", 1), "interface", gone);
	assert_text(find_row(rows, "priority", 2), "interface", "lo");
	json_decref(rows);
}

/* --- the socket --- */

static void socket_paths(void **state)
{
	char path[256];

	(void)state;
	setenv("RUNTIME_DIRECTORY", "/run/cygnet", 1);
	client_socket_path("left", path, sizeof(path));
	assert_string_equal(path, "/run/cygnet/dpdk/left/dpdk_telemetry.v2");
	unsetenv("RUNTIME_DIRECTORY");
	client_socket_path("./here.sock", path, sizeof(path));
	assert_string_equal(path, "./here.sock");
}

/* Ask a server that gives a greeting and one answer per question; NULL ends them. @return result of client_table() */
static json_t *ask(struct dialogue *dialogue, const char *const *answers, char *error, size_t size)
{
	json_t *rows = NULL;
	int fd;

	dialogue->path = "./test-ctl.sock";
	dialogue->type = SOCK_SEQPACKET;
	dialogue->greets = true;
	for (unsigned int i = 0; answers[i]; i++) {
		dialogue->answer[i].data = answers[i];
		dialogue->answer[i].len = strlen(answers[i]);
	}
	dialogue_start(dialogue);
	fd = client_connect(dialogue->path, error, size);
	if (fd >= 0) {
		rows = client_table(fd, "/cygnet/x", error, size);
		close(fd);
	}
	dialogue_end(dialogue);
	return rows;
}

static void pages(void **state)
{
	static const char *const answers[] = {
		"{\"version\": \"DPDK 22.11\"}",
		"{\"/cygnet/x\": {\"0\": {\"n\": 1}, \"1\": {\"n\": 2}, \"next\": 17}}",
		"{\"/cygnet/x\": {\"0\": {\"n\": 3}}}",
		NULL,
	};
	struct dialogue dialogue = {0};
	char error[256];
	json_t *rows = ask(&dialogue, answers, error, sizeof(error));

	(void)state;
	assert_non_null(rows);
	assert_string_equal(dialogue.asked[1], "/cygnet/x");
	assert_string_equal(dialogue.asked[2], "/cygnet/x,17");
	assert_int_equal(json_array_size(rows), 3);
	for (size_t i = 0; i < 3; i++)
		assert_number(json_array_get(rows, i), "n", (json_int_t)i + 1);
	json_decref(rows);
}

static void on_signal(int signal)
{
	(void)signal;
}

/* As SIGTERM interrupts `top`, whose handler restarts nothing. */
static void interrupted(void **state)
{
	static const char *const answers[] = {"{}", "{\"/cygnet/x\": {\"0\": {\"n\": 1}}}", NULL};
	const struct sigaction action = {.sa_handler = on_signal};
	pthread_t self = pthread_self();
	struct dialogue dialogue = {.interrupted = &self};
	char error[256] = "";
	json_t *rows;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	rows = ask(&dialogue, answers, error, sizeof(error));
	assert_string_equal(error, "");
	assert_int_equal(json_array_size(rows), 1);
	json_decref(rows);
}

static void answers_that_are_none(void **state)
{
	static const char *const answers[] = {
		"{\"/cygnet/x\": null}", "null", "[]", "{", "{}", "{\"/cygnet/x\": [1]}", "\xff",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		const char *const said[] = {"{}", answers[i], NULL};
		struct dialogue dialogue = {0};
		char error[256] = "";

		assert_null(ask(&dialogue, said, error, sizeof(error)));
		assert_non_null(strstr(error, "/cygnet/x: not understood"));
	}
}

/* An interface of the kernel need not have a name in UTF-8: the other rows are shown. */
static void strange_names(void **state)
{
	static const char *const said[] =
		{"{}", "{\"/cygnet/x\": {\"0\": {\"tap\": \"l\xe4n\"}, \"1\": {\"tap\": \"wan\"}}}",
		 NULL};
	struct dialogue dialogue = {0};
	char error[256];
	json_t *rows = ask(&dialogue, said, error, sizeof(error));

	(void)state;
	assert_int_equal(json_array_size(rows), 2);
	assert_text(json_array_get(rows, 0), "tap", "l?n");
	assert_text(json_array_get(rows, 1), "tap", "wan");
	json_decref(rows);
}

static void nobody_there(void **state)
{
	char error[256];

	(void)state;
	assert_true(client_connect("./no-such.sock", error, sizeof(error)) < 0);
	assert_string_equal(error, "cygnetd does not answer at ./no-such.sock: "
				   "No such file or directory");
}

/* As /cygnet/engines and /cygnet/measured return them. */
static json_t *engines(void)
{
	json_t *devices = json_loads("[{\"device\": \"a0\", \"engine\": \"opencl\"},"
				     " {\"device\": \"b0\", \"engine\": \"cpu\"}]",
				     0, NULL);
	json_t *measured = json_loads(
		"[{\"algorithm\": \"x-128\", \"length\": 64, \"device\": \"a0\", \"gbps\": \"58.24\","
		"  \"chosen\": \"full\"},"
		" {\"algorithm\": \"x-128\", \"length\": 64, \"device\": \"b0\", \"gbps\": \"11.9\","
		"  \"chosen\": \"light\"},"
		" {\"algorithm\": \"x-128\", \"length\": 256, \"device\": \"a0\", \"gbps\": \"20\","
		"  \"chosen\": \"\"},"
		" {\"algorithm\": \"x-128\", \"length\": 256, \"device\": \"b0\", \"gbps\": \"40\","
		"  \"chosen\": \"light, full\"},"
		" {\"algorithm\": \"y\", \"length\": 256, \"device\": \"b0\", \"gbps\": \"0.25\","
		"  \"chosen\": \"light, full\"}]",
		0, NULL);

	assert_int_equal(engines_add_measured(devices, measured), 0);
	json_decref(measured);
	return devices;
}

/* A summary by algorithm, or all rows of some algorithms. */
static void measured_engines(void **state)
{
	static const struct column brief[] = {
		{"algorithm", "ALGORITHM", 0},
		{"64", "64", 0},
		{"256", "256", 0},
		{NULL, NULL, 0},
	};
	static const struct column whole[] = {
		{"algorithm", "ALGORITHM", 0}, {"length", "BYTES", 0},	{"device", "DEVICE", 0},
		{"gbps", "GBPS", 0},	       {"chosen", "CHOSEN", 0}, {NULL, NULL, 0},
	};
	json_t *devices = engines();

	(void)state;
	assert_rows(engines_chosen(devices), brief,
		    "ALGORITHM  64                     256\n"
		    "x-128      cpu 11.9, opencl 58.2  cpu 40.0\n"
		    "y          -                      cpu 0.2\n");
	assert_rows(engines_measured(devices, "x-"), whole,
		    "ALGORITHM  BYTES  DEVICE  GBPS  CHOSEN\n"
		    "x-128         64  a0      58.2  full\n"
		    "x-128         64  b0      11.9  light\n"
		    "x-128        256  a0      20.0  -\n"
		    "x-128        256  b0      40.0  light, full\n");
	assert_int_equal(json_array_size(devices), 2);
	json_decref(devices);
}

/* --- health --- */

static void assert_judged(const char *change, enum judgement want, const char *words)
{
	struct answers answers = {
		.info = json_pack("[{s:s, s:i, s:i, s:i, s:i, s:i}]", "version", "1", "sas", 2,
				  "sas_max", 10, "policies", 3, "policies_max", 10, "charon_pid",
				  77),
		.ports = json_pack("[{s:s, s:s, s:s, s:s}, {s:s, s:s, s:s, s:s}]", "name", "lan",
				   "tap", "t0", "link", "up", "state", "up", "name", "wan", "tap",
				   "t1", "link", "up", "state", "up"),
		.engines = json_pack("[{s:s, s:s}, {s:s, s:s}]", "device", "cpu0", "state", "up",
				     "device", "opencl0", "state", "up"),
		.stats = json_pack("[{s:i}, {s:i}]", "turns", 5, "turns", 6),
		.stats_later = json_pack("[{s:i}, {s:i}]", "turns", 7, "turns", 8),
	};
	json_t *all = json_pack("{s:O, s:O, s:O, s:O}", "info", answers.info, "ports",
				answers.ports, "engines", answers.engines, "stats_later",
				answers.stats_later);
	json_t *changes = json_loads(change, 0, NULL), *rows, *row;
	char reason[256];
	const char *key;
	size_t i;

	assert_non_null(changes);
	json_object_foreach(changes, key, rows) json_array_foreach(rows, i, row)
		json_object_update(json_array_get(json_object_get(all, key), i), row);
	assert_int_equal(judge(&answers, reason, sizeof(reason)), want);
	assert_string_equal(reason, words);
	json_decref(all);
	json_decref(changes);
	json_decref(answers.info);
	json_decref(answers.ports);
	json_decref(answers.engines);
	json_decref(answers.stats);
	json_decref(answers.stats_later);
}

static void judgements(void **state)
{
	(void)state;
	assert_judged("{}", HEALTH_OK,
		      "cygnetd 1, 2 workers, 2 ports, 2 crypto devices, 2 SAs, 3 policies");
	assert_judged("{\"info\": [{\"charon_pid\": 0}]}", HEALTH_WARNING,
		      "charon does not run, no SA is rekeyed");
	assert_judged("{\"info\": [{\"charon_pid\": 0, \"charon_down_s\": 119}]}", HEALTH_WARNING,
		      "charon does not run, no SA is rekeyed");
	assert_judged("{\"info\": [{\"charon_pid\": 0, \"charon_down_s\": 120}]}", HEALTH_CRITICAL,
		      "charon does not run, no SA is rekeyed");
	assert_judged("{\"info\": [{\"policies_held\": 3}]}", HEALTH_WARNING,
		      "3 held policies drop packets: charon has not installed its own yet");
	assert_judged("{\"ports\": [{}, {\"link\": \"down\"}]}", HEALTH_WARNING,
		      "port wan has no link");
	assert_judged("{\"ports\": [{\"state\": \"down\"}, {\"link\": \"down\"}]}", HEALTH_CRITICAL,
		      "no port is up; port lan: interface t0 is down; port wan has no link");
	assert_judged("{\"engines\": [{}, {\"state\": \"failed\"}]}", HEALTH_WARNING,
		      "crypto device opencl0 has failed");
	assert_judged(
		"{\"engines\": [{\"state\": \"failed\"}, {\"state\": \"failed\"}]}",
		HEALTH_CRITICAL,
		"no crypto device works; crypto device cpu0 has failed; crypto device opencl0 has failed");
	assert_judged("{\"stats_later\": [{}, {\"turns\": 6}]}", HEALTH_CRITICAL,
		      "worker 1 makes no progress");
	assert_judged("{\"info\": [{\"sas\": 9}]}", HEALTH_WARNING, "the SAD has 9 of 10 entries");
	assert_judged("{\"info\": [{\"policies\": 10, \"charon_pid\": 0}]}", HEALTH_CRITICAL,
		      "the SPD is full (10); charon does not run, no SA is rekeyed");
}

static void performance_data(void **state)
{
	struct answers answers = {
		.info = json_loads("[{\"sas\": 2, \"sas_max\": 100, \"policies\": 3,"
				   " \"policies_max\": 15, \"policies_held\": 1}]",
				   0, NULL),
		.ports = json_loads("[{\"state\": \"up\", \"link\": \"up\"},"
				    " {\"state\": \"up\", \"link\": \"down\"}]",
				    0, NULL),
		.engines = json_loads("[{\"state\": \"up\"}, {\"state\": \"failed\"}]", 0, NULL),
		.stats_later = json_loads("[{\"forwarded\": 1, \"dropped\": 5},"
					  " {\"forwarded\": 2, \"encapsulated\": 7}]",
					  0, NULL),
	};
	json_t *rows = perfdata_rows(&answers);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	perfdata_print(out, rows);
	fclose(out);
	assert_string_equal(text, "sas=2;90;100;0;100 policies=3;14;15;0;15 policies_held=1 "
				  "ports_up=1 engines_up=1 forwarded=3c encapsulated=7c "
				  "decapsulated=0c dropped=5c");
	free(text);
	json_decref(rows);
	json_decref(answers.info);
	json_decref(answers.ports);
	json_decref(answers.engines);
	json_decref(answers.stats_later);
}

/* Reasons that do not fit are truncated. */
static void many_reasons(void **state)
{
	struct answers answers = {.info = json_array(),
				  .ports = json_array(),
				  .engines = json_array(),
				  .stats = json_array(),
				  .stats_later = json_array()};
	char reason[64];

	(void)state;
	for (int i = 0; i < 300; i++)
		json_array_append_new(answers.engines, json_pack("{s:s, s:s}", "device",
								 "a long name", "state", "failed"));
	assert_int_equal(judge(&answers, reason, sizeof(reason)), HEALTH_CRITICAL);
	assert_int_equal(strlen(reason), sizeof(reason) - 1);
	json_decref(answers.info);
	json_decref(answers.ports);
	json_decref(answers.engines);
	json_decref(answers.stats);
	json_decref(answers.stats_later);
}

/* --- rates --- */

static void rates(void **state)
{
	static const char *const fields[] = {"a", NULL};
	json_t *before =
		json_loads("[{\"id\": \"x\", \"a\": 10, \"b\": 1}, {\"id\": \"y\", \"a\": 50},"
			   " {\"id\": \"z\", \"a\": 1}]",
			   0, NULL);
	json_t *after =
		json_loads("[{\"id\": \"new\", \"a\": 8}, {\"id\": \"x\", \"a\": 1010, \"b\": 2},"
			   " {\"id\": \"y\", \"a\": 20}]",
			   0, NULL);
	json_t *rows = rates_between(before, after, "id", fields, 0.5);

	(void)state;
	assert_int_equal(json_array_size(rows), 3);
	assert_number(json_array_get(rows, 0), "a", 0);
	assert_number(json_array_get(rows, 1), "a", 2000);
	assert_number(json_array_get(rows, 1), "b", 2);
	assert_number(json_array_get(rows, 2), "a", 0);
	assert_number(json_array_get(after, 1), "a", 1010);
	rates_add_mbit(rows, "a", "mbit");
	assert_true(json_real_value(json_object_get(json_array_get(rows, 1), "mbit")) == 0.016);
	rates_keep(rows, "a");
	assert_int_equal(json_array_size(rows), 1);
	assert_text(json_array_get(rows, 0), "id", "x");
	json_decref(before);
	json_decref(after);
	json_decref(rows);
}

static void busy(void **state)
{
	json_t *before = json_loads("[{\"worker\": 0, \"busy_cycles\": 100, \"cycles\": 1000},"
				    " {\"worker\": 1, \"busy_cycles\": 5, \"cycles\": 1000}]",
				    0, NULL);
	json_t *after = json_loads("[{\"worker\": 0, \"busy_cycles\": 350, \"cycles\": 2000},"
				   " {\"worker\": 1, \"busy_cycles\": 1007, \"cycles\": 2000}]",
				   0, NULL);
	json_t *rows = json_deep_copy(after);

	(void)state;
	rates_add_busy(rows, before, after);
	assert_true(json_real_value(json_object_get(json_array_get(rows, 0), "busy")) == 25);
	assert_true(json_real_value(json_object_get(json_array_get(rows, 1), "busy")) == 100);
	json_decref(before);
	json_decref(after);
	json_decref(rows);
}

static void add_sa(uint32_t spi)
{
	struct cygnet_sa_params params = {
		.id = {.spi = htonl(spi), .proto = IPPROTO_ESP, .af = AF_INET},
		.path = {.af = AF_INET},
		.cipher = CYGNET_CIPHER_AES_GCM,
		.icv_len = 16,
		.cipher_key_len = 16,
		.salt_len = 4,
	};

	set_addr(&params.path.src, "192.0.2.1");
	set_addr(&params.path.dst, "192.0.2.2");
	params.id.dst = params.path.dst;
	assert_int_equal(cygnet_sa_add(db, &params), 0);
}

/* Two old SAs and a new one. The first sample has no rates. */
static void busiest(void **state)
{
	struct looks looks = {0};
	json_t *rows;

	(void)state;
	add_sa(0xc0000001);
	add_sa(0xc0000002);
	cygnet_sa_at(db, 0)->packets = 7;
	cygnet_sa_at(db, 0)->bytes = 700;
	rows = busiest_sas(db, &looks, 2, 1);
	assert_int_equal(json_array_size(rows), 0);
	json_decref(rows);
	add_sa(0xc0000003);
	for (uint32_t slot = 0; slot < 3; slot++) {
		cygnet_sa_at(db, slot)->packets += 10 * (slot + 1);
		cygnet_sa_at(db, slot)->bytes += 1000 * (slot + 1);
	}
	rows = busiest_sas(db, &looks, 2, 2);
	assert_int_equal(json_array_size(rows), 2);
	assert_text(json_array_get(rows, 0), "spi", "0xc0000003");
	assert_number(json_array_get(rows, 0), "bytes", 1500);
	assert_text(json_array_get(rows, 1), "spi", "0xc0000002");
	assert_number(json_array_get(rows, 1), "packets", 10);
	json_decref(rows);
	busiest_free(&looks);
}

/* --- watch --- */

/* A device fails, another one is new, a third stays. */
static void changed(void **state)
{
	json_t *before = json_loads("[{\"device\": \"a\", \"engine\": \"cpu\", \"state\": \"up\"},"
				    " {\"device\": \"b\", \"engine\": \"cpu\", \"state\": \"up\"}]",
				    0, NULL);
	json_t *after =
		json_loads("[{\"device\": \"a\", \"engine\": \"cpu\", \"state\": \"up\"},"
			   " {\"device\": \"b\", \"engine\": \"cpu\", \"state\": \"failed\"},"
			   " {\"device\": \"c\", \"engine\": \"cpu\", \"state\": \"up\"}]",
			   0, NULL);
	json_t *events = json_array();

	(void)state;
	changed_rows(NULL, after, "engine", "device", "state", "engine", events);
	assert_int_equal(json_array_size(events), 0);
	changed_rows(before, after, "engine", "device", "state", "engine", events);
	assert_int_equal(json_array_size(events), 1);
	assert_text(json_array_get(events, 0), "event", "engine");
	assert_text(json_array_get(events, 0), "device", "b");
	assert_text(json_array_get(events, 0), "state", "failed");
	assert_text(json_array_get(events, 0), "engine", "cpu");
	json_array_clear(events);
	changed_rows(before, after, "engine", "device", "state", NULL, events);
	assert_int_equal(json_object_size(json_array_get(events, 0)), 3);
	json_decref(before);
	json_decref(after);
	json_decref(events);
}

/* A slot that has another SA at the second sample counts as one SA deleted and one added. */
static void changed_slots(void **state)
{
	struct sad_seen seen = {0};
	json_t *events = json_array();

	(void)state;
	add_sa(0xc0000001);
	assert_int_equal(changed_sas(db, &seen, events), 0);
	assert_int_equal(changed_sas(db, &seen, events), 0);
	assert_int_equal(json_array_size(events), 0);
	cygnet_db_flush(db);
	add_sa(0xc0000002);
	assert_int_equal(changed_sas(db, &seen, events), 0);
	assert_int_equal(json_array_size(events), 2);
	assert_text(json_array_get(events, 0), "event", "sa-delete");
	assert_text(json_array_get(events, 0), "spi", "0xc0000001");
	assert_text(json_array_get(events, 1), "event", "sa-add");
	assert_text(json_array_get(events, 1), "spi", "0xc0000002");
	sad_seen_free(&seen);
	json_decref(events);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables),
		cmocka_unit_test(narrow_tables),
		cmocka_unit_test(engines_fit),
		cmocka_unit_test(nearest_words),
		cmocka_unit_test(reports),
		cmocka_unit_test(help_texts),
		cmocka_unit_test(judgements),
		cmocka_unit_test(performance_data),
		cmocka_unit_test(changed),
		cmocka_unit_test_setup_teardown(changed_slots, open_db, close_db),
		cmocka_unit_test(rates),
		cmocka_unit_test(busy),
		cmocka_unit_test_setup_teardown(busiest, open_db, close_db),
		cmocka_unit_test(many_reasons),
		cmocka_unit_test(measured_engines),
		cmocka_unit_test(sorted_routes),
		cmocka_unit_test_setup_teardown(sad, open_db, close_db),
		cmocka_unit_test_setup_teardown(spd, open_db, close_db),
		cmocka_unit_test_setup_teardown(bound_policies, open_db, close_db),
		cmocka_unit_test(socket_paths),
		cmocka_unit_test(pages),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(answers_that_are_none),
		cmocka_unit_test(strange_names),
		cmocka_unit_test(nobody_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

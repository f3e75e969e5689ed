/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exporter without cygnetd: both text formats, and the addresses that it serves on. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "dialogue.h"
#include "exporter/exposition.h"
#include "exporter/listen.h"
#include "exporter/metrics.h"
#include "exporter/policy_rows.h"
#include "exporter/tunnel_names.h"
#include "vici_bytes.h"

static const struct label labels[] = {{"port", "name"}, {"queue", "queue"}, {NULL, NULL}};
static const struct family families[] = {
	{"x_received_packets", "packets", "rx", "Packets.", true, VALUE_NUMBER},
	{"x_up", NULL, "state", "Up.", false, VALUE_UP},
	{"x_busy_seconds", "seconds", "busy", "Time.", true, VALUE_SECONDS},
	{NULL, NULL, NULL, NULL, false, VALUE_NUMBER},
};
static const struct table table = {labels, families};

static void assert_text(bool openmetrics, const char *want)
{
	json_t *rows =
		json_loads("[{\"name\": \"a\\\"\\\\\\n\", \"queue\": 1, \"rx\": 9223372036854775807,"
			   "  \"state\": \"up\", \"busy\": 3, \"cycles_per_second\": 2},"
			   " {\"name\": \"b\", \"state\": \"down\"}]",
			   0, NULL);
	struct exposition exposition = {.openmetrics = openmetrics};
	size_t length;
	char *text;

	assert_non_null(rows);
	exposition.out = open_memstream(&text, &length);
	exposition_table(&exposition, &table, rows);
	exposition_table(&exposition, &table, NULL);
	exposition_end(&exposition);
	fclose(exposition.out);
	assert_string_equal(text, want);
	free(text);
	json_decref(rows);
}

static void formats(void **state)
{
	(void)state;
	assert_text(
		true,
		"# TYPE x_received_packets counter\n"
		"# UNIT x_received_packets packets\n"
		"# HELP x_received_packets Packets.\n"
		"x_received_packets_total{port=\"a\\\"\\\\\\n\",queue=\"1\"} 9223372036854775807\n"
		"x_received_packets_total{port=\"b\",queue=\"\"} 0\n"
		"# TYPE x_up gauge\n"
		"# HELP x_up Up.\n"
		"x_up{port=\"a\\\"\\\\\\n\",queue=\"1\"} 1\n"
		"x_up{port=\"b\",queue=\"\"} 0\n"
		"# TYPE x_busy_seconds counter\n"
		"# UNIT x_busy_seconds seconds\n"
		"# HELP x_busy_seconds Time.\n"
		"x_busy_seconds_total{port=\"a\\\"\\\\\\n\",queue=\"1\"} 1.500000\n"
		"x_busy_seconds_total{port=\"b\",queue=\"\"} 0.000000\n"
		"# EOF\n");
	assert_text(
		false,
		"# TYPE x_received_packets_total counter\n"
		"# HELP x_received_packets_total Packets.\n"
		"x_received_packets_total{port=\"a\\\"\\\\\\n\",queue=\"1\"} 9223372036854775807\n"
		"x_received_packets_total{port=\"b\",queue=\"\"} 0\n"
		"# TYPE x_up gauge\n"
		"# HELP x_up Up.\n"
		"x_up{port=\"a\\\"\\\\\\n\",queue=\"1\"} 1\n"
		"x_up{port=\"b\",queue=\"\"} 0\n"
		"# TYPE x_busy_seconds_total counter\n"
		"# HELP x_busy_seconds_total Time.\n"
		"x_busy_seconds_total{port=\"a\\\"\\\\\\n\",queue=\"1\"} 1.500000\n"
		"x_busy_seconds_total{port=\"b\",queue=\"\"} 0.000000\n");
}

/* The exporter continues while cygnetd does not run. */
static void no_cygnetd(void **state)
{
	const struct metrics metrics = {.options.prefix = "./no-such.sock"};
	size_t length;
	char *text = metrics_text(&metrics, true, &length);

	(void)state;
	assert_non_null(strstr(text, "\ncygnet_up 0\n"));
	assert_non_null(strstr(text, "\ncygnet_exporter_scrapes_total 1\n"));
	assert_non_null(strstr(text, "\ncygnet_exporter_scrape_errors_total 1\n"));
	assert_null(strstr(text, "cygnet_sas"));
	assert_int_equal(length, strlen(text));
	free(text);
}

/* --- a cygnetd with more SAs and tunnels than anybody wants --- */

static const char telemetry[] = "./test-exporter-telemetry.sock";
static unsigned int asked_sas, asked_tunnels;

/* A command that cygnetd answers in another way. */
static struct {
	const char *command; /* NULL: there is none */
	const char *answer;  /* value of the answer; NULL: the connection ends */
	const char *help;    /* value of the answer of /help */
} odd;

/* @return the value of an answer: one row and another page, or what is odd; NULL: none */
static const char *value_of(const char *request, unsigned int n, char *text, size_t size)
{
	bool pages = strstr(request, "tunnels") || strstr(request, "sas");

	if (!strncmp(request, "/help,", 6))
		return odd.help;
	if (odd.command && !strncmp(request, odd.command, strlen(odd.command)))
		return odd.answer;
	snprintf(text, size,
		 "{\"0\": {\"reqid\": %u, \"local\": \"192.0.2.1\", \"peer\": \"192.0.2.2\","
		 " \"spi_in\": \"0xc0000001\", \"spi_out\": \"\", \"up\": 1, \"age\": 7, \"tunnels\": 9}%s}",
		 n, pages ? ", \"next\": 1" : "");
	return text;
}

static void *answer_all(void *arg)
{
	int fd = accept(*(int *)arg, NULL, NULL);
	char request[512], text[1024], answer[2048];
	const char *value;
	unsigned int n = 0;
	ssize_t len;

	assert_int_equal(send(fd, "{}", 2, 0), 2);
	while ((len = recv(fd, request, sizeof(request) - 1, 0)) > 0) {
		request[len] = '\0';
		asked_sas += !strncmp(request, "/cygnet/sas", 11);
		asked_tunnels += !strncmp(request, "/cygnet/tunnels", 15);
		value = value_of(request, ++n, text, sizeof(text));
		if (!value)
			break;
		request[strcspn(request, ",")] = '\0';
		snprintf(answer, sizeof(answer), "{\"%s\": %s}", request, value);
		if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	close(fd);
	return NULL;
}

static char *scrape(const struct metrics *metrics)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	pthread_t thread;
	size_t length;
	char *text;

	asked_sas = asked_tunnels = 0;
	strcpy(addr.sun_path, telemetry);
	unlink(telemetry);
	assert_int_equal(bind(listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(pthread_create(&thread, NULL, answer_all, &listener), 0);
	text = metrics_text(metrics, true, &length);
	pthread_join(thread, NULL);
	close(listener);
	unlink(telemetry);
	return text;
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

/* A scrape asks for what it shows and not for more. */
static void bounded(void **state)
{
	struct metrics metrics = {.options.prefix = telemetry, .tunnels = 20};
	char *text = scrape(&metrics);

	(void)state;
	assert_int_equal(asked_sas, 0);
	assert_int_equal(asked_tunnels, 20);
	assert_int_equal(count(text, "\ncygnet_tunnel_up{"), 20);
	assert_non_null(strstr(text, "\ncygnet_tunnels 9\n"));
	assert_non_null(strstr(text, "\ncygnet_tunnels_up 1\n"));
	free(text);
	metrics.tunnels = 0;
	metrics.sas = 3;
	text = scrape(&metrics);
	assert_int_equal(asked_sas, 3);
	assert_int_equal(asked_tunnels, 0);
	assert_null(strstr(text, "cygnet_tunnel"));
	assert_int_equal(count(text, "\ncygnet_sa_packets_total{"), 3);
	free(text);
}

static long errors_of(const char *text)
{
	static const char name[] = "\ncygnet_exporter_scrape_errors_total ";

	return strtol(strstr(text, name) + strlen(name), NULL, 10);
}

/* @return how many scrape errors a scrape adds */
static long scrape_odd(const char *command, const char *answer, const char *help, char **text)
{
	const struct metrics metrics = {.options.prefix = telemetry, .tunnels = 2, .sas = 2};
	char *before;
	long errors;

	odd.command = NULL;
	before = scrape(&metrics);
	errors = errors_of(before);
	free(before);
	odd.command = command;
	odd.answer = answer;
	odd.help = help;
	*text = scrape(&metrics);
	odd.command = NULL;
	return errors_of(*text) - errors;
}

/* A table that an older cygnetd does not know is no error; one for which it has no memory is, and the others are there. */
static void missing_table(void **state)
{
	static const char *const failing[] = {
		"null",
		"{\"0\": {\"up\": 1}, \"rows\": 1, \"error\": \"no memory for a row\"}",
		"{\"0\": {\"up\": 1}, \"rows\": 2}",
		"{\"rows\": 1}",
	};
	char *text;

	(void)state;
	assert_int_equal(scrape_odd("/cygnet/tunnels", "null", "null", &text), 0);
	assert_non_null(strstr(text, "\ncygnet_up 1\n"));
	assert_null(strstr(text, "cygnet_tunnel_up"));
	free(text);
	for (size_t i = 0; i < sizeof(failing) / sizeof(failing[0]); i++) {
		assert_int_equal(scrape_odd("/cygnet/tunnels", failing[i], "{\"a\": \"b\"}", &text),
				 1);
		assert_non_null(strstr(text, "\ncygnet_up 1\n"));
		assert_null(strstr(text, "cygnet_tunnel_up"));
		assert_non_null(strstr(text, "\ncygnet_tunnels 9\n"));
		assert_int_equal(count(text, "\ncygnet_sa_packets_total{"), 2);
		free(text);
	}
}

/* Of a cygnetd that does not serve, or ends meanwhile, there are no tables. */
static void no_tables(void **state)
{
	static const struct {
		const char *command, *answer, *help;
	} ends[] = {
		{"/cygnet/info", "null", "{\"a\": \"b\"}"},
		{"/cygnet/sas", "null", "null"},
		{"/cygnet/tunnels", NULL, NULL},
		{"/cygnet/tunnels", "null", NULL},
	};
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		assert_int_equal(scrape_odd(ends[i].command, ends[i].answer, ends[i].help, &text),
				 1);
		assert_non_null(strstr(text, "\ncygnet_up 0\n"));
		assert_null(strstr(text, "cygnet_worker"));
		free(text);
	}
}

/* --- names --- */

static const char charon[] = "./test-exporter-charon.sock";

/* @return whether charon was asked */
static bool add_names(json_t *rows, unsigned int delay_us)
{
	static const char *const elements[] = {
		"gw-gw{",
		"uniqueid=7",
		"remote-host=192.0.2.2",
		"child-sas{",
		"net-1{",
		"name=net",
		"spi-in=c0000001",
		"spi-out=0a000001",
		"}",
		"dmz-2{",
		"name=dmz",
		"spi-in=c0000003",
		"}",
		"}",
		"}",
		NULL,
	};
	struct bytes confirm = packet_of(5), answer = list_of(elements);
	struct dialogue dialogue = {
		.path = charon,
		.type = SOCK_STREAM,
		.answer = {{confirm.data, confirm.len},
			   {answer.data, answer.len},
			   {confirm.data, confirm.len}},
		.delay_us = delay_us,
	};

	dialogue_start(&dialogue);
	tunnel_names_add(rows, charon);
	dialogue_end(&dialogue);
	assert_true(!dialogue.met || memmem(dialogue.asked[1], 64, "noblock", 7));
	return dialogue.met;
}

static json_t *rows_of(const char *text)
{
	json_t *rows = json_loads(text, 0, NULL);

	assert_non_null(rows);
	return rows;
}

static void assert_name(const json_t *rows, size_t i, const char *connection, const char *child)
{
	const json_t *row = json_array_get(rows, i);

	assert_string_equal(json_string_value(json_object_get(row, "connection")), connection);
	assert_string_equal(json_string_value(json_object_get(row, "child")), child);
}

/* clang-format off */
#define TUNNEL(reqid, in, out) "{\"reqid\": " #reqid ", \"local\": \"192.0.2.1\", \"peer\": \"192.0.2.2\", " \
			       "\"spi_in\": \"" in "\", \"spi_out\": \"" out "\"}"
/* clang-format on */

/* charon is asked when there is something new, and then left alone. */
static void names(void **state)
{
	json_t *rows = rows_of("[" TUNNEL(1, "0xc0000001", "0x0a000001") "," TUNNEL(
		1, "0xc0000001", "0x0a000001") "," TUNNEL(2, "", "0x0a000001") "]");

	(void)state;
	assert_true(add_names(rows, 10000));
	/* The same tunnel twice would be two equal samples. */
	assert_int_equal(json_array_size(rows), 2);
	assert_name(rows, 0, "gw-gw", "net");
	assert_name(rows, 1, "gw-gw", "net");
	json_decref(rows);

	/* Nothing is new. */
	rows = rows_of("[" TUNNEL(1, "0xc0000001", "0x0a000001") "]");
	assert_false(add_names(rows, 0));
	assert_name(rows, 0, "gw-gw", "net");
	json_decref(rows);

	/* A rekeyed tunnel has its name, and a new one none, until charon has rested a hundred times 30 ms. */
	rows = rows_of(
		"[" TUNNEL(1, "0xc0000009", "0x0a000009") "," TUNNEL(3, "0xc0000003", "") "]");
	assert_false(add_names(rows, 0));
	assert_name(rows, 0, "gw-gw", "net");
	assert_name(rows, 1, "", "");
	for (unsigned int i = 0; i < 6000 && !add_names(rows, 0); i++)
		usleep(10000);
	assert_name(rows, 0, "gw-gw", "net");
	assert_name(rows, 1, "gw-gw", "dmz");
	tunnel_names_add(rows, NULL);
	json_decref(rows);
}

/* Lines of what standard error is instead. */
static unsigned int lines_of(FILE *log)
{
	unsigned int lines = 0;
	int c;

	fflush(stderr);
	rewind(log);
	while ((c = getc(log)) != EOF)
		lines += c == '\n';
	return lines;
}

/* Ask charon, which is at this socket or away, for a tunnel that it does not know, until it has been asked a few times. */
static void ask_often(bool away, FILE *log, unsigned int lines)
{
	for (unsigned int i = 0, asked = 0; i < 6000 && asked < 5; i++) {
		json_t *rows = rows_of("[" TUNNEL(9, "0xc0000099", "") "]");

		if (away)
			tunnel_names_add(rows, "./no-such.sock");
		else
			add_names(rows, 0);
		asked += lines_of(log) >= lines;
		json_decref(rows);
		usleep(10000);
	}
}

/* Scrapes while charon is away make one line, and one more when it is back; so do those while cygnetd is. */
static void said_once(void **state)
{
	const struct metrics metrics = {.options.prefix = telemetry, .tunnels = 1},
			     nowhere = {.options.prefix = "./no-such.sock"};
	int usual = dup(STDERR_FILENO);
	unsigned int lines[5] = {0};
	FILE *log = tmpfile();
	size_t length;

	(void)state;
	assert_non_null(log);
	assert_int_equal(dup2(fileno(log), STDERR_FILENO), STDERR_FILENO);
	for (unsigned int i = 0; i < 3; i++) {
		ask_often(i != 1, log, i + 1);
		lines[i] = lines_of(log);
	}
	free(scrape(&metrics));
	for (unsigned int i = 0; i < 3; i++)
		free(metrics_text(&nowhere, true, &length));
	lines[3] = lines_of(log);
	for (unsigned int i = 0; i < 3; i++)
		free(scrape(&metrics));
	lines[4] = lines_of(log);
	dup2(usual, STDERR_FILENO);
	close(usual);
	fclose(log);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(lines[i], i + 1);
	assert_in_range(lines[3], 4, 5); /* an earlier test may have ended without cygnetd */
	assert_int_equal(lines[4], lines[3] + 1);
}

/* Two policies that differ only in what is no label are one sample. */
static void policies(void **state)
{
	json_t *given = json_loads(
		"[{\"dir\": \"out\", \"action\": \"protect\", \"selector\": \"a\", \"reqid\": 1, \"passed\": 5, \"dropped\": 1},"
		" {\"dir\": \"in\", \"action\": \"protect\", \"selector\": \"a\", \"reqid\": 1, \"passed\": 7, \"dropped\": 0},"
		" {\"dir\": \"out\", \"action\": \"protect\", \"selector\": \"a\", \"reqid\": 1, \"passed\": 3, \"dropped\": 2},"
		" {}]",
		0, NULL);
	json_t *rows = policy_rows(given);
	const json_t *row = json_array_get(rows, 0);

	(void)state;
	assert_int_equal(json_array_size(rows), 3);
	assert_int_equal(json_integer_value(json_object_get(row, "passed")), 8);
	assert_int_equal(json_integer_value(json_object_get(row, "dropped")), 3);
	json_decref(rows);
	json_decref(given);
}

/* Other hosts must not reach the exporter. */
static void addresses(void **state)
{
	static const struct {
		const char *where;
		int err;
		const char *error;
	} refused[] = {
		{"0.0.0.0:9760", -EPERM, "0.0.0.0:9760: not a loopback address"},
		{"192.0.2.1:9760", -EPERM, "192.0.2.1:9760: not a loopback address"},
		{"[::]:9760", -EPERM, "[::]:9760: not a loopback address"},
		{"[::ffff:127.0.0.1]:9760", -EPERM, "[::ffff:127.0.0.1]:9760: not a loopback"},
		{"127.0.0.1", -EINVAL, "127.0.0.1: neither ADDRESS:PORT"},
		{"127.0.0.1:", -EINVAL, "127.0.0.1:: neither"},
		{"127.0.0.1:0", -EINVAL, "127.0.0.1:0: neither"},
		{"127.0.0.1:65536", -EINVAL, "127.0.0.1:65536: neither"},
		{"127.0.0.1:80x", -EINVAL, "127.0.0.1:80x: neither"},
		{"localhost:80", -EINVAL, "localhost:80: neither"},
		{"", -EINVAL, ": neither"},
		{"/no/such/folder", -ENOENT, "/no/such/folder: No such file"},
	};
	char error[512];

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_int_equal(listen_open(refused[i].where, error, sizeof(error)),
				 refused[i].err);
		assert_memory_equal(error, refused[i].error, strlen(refused[i].error));
	}
}

/* The socket of an earlier exporter is replaced, another file is not. */
static void unix_socket(void **state)
{
	char folder[] = "/tmp/cygnet-exporter-XXXXXX", path[64], error[512];
	struct stat stat;
	FILE *file;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/socket", folder);
	for (unsigned int i = 0; i < 2; i++) {
		fd = listen_open(path, error, sizeof(error));
		assert_true(fd >= 0);
		close(fd);
	}
	assert_int_equal(lstat(path, &stat), 0);
	assert_int_equal(stat.st_mode & 0777, 0660);
	unlink(path);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(listen_open(path, error, sizeof(error)), -EADDRINUSE);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),   cmocka_unit_test(no_cygnetd),
		cmocka_unit_test(bounded),   cmocka_unit_test(missing_table),
		cmocka_unit_test(no_tables), cmocka_unit_test(names),
		cmocka_unit_test(said_once), cmocka_unit_test(policies),
		cmocka_unit_test(addresses), cmocka_unit_test(unix_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

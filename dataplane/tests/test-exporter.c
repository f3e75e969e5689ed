/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exporter without cygnetd: both text formats, and the addresses that it serves on. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "exporter/exposition.h"
#include "exporter/listen.h"
#include "charon.h"
#include "exporter/huge_pages.h"
#include "exporter/metrics.h"
#include "exporter/policy_rows.h"
#include "exporter/tunnel_rows.h"

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

/* A tunnel that is being rekeyed, and one with an SA in one direction only, of the same reqid and another peer. */
static void tunnels(void **state)
{
	json_t *sas = json_loads(
		"[{\"spi\": \"0xc0000001\", \"dir\": \"in\", \"src\": \"192.0.2.2\", \"dst\": \"192.0.2.1\","
		"  \"reqid\": 1, \"age\": 900},"
		" {\"spi\": \"0x0a000001\", \"dir\": \"out\", \"src\": \"192.0.2.1\", \"dst\": \"192.0.2.2\","
		"  \"reqid\": 1, \"age\": 900},"
		" {\"spi\": \"0xc0000002\", \"dir\": \"in\", \"src\": \"192.0.2.2\", \"dst\": \"192.0.2.1\","
		"  \"reqid\": 1, \"age\": 7},"
		" {\"spi\": \"0x0a000001\", \"dir\": \"out\", \"src\": \"192.0.2.1\", \"dst\": \"192.0.2.3\","
		"  \"reqid\": 1, \"age\": 5},"
		" {\"spi\": \"?\"}, {\"age\": 3}]",
		0, NULL);
	json_t *children = json_loads("{\"inc0000002\": {\"ike\": \"gw-gw\", \"child\": \"net\"}}",
				      0, NULL);
	json_t *rows = tunnel_rows(sas, children), *row = json_array_get(rows, 0);

	(void)state;
	assert_int_equal(json_array_size(rows), 3);
	assert_string_equal(json_string_value(json_object_get(row, "state")), "up");
	assert_string_equal(json_string_value(json_object_get(row, "connection")), "gw-gw");
	assert_string_equal(json_string_value(json_object_get(row, "child")), "net");
	assert_string_equal(json_string_value(json_object_get(row, "peer")), "192.0.2.2");
	assert_int_equal(json_integer_value(json_object_get(row, "age")), 7);
	row = json_array_get(rows, 1);
	assert_string_equal(json_string_value(json_object_get(row, "state")), "down");
	assert_string_equal(json_string_value(json_object_get(row, "connection")), "");
	json_decref(rows);
	json_decref(sas);
	json_decref(children);
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

static void huge_pages(void **state)
{
	static const char *const sizes[] = {"hugepages-2048kB", "other"};
	char folder[] = "./test-pages-XXXXXX", path[128];
	const json_t *row;
	json_t *rows;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < 2; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", folder, sizes[i]);
		assert_int_equal(mkdir(path, 0700), 0);
		strcat(path, "/nr_hugepages");
		file = fopen(path, "w");
		fputs("192\n", file);
		fclose(file);
	}
	rows = huge_pages_rows(folder);
	assert_int_equal(json_array_size(rows), 1);
	row = json_array_get(rows, 0);
	assert_int_equal(json_integer_value(json_object_get(row, "size")), 2097152);
	assert_int_equal(json_integer_value(json_object_get(row, "pages")), 192);
	assert_int_equal(json_integer_value(json_object_get(row, "free")), 0);
	json_decref(rows);
	rows = huge_pages_rows("./no-such-folder");
	assert_int_equal(json_array_size(rows), 0);
	json_decref(rows);
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s/nr_hugepages", folder, sizes[i]);
		unlink(path);
		*strrchr(path, '/') = '\0';
		rmdir(path);
	}
	assert_int_equal(rmdir(folder), 0);
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
		cmocka_unit_test(formats),     cmocka_unit_test(no_cygnetd),
		cmocka_unit_test(tunnels),     cmocka_unit_test(policies),
		cmocka_unit_test(huge_pages),  cmocka_unit_test(addresses),
		cmocka_unit_test(unix_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cygnetctl: tables, words, and answers over the socket. */
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

#include "client.h"
#include "commands.h"
#include "dialogue.h"
#include "engines.h"
#include "report.h"
#include "routes.h"
#include "row_asserts.h"
#include "table.h"
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

/* --- the socket --- */

static void socket_paths(void **state)
{
	char path[256];

	(void)state;
	setenv("RUNTIME_DIRECTORY", "/run/cygnet", 1);
	client_socket_path("left", path, sizeof(path));
	assert_string_equal(path, "/run/cygnet/dpdk/left/dpdk_telemetry.v2");
	unsetenv("RUNTIME_DIRECTORY");
	setenv("XDG_RUNTIME_DIR", "./no-such-folder", 1);
	client_socket_path("left", path, sizeof(path));
	assert_string_equal(path, "/var/run/dpdk/left/dpdk_telemetry.v2");
	unsetenv("XDG_RUNTIME_DIR");
	client_socket_path("left", path, sizeof(path));
	assert_string_equal(path, "/var/run/dpdk/left/dpdk_telemetry.v2");
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

/* A table that has changed between two pages is read from the beginning; one that always does is none. */
static void changed_pages(void **state)
{
	static const char first[] = "{\"/cygnet/x\": {\"0\": {\"n\": 1}, \"next\": 17}}",
			  changed[] = "{\"/cygnet/x\": {\"rows\": 0, \"error\": \"changed\"}}";
	static const char *const answers[] = {"{}", first, changed,
					      "{\"/cygnet/x\": {\"0\": {\"n\": 2}, \"rows\": 1}}",
					      NULL};
	static const char *const never[] = {"{}", changed, NULL};
	struct dialogue dialogue = {0}, other = {0};
	char error[256];
	json_t *rows = ask(&dialogue, answers, error, sizeof(error));

	(void)state;
	assert_string_equal(dialogue.asked[3], "/cygnet/x");
	assert_int_equal(json_array_size(rows), 1);
	assert_number(json_array_get(rows, 0), "n", 2);
	json_decref(rows);
	assert_null(ask(&other, never, error, sizeof(error)));
	assert_string_equal(error, "/cygnet/x: cygnetd cannot answer: changed");
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables),
		cmocka_unit_test(narrow_tables),
		cmocka_unit_test(engines_fit),
		cmocka_unit_test(nearest_words),
		cmocka_unit_test(reports),
		cmocka_unit_test(help_texts),
		cmocka_unit_test(measured_engines),
		cmocka_unit_test(sorted_routes),
		cmocka_unit_test(socket_paths),
		cmocka_unit_test(pages),
		cmocka_unit_test(changed_pages),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(answers_that_are_none),
		cmocka_unit_test(strange_names),
		cmocka_unit_test(nobody_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

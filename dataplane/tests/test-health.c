/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cygnetctl health: what it says of a gateway, and its performance data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "judge.h"
#include "perfdata.h"
#include "text.h"

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(judgements),
		cmocka_unit_test(performance_data),
		cmocka_unit_test(many_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

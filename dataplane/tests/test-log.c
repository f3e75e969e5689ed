/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log: texts, levels, the limit of each cause; messages of DPDK that look like errors. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/log.h"
#include "host/eal_log.h"

static char *text;
static size_t size;
static FILE *file;

static int begin(void **state)
{
	(void)state;
	file = open_memstream(&text, &size);
	log_divert(file);
	log_level = RTE_LOG_INFO;
	eal_log_set_level(RTE_LOG_NOTICE);
	return file ? fflush(file) : -1;
}

static int end(void **state)
{
	(void)state;
	log_divert(NULL);
	fclose(file);
	free(text);
	return 0;
}

static void texts(void **state)
{
	(void)state;
	log_error("%u is too many", 3u);
	log_warn("careful");
	log_info("ready");
	log_plain(RTE_LOG_DEBUG, "not shown");
	log_sa(RTE_LOG_INFO, htonl(0x0c1234af), "soft limit reached");
	log_port(RTE_LOG_WARNING, "wan", "no carrier");
	log_about(RTE_LOG_INFO, (struct log_about){.reqid = 7}, "has no SA");
	assert_string_equal(text, "cygnetd: error: 3 is too many\n"
				  "cygnetd: warning: careful\n"
				  "cygnetd: ready\n"
				  "cygnetd: SA 0c1234af: soft limit reached\n"
				  "cygnetd: warning: port wan: no carrier\n"
				  "cygnetd: policy {7}: has no SA\n");
}

static unsigned int lines(void)
{
	unsigned int n = 0;

	for (const char *end = text; (end = strchr(end, '\n')); end++)
		n++;
	return n;
}

/* Many messages of one cause do not keep those of another out of the log, and are counted. */
static void limit(void **state)
{
	struct log_cause flood = {0}, other = {0};
	const struct log_about none = {0};

	(void)state;
	for (unsigned int i = 0; i < LOG_BURST + 5; i++)
		log_say(&flood, RTE_LOG_ERR, "cygnetd", none, "flood");
	assert_int_equal(lines(), LOG_BURST);
	log_say(&other, RTE_LOG_ERR, "cygnetd", none, "other");
	assert_int_equal(lines(), LOG_BURST + 1);
	assert_int_equal(flood.left_out, 5);
	flood.since -= LOG_SECONDS;
	log_say(&flood, RTE_LOG_ERR, "cygnetd", none, "flood");
	assert_non_null(
		strstr(text, "other\ncygnetd: error: flood (5 more of this kind left out)\n"));
	log_say(&flood, RTE_LOG_ERR, "cygnetd", none, "flood");
	assert_non_null(strstr(text, "left out)\ncygnetd: error: flood\n"));
}

/* A text longer than a message is truncated. */
static void long_text(void **state)
{
	static char big[20000];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	log_info("%s", big);
	assert_true(strlen(text) < 9000);
	assert_int_equal(lines(), 1);
}

static const struct {
	const char *message, *logged;
} dpdk[] = {
	{"EAL: started\n", "dpdk: error: EAL: started\n"},
	{"one\n\ntwo \n", "dpdk: error: one\ndpdk: error: two\n"},
	{"no newline", "dpdk: error: no newline\n"},
	{"tap_nl_dump_ext_ack(): Specified qdisc kind is unknown\n", ""},
	{"tap_nl_dump_ext_ack(): Operation not permitted\n",
	 "dpdk: error: tap_nl_dump_ext_ack(): Operation not permitted\n"},
	{"qdisc_create_multiq(): Could not add multiq qdisc (2): No such file or directory\n", ""},
	{"qdisc_create_multiq(): Could not add multiq qdisc (1): Operation not permitted\n",
	 "dpdk: error: qdisc_create_multiq(): Could not add multiq qdisc (1): Operation not permitted\n"},
	{"eth_dev_tap_create(): wan: failed to create multiq qdisc.\n", ""},
	{"eth_dev_tap_create():  Disabling rte flow support: No such file or directory(2)\n", ""},
	{"tap_mp_req_on_rxtx(): Failed to send start req to secondary 95\n", ""},
	{"tap_mp_req_on_rxtx(): Failed to send start req to secondary 12\n",
	 "dpdk: error: tap_mp_req_on_rxtx(): Failed to send start req to secondary 12\n"},
	{"EAL: No free 1048576 kB hugepages reported on node 1\n", ""},
	{"EAL: No free 2048 kB hugepages reported on node 0\n",
	 "dpdk: error: EAL: No free 2048 kB hugepages reported on node 0\n"},
};

static void of_dpdk(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(dpdk) / sizeof(dpdk[0]); i++) {
		size_t before = size;

		eal_log_take("dpdk", RTE_LOG_ERR, dpdk[i].message, strlen(dpdk[i].message));
		fflush(file);
		assert_string_equal(text + before, dpdk[i].logged);
	}
}

/* Levels, and the passage of DPDK's own messages. */
static void levels(void **state)
{
	static const char harmless[] =
		"tap_mp_req_on_rxtx(): Failed to send start req to secondary 95\n";

	(void)state;
	assert_int_equal(eal_log_open(), 0);
	rte_log(RTE_LOG_INFO, RTE_LOGTYPE_EAL, "hidden\n");
	rte_log(RTE_LOG_NOTICE, RTE_LOGTYPE_EAL, "shown %d\n", 1);
	rte_log(RTE_LOG_CRIT, RTE_LOGTYPE_EAL, "critical\n");
	eal_log_set_level(RTE_LOG_DEBUG);
	rte_log(RTE_LOG_INFO, RTE_LOGTYPE_EAL, "info\n");
	eal_log_take("libxdp", RTE_LOG_ERR, harmless, strlen(harmless));
	eal_log_set_level(RTE_LOG_ERR);
	rte_log(RTE_LOG_NOTICE, RTE_LOGTYPE_EAL, "hidden\n");
	assert_string_equal(
		text, "dpdk: shown 1\ndpdk: error: critical\ndpdk: info\n"
		      "libxdp: tap_mp_req_on_rxtx(): Failed to send start req to secondary 95\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(texts, begin, end),
		cmocka_unit_test_setup_teardown(limit, begin, end),
		cmocka_unit_test_setup_teardown(long_text, begin, end),
		cmocka_unit_test_setup_teardown(of_dpdk, begin, end),
		cmocka_unit_test_setup_teardown(levels, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

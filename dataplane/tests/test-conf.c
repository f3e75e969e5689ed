/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cygnetd.conf: what is read, and what each mistake is told like. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/sadb.h"
#include "conf/conf.h"
#include "cygnet.h"

static char path[64];
static struct conf conf;
static char error[512];

static int read_text(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	error[0] = '\0';
	return conf_read(&conf, path, error, sizeof(error));
}

static void everything(void **state)
{
	(void)state;
	assert_int_equal(read_text("# a comment\n"
				   "[cygnetd]\n"
				   "sadb = /tmp/sadb   # where\n"
				   "sas=1000\n"
				   "policies = 2000\n"
				   "routes = 3000\n"
				   "engine = opencl\n"
				   "\tworkers = 4\n"
				   "cores = 0,0\n"
				   "crypto_cores = 0,0,0\n"
				   "idle = sleep\n"
				   "no_policy = drop\n"
				   "hairpin = pass\n"
				   "eal = -m 192 --file-prefix=left\n"
				   "driver_path = /opt/drivers\n"
				   "opencl = device=0,qps=2\n"
				   "\n"
				   "[port wan]\n"
				   "device = net_af_packet0,iface=eth1\n"
				   "[port lan]\n"
				   "tap = inside0\n"
				   "mtu = 9000 # jumbo frames\n"
				   "device = 0000:03:00.0\n"),
			 0);
	assert_string_equal(conf.path, path);
	assert_string_equal(conf.sadb, "/tmp/sadb");
	assert_int_equal(conf.sas, 1000);
	assert_int_equal(conf.policies, 2000);
	assert_int_equal(conf.routes, 3000);
	assert_int_equal(conf.engine, ENGINE_OPENCL);
	assert_int_equal(conf.workers, 4);
	assert_string_equal(conf.cores, "0,0");
	assert_string_equal(conf.crypto_cores, "0,0,0");
	assert_int_equal(conf.ncrypto_cores, 3);
	assert_true(conf.idle_sleep);
	assert_true(conf.drop_no_policy);
	assert_true(conf.pass_hairpin);
	assert_string_equal(conf.eal, "-m 192 --file-prefix=left");
	assert_string_equal(conf.driver_path, "/opt/drivers");
	assert_string_equal(conf.opencl_args, "device=0,qps=2");
	assert_int_equal(conf.nports, 2);
	assert_string_equal(conf.port[0].name, "wan");
	assert_string_equal(conf.port[0].device, "net_af_packet0,iface=eth1");
	assert_string_equal(conf.port[0].tap, "wan");
	assert_int_equal(conf.port[0].mtu, 0);
	assert_string_equal(conf.port[1].name, "lan");
	assert_string_equal(conf.port[1].device, "0000:03:00.0");
	assert_string_equal(conf.port[1].tap, "inside0");
	assert_int_equal(conf.port[1].mtu, 9000);
	assert_int_equal(conf.port[1].mtu_line, 22);
}

static void defaults(void **state)
{
	(void)state;
	assert_int_equal(read_text("[port a]\ndevice = net_null0\n"), 0);
	assert_string_equal(conf.sadb, CYGNET_SADB_PATH);
	assert_int_equal(conf.sas, CYGNET_DEFAULT_SAS);
	assert_int_equal(conf.policies, CYGNET_DEFAULT_POLICIES);
	assert_int_equal(conf.routes, CONF_DEFAULT_ROUTES);
	assert_int_equal(conf.engine, ENGINE_AUTO);
	assert_int_equal(conf.workers, 1);
	assert_string_equal(conf.cores, "");
	assert_string_equal(conf.crypto_cores, "");
	assert_int_equal(conf.ncrypto_cores, 0);
	assert_false(conf.idle_sleep);
	assert_false(conf.drop_no_policy);
	assert_false(conf.pass_hairpin);
	assert_string_equal(conf.eal, "");
	assert_string_equal(conf.driver_path, "");
	assert_string_equal(conf.opencl_args, "");
}

#define LONG32 "0123456789abcdef0123456789abcdef"
#define LONG256 LONG32 LONG32 LONG32 LONG32 LONG32 LONG32 LONG32 LONG32

static const struct {
	const char *text, *message; /* what follows the path in the message */
} mistakes[] = {
	{"", ": no [port NAME] section"},
	{"[cygnetd]\n", ": no [port NAME] section"},
	{"sas = 1\n", ":1: a key in front of the first [section]"},
	{"[cygnetd\n", ":1: no ']' at the end of the section's name"},
	{"[cygnetd] sas = 1\n", ":1: something follows the section's name"},
	{"[ ]\n", ":1: a section without name"},
	{"[" LONG32 LONG32 "]\n", ":1: the section's name is too long"},
	{"[cygnetd]\n\nsas\n", ":3: neither [section] nor key = value"},
	{"[cygnetd]\nsas =\n", ":2: no value after '='"},
	{"[cygnetd]\nsas = # none\n", ":2: no value after '='"},
	{"[cygnetd]\n= 3\n", ":2: no key in front of '='"},
	{"[cygnetd]\n" LONG32 LONG32 " = 3\n", ":2: the key is too long"},
	{"[cygnetd]\neal = " LONG256 "\n", ":2: the value is too long"},
	{"[cygnetd]\neal = " LONG256 LONG256 "\n", ":2: the line is too long"},
	{"[cygnetd]\nsadb = /run/\001\n", ":2: a control character"},
	{"[crypto]\n", ":1: [crypto]: unknown section"},
	{"[portwan]\n", ":1: [portwan]: unknown section"},
	{"[cygnetd]\nsas = 1\n[cygnetd]\nsas = 1\n", ":3: [cygnetd]: a second section of that name"},
	{"[cygnetd]\ncolour = red\n", ":2: [cygnetd] colour: unknown key"},
	{"[cygnetd]\nworkers = 1\n\nworkers = 2\n", ":4: [cygnetd] workers: given twice"},
	{"[cygnetd]\nsadb = sadb\n", ":2: [cygnetd] sadb: 'sadb' is not an absolute path"},
	{"[cygnetd]\nsas = many\n", ":2: [cygnetd] sas: 'many' is not a number"},
	{"[cygnetd]\nsas = 12k\n", ":2: [cygnetd] sas: '12k' is not a number"},
	{"[cygnetd]\nsas = -1\n", ":2: [cygnetd] sas: '-1' is not a number"},
	{"[cygnetd]\nsas = 0\n", ":2: [cygnetd] sas: 0 is not between 1 and 2097152"},
	{"[cygnetd]\nsas = 99999999999999999999999\n",
	 ":2: [cygnetd] sas: 99999999999999999999999 is not between 1 and 2097152"},
	{"[cygnetd]\npolicies = 2097153\n",
	 ":2: [cygnetd] policies: 2097153 is not between 1 and 2097152"},
	{"[cygnetd]\nroutes = 1\n", ":2: [cygnetd] routes: 1 is not between 64 and 4194304"},
	{"[cygnetd]\nworkers = 65\n", ":2: [cygnetd] workers: 65 is not between 1 and 64"},
	{"[cygnetd]\nengine = gpu\n",
	 ":2: [cygnetd] engine: 'gpu' is not one of auto, cpu, opencl"},
	{"[cygnetd]\ncores = 0@1\n",
	 ":2: [cygnetd] cores: '0@1' is not a list of CPUs such as 1,2,3"},
	{"[cygnetd]\ncrypto_cores = 0-1\n",
	 ":2: [cygnetd] crypto_cores: '0-1' is not a list of CPUs such as 1,2,3"},
	{"[cygnetd]\ncrypto_cores = 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n",
	 ":2: [cygnetd] crypto_cores: more than 32 CPUs"},
	{"[cygnetd]\ncores = 0,\n",
	 ":2: [cygnetd] cores: '0,' is not a list of CPUs such as 1,2,3"},
	{"[cygnetd]\neal = -m 64 -l0-3\n", ":2: [cygnetd] eal: -l is cygnetd's own to choose"},
	{"[cygnetd]\neal = -c3\n", ":2: [cygnetd] eal: -c is cygnetd's own to choose"},
	{"[cygnetd]\nno_policy = no\n", ":2: [cygnetd] no_policy: 'no' is not one of pass, drop"},
	{"[cygnetd]\nhairpin = yes\n", ":2: [cygnetd] hairpin: 'yes' is not one of drop, pass"},
	{"[cygnetd]\nidle = never\n", ":2: [cygnetd] idle: 'never' is not one of poll, sleep"},
	{"[cygnetd]\neal = --no-te\n",
	 ":2: [cygnetd] eal: --no-telemetry is cygnetd's own to choose"},
	{"[cygnetd]\neal = --lcor 0\n", ":2: [cygnetd] eal: --lcores is cygnetd's own to choose"},
	{"[cygnetd]\neal = -m 64 --lcores=0\n",
	 ":2: [cygnetd] eal: --lcores is cygnetd's own to choose"},
	{"[cygnetd]\neal = -l 0\n", ":2: [cygnetd] eal: -l is cygnetd's own to choose"},
	{"[cygnetd]\ndriver_path = lib\n",
	 ":2: [cygnetd] driver_path: 'lib' is not an absolute path"},
	{"[port wan]\n", ":1: [port wan] device: missing"},
	{"[port wan]\ntap = a\n\n[cygnetd]\n", ":1: [port wan] device: missing"},
	{"[port a b]\n", ":1: [port a b]: 'a b' cannot be the name of a port"},
	{"[port " LONG32 "]\n",
	 ":1: [port " LONG32 "]: '" LONG32 "' cannot be the name of a port"},
	{"[port a]\ndevice = net_null0\n[port a]\n", ":3: [port a]: a second port of that name"},
	{"[port a]\nmtu = 9k\n", ":2: [port a] mtu: '9k' is not a number"},
	{"[port a]\nmtu = 575\n", ":2: [port a] mtu: 575 is not between 576 and 16000"},
	{"[port a]\nmtu = 16001\n", ":2: [port a] mtu: 16001 is not between 576 and 16000"},
	{"[port a]\nmtu = 9000\nmtu = 1500\n", ":3: [port a] mtu: given twice"},
	{"[cygnetd]\nmtu = 9000\n", ":2: [cygnetd] mtu: unknown key"},
	{"[port a]\nspeed = 10\n", ":2: [port a] speed: unknown key"},
	{"[port a]\ndevice = net_null0\ntap = a/b\n",
	 ":3: [port a] tap: 'a/b' cannot be the name of an interface"},
	{"[port a]\ndevice = net_null0\ntap = sixteen-letters-\n",
	 ":3: [port a] tap: longer than 15 characters"},
	{"[port longer-than-a-tap]\ndevice = net_null0\n",
	 ":1: [port longer-than-a-tap] tap: longer than 15 characters"},
	{"[port a]\ndevice = net_null0\ntap = t\n[port b]\ndevice = net_null1\ntap = t\n",
	 ":6: [port b] tap: t is already the TAP of port a"},
	{"[port a]\ndevice = net_null0\n[port b]\ntap = a\ndevice = net_null1\n",
	 ":4: [port b] tap: a is already the TAP of port a"},
	{"[port a]\ndevice = net_null0,size=64\n[port b]\ndevice = net_null0\n",
	 ":4: [port b] device: net_null0 is already the device of port a"},
};

static void each_mistake(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		if (read_text(mistakes[i].text) == 0)
			fail_msg("accepted: %s", mistakes[i].text);
		assert_memory_equal(error, path, strlen(path));
		assert_string_equal(error + strlen(path), mistakes[i].message);
	}
}

static void too_many_ports(void **state)
{
	char text[4096] = "";
	size_t used = 0;

	(void)state;
	for (unsigned int i = 0; i <= CONF_MAX_PORTS; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "[port p%u]\ndevice = net_null%u\n", i, i);
	assert_int_not_equal(read_text(text), 0);
	assert_non_null(strstr(error, ":33: [port p16]: more than 16 ports"));
}

/* What is installed as an example is one that works. */
static void example(void **state)
{
	(void)state;
	if (conf_read(&conf, EXAMPLE, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(conf.nports, 2);
}

static void missing_file(void **state)
{
	(void)state;
	assert_int_equal(conf_read(&conf, "/nowhere/cygnetd.conf", error, sizeof(error)), -ENOENT);
	assert_string_equal(error, "/nowhere/cygnetd.conf: No such file or directory");
}

static void file_prefix(void **state)
{
	static const struct {
		const char *eal, *prefix;
	} cases[] = {
		{"", "cygnet"},
		{"-m 64", "cygnet"},
		{"--file-prefix=left -m 64", "left"},
		{"-m 64 --file-prefix  right", "right"},
		{"--file-prefix=a --file-prefix=b", "b"},
	};
	char prefix[32];

	(void)state;
	conf_defaults(&conf);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(conf.eal, cases[i].eal);
		conf_file_prefix(&conf, prefix, sizeof(prefix));
		assert_string_equal(prefix, cases[i].prefix);
	}
}

/* Whatever is in the file: an answer, and a message if it is no. */
static void random_bytes(void **state)
{
	static const char alphabet[] = "[]=#\\ \t\n\n\n;abport cygnetd09sastap\001\200";
	char text[400];

	(void)state;
	srandom(1);
	for (unsigned int i = 0; i < 3000; i++) {
		size_t len = (size_t)random() % sizeof(text);

		for (size_t j = 0; j < len; j++)
			text[j] = alphabet[(size_t)random() % (sizeof(alphabet) - 1)];
		text[len ? len - 1 : 0] = '\0';
		if (read_text(text))
			assert_memory_equal(error, path, strlen(path));
	}
}

static int make_path(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "./test-conf-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything),	 cmocka_unit_test(defaults),
		cmocka_unit_test(each_mistake),	 cmocka_unit_test(too_many_ports),
		cmocka_unit_test(missing_file),	 cmocka_unit_test(file_prefix),
		cmocka_unit_test(random_bytes),	 cmocka_unit_test(example),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}

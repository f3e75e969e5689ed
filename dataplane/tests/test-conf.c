/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cygnetd.conf and its drop-ins: what is read, and the message of each mistake. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/sadb.h"
#include "conf/conf.h"
#include "conf/conf_keys.h"
#include "conf/driver_folder.h"
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
				   "sadb_on_disk = yes\n"
				   "lock_memory = no\n"
				   "seccomp = log\n"
				   "keep_policies = no\n"
				   "hold_unknown = no\n"
				   "sas=1000\n"
				   "policies = 2000\n"
				   "routes = 3000\n"
				   "engine = opencl\n"
				   "\tworkers = 4\n"
				   "cores = 0,0\n"
				   "crypto_cores = 0,0,0\n"
				   "idle = sleep\n"
				   "no_policy = drop\n"
				   "approved = yes\n"
				   "audit = no\n"
				   "police_icmp = 7\n"
				   "balance = no\n"
				   "hairpin = pass\n"
				   "dhcp = no\n"
				   "kernel_side = inside\n"
				   "log = error\n"
				   "dpdk_log = debug\n"
				   "eal = -m 192 --file-prefix=left\n"
				   "driver_path = /opt/drivers\n"
				   "opencl = device=0,qps=2\n"
				   "\n"
				   "[port wan]\n"
				   "device = net_af_packet0,iface=eth1\n"
				   "[port lan]\n"
				   "tap = inside0\n"
				   "mtu = 9000 # jumbo frames\n"
				   "side = inside\n"
				   "device = 0000:03:00.0\n"),
			 0);
	assert_string_equal(conf.path, path);
	assert_string_equal(conf.sadb, "/tmp/sadb");
	assert_true(conf.sadb_on_disk);
	assert_false(conf.lock_memory);
	assert_int_equal(conf.seccomp, SECCOMP_LOG);
	assert_false(conf.keep_policies);
	assert_false(conf.hold_unknown);
	assert_int_equal(conf.sas, 1000);
	assert_int_equal(conf.policies, 2000);
	assert_int_equal(conf.routes, 3000);
	assert_int_equal(conf.engine, ENGINE_OPENCL);
	assert_int_equal(conf.workers, 4);
	assert_string_equal(conf.cores, "0,0");
	assert_string_equal(conf.crypto_cores, "0,0,0");
	assert_int_equal(conf.ncrypto_cores, 3);
	assert_true(conf.idle_sleep);
	assert_int_equal(conf.no_policy, NO_POLICY_DROP);
	assert_true(conf.approved);
	assert_false(conf.audit);
	assert_int_equal(conf.police[POLICE_ICMP], 7);
	assert_int_equal(conf.police[POLICE_IKE], 5000);
	assert_int_equal(conf.police[POLICE_SA], 100000);
	assert_false(conf.balance);
	assert_true(conf.pass_hairpin);
	assert_false(conf.dhcp);
	assert_int_equal(conf_log_level(conf.log), RTE_LOG_ERR);
	assert_int_equal(conf_log_level(conf.dpdk_log), RTE_LOG_DEBUG);
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
	assert_int_equal(conf.kernel_side, CONF_INSIDE);
	assert_int_equal(conf.port[0].side, CONF_OUTSIDE);
	assert_int_equal(conf.port[1].side, CONF_INSIDE);
	assert_true(conf_has_sides(&conf));
	conf_where(&conf, &conf.port[1], "mtu", error, sizeof(error));
	assert_string_equal(error + strlen(path), ":35: [port lan] mtu");
	conf_where(&conf, NULL, "state", error, sizeof(error));
	assert_string_equal(error + strlen(path), ":2: [cygnetd] state");
}

static void defaults(void **state)
{
	(void)state;
	assert_int_equal(read_text("[port a]\ndevice = net_null0\n"), 0);
	assert_string_equal(conf.sadb, CYGNET_SADB_PATH);
	assert_int_equal(conf.sas, CYGNET_DEFAULT_SAS);
	assert_int_equal(conf.policies, CYGNET_DEFAULT_POLICIES);
	assert_int_equal(conf.routes, 65536);
	assert_int_equal(conf.engine, ENGINE_AUTO);
	assert_int_equal(conf.workers, 1);
	assert_string_equal(conf.cores, "");
	assert_string_equal(conf.crypto_cores, "");
	assert_int_equal(conf.ncrypto_cores, 0);
	assert_false(conf.idle_sleep);
	assert_int_equal(conf.no_policy, NO_POLICY_INSIDE);
	assert_int_equal(conf.kernel_side, CONF_OUTSIDE);
	assert_false(conf_has_sides(&conf));
	assert_false(conf.approved);
	assert_true(conf.audit);
	assert_true(conf.balance);
	assert_false(conf.pass_hairpin);
	assert_true(conf.dhcp);
	assert_false(conf.sadb_on_disk);
	assert_true(conf.lock_memory);
	assert_int_equal(conf.seccomp, SECCOMP_AUTO);
	assert_true(conf.keep_policies);
	assert_true(conf.hold_unknown);
	assert_int_equal(conf_log_level(conf.log), RTE_LOG_INFO);
	assert_int_equal(conf_log_level(conf.dpdk_log), RTE_LOG_NOTICE);
	assert_string_equal(conf.eal, "");
	assert_string_equal(conf.driver_path, driver_folder);
	assert_string_equal(conf.opencl_args, "");
}

#define LONG32	 "0123456789abcdef0123456789abcdef"
#define LONG256	 LONG32 LONG32 LONG32 LONG32 LONG32 LONG32 LONG32 LONG32
#define LONG1024 LONG256 LONG256 LONG256 LONG256
#define LONG4096 LONG1024 LONG1024 LONG1024 LONG1024

#define DEVICE "[port a]\ndevice = net_null0\n"

static const struct {
	const char *text, *message; /* the message without the path */
} mistakes[] = {
	{"", ": no [port NAME] section"},
	{"[cygnetd]\n", ": no [port NAME] section"},
	{"sas = 1\n", ":1: a key in front of the first [section]"},
	{"[cygnetd\n", ":1: no ']' at the end of the section's name"},
	{"[cygnetd] sas = 1\n", ":1: something follows the section's name"},
	{"[ ]\n", ":1: a section without name"},
	{"[" LONG32 "]\n", ":1: [" LONG32 "]: unknown section"},
	{"[cygnetd]\n\nsas\n", ":3: neither [section] nor key = value"},
	{"[cygnetd]\nsas =\n", ":2: no value after '='"},
	{"[cygnetd]\nsas = # none\n", ":2: no value after '='"},
	{"[cygnetd]\n= 3\n", ":2: no key in front of '='"},
	{"[cygnetd]\n" LONG32 LONG32 " = 3\n", ":2: [cygnetd] " LONG32 LONG32 ": unknown key"},
	{"[cygnetd]\neal = " LONG256 "\n", ":2: [cygnetd] eal: longer than 255 characters"},
	{"[cygnetd]\nsadb = /" LONG4096 "\n", ":2: [cygnetd] sadb: longer than 4095 characters"},
	{"[cygnetd]\nsadb = /run/\001\n", ":2: a control character"},
	{"[crypto]\n", ":1: [crypto]: unknown section"},
	{"[portwan]\n", ":1: [portwan]: unknown section"},
	{"[cygnetd]\nsas = 1\n[cygnetd]\nsas = 1\n",
	 ":3: [cygnetd]: a second section of that name"},
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
	{"[cygnetd]\npaths = /a b\n", ":2: [cygnetd] paths: 'b' is not an absolute path"},
	{"[cygnetd]\neal = -m 64 -l0-3\n", ":2: [cygnetd] eal: -l is cygnetd's own to choose"},
	{"[cygnetd]\neal = -c3\n", ":2: [cygnetd] eal: -c is cygnetd's own to choose"},
	{"[cygnetd]\nno_policy = no\n",
	 ":2: [cygnetd] no_policy: 'no' is not one of inside, pass, drop"},
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
	{"[port " LONG32 "]\n", ":1: [port " LONG32 "]: '" LONG32 "' cannot be the name of a port"},
	{"[port a]\ndevice = net_null0\n[port a]\n", ":3: [port a]: a second section of that name"},
	{DEVICE "[port b]\ndevice = net_null1\n[cygnetd]\nno_policy = drop\n",
	 ":6: [cygnetd] no_policy: drop needs side = inside in the sections of the LAN's ports"},
	{DEVICE "mtu = 9k\n", ":3: [port a] mtu: '9k' is not a number"},
	{DEVICE "mtu = 575\n", ":3: [port a] mtu: 575 is not between 576 and 16000"},
	{DEVICE "mtu = 16001\n", ":3: [port a] mtu: 16001 is not between 576 and 16000"},
	{DEVICE "mtu = 9000\nmtu = 1500\n", ":4: [port a] mtu: given twice"},
	{"[cygnetd]\nmtu = 9000\n", ":2: [cygnetd] mtu: unknown key"},
	{DEVICE "speed = 10\n", ":3: [port a] speed: unknown key"},
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
	{DEVICE "[port a.1]\nvlan = 0\n",
	 ":4: [port a.1] vlan: '0' is no VLAN, such as 100, or 100.200 with two tags"},
	{DEVICE "[port a.1]\nvlan = 4095\n",
	 ":4: [port a.1] vlan: '4095' is no VLAN, such as 100, or 100.200 with two tags"},
	{DEVICE "[port a.1]\nvlan = 1.2.3\n",
	 ":4: [port a.1] vlan: '1.2.3' is no VLAN, such as 100, or 100.200 with two tags"},
	{DEVICE "[port a.1]\nvlan = 1.\n",
	 ":4: [port a.1] vlan: '1.' is no VLAN, such as 100, or 100.200 with two tags"},
	{DEVICE "[port a.1]\nvlan = -1\n",
	 ":4: [port a.1] vlan: '-1' is no VLAN, such as 100, or 100.200 with two tags"},
	{DEVICE "[port b.1]\nvlan = 1\n", ":4: [port b.1] vlan: there is no port b"},
	{DEVICE "[port b]\nvlan = 1\n",
	 ":4: [port b] vlan: a VLAN's section is called PORT.NAME, such as wan.100"},
	{DEVICE "[port a.1]\nvlan = 1\n[port a.1.2]\nvlan = 2.1\n[port a.one]\nvlan = 1\n",
	 ":8: [port a.one] vlan: VLAN 1 of port a is already port a.1"},
	{DEVICE "[port a.1]\nvlan = 2.1\n[port a.2]\nvlan = 2.1\n",
	 ":6: [port a.2] vlan: VLAN 2.1 of port a is already port a.1"},
	{DEVICE "[port a.1]\nvlan = 1\ndevice = net_null1\n",
	 ":5: [port a.1] device: it is a VLAN of port a, which has the device"},
	{DEVICE "priority = dscp\n", ":3: [port a] priority: the section has no vlan"},
	{"[tunnel t]\nif_id = 1\n", ": no [port NAME] section"},
	{DEVICE "[tunnel t]\ntap = t\n", ":3: [tunnel t] if_id: missing"},
	{DEVICE "[tunnel t]\nif_id = 0\n",
	 ":4: [tunnel t] if_id: 0 is not between 1 and 4294967295"},
	{DEVICE "[tunnel t]\nif_id = 4294967296\n",
	 ":4: [tunnel t] if_id: 4294967296 is not between 1 and 4294967295"},
	{DEVICE "[tunnel t]\nif_id = 0x2a\n", ":4: [tunnel t] if_id: '0x2a' is not a number"},
	{DEVICE "[tunnel t]\nif_id = 7\n[tunnel u]\nif_id = 7\n",
	 ":6: [tunnel u] if_id: 7 is already that of tunnel t"},
	{DEVICE "[tunnel a]\nif_id = 7\n", ":3: [tunnel a]: a port has that name"},
	{DEVICE "[tunnel t]\nif_id = 7\n[port t]\n", ":5: [port t]: a tunnel has that name"},
	{DEVICE "[tunnel t]\nif_id = 7\ntap = a\n",
	 ":5: [tunnel t] tap: a is already the TAP of port a"},
	{DEVICE "[tunnel t]\nif_id = 7\nside = inside\n", ":5: [tunnel t] side: unknown key"},
	{DEVICE "[port b]\ndevice = net_null1\n[tunnel t]\nif_id = 7\n",
	 ":6: [tunnel t] if_id: a tunnel needs side = inside in the sections of the LAN's ports"},
	{DEVICE "if_id = 7\n", ":3: [port a] if_id: unknown key"},
	{DEVICE "[tunnel t/]\n", ":3: [tunnel t/]: 't/' cannot be the name of a tunnel"},
	{DEVICE "side = inside\n[tunnel t]\nif_id = 7\n[port t.1]\nvlan = 1\n",
	 ":7: [port t.1] vlan: there is no port t"},
	{DEVICE "[port a.1]\nvlan = 1\npriority = 8\n",
	 ":5: [port a.1] priority: '8' is not one of 0, 1, 2, 3, 4, 5, 6, 7, dscp"},
};

/* VLANs stand behind ports, wherever the file has them, and lie on the port whose name is before a dot. */
static void vlans(void **state)
{
	char text[CONF_VLAN_TEXT];

	(void)state;
	assert_int_equal(read_text("[port a.b.x]\nvlan = 7\n[port a.b]\ndevice = net_null0\n"
				   "[port a.y]\nvlan = 300.40\nvlan_type = 802.1q\n"
				   "priority = dscp\ndscp = priority\n[port a]\n"
				   "device = net_null1\n"),
			 0);
	assert_int_equal(conf.nports, 4);
	assert_int_equal(conf.ndevices, 2);
	assert_string_equal(conf.port[2].name, "a.b.x");
	assert_string_equal(conf.port[2].on, "a.b");
	assert_int_equal(conf.port[2].vlan, 7);
	assert_string_equal(conf.port[3].on, "a");
	assert_ptr_equal(conf_port_below(&conf, &conf.port[3]), &conf.port[1]);
	assert_int_equal(conf.port[3].vlan, 300u << CONF_VLAN_BITS | 40);
	conf_vlan_print(conf.port[3].vlan, text, sizeof(text));
	assert_string_equal(text, "300.40");
	assert_int_equal(conf.port[3].vlan_type, CONF_VLAN_8021Q);
	assert_int_equal(conf.port[3].priority, CONF_PRIORITY_OF_DSCP);
	assert_true(conf.port[3].dscp_of_priority);
	assert_int_equal(conf.port[0].vlan, 0);
	conf_vlan_print(conf.port[0].vlan, text, sizeof(text));
	assert_string_equal(text, "");
}

/* Tunnels stand behind ports and VLANs. */
static void tunnels(void **state)
{
	char where[PATH_MAX + NAME_MAX];

	(void)state;
	assert_int_equal(read_text(
				 "[tunnel vpn0]\nif_id = 4294967295\n[port a]\ndevice = net_null0\n"
				 "[tunnel  vpn1]\nif_id = 1\ntap = t\nmtu = 1400\n"
				 "[port a.1]\nvlan = 1\nside = inside\n"),
			 0);
	assert_int_equal(conf.nports, 4);
	assert_int_equal(conf.ndevices, 1);
	assert_int_equal(conf.nlinks, 2);
	assert_string_equal(conf.port[2].name, "vpn0");
	assert_string_equal(conf.port[2].tap, "vpn0");
	assert_int_equal(conf.port[2].if_id, UINT32_MAX);
	assert_string_equal(conf.port[3].name, "vpn1");
	assert_string_equal(conf.port[3].tap, "t");
	assert_int_equal(conf.port[3].mtu, 1400);
	assert_true(conf.port[3].tunnel && !conf.port[1].tunnel);
	conf_where(&conf, &conf.port[3], "mtu", where, sizeof(where));
	assert_non_null(strstr(where, ":8: [tunnel vpn1] mtu"));
}

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

/* All mistakes are reported at once, also after a line without a key. */
static void every_mistake(void **state)
{
	static const struct {
		int line;
		const char *message;
	} expected[] = {
		{2, "[cygnetd] sas: 0 is not between 1 and 2097152"},
		{3, "neither [section] nor key = value"},
		{4, "[cygnetd] colour: unknown key"},
		{5, "[crypto]: unknown section"},
		{7, "[port a] mtu: 1 is not between 576 and 16000"},
		{8, "no ']' at the end of the section's name"},
		{6, "[port a] device: missing"},
	};
	char wanted[1024] = "";
	size_t used = 0;

	(void)state;
	assert_int_equal(read_text("[cygnetd]\nsas = 0\nfast\ncolour = red\n[crypto]\n[port a]\n"
				   "mtu = 1\n[port b\ndevice = net_null0\n"),
			 -EINVAL);
	for (unsigned int i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		used += (size_t)snprintf(wanted + used, sizeof(wanted) - used, "%s%s:%d: %s",
					 i ? "\n" : "", path, expected[i].line,
					 expected[i].message);
	assert_string_equal(error, wanted);
}

/* A buffer that is too short has the first mistakes. */
static void short_buffer(void **state)
{
	char text[32], guard[64];

	(void)state;
	assert_int_not_equal(read_text("[cygnetd]\nsas = 0\npolicies = 0\n"), 0);
	memset(guard, '!', sizeof(guard));
	assert_int_not_equal(conf_read(&conf, path, guard, sizeof(text)), 0);
	assert_int_equal(strlen(guard), sizeof(text) - 1);
	assert_memory_equal(guard, error, sizeof(text) - 1);
	assert_int_equal(guard[sizeof(text)], '!');
}

static void write_dropin(const char *name, const char *text)
{
	char dropin[PATH_MAX];
	FILE *file;

	snprintf(dropin, sizeof(dropin), "%s.d/%s", path, name);
	file = fopen(dropin, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void remove_dropins(const char *const *names)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s.d", path);
	for (; *names; names++) {
		char file[PATH_MAX + 32];

		snprintf(file, sizeof(file), "%s/%s", dir, *names);
		assert_int_equal(unlink(file), 0);
	}
	assert_int_equal(rmdir(dir), 0);
}

/* Drop-ins replace keys and add ports, in the order of their names. */
static void dropins(void **state)
{
	static const char *const names[] = {"10-a.conf", "9-b.conf", "ignored", ".hidden.conf",
					    NULL};
	static const char usual[] = "[cygnetd]\nsas = 5\nworkers = 2\n" DEVICE;
	char dir[PATH_MAX], expected[PATH_MAX];

	(void)state;
	snprintf(dir, sizeof(dir), "%s.d", path);
	assert_int_equal(mkdir(dir, 0700), 0);
	write_dropin("10-a.conf",
		     "[port a]\nmtu = 1400\n[cygnetd]\nsas = 6\n[port b]\ndevice = net_null1\n");
	write_dropin("9-b.conf", "[cygnetd]\nsas = 7\n");
	write_dropin("ignored", "nonsense");
	write_dropin(".hidden.conf", "nonsense");
	assert_int_equal(read_text(usual), 0);
	assert_int_equal(conf.sas, 7);
	assert_int_equal(conf.workers, 2);
	assert_int_equal(conf.nports, 2);
	assert_string_equal(conf.port[0].device, "net_null0");
	assert_int_equal(conf.port[0].mtu, 1400);
	assert_string_equal(conf.port[1].name, "b");
	assert_string_equal(conf.port[1].tap, "b");
	conf_where(&conf, NULL, "sas", error, sizeof(error));
	assert_string_equal(error + strlen(path), ".d/9-b.conf:2: [cygnetd] sas");
	conf_where(&conf, &conf.port[0], "mtu", error, sizeof(error));
	assert_string_equal(error + strlen(path), ".d/10-a.conf:2: [port a] mtu");
	conf_where(&conf, &conf.port[0], "device", error, sizeof(error));
	assert_string_equal(error + strlen(path), ":5: [port a] device");

	write_dropin("9-b.conf", "\n[port c]\ndevice = net_null1\n[cygnetd]\nsas = x\n");
	assert_int_equal(read_text(usual), -EINVAL);
	snprintf(expected, sizeof(expected),
		 "%s.d/9-b.conf:5: [cygnetd] sas: 'x' is not a number\n"
		 "%s.d/9-b.conf:3: [port c] device: net_null1 is already the device of port b",
		 path, path);
	assert_string_equal(error, expected);
	remove_dropins(names);
}

static void assert_given(const struct conf_port *port, const char *name, unsigned int line,
			 const char *where)
{
	const struct conf_key *key = conf_key_find(port ? CONF_PORT : CONF_MAIN, name);

	assert_int_equal((port ? port->given : conf.given)[key - conf_keys].line, line);
	if (!line)
		return;
	conf_where(&conf, port, name, error, sizeof(error));
	assert_string_equal(error + strlen(path), where);
}

/* What a device of a port is on. */
static void devices(void **state)
{
	static struct conf tap = {.nports = 1, .port[0].device = "net_tap0,iface=tap7"};
	char name[8];

	(void)state;
	assert_true(conf_has_device(&tap, "net_tap"));
	assert_false(conf_has_device(&tap, "net_af_xdp"));
	assert_true(conf_is_pci("0000:03:00.1"));
	assert_false(conf_is_pci("0000:03:00"));
	assert_false(conf_is_pci("net_af_packet0,iface=eth0"));
	assert_true(conf_is_shared("net_af_packet0,iface=eth0"));
	assert_false(conf_is_shared("net_af_xdp0,iface=eth0"));
	assert_false(conf_is_shared("0000:03:00.1"));
	assert_true(conf_interface("net_af_packet0,iface=eth0", name, sizeof(name)));
	assert_string_equal(name, "eth0");
	assert_true(conf_interface("net_af_xdp1,iface=eth1,start_queue=0", name, sizeof(name)));
	assert_string_equal(name, "eth1");
	assert_true(conf_interface("net_pcap0,iface=enp3s0f1np1", name, sizeof(name)));
	assert_string_equal(name, "enp3s0f");
	assert_false(conf_interface(tap.port[0].device, name, sizeof(name)));
	assert_false(conf_interface("net_af_packet0", name, sizeof(name)));
}

static void path_too_long(void **state)
{
	char name[PATH_MAX + 2];

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(conf_read(&conf, name, error, sizeof(error)), -ENAMETOOLONG);
}

/* After a reload with another drop-in the file and the line of a key are those of its value. */
static void reloaded(void **state)
{
	static const char *const names[] = {"5-new.conf", NULL};
	static struct conf before;
	char dir[PATH_MAX];

	(void)state;
	assert_int_equal(read_text("[cygnetd]\nsas = 5\nidle = poll\n" DEVICE
				   "[port gone]\ndevice = net_null1\n"),
			 0);
	before = conf;
	snprintf(dir, sizeof(dir), "%s.d", path);
	assert_int_equal(mkdir(dir, 0700), 0);
	write_dropin("5-new.conf", "[cygnetd]\nidle = sleep\n[port a]\nmtu = 1400\n");
	assert_int_equal(read_text("[cygnetd]\n# no idle\nsas = 6\n" DEVICE), 0);
	before.idle_sleep = true;
	before.port[0].mtu = 1400;
	conf_take_places(&before, &conf);
	conf = before;
	assert_given(NULL, "idle", 2, ".d/5-new.conf:2: [cygnetd] idle");
	/* It needs a restart. */
	assert_int_equal(conf.sas, 5);
	assert_given(NULL, "sas", 0, "");
	assert_given(&conf.port[0], "mtu", 4, ".d/5-new.conf:4: [port a] mtu");
	assert_given(&conf.port[0], "device", 5, ":5: [port a] device");
	assert_given(&conf.port[1], "device", 0, "");
	remove_dropins(names);
}

/* The documented texts of the table match its setters. */
static void keys(void **state)
{
	char value[PATH_MAX];

	(void)state;
	conf_defaults(&conf);
	for (unsigned int i = 0; i < CONF_KEYS; i++) {
		const struct conf_key *key = &conf_keys[i];

		assert_ptr_equal(conf_key_find(key->section, key->name), key);
		assert_true(strlen(key->help) > 0);
		if (key->section != CONF_MAIN)
			continue;
		conf_value(key, &conf, value, sizeof(value));
		assert_string_equal(value, key->def ? key->def : "");
	}
	assert_null(conf_key_find(CONF_PORT, "sas"));
}

static void too_many_ports(void **state)
{
	char text[4096] = "";
	size_t used = 0;

	(void)state;
	for (unsigned int i = 0; i <= CONF_MAX_DEVICES; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "[port p%u]\ndevice = net_null%u\n", i, i);
	assert_int_not_equal(read_text(text), 0);
	assert_non_null(strstr(error, ":34: [port p16] device: more than 16 ports have a device"));
	used = (size_t)snprintf(text, sizeof(text), "[port p]\ndevice = net_null0\n");
	for (unsigned int i = 1; i <= CONF_MAX_PORTS; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "[port p.%u]\nvlan = %u\n", i, i);
	assert_int_not_equal(read_text(text), 0);
	assert_non_null(strstr(error, ":63: [port p.31]: more than 31 ports and tunnels"));
	used = (size_t)snprintf(text, sizeof(text),
				"[port p]\ndevice = net_null0\n[port q]\ndevice = net_null1\n");
	for (unsigned int i = 1; i <= 29; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "[port p.%u]\nvlan = %u\n", i, i);
	assert_int_not_equal(read_text(text), 0);
	assert_non_null(strstr(
		error,
		":62: [port p.29] vlan: 31 TAPs and 2 devices are more than the 32 that DPDK has"));
}

/* The installed example configuration is valid. */
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

/* Random files: either they are accepted or there is a message. */
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

/* What cygnetd --keys prints: a line for each key, of six columns. */
static void printed_keys(void **state)
{
	static const char *const lines[] = {
		"[cygnetd]\tflows\t0 to 16777216\t65536\trestart\tentries of each worker's flow cache\n",
		"[cygnetd]\tidle\tpoll, sleep\tpoll\treload\twhat a worker without packets does\n",
		"[cygnetd]\tcores\tLIST\t-\trestart\tCPUs of the workers\n",
		"[cygnetd]\teal\tTEXT\t-\trestart\targuments of DPDK's EAL\n",
		"[port NAME]\ttap\tNAME\t-\trestart\tname of the TAP\n",
		"[cygnetd]\tsadb\tPATH\t" CYGNET_SADB_PATH
		"\trestart\tthe file shared with charon\n",
	};
	unsigned int rows = 0, columns = 0;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	conf_print_keys(out);
	assert_int_equal(fclose(out), 0);
	for (const char *c = text; *c; c++) {
		columns += *c == '\t';
		if (*c != '\n')
			continue;
		assert_int_equal(columns, 5);
		columns = 0;
		rows++;
	}
	assert_int_equal(rows, 1 + CONF_KEYS);
	for (unsigned int i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_non_null(strstr(text, lines[i]));
	free(text);
}

/* Whether a reload finds a value changed, for a key of each size and type. */
static void compared(void **state)
{
	static const struct {
		enum conf_section section;
		const char *name;
	} cases[] = {
		{CONF_MAIN, "sas"},   {CONF_MAIN, "idle"}, {CONF_MAIN, "log"}, {CONF_MAIN, "sadb"},
		{CONF_MAIN, "cores"}, {CONF_PORT, "mtu"},  {CONF_PORT, "tap"},
	};
	union {
		struct conf conf;
		struct conf_port port;
		uint8_t bytes[sizeof(struct conf)];
	} *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));

	(void)state;
	assert_true(a && b);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct conf_key *key = conf_key_find(cases[i].section, cases[i].name);

		assert_non_null(key);
		assert_true(conf_same(key, a, b));
		b->bytes[key->offset] = 1;
		assert_false(conf_same(key, a, b));
		a->bytes[key->offset] = 1;
		assert_true(conf_same(key, a, b));
	}
	assert_null(conf_key_find(CONF_PORT, "sas"));
	assert_null(conf_key_find(CONF_MAIN, "mtu"));
	free(a);
	free(b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything),	 cmocka_unit_test(defaults),
		cmocka_unit_test(each_mistake),	 cmocka_unit_test(too_many_ports),
		cmocka_unit_test(vlans),	 cmocka_unit_test(tunnels),
		cmocka_unit_test(missing_file),	 cmocka_unit_test(file_prefix),
		cmocka_unit_test(random_bytes),	 cmocka_unit_test(example),
		cmocka_unit_test(every_mistake), cmocka_unit_test(short_buffer),
		cmocka_unit_test(dropins),	 cmocka_unit_test(devices),
		cmocka_unit_test(path_too_long), cmocka_unit_test(reloaded),
		cmocka_unit_test(keys),		 cmocka_unit_test(printed_keys),
		cmocka_unit_test(compared),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cygnetctl doctor: hosts that are well and hosts that are not, as folders with their /proc and /sys. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
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

#include "doctor.h"
#include "huge_pages.h"
#include "options.h"

static char root[] = "./test-doctor-XXXXXX";
static struct conf conf;
static struct diagnosis d;

static int begin(void **state)
{
	(void)state;
	strcpy(root, "./test-doctor-XXXXXX");
	conf_defaults(&conf);
	d = (struct diagnosis){.root = root, .conf = &conf, .rows = json_array()};
	return mkdtemp(root) ? 0 : -1;
}

static int finish(void **state)
{
	char command[64];

	(void)state;
	json_decref(d.rows);
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/* Make the folders of a path in the root. @return the path, outside of the root */
static const char *make_folders(const char *path)
{
	static char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	return whole;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(make_folders(path), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void put_link(const char *path, const char *target)
{
	const char *whole = make_folders(path);

	unlink(whole);
	assert_int_equal(symlink(target, whole), 0);
}

static void add_port(const char *name, const char *device)
{
	struct conf_port *port = &conf.port[conf.nports++];

	conf.ndevices = conf.nports;
	snprintf(port->name, sizeof(port->name), "%s", name);
	snprintf(port->device, sizeof(port->device), "%s", device);
}

/* The rows so far are these: "check state text[: todo]"; they are removed. */
static void assert_found(const char *const *wanted)
{
	size_t n = 0;

	for (; wanted[n]; n++) {
		const json_t *row = json_array_get(d.rows, n);
		const char *todo = json_string_value(json_object_get(row, "todo"));
		char text[1024];

		assert_non_null(row);
		snprintf(text, sizeof(text), "%s %s %s%s%s",
			 json_string_value(json_object_get(row, "check")),
			 json_string_value(json_object_get(row, "state")),
			 json_string_value(json_object_get(row, "text")), todo ? ": " : "",
			 todo ? todo : "");
		assert_string_equal(text, wanted[n]);
	}
	assert_int_equal(json_array_size(d.rows), n);
	json_array_clear(d.rows);
}

#define FOUND(...) assert_found((const char *const[]){__VA_ARGS__, NULL})

#define SMALL "/sys/kernel/mm/hugepages/hugepages-2048kB/"
#define LARGE "/sys/kernel/mm/hugepages/hugepages-1048576kB/"

/* Before a cygnetd, and while one has pages: what another one finds that takes over. */
static void pages(void **state)
{
	(void)state;
	doctor_huge_pages(&d, 0);
	FOUND("huge pages problem the kernel has no huge pages: a kernel with hugetlbfs is needed");
	put(SMALL "nr_hugepages", "192\n");
	put(SMALL "free_hugepages", "22\n");
	doctor_huge_pages(&d, 0);
	FOUND("huge pages problem 192 of 2 MiB, 22 free; 0 of 1 GiB, 0 free: 384 pages of 2 MiB (vm.nr_hugepages, if that is the default size), for two cygnetd, of which one takes over");
	doctor_huge_pages(&d, 77);
	FOUND("huge pages ok 192 of 2 MiB, 22 free; 0 of 1 GiB, 0 free");
	put("/proc/77/status", "Name:\tcygnetd\nHugetlbPages:\t  348160 kB\nCpus_allowed:\t3\n");
	doctor_huge_pages(&d, 77);
	FOUND("huge pages ok 192 of 2 MiB, 22 free; 0 of 1 GiB, 0 free; cygnetd has 340 MiB, and no other one can take over: 340 pages of 2 MiB (vm.nr_hugepages, if that is the default size), for an upgrade under traffic");
	put(SMALL "free_hugepages", "170\n");
	doctor_huge_pages(&d, 77);
	FOUND("huge pages ok 192 of 2 MiB, 170 free; 0 of 1 GiB, 0 free; cygnetd has 340 MiB");
	/* One with more SAs than by default. */
	put("/proc/77/status", "HugetlbPages:\t  1048576 kB\n");
	doctor_huge_pages(&d, 77);
	FOUND("huge pages ok 192 of 2 MiB, 170 free; 0 of 1 GiB, 0 free; cygnetd has 1024 MiB, and no other one can take over: 534 pages of 2 MiB (vm.nr_hugepages, if that is the default size), for an upgrade under traffic");
	/* It is restarted in any case. */
	add_port("wan", "0000:03:00.0");
	doctor_huge_pages(&d, 77);
	FOUND("huge pages ok 192 of 2 MiB, 170 free; 0 of 1 GiB, 0 free; cygnetd has 1024 MiB");
	conf.nports = conf.ndevices = 0;
	put(LARGE "nr_hugepages", "2\n");
	put(LARGE "free_hugepages", "1\n");
	doctor_huge_pages(&d, 77);
	FOUND("huge pages ok 192 of 2 MiB, 170 free; 2 of 1 GiB, 1 free; cygnetd has 1024 MiB");
	doctor_huge_pages(&d, 0);
	FOUND("huge pages ok 192 of 2 MiB, 170 free; 2 of 1 GiB, 1 free");
}

/* Without one that serves, only what is certain is a problem: that there are none, or too few for the defaults. */
static void pages_needed(void **state)
{
	(void)state;
	put(SMALL "nr_hugepages", "64\n");
	put(SMALL "free_hugepages", "64\n");
	conf.sessions = conf.flows = 64;
	doctor_huge_pages(&d, 0);
	FOUND("huge pages unknown 64 of 2 MiB, 64 free; 0 of 1 GiB, 0 free; cygnetd needs about 340 MiB with the "
	      "defaults, which this configuration changes");
	put(SMALL "nr_hugepages", "400\n");
	put(SMALL "free_hugepages", "400\n");
	conf_defaults(&conf);
	conf.workers = 8;
	doctor_huge_pages(&d, 0);
	FOUND("huge pages unknown 400 of 2 MiB, 400 free; 0 of 1 GiB, 0 free; cygnetd needs about 340 MiB with the "
	      "defaults, which this configuration changes");
	conf_defaults(&conf);
	add_port("wan", "net_af_packet0,iface=eth0");
	doctor_huge_pages(&d, 0);
	FOUND("huge pages ok 400 of 2 MiB, 400 free; 0 of 1 GiB, 0 free");
	conf.port[0].mtu = 9000;
	doctor_huge_pages(&d, 0);
	FOUND("huge pages unknown 400 of 2 MiB, 400 free; 0 of 1 GiB, 0 free; cygnetd needs about 340 MiB with the "
	      "defaults, which this configuration changes");
	d.conf = NULL;
	doctor_huge_pages(&d, 0);
	FOUND("huge pages unknown 400 of 2 MiB, 400 free; 0 of 1 GiB, 0 free; cygnetd needs about 340 MiB with the "
	      "defaults");
	d.conf = &conf;
	put(SMALL "free_hugepages", "0\n");
	doctor_huge_pages(&d, 0);
	FOUND("huge pages problem 400 of 2 MiB, 0 free; 0 of 1 GiB, 0 free: 384 pages of 2 MiB (vm.nr_hugepages, if that is the default size), for two "
	      "cygnetd, of which one takes over");
	/* Only one process can have a card. */
	strcpy(conf.port[0].device, "0000:03:00.0");
	doctor_huge_pages(&d, 0);
	FOUND("huge pages problem 400 of 2 MiB, 0 free; 0 of 1 GiB, 0 free: 192 pages of 2 MiB (vm.nr_hugepages, if that is the default size)");
	/* A size of other machines. */
	put("/sys/kernel/mm/hugepages/hugepages-524288kB/nr_hugepages", "1\n");
	put("/sys/kernel/mm/hugepages/hugepages-524288kB/free_hugepages", "1\n");
	conf.port[0].mtu = 0;
	doctor_huge_pages(&d, 0);
	FOUND("huge pages ok 400 of 2 MiB, 0 free; 0 of 1 GiB, 0 free");
}

/* Other folders, and a file that is missing. */
static void page_rows(void **state)
{
	json_t *rows = huge_pages_rows(root);

	(void)state;
	assert_int_equal(json_array_size(rows), 0);
	assert_int_equal(huge_pages_number(rows, 2097152, "pages"), 0);
	json_decref(rows);
	put(SMALL "nr_hugepages", "192\n");
	put("/sys/kernel/mm/hugepages/other/nr_hugepages", "7\n");
	rows = huge_pages_rows(root);
	assert_int_equal(json_array_size(rows), 1);
	assert_int_equal(huge_pages_number(rows, 2097152, "pages"), 192);
	assert_int_equal(huge_pages_number(rows, 2097152, "free"), 0);
	json_decref(rows);
}

/* What is no UTF-8 is replaced, and the row is there. */
static void strange_text(void **state)
{
	(void)state;
	diagnosis_add(&d, "configuration", FOUND_PROBLEM, "correct \xff", "no port %s", "l\xe4n");
	FOUND("configuration problem no port l?n: correct ?");
}

static void sockets(void **state)
{
	(void)state;
	add_port("wan", "net_af_packet0,iface=eth0,qpairs=1");
	add_port("lan", "net_af_packet1,iface=eth1");
	/* Not "eth0", and an interface that DPDK makes. */
	add_port("dmz", "net_af_packet2,iface=eth0-and-a-long-name");
	add_port("own", "net_tap0,iface=own0");
	put("/sys/class/net/eth0/ifindex", "2\n");
	doctor_devices(&d);
	FOUND("IOMMU ok not needed: no port is a PCI device", "driver ok port wan: eth0 is there",
	      "driver problem port lan: eth1 is no interface of this host: correct device in cygnetd.conf",
	      "driver problem port dmz: eth0-and-a-long-name is no interface of this host: correct device in cygnetd.conf",
	      "driver ok port own: net_tap0,iface=own0");
}

static void cards(void **state)
{
	(void)state;
	add_port("wan", "0000:03:00.0");
	add_port("lan", "0000:03:00.1,queues=2");
	add_port("dmz", "0000:04:00.0");
	put_link("/sys/bus/pci/devices/0000:03:00.0/driver", "../../../bus/pci/drivers/vfio-pci");
	put_link("/sys/bus/pci/devices/0000:03:00.1/driver", "../../../bus/pci/drivers/ixgbe");
	doctor_devices(&d);
	FOUND("IOMMU problem the kernel uses none, and vfio-pci needs it: "
	      "enable VT-d or AMD-Vi in the firmware, and intel_iommu=on at boot",
	      "driver ok port wan: 0000:03:00.0 has vfio-pci",
	      "driver problem port lan: 0000:03:00.1 has ixgbe: driverctl set-override 0000:03:00.1 vfio-pci",
	      "driver problem port dmz: 0000:04:00.0 has no driver: driverctl set-override 0000:04:00.0 vfio-pci");
	put("/sys/kernel/iommu_groups/7/type", "DMA\n");
	conf.nports = conf.ndevices = 1;
	doctor_devices(&d);
	FOUND("IOMMU ok the kernel uses it", "driver ok port wan: 0000:03:00.0 has vfio-pci");
}

static void numa(void **state)
{
	(void)state;
	add_port("wan", "0000:03:00.0");
	put("/sys/devices/system/node/node0/cpulist", "0-3\n");
	doctor_numa(&d);
	FOUND("NUMA ok the host has one node");
	put("/sys/devices/system/node/node1/cpulist", "4-7\n");
	put("/sys/bus/pci/devices/0000:03:00.0/numa_node", "1\n");
	put("/sys/devices/system/cpu/cpu2/node0/x", "");
	put("/sys/devices/system/cpu/cpu5/node1/x", "");
	doctor_numa(&d);
	FOUND("NUMA problem port wan is on node 1, and workers have no CPUs of their own: "
	      "set cores in cygnetd.conf to CPUs of that node");
	strcpy(conf.cores, "5,2");
	doctor_numa(&d);
	FOUND("NUMA problem port wan is on node 1, a worker's CPU 2 is not: "
	      "set cores in cygnetd.conf to CPUs of that node");
	strcpy(conf.cores, "5");
	doctor_numa(&d);
	FOUND("NUMA ok port wan and the workers are on one node");
}

#define CONF4 "/proc/sys/net/ipv4/conf/"

/* The setting of each TAP counts, not that of all interfaces; before a cygnetd runs, what a new interface gets. */
static void forwarding(void **state)
{
	json_t *ports = json_loads("[{\"tap\": \"wan\"}, {\"tap\": \"lan.7\"}]", 0, NULL);

	(void)state;
	put("/proc/sys/net/ipv4/ip_forward", "1\n");
	put(CONF4 "default/forwarding", "1\n");
	put(CONF4 "wan/forwarding", "0\n");
	put(CONF4 "lan.7/forwarding", "0\n");
	doctor_kernel(&d, ports);
	FOUND("kernel problem interface wan does not forward IPv4: sysctl net.ipv4.conf.wan.forwarding=1",
	      "kernel problem interface lan.7 does not forward IPv4: sysctl net/ipv4/conf/lan.7/forwarding=1");
	put("/proc/sys/net/ipv4/ip_forward", "0\n");
	put(CONF4 "default/forwarding", "0\n");
	put(CONF4 "wan/forwarding", "1\n");
	put(CONF4 "lan.7/forwarding", "1\n");
	doctor_kernel(&d, ports);
	FOUND("kernel ok it lets the ports forward");
	json_decref(ports);
	add_port("dmz", "net_af_packet0,iface=eth0");
	strcpy(conf.port[0].tap, "dmz");
	doctor_kernel(&d, NULL);
	FOUND("kernel problem interface dmz does not forward IPv4: sysctl net.ipv4.conf.default.forwarding=1");
	put(CONF4 "default/forwarding", "1\n");
	doctor_kernel(&d, NULL);
	FOUND("kernel ok it lets the ports forward");
}

/* IPv6 has a setting for all interfaces, which a gateway without policies for it does not need. */
static void forwarding6(void **state)
{
	struct cygnet_policy_params params = {
		.sel = {.af = AF_INET6, .sport_hi = 0xffff, .dport_hi = 0xffff},
		.dir = CYGNET_OUT,
		.proto = IPPROTO_ESP,
	};
	const struct cygnet_geometry geometry = {64, 64};
	char sadb[64];

	(void)state;
	memset(&params.sel.src_hi, 0xff, sizeof(params.sel.src_hi));
	memset(&params.sel.dst_hi, 0xff, sizeof(params.sel.dst_hi));
	snprintf(sadb, sizeof(sadb), "%s/sadb", root);
	assert_int_equal(cygnet_db_open_flags(sadb, &geometry, CYGNET_OPEN_ON_DISK, &d.db, NULL, 0),
			 0);
	put("/proc/sys/net/ipv6/conf/all/forwarding", "0\n");
	assert_int_equal(cygnet_policy_add(d.db, &params), 0);
	doctor_kernel(&d, NULL);
	FOUND("kernel unknown which ports there are is not known");
	params.dir = CYGNET_FWD;
	assert_int_equal(cygnet_policy_add(d.db, &params), 0);
	doctor_kernel(&d, NULL);
	FOUND("kernel problem IPv6 is not forwarded, and has policies: sysctl net.ipv6.conf.all.forwarding=1");
	put("/proc/sys/net/ipv6/conf/all/forwarding", "1\n");
	doctor_kernel(&d, NULL);
	FOUND("kernel unknown which ports there are is not known");
	cygnet_db_close(d.db);
}

static void governor(void **state)
{
	static const char path[] = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

	(void)state;
	put(path, "powersave\n");
	doctor_kernel(&d, NULL);
	FOUND("kernel unknown which ports there are is not known",
	      "kernel problem the governor of CPU clocks is powersave: cpupower frequency-set -g performance");
	put(path, "performance\n");
	doctor_kernel(&d, NULL);
	FOUND("kernel unknown which ports there are is not known",
	      "kernel ok the governor of CPU clocks is performance");
}

static void links(void **state)
{
	json_t *ports = json_loads(
		"[{\"name\": \"wan\", \"tap\": \"wan\", \"link\": \"down\", \"state\": \"up\"},"
		" {\"name\": \"lan\", \"tap\": \"t1\", \"link\": \"up\", \"state\": \"down\"},"
		" {\"name\": \"dmz\", \"tap\": \"dmz\", \"link\": \"up\", \"state\": \"up\"}]",
		0, NULL);

	(void)state;
	doctor_links(&d, ports);
	FOUND("link problem port wan has no link: check the cable and the other end",
	      "link problem interface t1 is down: ip link set t1 up", "link ok port dmz is up");
	doctor_links(&d, NULL);
	FOUND("link unknown cygnetd does not answer");
	json_decref(ports);
}

static void plugin(void **state)
{
	json_t *without = json_loads("{\"plugins\": [\"vici\", \"kernel-netlink\"]}", 0, NULL);
	json_t *with = json_loads("{\"plugins\": [\"vici\", \"kernel-cygnet\"]}", 0, NULL);

	(void)state;
	doctor_plugin(&d, without);
	FOUND("charon problem charon has not loaded the plugin kernel-cygnet: install "
	      "strongswan-kernel-cygnet for this release of strongSwan, and restart charon: its log says "
	      "why the plugin is not loaded");
	d.db_errno = ENOENT;
	doctor_plugin(&d, with);
	FOUND("charon problem no charon has opened the SAD and SPD: charon's log says why it does not open "
	      "the shared file");
	doctor_plugin(&d, NULL);
	FOUND("charon problem no charon has opened the SAD and SPD: systemctl start strongswan, or "
	      "strongswan-starter");
	doctor_role(&d, NULL);
	FOUND("role problem there is no shared file: systemctl start cygnetd");
	json_decref(without);
	json_decref(with);
}

/* Open the shared file as doctor() does, and look at what is said of it. */
static void assert_file(const char *path, const char *todo, const char *text)
{
	const struct options options = {.sadb = path};
	char error[512], wanted[600];

	d.db = options_sadb(&options, error, sizeof(error));
	d.db_errno = errno;
	d.db_error = error;
	assert_null(d.db);
	doctor_role(&d, NULL);
	snprintf(wanted, sizeof(wanted), "role problem %s: %s: %s", path, text, todo);
	FOUND(wanted);
	doctor_plugin(&d, NULL);
	FOUND("charon unknown the shared file cannot be opened");
}

#define REMOVE \
	"if sadb in cygnetd.conf names the right file: stop charon and cygnetd, remove it, and start both"

static void write_at(const char *path, long offset, unsigned char byte)
{
	FILE *file = fopen(path, "r+b");

	assert_non_null(file);
	fseek(file, offset, SEEK_SET);
	fputc(byte, file);
	fclose(file);
}

/* A shared file that is there but cannot be opened: each reason by its name. */
static void shared_file(void **state)
{
	const struct cygnet_geometry geometry = {64, 64};
	const char *correct = geteuid()
				      ? "ask as root, or as a user of the group of the file's folder"
				      : "correct its owner and mode: FILES in cygnetd(8)";
	struct cygnet_db *db;
	char sadb[64], version[64];

	(void)state;
	snprintf(sadb, sizeof(sadb), "%s/sadb", root);
	snprintf(version, sizeof(version), "has ABI version 99, this program needs %u",
		 CYGNET_ABI_VERSION);
	assert_int_equal(cygnet_db_open_flags(sadb, &geometry, CYGNET_OPEN_ON_DISK, &db, NULL, 0),
			 0);
	cygnet_db_close(db);
	chmod(sadb, 0666);
	assert_file(
		sadb, correct,
		"mode 0666 gives other users access, must be 0600, or 0660 with the group of a folder "
		"of mode 2750");
	chmod(sadb, 0600);
	/* The ABI version, behind the magic. */
	write_at(sadb, 8, 99);
	assert_file(
		sadb,
		"stop charon, restart cygnetd, and start charon, all of the version of this cygnetctl",
		version);
	write_at(sadb, 8, CYGNET_ABI_VERSION);
	write_at(sadb, 40, 0xff);
	assert_file(sadb, REMOVE, "damaged: the checksum of its header is wrong");
	write_at(sadb, 0, 0);
	assert_file(sadb, REMOVE, "not a Cygnet SAD/SPD file");
	assert_int_equal(truncate(sadb, 9), 0);
	assert_file(sadb, REMOVE, "damaged: only 9 bytes long");
	unlink(sadb);
	put_link("/sadb", "elsewhere");
	assert_file(sadb, "correct sadb in cygnetd.conf, or what it names",
		    "cannot open: Too many levels of symbolic links");
	/* The row of the configuration says why. */
	d.db_errno = EINVAL;
	doctor_role(&d, NULL);
	FOUND("role unknown the configuration, which names the shared file, cannot be read");
}

/* An SA to this host, over the loopback interface, whose MTU the ports' is larger than. */
static void path(void **state)
{
	struct cygnet_sa_params params = {
		.id = {.spi = htonl(0xc0000001), .proto = IPPROTO_ESP, .af = AF_INET},
		.path = {.af = AF_INET, .src = cygnet_addr4(htonl(0x7f000001))},
		.cipher = CYGNET_CIPHER_AES_GCM,
		.icv_len = 16,
		.cipher_key_len = 16,
		.salt_len = 4,
	};
	const struct cygnet_geometry geometry = {64, 64};
	json_t *ports = json_loads("[{\"mtu\": 100000}, {\"mtu\": 0}]", 0, NULL);
	struct cygnet_db *db;
	const char *text;
	char sadb[64];

	(void)state;
	snprintf(sadb, sizeof(sadb), "%s/sadb", root);
	assert_int_equal(cygnet_db_open_flags(sadb, &geometry, CYGNET_OPEN_ON_DISK, &db, NULL, 0),
			 0);
	d.db = db;
	doctor_mtu(&d, ports);
	FOUND("MTU unknown there is no SA whose path could be looked at");
	params.path.dst = params.id.dst = params.path.src;
	assert_int_equal(cygnet_sa_add(db, &params), 0);
	doctor_mtu(&d, ports);
	assert_int_equal(json_array_size(d.rows), 1);
	text = json_string_value(json_object_get(json_array_get(d.rows, 0), "text"));
	/* 65535 or 65536; where loopback is down there is no route. */
	assert_true(strstr(text, "the path to 127.0.0.1 carries packets of 6553") ||
		    strstr(text, "no route to 127.0.0.1"));
	json_decref(ports);
	cygnet_db_close(db);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
	static const struct CMUnitTest tests[] = {
		TEST(pages),	   TEST(pages_needed), TEST(page_rows), TEST(strange_text),
		TEST(sockets),	   TEST(cards),	       TEST(numa),	TEST(forwarding),
		TEST(forwarding6), TEST(governor),     TEST(links),	TEST(plugin),
		TEST(shared_file), TEST(path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

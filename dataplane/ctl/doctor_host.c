/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <unistd.h>

#include "doctor.h"
#include "text.h"

#define VFIO	  "vfio-pci"
#define IPV4_CONF "/proc/sys/net/ipv4/conf/"

void diagnosis_add(struct diagnosis *d, const char *check, enum finding finding, const char *todo,
		   const char *format, ...)
{
	static const char *const states[] = {"ok", "problem", "unknown"};
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Both may have names of files and interfaces, and what the configuration has by mistake. */
	json_array_append_new(d->rows,
			      json_pack("{s:s, s:s, s:o, s:o}", "check", check, "state",
					states[finding], "text", text_json(text, sizeof(text)),
					"todo",
					todo ? text_json(todo, strlen(todo)) : json_null()));
}

/* @return whether the file has a line, without its newline */
static bool __attribute__((format(printf, 4, 5)))
read_line(const struct diagnosis *d, char *line, size_t size, const char *format, ...)
{
	char path[PATH_MAX], name[PATH_MAX - 256];
	va_list args;
	FILE *file;
	bool read;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	snprintf(path, sizeof(path), "%.255s%s", d->root, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	read = fgets(line, (int)size, file) != NULL;
	fclose(file);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read;
}

/* @return the number in a file; -1: there is none */
static long read_number(const struct diagnosis *d, const char *folder, const char *name)
{
	char line[64];

	return read_line(d, line, sizeof(line), "%s/%s", folder, name) ? strtol(line, NULL, 10)
								       : -1;
}

static unsigned int count_entries(const struct diagnosis *d, const char *folder, const char *begin)
{
	char path[PATH_MAX];
	struct dirent *entry;
	unsigned int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%.255s%s", d->root, folder);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.' && !strncmp(entry->d_name, begin, strlen(begin));
	if (dir)
		closedir(dir);
	return n;
}

/* @param address  the device without its arguments */
static bool pci_address(const char *device, char address[16])
{
	snprintf(address, 16, "%.*s", (int)strcspn(device, ","), device);
	return conf_is_pci(device);
}

static void check_iommu(struct diagnosis *d)
{
	bool found = count_entries(d, "/sys/kernel/iommu_groups", "") > 0;

	diagnosis_add(d, "IOMMU", found ? FOUND_WELL : FOUND_PROBLEM,
		      found ? NULL
			    : "enable VT-d or AMD-Vi in the firmware, and intel_iommu=on at boot",
		      found ? "the kernel uses it" : "the kernel uses none, and vfio-pci needs it");
}

static void check_pci(struct diagnosis *d, const char *port, const char *address)
{
	char path[PATH_MAX], target[PATH_MAX], todo[96];
	const char *driver;
	ssize_t len;

	snprintf(path, sizeof(path), "%.255s/sys/bus/pci/devices/%s/driver", d->root, address);
	len = readlink(path, target, sizeof(target) - 1);
	target[len > 0 ? len : 0] = '\0';
	driver = strrchr(target, '/') ? strrchr(target, '/') + 1 : "no driver";
	/* Cards of Mellanox keep their kernel driver. */
	if (!strcmp(driver, VFIO) || !strncmp(driver, "mlx", 3)) {
		diagnosis_add(d, "driver", FOUND_WELL, NULL, "port %s: %s has %s", port, address,
			      driver);
		return;
	}
	snprintf(todo, sizeof(todo), "driverctl set-override %s " VFIO, address);
	diagnosis_add(d, "driver", FOUND_PROBLEM, todo, "port %s: %s has %s", port, address,
		      driver);
}

/* A port on an interface of the kernel: "net_af_packet0,iface=eth0". */
static void check_interface(struct diagnosis *d, const struct conf_port *port)
{
	char name[sizeof(port->device)], line[32];
	bool found;

	if (!conf_interface(port->device, name, sizeof(name))) {
		diagnosis_add(d, "driver", FOUND_WELL, NULL, "port %s: %s", port->name,
			      port->device);
		return;
	}
	found = read_line(d, line, sizeof(line), "/sys/class/net/%s/ifindex", name);
	diagnosis_add(d, "driver", found ? FOUND_WELL : FOUND_PROBLEM,
		      found ? NULL : "correct device in cygnetd.conf", "port %s: %s %s", port->name,
		      name, found ? "is there" : "is no interface of this host");
}

void doctor_devices(struct diagnosis *d)
{
	bool pci = false;
	char address[16];

	if (!d->conf)
		return;
	for (unsigned int i = 0; i < d->conf->ndevices; i++)
		pci |= pci_address(d->conf->port[i].device, address);
	if (pci)
		check_iommu(d);
	else
		diagnosis_add(d, "IOMMU", FOUND_WELL, NULL, "not needed: no port is a PCI device");
	for (unsigned int i = 0; i < d->conf->ndevices; i++) {
		if (pci_address(d->conf->port[i].device, address))
			check_pci(d, d->conf->port[i].name, address);
		else
			check_interface(d, &d->conf->port[i]);
	}
}

void doctor_clock(struct diagnosis *d)
{
	struct timex timex = {0};
	bool synchronous = adjtimex(&timex) >= 0 && !(timex.status & STA_UNSYNC);

	diagnosis_add(d, "clock", synchronous ? FOUND_WELL : FOUND_PROBLEM,
		      synchronous ? NULL : "start chrony or systemd-timesyncd",
		      synchronous ? "it is synchronized"
				  : "it is not synchronized, and certificates have a time");
}

/* A processor that lowers its clock while a worker sleeps or waits costs throughput. */
static void check_governor(struct diagnosis *d)
{
	char line[64];
	bool fast;

	if (!read_line(d, line, sizeof(line),
		       "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
		return;
	fast = !strcmp(line, "performance");
	diagnosis_add(d, "kernel", fast ? FOUND_WELL : FOUND_PROBLEM,
		      fast ? NULL : "cpupower frequency-set -g performance",
		      "the governor of CPU clocks is %s", line);
}

/* A port forwards IPv4 by the setting of its TAP. One that is not there yet will have the default's.
 * @return false: a row says that it is off */
static bool forwards4(struct diagnosis *d, const char *tap)
{
	char folder[96], todo[96];
	const char *name = tap;
	long on;

	snprintf(folder, sizeof(folder), IPV4_CONF "%s", tap);
	on = read_number(d, folder, "forwarding");
	if (on < 0) {
		name = "default";
		on = read_number(d, IPV4_CONF "default", "forwarding");
	}
	if (on > 0)
		return true;
	/* sysctl takes all points for separators where the first separator is one. */
	snprintf(todo, sizeof(todo),
		 strchr(name, '.') ? "sysctl net/ipv4/conf/%s/forwarding=1"
				   : "sysctl net.ipv4.conf.%s.forwarding=1",
		 name);
	diagnosis_add(d, "kernel", FOUND_PROBLEM, todo, "interface %s does not forward IPv4", tap);
	return false;
}

/* Whether decrypted IPv6 packets are to be forwarded. */
static bool has_policy6(const struct diagnosis *d)
{
	struct cygnet_db_info info = {0};
	struct cygnet_policy policy;

	if (d->db)
		cygnet_db_info(d->db, &info);
	for (uint32_t i = 0; i < info.geometry.policies; i++)
		if (cygnet_policy_snapshot(d->db, i, &policy) && policy.dir == CYGNET_FWD &&
		    policy.sel.af == AF_INET6 && policy.action == CYGNET_PROTECT)
			return true;
	return false;
}

/* @param ports  rows of cygnetd, which has more interfaces than ports; NULL: those of the configuration */
static void check_forwarding(struct diagnosis *d, const json_t *ports)
{
	const json_t *port;
	bool on = true, any = ports ? json_array_size(ports) : d->conf && d->conf->nports;
	size_t i;

	json_array_foreach(ports, i, port) on &= forwards4(d, text_of(port, "tap", "?"));
	for (i = 0; !ports && d->conf && i < d->conf->nports; i++)
		on &= forwards4(d, d->conf->port[i].tap);
	/* IPv6 has one setting for all interfaces. */
	if (read_number(d, "/proc/sys/net/ipv6/conf/all", "forwarding") <= 0 && has_policy6(d)) {
		diagnosis_add(d, "kernel", FOUND_PROBLEM, "sysctl net.ipv6.conf.all.forwarding=1",
			      "IPv6 is not forwarded, and has policies");
		on = false;
	}
	if (on && any)
		diagnosis_add(d, "kernel", FOUND_WELL, NULL, "it lets the ports forward");
	else if (on)
		diagnosis_add(d, "kernel", FOUND_NOTHING, NULL,
			      "which ports there are is not known");
}

void doctor_kernel(struct diagnosis *d, const json_t *ports)
{
	check_forwarding(d, ports);
	check_governor(d);
}

/* @return node of a PCI device; -1: it has none */
static long device_node(const struct diagnosis *d, const char *address)
{
	char folder[64];

	snprintf(folder, sizeof(folder), "/sys/bus/pci/devices/%s", address);
	return read_number(d, folder, "numa_node");
}

static bool is_on_node(const struct diagnosis *d, unsigned long cpu, long node)
{
	char folder[64], name[32];

	snprintf(folder, sizeof(folder), "/sys/devices/system/cpu/cpu%lu", cpu);
	snprintf(name, sizeof(name), "node%ld", node);
	return count_entries(d, folder, name) > 0;
}

/* @return the first CPU of the workers that is on another node; -1: none */
static long far_cpu(const struct diagnosis *d, long node)
{
	const char *text = d->conf->cores;

	while (*text) {
		char *end;
		unsigned long cpu = strtoul(text, &end, 10);

		if (end == text)
			break;
		if (!is_on_node(d, cpu, node))
			return (long)cpu;
		text = end + strspn(end, ", ");
	}
	return -1;
}

void doctor_numa(struct diagnosis *d)
{
	unsigned int nodes = count_entries(d, "/sys/devices/system/node", "node");
	char address[16];

	if (nodes < 2) {
		diagnosis_add(d, "NUMA", FOUND_WELL, NULL, "the host has one node");
		return;
	}
	for (unsigned int i = 0; d->conf && i < d->conf->ndevices; i++) {
		const char *port = d->conf->port[i].name;
		long node, cpu;

		if (!pci_address(d->conf->port[i].device, address))
			continue;
		node = device_node(d, address);
		cpu = node < 0 ? -1 : far_cpu(d, node);
		if (node >= 0 && !d->conf->cores[0])
			diagnosis_add(
				d, "NUMA", FOUND_PROBLEM,
				"set cores in cygnetd.conf to CPUs of that node",
				"port %s is on node %ld, and workers have no CPUs of their own",
				port, node);
		else if (cpu >= 0)
			diagnosis_add(d, "NUMA", FOUND_PROBLEM,
				      "set cores in cygnetd.conf to CPUs of that node",
				      "port %s is on node %ld, a worker's CPU %ld is not", port,
				      node, cpu);
		else
			diagnosis_add(d, "NUMA", FOUND_WELL, NULL,
				      "port %s and the workers are on one node", port);
	}
}

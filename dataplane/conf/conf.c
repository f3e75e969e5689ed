/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "conf/conf_keys.h"
#include "conf/ini.h"

/* The current position in the files, and the buffer for error messages. */
struct reader {
	struct conf *conf;
	struct conf_port *port; /* of the current section; NULL: it is [cygnetd] */
	bool skips;		/* the current section is wrong as a whole */
	char section[64];
	const char *key;
	struct conf_place place;
	char *error;
	size_t used, size;
	unsigned int errors;
	int rc; /* why a file cannot be read */
};

static int place_path(const struct conf *conf, unsigned int file, char *out, size_t size)
{
	return file ? snprintf(out, size, "%s" CONF_DROPINS "/%s", conf->path,
			       conf->dropin[file - 1])
		    : snprintf(out, size, "%s", conf->path);
}

/* Append a line to the error messages. */
__attribute__((format(printf, 2, 0))) static void add_error(struct reader *in, const char *fmt,
							    va_list args)
{
	int len;

	if (in->errors++ && in->used + 1 < in->size)
		in->error[in->used++] = '\n';
	len = vsnprintf(in->error + in->used, in->size - in->used, fmt, args);
	if (len > 0)
		in->used += (size_t)len < in->size - in->used ? (size_t)len
							      : in->size - in->used - 1;
}

/* An error of a whole file, or of a line without section. */
__attribute__((format(printf, 2, 3))) static void fail_file(struct reader *in, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_error(in, fmt, args);
	va_end(args);
}

/* An error of the current section or key. */
__attribute__((format(printf, 2, 3))) static int fail(struct reader *in, const char *fmt, ...)
{
	char reason[512], path[PATH_MAX + NAME_MAX + 4];
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	place_path(in->conf, in->place.file, path, sizeof(path));
	fail_file(in, "%s:%u: [%s]%s%s: %s", path, in->place.line, in->section, in->key ? " " : "",
		  in->key ? in->key : "", reason);
	return -EINVAL;
}

static int check_number(struct reader *in, const char *value, unsigned int min, unsigned int max)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end)
		return fail(in, "'%s' is not a number", value);
	if (errno || number < min || number > max)
		return fail(in, "%s is not between %u and %u", value, min, max);
	return 0;
}

/* @param most  CPUs in the list; 0: any number */
static int check_cpus(struct reader *in, const char *value, unsigned int most)
{
	unsigned long cpus = (unsigned long)sysconf(_SC_NPROCESSORS_CONF);
	unsigned int n = 0;

	for (const char *pos = value;; pos++) {
		char *end;
		unsigned long cpu = strtoul(pos, &end, 10);

		if (!isdigit((unsigned char)*pos) || (*end && *end != ','))
			return fail(in, "'%s' is not a list of CPUs such as 1,2,3", value);
		if (cpu >= cpus)
			return fail(in, "there is no CPU %.*s, only 0 to %lu", (int)(end - pos),
				    pos, cpus - 1);
		if (++n > most && most)
			return fail(in, "more than %u CPUs", most);
		if (!*end)
			return 0;
		pos = end;
	}
}

/* Whether an argument is an option. A long option may be abbreviated or have a value ("--lcores",
 * "--lcores=0-3", "--lcor"). A short one may have a value attached ("-l", "-l0-3"). */
static bool is_option(const char *arg, const char *option)
{
	size_t len = strcspn(arg, "=");

	if (option[1] != '-')
		return strncmp(arg, option, 2) == 0;
	return len > 2 && strncmp(arg, option, len) == 0;
}

/* Refuse EAL arguments that cygnetd itself sets, from other keys. */
static int check_eal(struct reader *in, const char *value)
{
	static const char *const ours[] = {
		"-l", "-c", "--lcores", "--main-lcore", "--no-telemetry",
	};
	char copy[sizeof(in->conf->eal)];
	unsigned int n = 0;

	snprintf(copy, sizeof(copy), "%s", value);
	for (char *save, *arg = strtok_r(copy, " \t", &save); arg;
	     arg = strtok_r(NULL, " \t", &save)) {
		if (++n > CONF_MAX_EAL_ARGS)
			return fail(in, "more than %u arguments", CONF_MAX_EAL_ARGS);
		for (unsigned int i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
			if (is_option(arg, ours[i]))
				return fail(in, "%s is cygnetd's own to choose", ours[i]);
	}
	return 0;
}

static int check_paths(struct reader *in, const char *value)
{
	for (; *value; value += strcspn(value, " \t"), value += strspn(value, " \t"))
		if (*value != '/')
			return fail(in, "'%.*s' is not an absolute path",
				    (int)strcspn(value, " \t"), value);
	return 0;
}

/* A name that the kernel accepts for an interface, without special characters of devargs. */
static bool valid_name(const char *name)
{
	return name[0] && strcmp(name, ".") && strcmp(name, "..") &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_.-")];
}

static int check_interface(struct reader *in, const char *value)
{
	return valid_name(value) ? 0 : fail(in, "'%s' cannot be the name of an interface", value);
}

/* @return the tags; 0: it is not the name of a VLAN */
static uint32_t parse_vlan(const char *value)
{
	const unsigned long most = 4094; /* 4095 is reserved */
	uint32_t vlan = 0;

	for (unsigned int tags = 0; tags < 2; tags++) {
		char *end;
		unsigned long id = strtoul(value, &end, 10);

		if (!isdigit((unsigned char)*value) || !id || id > most)
			return 0;
		vlan = vlan << CONF_VLAN_BITS | (uint32_t)id;
		if (!*end)
			return vlan;
		if (*end != '.')
			return 0;
		value = end + 1;
	}
	return 0;
}

static int check_vlan(struct reader *in, const char *value)
{
	return parse_vlan(value)
		       ? 0
		       : fail(in, "'%s' is no VLAN, such as 100, or 100.200 with two tags", value);
}

static int check_choice(struct reader *in, const struct conf_key *key, const char *value)
{
	return conf_choice(key, value) >= 0
		       ? 0
		       : fail(in, "'%s' is not one of %s", value, key->choices);
}

static int check_value(struct reader *in, const struct conf_key *key, const char *value)
{
	if (key->type == CONF_NUMBER)
		return check_number(in, value, key->min, key->max);
	if (key->type == CONF_CHOICE)
		return check_choice(in, key, value);
	if (key->type == CONF_VLAN)
		return check_vlan(in, value);
	if (key->type == CONF_ABSOLUTE && value[0] != '/')
		return fail(in, "'%s' is not an absolute path", value);
	if (strlen(value) >= key->size)
		return fail(in, "longer than %zu characters", key->size - 1);
	if (key->type == CONF_CPUS)
		return check_cpus(in, value, key->max);
	if (key->type == CONF_EAL)
		return check_eal(in, value);
	if (key->type == CONF_PATHS)
		return check_paths(in, value);
	return key->type == CONF_INTERFACE ? check_interface(in, value) : 0;
}

/* @param value  checked */
static void set_value(const struct conf_key *key, void *owner, const char *value)
{
	if (key->type == CONF_NUMBER)
		conf_set_number(key, owner, (unsigned int)strtoul(value, NULL, 10));
	else if (key->type == CONF_CHOICE)
		conf_set_number(key, owner, (unsigned int)conf_choice(key, value));
	else if (key->type == CONF_VLAN)
		conf_set_number(key, owner, parse_vlan(value));
	else
		strcpy((char *)owner + key->offset, value);
}

static void take_key(struct reader *in, const char *name, const char *value)
{
	const struct conf_key *key = conf_key_find(conf_section_of(in->port), name);
	void *owner = in->port ? (void *)in->port : (void *)in->conf;
	struct conf_place *given;

	in->key = name;
	if (!key) {
		fail(in, "unknown key");
		return;
	}
	given = &(in->port ? in->port->given : in->conf->given)[key - conf_keys];
	if (given->line && given->file == in->place.file) {
		fail(in, "given twice");
		return;
	}
	*given = in->place;
	if (check_value(in, key, value) == 0)
		set_value(key, owner, value);
}

/* A section of an earlier file goes on. @return -EINVAL: it is of the same file */
static int begin_section(struct reader *in, struct conf_place *section, const char *second)
{
	if (section->line && section->file == in->place.file)
		return fail(in, "%s", second);
	*section = in->place;
	return 0;
}

/* @param section  CONF_PORT or CONF_TUNNEL */
static int open_port(struct reader *in, enum conf_section section, const char *name)
{
	const char *kind = section == CONF_TUNNEL ? "tunnel" : "port";
	struct conf *conf = in->conf;
	struct conf_port *port = conf->port;

	if (!valid_name(name) || strlen(name) >= sizeof(port->name))
		return fail(in, "'%s' cannot be the name of a %s", name, kind);
	while (port < conf->port + conf->nports && strcmp(port->name, name))
		port++;
	if (port == conf->port + CONF_MAX_PORTS)
		return fail(in, "more than %u ports and tunnels", CONF_MAX_PORTS);
	if (port == conf->port + conf->nports) {
		conf->nports++;
		strcpy(port->name, name);
		port->tunnel = section == CONF_TUNNEL;
	}
	if (conf_section_of(port) != section)
		return fail(in, "a %s has that name", port->tunnel ? "tunnel" : "port");
	in->port = port;
	return begin_section(in, &port->section, "a second section of that name");
}

static int open_section(struct reader *in, const char *name)
{
	in->port = NULL;
	in->key = NULL;
	snprintf(in->section, sizeof(in->section), "%s", name);
	for (enum conf_section section = CONF_PORT; section <= CONF_TUNNEL; section++) {
		size_t len = strlen(conf_section_names[section]);

		if (strncmp(name, conf_section_names[section], len) == 0)
			return open_port(in, section, name + len + strspn(name + len, " \t"));
	}
	if (strcmp(name, "cygnetd"))
		return fail(in, "unknown section");
	return begin_section(in, &in->conf->section, "a second section of that name");
}

static void take(void *arg, unsigned int line, enum ini_kind kind, const char *name,
		 const char *value)
{
	char path[PATH_MAX + NAME_MAX + 4];
	struct reader *in = arg;

	in->place.line = line;
	place_path(in->conf, in->place.file, path, sizeof(path));
	if (kind == INI_WRONG)
		fail_file(in, "%s:%u: %s", path, line, name);
	else if (kind == INI_SECTION)
		in->skips = open_section(in, name) != 0;
	else if (!in->skips)
		take_key(in, name, value);
}

static void read_one(struct reader *in, unsigned int file)
{
	char path[PATH_MAX + NAME_MAX + 4];
	int err;

	in->place = (struct conf_place){.file = file};
	in->skips = false;
	place_path(in->conf, file, path, sizeof(path));
	err = ini_read(path, take, in);
	if (!err)
		return;
	fail_file(in, "%s: %s", path, strerror(-err));
	in->rc = err;
}

static int is_dropin(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && end && strcmp(end, ".conf") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void find_dropins(struct reader *in)
{
	struct conf *conf = in->conf;
	char folder[PATH_MAX + 4];
	struct dirent **list;
	int n;

	snprintf(folder, sizeof(folder), "%s" CONF_DROPINS, conf->path);
	n = scandir(folder, &list, is_dropin, by_name);
	if (n < 0) {
		if (errno != ENOENT)
			fail_file(in, "%s: %s", folder, strerror(errno));
		return;
	}
	if (n > CONF_MAX_DROPINS)
		fail_file(in, "%s: more than %u drop-ins", folder, CONF_MAX_DROPINS);
	for (int i = 0; i < n; i++) {
		if (i < CONF_MAX_DROPINS)
			strcpy(conf->dropin[conf->ndropins++], list[i]->d_name);
		free(list[i]);
	}
	free(list);
}

/* Report an error of a port at the place of one of its keys, or of its section. */
static void go_to(struct reader *in, struct conf_port *port, const char *name)
{
	const struct conf_key *key = conf_key_find(conf_section_of(port), name);

	in->port = port;
	in->key = name;
	in->place = port->given[key - conf_keys].line ? port->given[key - conf_keys]
						      : port->section;
	snprintf(in->section, sizeof(in->section), "%s%s",
		 conf_section_names[conf_section_of(port)], port->name);
}

static bool is_given(const struct conf_port *port, const char *name)
{
	const struct conf_key *key = conf_key_find(conf_section_of(port), name);

	return key && port->given[key - conf_keys].line;
}

static bool same_device(const char *a, const char *b)
{
	size_t len = strcspn(a, ",");

	return strcspn(b, ",") == len && strncmp(a, b, len) == 0;
}

static void check_if_id(struct reader *in, struct conf_port *tunnel)
{
	go_to(in, tunnel, "if_id");
	if (!is_given(tunnel, "if_id"))
		fail(in, "missing");
	for (const struct conf_port *other = in->conf->port; other < tunnel; other++)
		if (tunnel->if_id && other->if_id == tunnel->if_id)
			fail(in, "%u is already that of tunnel %s", tunnel->if_id, other->name);
}

/* Compare a port or tunnel with those before it, once all files have been read. */
static void check_port(struct reader *in, struct conf_port *port)
{
	const struct conf_key *tap = conf_key_find(conf_section_of(port), "tap");

	go_to(in, port, "tap");
	if (!port->given[tap - conf_keys].line && check_value(in, tap, port->name) == 0)
		set_value(tap, port, port->name);
	for (const struct conf_port *other = in->conf->port; other < port; other++)
		if (port->tap[0] && strcmp(port->tap, other->tap) == 0)
			fail(in, "%s is already the TAP of %s%s", port->tap,
			     conf_section_names[conf_section_of(other)], other->name);
	if (port->tunnel)
		check_if_id(in, port);
	if (port->tunnel || is_given(port, "vlan"))
		return;
	go_to(in, port, "device");
	if (!port->device[0] && !is_given(port, "device"))
		fail(in, "missing");
	for (const struct conf_port *other = in->conf->port; other < port; other++)
		if (port->device[0] && same_device(port->device, other->device))
			fail(in, "%.*s is already the device of port %s",
			     (int)strcspn(port->device, ","), port->device, other->name);
}

/* The port of a VLAN: its name is what stands before a dot of the VLAN's. @return NULL: there is none */
static const struct conf_port *port_of_vlan(const struct conf *conf, const char *name)
{
	for (size_t len = strlen(name); len--;)
		for (unsigned int i = 0; name[len] == '.' && i < conf->nports; i++)
			if (strncmp(conf->port[i].name, name, len) == 0 &&
			    !conf->port[i].name[len] && !conf->port[i].tunnel &&
			    !is_given(&conf->port[i], "vlan"))
				return &conf->port[i];
	return NULL;
}

/* Check a VLAN, and find its port. */
static void check_on_port(struct reader *in, struct conf_port *vlan)
{
	const struct conf_port *port = port_of_vlan(in->conf, vlan->name);
	const char *dot = strrchr(vlan->name, '.');
	char text[CONF_VLAN_TEXT];

	go_to(in, vlan, "vlan");
	if (!port && dot)
		fail(in, "there is no port %.*s", (int)(dot - vlan->name), vlan->name);
	else if (!port)
		fail(in, "a VLAN's section is called PORT.NAME, such as wan.100");
	if (!port)
		return;
	strcpy(vlan->on, port->name);
	conf_vlan_print(vlan->vlan, text, sizeof(text));
	for (const struct conf_port *other = in->conf->port; other < vlan; other++)
		if (vlan->vlan && other->vlan == vlan->vlan && strcmp(other->on, vlan->on) == 0)
			fail(in, "VLAN %s of port %s is already port %s", text, port->name,
			     other->name);
	if (is_given(vlan, "device")) {
		go_to(in, vlan, "device");
		fail(in, "it is a VLAN of port %s, which has the device", port->name);
	}
}

/* Keys of VLANs alone, in the section of a port. */
static void check_no_vlan(struct reader *in, struct conf_port *port)
{
	static const char *const keys[] = {"vlan_type", "priority", "dscp"};

	for (unsigned int i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!is_given(port, keys[i]))
			continue;
		go_to(in, port, keys[i]);
		fail(in, "the section has no vlan");
	}
}

/* Ports that have a device come first, then VLANs, then tunnels. */
static unsigned int rank_of(const struct conf_port *port)
{
	return port->tunnel ? 2 : port->vlan != 0;
}

static void sort_ports(struct conf *conf)
{
	static struct conf_port sorted[CONF_MAX_PORTS];
	unsigned int upto[3], n = 0;

	for (unsigned int rank = 0; rank < 3; rank++) {
		for (unsigned int i = 0; i < conf->nports; i++)
			if (rank_of(&conf->port[i]) == rank)
				sorted[n++] = conf->port[i];
		upto[rank] = n;
	}
	conf->ndevices = upto[0];
	conf->nlinks = upto[1];
	memcpy(conf->port, sorted, n * sizeof(sorted[0]));
}

static void check_ports(struct reader *in)
{
	struct conf *conf = in->conf;

	for (unsigned int i = 0; i < conf->nports; i++)
		check_port(in, &conf->port[i]);
	for (unsigned int i = 0; i < conf->nports; i++) {
		if (is_given(&conf->port[i], "vlan"))
			check_on_port(in, &conf->port[i]);
		else if (!conf->port[i].tunnel)
			check_no_vlan(in, &conf->port[i]);
	}
	sort_ports(conf);
	if (conf->ndevices > CONF_MAX_DEVICES) {
		go_to(in, &conf->port[CONF_MAX_DEVICES], "device");
		fail(in, "more than %u ports have a device", CONF_MAX_DEVICES);
	} else if (conf->nports + conf->ndevices > CONF_MAX_ETHDEVS) {
		go_to(in, &conf->port[conf->nports - 1],
		      conf->nlinks < conf->nports ? "if_id" : "vlan");
		fail(in, "%u TAPs and %u devices are more than the %u that DPDK has", conf->nports,
		     conf->ndevices, CONF_MAX_ETHDEVS);
	}
}

/* Drop everything but what is decrypted: the configuration has to say by which ports that leaves. */
static void check_no_policy(struct reader *in)
{
	const struct conf_key *key = conf_key_find(CONF_MAIN, "no_policy");

	if (in->conf->no_policy != NO_POLICY_DROP || in->conf->nlinks < 2 ||
	    conf_has_sides(in->conf))
		return;
	snprintf(in->section, sizeof(in->section), "cygnetd");
	in->key = key->name;
	in->place = in->conf->given[key - conf_keys];
	fail(in, "drop needs side = inside in the sections of the LAN's ports");
}

/* While a route to a tunnel is missing, the default route says where its packets go: by no outside port. */
static void check_tunnels(struct reader *in)
{
	if (in->conf->nlinks == in->conf->nports || in->conf->nlinks < 2 ||
	    conf_has_sides(in->conf))
		return;
	go_to(in, &in->conf->port[in->conf->nlinks], "if_id");
	fail(in, "a tunnel needs side = inside in the sections of the LAN's ports");
}

static unsigned int count_cpus(const char *list)
{
	unsigned int n = *list != '\0';

	while ((list = strchr(list, ',')) && list++)
		n++;
	return n;
}

void conf_defaults(struct conf *conf)
{
	memset(conf, 0, sizeof(*conf));
	for (unsigned int i = 0; i < CONF_KEYS; i++)
		if (conf_keys[i].section == CONF_MAIN && conf_keys[i].def)
			set_value(&conf_keys[i], conf, conf_keys[i].def);
}

int conf_read(struct conf *conf, const char *path, char *error, size_t size)
{
	struct reader in = {.conf = conf, .error = error, .size = size, .rc = -EINVAL};

	conf_defaults(conf);
	error[0] = '\0';
	if (strlen(path) >= sizeof(conf->path)) {
		snprintf(error, size, "the path of the configuration file is too long");
		return -ENAMETOOLONG;
	}
	strcpy(conf->path, path);
	find_dropins(&in);
	for (unsigned int file = 0; file <= conf->ndropins; file++)
		read_one(&in, file);
	check_ports(&in);
	check_no_policy(&in);
	check_tunnels(&in);
	conf->ncrypto_cores = count_cpus(conf->crypto_cores);
	if (!in.errors && conf->ndevices == 0)
		fail_file(&in, "%s: no [port NAME] section", path);
	return in.errors ? in.rc : 0;
}

bool conf_has_device(const struct conf *conf, const char *begin)
{
	for (unsigned int i = 0; i < conf->nports; i++)
		if (!strncmp(conf->port[i].device, begin, strlen(begin)))
			return true;
	return false;
}

bool conf_is_pci(const char *device)
{
	unsigned int domain, bus, slot, function;

	return sscanf(device, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4;
}

/* Both get every frame of the kernel's interface, and either can send. */
bool conf_is_shared(const char *device)
{
	return !strncmp(device, "net_af_packet", strlen("net_af_packet"));
}

bool conf_interface(const char *device, char *name, size_t size)
{
	static const char *const drivers[] = {"net_af_packet", "net_af_xdp", "net_pcap"};
	const char *argument = strstr(device, ",iface=");
	bool known = false;

	for (unsigned int i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		known |= !strncmp(device, drivers[i], strlen(drivers[i]));
	if (!known || !argument)
		return false;
	argument += strlen(",iface=");
	snprintf(name, size, "%.*s", (int)strcspn(argument, ","), argument);
	return true;
}

bool conf_has_sides(const struct conf *conf)
{
	const struct conf_key *side = conf_key_find(CONF_PORT, "side");

	for (unsigned int i = 0; i < conf->nports; i++)
		if (conf->port[i].given[side - conf_keys].line)
			return true;
	return false;
}

void conf_where(const struct conf *conf, const struct conf_port *port, const char *name, char *out,
		size_t size)
{
	const enum conf_section section = conf_section_of(port);
	const struct conf_key *key = name ? conf_key_find(section, name) : NULL;
	struct conf_place place = port ? port->section : conf->section;
	char line[16] = "";
	int used;

	if (key && (port ? port->given : conf->given)[key - conf_keys].line)
		place = (port ? port->given : conf->given)[key - conf_keys];
	if (place.line)
		snprintf(line, sizeof(line), ":%u", place.line);
	used = place_path(conf, place.file, out, size);
	if (used >= 0 && (size_t)used < size)
		snprintf(out + used, size - (size_t)used, "%s: [%s%s]%s%s", line,
			 conf_section_names[section], port ? port->name : "", name ? " " : "",
			 name ? name : "");
}

/* @param is, now  struct conf or struct conf_port in force, and that which was read */
static void take_given(enum conf_section section, const void *is, struct conf_place *given,
		       const void *now, const struct conf_place *given_now)
{
	for (unsigned int i = 0; i < CONF_KEYS; i++)
		given[i] = conf_keys[i].section == section && conf_same(&conf_keys[i], is, now)
				   ? given_now[i]
				   : (struct conf_place){0};
}

const struct conf_port *conf_port_named(const struct conf *conf, const char *name)
{
	for (unsigned int i = 0; i < conf->nports; i++)
		if (strcmp(conf->port[i].name, name) == 0)
			return &conf->port[i];
	return NULL;
}

void conf_vlan_print(uint32_t vlan, char *out, size_t size)
{
	const unsigned int outer = vlan >> CONF_VLAN_BITS;
	const unsigned int inner = vlan & ((1u << CONF_VLAN_BITS) - 1);

	out[0] = '\0';
	if (outer)
		snprintf(out, size, "%u.%u", outer, inner);
	else if (inner)
		snprintf(out, size, "%u", inner);
}

const struct conf_port *conf_port_below(const struct conf *conf, const struct conf_port *port)
{
	return port->vlan ? conf_port_named(conf, port->on) : port;
}

void conf_take_places(struct conf *conf, const struct conf *next)
{
	/* A port that could not be removed. */
	static const struct conf_port none;

	conf->ndropins = next->ndropins;
	memcpy(conf->dropin, next->dropin, sizeof(conf->dropin));
	conf->section = next->section;
	take_given(CONF_MAIN, conf, conf->given, next, next->given);
	for (unsigned int i = 0; i < conf->nports; i++) {
		struct conf_port *port = &conf->port[i];
		const struct conf_port *now = conf_port_named(next, port->name);

		now = now ? now : &none;
		port->section = now->section;
		take_given(conf_section_of(port), port, port->given, now, now->given);
	}
}

void conf_file_prefix(const struct conf *conf, char *prefix, size_t size)
{
	static const char option[] = "--file-prefix";
	const char *found = NULL, *pos = conf->eal;

	/* The last one counts, as in the EAL. */
	while ((pos = strstr(pos, option))) {
		pos += strlen(option);
		if (*pos == '=' || *pos == ' ' || *pos == '\t')
			found = pos + 1 + strspn(pos + 1, " \t");
	}
	if (!found)
		found = CONF_FILE_PREFIX;
	snprintf(prefix, size, "%.*s", (int)strcspn(found, " \t"), found);
}

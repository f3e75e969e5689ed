/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cfgfile.h>

#include "conf/conf.h"
#include "conf/conf_lines.h"
#include "cygnet.h"

/* The current position in the file, and the buffer for an error message. */
struct reader {
	struct conf *conf;
	struct conf_port *port; /* of the current section, or NULL */
	const char *section, *key;
	unsigned int line;
	char *error;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int fail(struct reader *in, const char *fmt, ...)
{
	char reason[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	snprintf(in->error, in->size, "%s:%u: [%s]%s%s: %s", in->conf->path, in->line, in->section,
		 in->key ? " " : "", in->key ? in->key : "", reason);
	return -EINVAL;
}

static int set_text(struct reader *in, char *field, size_t size, const char *value)
{
	if (strlen(value) >= size)
		return fail(in, "longer than %zu characters", size - 1);
	strcpy(field, value);
	return 0;
}

static int set_path(struct reader *in, char *field, size_t size, const char *value)
{
	if (value[0] != '/')
		return fail(in, "'%s' is not an absolute path", value);
	return set_text(in, field, size, value);
}

static int set_number(struct reader *in, uint32_t *field, const char *value, uint32_t min,
		      uint32_t max)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end)
		return fail(in, "'%s' is not a number", value);
	if (errno || number < min || number > max)
		return fail(in, "%s is not between %u and %u", value, min, max);
	*field = (uint32_t)number;
	return 0;
}

static int set_sadb(struct reader *in, const char *value)
{
	return set_path(in, in->conf->sadb, sizeof(in->conf->sadb), value);
}

static int set_state(struct reader *in, const char *value)
{
	return set_path(in, in->conf->state, sizeof(in->conf->state), value);
}

static int set_sas(struct reader *in, const char *value)
{
	return set_number(in, &in->conf->sas, value, 1, CYGNET_MAX_ENTRIES);
}

static int set_policies(struct reader *in, const char *value)
{
	return set_number(in, &in->conf->policies, value, 1, CYGNET_MAX_ENTRIES);
}

static int set_routes(struct reader *in, const char *value)
{
	return set_number(in, &in->conf->routes, value, 64, CONF_MAX_ROUTES);
}

static int set_flows(struct reader *in, const char *value)
{
	return set_number(in, &in->conf->flows, value, 0, CONF_MAX_FLOWS);
}

static int set_sessions(struct reader *in, const char *value)
{
	return set_number(in, &in->conf->sessions, value, 64, CYGNET_MAX_ENTRIES);
}

static int set_workers(struct reader *in, const char *value)
{
	uint32_t workers;
	int rc = set_number(in, &workers, value, 1, CONF_MAX_WORKERS);

	if (rc == 0)
		in->conf->workers = workers;
	return rc;
}

/* @param names   allowed values, ending with NULL
 * @param choice  receives the index of value */
static int set_choice(struct reader *in, const char *value, const char *const *names,
		      unsigned int *choice)
{
	char all[64] = "";

	for (unsigned int i = 0; names[i]; i++) {
		size_t used = strlen(all);

		if (strcmp(value, names[i]) == 0) {
			*choice = i;
			return 0;
		}
		snprintf(all + used, sizeof(all) - used, "%s%s", used ? ", " : "", names[i]);
	}
	return fail(in, "'%s' is not one of %s", value, all);
}

static int set_engine(struct reader *in, const char *value)
{
	static const char *const names[] = {
		[ENGINE_AUTO] = "auto",
		[ENGINE_CPU] = "cpu",
		[ENGINE_OPENCL] = "opencl",
		[ENGINE_OPENCL + 1] = NULL,
	};
	unsigned int choice;
	int rc = set_choice(in, value, names, &choice);

	if (rc == 0)
		in->conf->engine = (enum engine_choice)choice;
	return rc;
}

static int set_no_policy(struct reader *in, const char *value)
{
	static const char *const names[] = {"pass", "drop", NULL};
	unsigned int choice;
	int rc = set_choice(in, value, names, &choice);

	if (rc == 0)
		in->conf->drop_no_policy = choice == 1;
	return rc;
}

static int set_hairpin(struct reader *in, const char *value)
{
	static const char *const names[] = {"drop", "pass", NULL};
	unsigned int choice;
	int rc = set_choice(in, value, names, &choice);

	if (rc == 0)
		in->conf->pass_hairpin = choice == 1;
	return rc;
}

static int set_idle(struct reader *in, const char *value)
{
	static const char *const names[] = {"poll", "sleep", NULL};
	unsigned int choice;
	int rc = set_choice(in, value, names, &choice);

	if (rc == 0)
		in->conf->idle_sleep = choice == 1;
	return rc;
}

/* Check a CPU list such as "1,2,5". @param n  receives the number of CPUs */
static int check_cpus(struct reader *in, const char *value, unsigned int *n)
{
	unsigned long cpus = (unsigned long)sysconf(_SC_NPROCESSORS_CONF);

	*n = 0;

	for (const char *pos = value;; pos++) {
		char *end;
		unsigned long cpu = strtoul(pos, &end, 10);

		if (!isdigit((unsigned char)*pos) || (*end && *end != ','))
			return fail(in, "'%s' is not a list of CPUs such as 1,2,3", value);
		if (cpu >= cpus)
			return fail(in, "there is no CPU %.*s, only 0 to %lu", (int)(end - pos), pos,
				    cpus - 1);
		++*n;
		if (!*end)
			return 0;
		pos = end;
	}
}

static int set_cores(struct reader *in, const char *value)
{
	unsigned int n;

	return check_cpus(in, value, &n) ? -EINVAL
	     : set_text(in, in->conf->cores, sizeof(in->conf->cores), value);
}

static int set_crypto_cores(struct reader *in, const char *value)
{
	struct conf *conf = in->conf;

	if (check_cpus(in, value, &conf->ncrypto_cores))
		return -EINVAL;
	if (conf->ncrypto_cores > CONF_MAX_CRYPTO_CORES)
		return fail(in, "more than %u CPUs", CONF_MAX_CRYPTO_CORES);
	return set_text(in, conf->crypto_cores, sizeof(conf->crypto_cores), value);
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

/* Refuses EAL arguments that cygnetd itself sets, from other keys. */
static int set_eal(struct reader *in, const char *value)
{
	static const char *const ours[] = {
		"-l", "-c", "--lcores", "--main-lcore", "--no-telemetry",
	};
	char copy[sizeof(in->conf->eal)];
	unsigned int n = 0;

	if (set_text(in, copy, sizeof(copy), value))
		return -EINVAL;
	for (char *save, *arg = strtok_r(copy, " \t", &save); arg;
	     arg = strtok_r(NULL, " \t", &save)) {
		if (++n > CONF_MAX_EAL_ARGS)
			return fail(in, "more than %u arguments", CONF_MAX_EAL_ARGS);
		for (unsigned int i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
			if (is_option(arg, ours[i]))
				return fail(in, "%s is cygnetd's own to choose", ours[i]);
	}
	return set_text(in, in->conf->eal, sizeof(in->conf->eal), value);
}

static int set_driver_path(struct reader *in, const char *value)
{
	return set_path(in, in->conf->driver_path, sizeof(in->conf->driver_path), value);
}

static int set_opencl(struct reader *in, const char *value)
{
	return set_text(in, in->conf->opencl_args, sizeof(in->conf->opencl_args), value);
}

static int set_device(struct reader *in, const char *value)
{
	size_t len = strcspn(value, ",");

	for (unsigned int i = 0; i < in->conf->nports; i++) {
		const struct conf_port *port = &in->conf->port[i];

		if (port != in->port && strcspn(port->device, ",") == len &&
		    strncmp(port->device, value, len) == 0)
			return fail(in, "%.*s is already the device of port %s", (int)len, value,
				    port->name);
	}
	return set_text(in, in->port->device, sizeof(in->port->device), value);
}

/* A name that the kernel accepts for an interface, without special characters of devargs. */
static bool valid_name(const char *name)
{
	return name[0] && strcmp(name, ".") && strcmp(name, "..") &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_.-")];
}

static int set_tap(struct reader *in, const char *value)
{
	if (!valid_name(value))
		return fail(in, "'%s' cannot be the name of an interface", value);
	for (unsigned int i = 0; i < in->conf->nports; i++) {
		const struct conf_port *port = &in->conf->port[i];

		if (port != in->port && strcmp(port->tap, value) == 0)
			return fail(in, "%s is already the TAP of port %s", value, port->name);
	}
	return set_text(in, in->port->tap, sizeof(in->port->tap), value);
}

/* Whether the device allows the MTU is checked when it starts. */
static int set_mtu(struct reader *in, const char *value)
{
	uint32_t mtu;
	int rc = set_number(in, &mtu, value, CONF_MIN_MTU, CONF_MAX_MTU);

	if (rc)
		return rc;
	in->port->mtu = (uint16_t)mtu;
	in->port->mtu_line = in->line;
	return 0;
}

struct key {
	const char *name;
	int (*set)(struct reader *in, const char *value);
};

static const struct key main_keys[] = {
	{"sadb", set_sadb},
	{"state", set_state},
	{"sas", set_sas},
	{"policies", set_policies},
	{"routes", set_routes},
	{"flows", set_flows},
	{"sessions", set_sessions},
	{"engine", set_engine},
	{"workers", set_workers},
	{"cores", set_cores},
	{"crypto_cores", set_crypto_cores},
	{"idle", set_idle},
	{"no_policy", set_no_policy},
	{"hairpin", set_hairpin},
	{"eal", set_eal},
	{"driver_path", set_driver_path},
	{"opencl", set_opencl},
	{NULL, NULL},
};

static const struct key port_keys[] = {
	{"device", set_device},
	{"tap", set_tap},
	{"mtu", set_mtu},
	{NULL, NULL},
};

static int open_port(struct reader *in, const char *name)
{
	struct conf *conf = in->conf;

	if (!valid_name(name) || strlen(name) >= sizeof(conf->port[0].name))
		return fail(in, "'%s' cannot be the name of a port", name);
	for (unsigned int i = 0; i < conf->nports; i++)
		if (strcmp(conf->port[i].name, name) == 0)
			return fail(in, "a second port of that name");
	if (conf->nports == CONF_MAX_PORTS)
		return fail(in, "more than %u ports", CONF_MAX_PORTS);
	in->port = &conf->port[conf->nports++];
	strcpy(in->port->name, name);
	return 0;
}

static int close_port(struct reader *in)
{
	if (!in->port->device[0]) {
		in->key = "device";
		return fail(in, "missing");
	}
	if (in->port->tap[0])
		return 0;
	in->key = "tap";
	return set_tap(in, in->port->name);
}

static int read_key(struct reader *in, const struct key *keys, const struct rte_cfgfile_entry *entry,
		    const struct rte_cfgfile_entry *earlier)
{
	in->key = entry->name;
	for (; earlier < entry; earlier++)
		if (strcmp(earlier->name, in->key) == 0)
			return fail(in, "given twice");
	for (; keys->name; keys++)
		if (strcmp(keys->name, in->key) == 0)
			return keys->set(in, entry->value);
	return fail(in, "unknown key");
}

/* @param lines the line numbers of the section's n keys */
static int read_section(struct reader *in, const char *name, const struct rte_cfgfile_entry *entry,
			int n, const unsigned int *lines)
{
	unsigned int line = in->line;
	int rc = 0;

	in->port = NULL;
	if (strncmp(name, "port ", 5) == 0)
		rc = open_port(in, name + 5 + strspn(name + 5, " \t"));
	else if (strcmp(name, "cygnetd"))
		rc = fail(in, "unknown section");
	for (int i = 0; rc == 0 && i < n; i++) {
		in->line = lines[i];
		rc = read_key(in, in->port ? port_keys : main_keys, &entry[i], entry);
	}
	in->line = line;
	return rc || !in->port ? rc : close_port(in);
}

static int read_file(struct reader *in, struct rte_cfgfile *file, const struct conf_lines *lines)
{
	unsigned int key = 0;
	bool main_seen = false;
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < lines->nsections; i++) {
		char name[CFG_NAME_LEN];
		int n = rte_cfgfile_section_num_entries_by_index(file, name, (int)i);
		struct rte_cfgfile_entry *entry;

		if (n < 0 || key + (unsigned int)n > lines->nkeys) {
			snprintf(in->error, in->size, "%s: it has changed while it was read",
				 in->conf->path);
			return -EAGAIN;
		}
		entry = calloc((size_t)n + 1, sizeof(*entry));
		if (!entry)
			return -ENOMEM;
		rte_cfgfile_section_entries_by_index(file, (int)i, name, entry, n);
		in->line = lines->section[i];
		in->section = name;
		in->key = NULL;
		if (main_seen && strcmp(name, "cygnetd") == 0)
			rc = fail(in, "a second section of that name");
		else
			rc = read_section(in, name, entry, n, &lines->key[key]);
		main_seen |= strcmp(name, "cygnetd") == 0;
		key += (unsigned int)n;
		free(entry);
	}
	return rc;
}

void conf_defaults(struct conf *conf)
{
	memset(conf, 0, sizeof(*conf));
	strcpy(conf->sadb, CYGNET_SADB_PATH);
	strcpy(conf->state, CONF_STATE);
	conf->sas = CYGNET_DEFAULT_SAS;
	conf->policies = CYGNET_DEFAULT_POLICIES;
	conf->routes = CONF_DEFAULT_ROUTES;
	conf->flows = CONF_DEFAULT_FLOWS;
	conf->sessions = CONF_DEFAULT_SESSIONS;
	conf->engine = ENGINE_AUTO;
	conf->workers = 1;
}

int conf_read(struct conf *conf, const char *path, char *error, size_t size)
{
	struct rte_cfgfile_parameters params = {.comment_character = CONF_COMMENT};
	struct reader in = {.conf = conf, .error = error, .size = size};
	struct rte_cfgfile *file;
	struct conf_lines lines;
	int rc;

	conf_defaults(conf);
	if (strlen(path) >= sizeof(conf->path)) {
		snprintf(error, size, "the path of the configuration file is too long");
		return -ENAMETOOLONG;
	}
	strcpy(conf->path, path);
	rc = conf_lines_read(&lines, path, error, size);
	if (rc)
		goto out;
	file = rte_cfgfile_load_with_params(path, 0, &params);
	error[0] = '\0';
	rc = file ? read_file(&in, file, &lines) : -EINVAL;
	if (!file)
		snprintf(error, size, "%s: DPDK's rte_cfgfile refuses it; a line above says why",
			 path);
	else if (rc && !error[0])
		snprintf(error, size, "%s: cannot be read: %s", path, strerror(-rc));
	if (rc == 0 && conf->nports == 0) {
		snprintf(error, size, "%s: no [port NAME] section", path);
		rc = -EINVAL;
	}
	if (file)
		rte_cfgfile_close(file);
out:
	conf_lines_free(&lines);
	return rc;
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

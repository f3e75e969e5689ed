/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cfgfile.h>
#include <rte_string_fns.h>

#include "cygnet.h"
#include "conf.h"

struct parser {
	struct conf *conf;
	struct rte_cfgfile *file;
	char *error;
	size_t size;
};

/* rte_cfgfile keeps no line numbers: find the key again in the text.
 * @return line, or 0 if the key is not there as expected */
static unsigned int find_line(const char *path, const char *section, const char *key)
{
	FILE *file = fopen(path, "r");
	unsigned int line = 0, found = 0;
	bool inside = false;
	char text[1024];

	while (file && !found && fgets(text, sizeof(text), file)) {
		char *start = text + strspn(text, " \t");
		size_t n;

		line++;
		if (*start == '[') {
			n = strlen(section);
			inside = !strncmp(start + 1, section, n) && start[1 + n] == ']';
			if (inside && !key)
				found = line;
			continue;
		}
		n = key ? strlen(key) : 0;
		if (inside && n && !strncmp(start, key, n) &&
		    (start[n] == '=' || isspace((unsigned char)start[n])))
			found = line;
	}
	if (file)
		fclose(file);
	return found;
}

__attribute__((format(printf, 4, 5)))
static int bad(struct parser *p, const char *section, const char *key, const char *format, ...)
{
	unsigned int line = find_line(p->conf->path, section, key);
	char what[512];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(p->error, p->size, "%s:%u: [%s]%s%s: %s", p->conf->path, line, section,
		 key ? " " : "", key ? key : "", what);
	return -EINVAL;
}

static int parse_number(struct parser *p, const char *section, const char *key, const char *value,
			uint32_t min, uint32_t max, uint32_t *out)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end || errno || number < min || number > max)
		return bad(p, section, key, "'%s' is not a number from %u to %u", value, min, max);
	*out = (uint32_t)number;
	return 0;
}

static int parse_text(struct parser *p, const char *section, const char *key, const char *value,
		      char *out, size_t size)
{
	if (!*value)
		return bad(p, section, key, "has no value");
	if (rte_strscpy(out, value, size) < 0)
		return bad(p, section, key, "is longer than %zu characters", size - 1);
	return 0;
}

/* "1,2,5": the CPUs that workers run on. */
static int parse_cores(struct parser *p, const char *section, const char *key, const char *value)
{
	const char *at = value;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (;;) {
		char *end;
		unsigned long cpu = strtoul(at, &end, 10);

		if (!isdigit((unsigned char)*at) || (*end && *end != ','))
			return bad(p, section, key, "'%s' is not a list of CPUs such as 1,2,3",
				   value);
		if (cpu >= (unsigned long)cpus)
			return bad(p, section, key, "there is no CPU %lu, only 0 to %ld", cpu,
				   cpus - 1);
		if (!*end)
			break;
		at = end + 1;
	}
	return parse_text(p, section, key, value, p->conf->cores, sizeof(p->conf->cores));
}

static int parse_choice(struct parser *p, const char *section, const char *key, const char *value,
			const char *const *names, unsigned int *out)
{
	for (unsigned int i = 0; names[i]; i++) {
		if (!strcmp(value, names[i])) {
			*out = i;
			return 0;
		}
	}
	return bad(p, section, key, "'%s' is not one of %s, %s%s%s", value, names[0], names[1],
		   names[2] ? ", " : "", names[2] ? names[2] : "");
}

static int parse_daemon_key(struct parser *p, const char *key, const char *value)
{
	static const char *const engines[] = {"auto", "cpu", "opencl", NULL};
	static const char *const idles[] = {"poll", "sleep", NULL};
	static const char section[] = "cygnetd";
	struct conf *c = p->conf;
	unsigned int choice;
	int err;

	if (!strcmp(key, "sadb"))
		return parse_text(p, section, key, value, c->sadb, sizeof(c->sadb));
	if (!strcmp(key, "sas"))
		return parse_number(p, section, key, value, 1, CYGNET_MAX_ENTRIES, &c->sas);
	if (!strcmp(key, "policies"))
		return parse_number(p, section, key, value, 1, CYGNET_MAX_ENTRIES, &c->policies);
	if (!strcmp(key, "workers"))
		return parse_number(p, section, key, value, 1, CONF_MAX_WORKERS, &c->workers);
	if (!strcmp(key, "cores"))
		return parse_cores(p, section, key, value);
	if (!strcmp(key, "eal"))
		return parse_text(p, section, key, value, c->eal, sizeof(c->eal));
	if (!strcmp(key, "driver-path"))
		return parse_text(p, section, key, value, c->driver_path, sizeof(c->driver_path));
	if (!strcmp(key, "opencl"))
		return parse_text(p, section, key, value, c->opencl_args, sizeof(c->opencl_args));
	if (!strcmp(key, "engine")) {
		err = parse_choice(p, section, key, value, engines, &choice);
		if (!err)
			c->engine = (enum engine_choice)choice;
		return err;
	}
	if (!strcmp(key, "idle")) {
		err = parse_choice(p, section, key, value, idles, &choice);
		if (!err)
			c->idle_sleep = choice == 1;
		return err;
	}
	return bad(p, section, key, "unknown key");
}

/* What the kernel accepts as the name of an interface. */
static int parse_tap(struct parser *p, const char *section, const char *key, const char *value,
		     struct conf_port *port)
{
	for (const char *c = value; *c; c++)
		if (!isgraph((unsigned char)*c) || *c == '/' || *c == ':')
			return bad(p, section, key, "'%s' cannot name an interface", value);
	return parse_text(p, section, key, value, port->tap, sizeof(port->tap));
}

static int parse_port(struct parser *p, const char *section, struct conf_port *port)
{
	struct rte_cfgfile_entry entry[8];
	int n = rte_cfgfile_section_num_entries(p->file, section);
	int err = 0;

	if (n > (int)RTE_DIM(entry))
		return bad(p, section, NULL, "has too many keys");
	rte_cfgfile_section_entries(p->file, section, entry, n);
	for (int i = 0; i < n && !err; i++) {
		if (!strcmp(entry[i].name, "device"))
			err = parse_text(p, section, "device", entry[i].value, port->device,
					 sizeof(port->device));
		else if (!strcmp(entry[i].name, "tap"))
			err = parse_tap(p, section, "tap", entry[i].value, port);
		else
			err = bad(p, section, entry[i].name, "unknown key");
	}
	if (err)
		return err;
	if (!port->device[0])
		return bad(p, section, NULL, "names no device");
	if (!port->tap[0])
		return parse_tap(p, section, NULL, port->name, port);
	return 0;
}

static int add_port(struct parser *p, const char *section)
{
	struct conf *c = p->conf;
	struct conf_port *port = &c->port[c->nports];
	int err;

	if (c->nports == CONF_MAX_PORTS)
		return bad(p, section, NULL, "more than %d ports", CONF_MAX_PORTS);
	if (rte_strscpy(port->name, section + strlen("port "), sizeof(port->name)) <= 0)
		return bad(p, section, NULL, "a port's name has 1 to %zu characters",
			   sizeof(port->name) - 1);
	err = parse_port(p, section, port);
	for (unsigned int i = 0; i < c->nports && !err; i++) {
		if (!strcmp(c->port[i].name, port->name))
			err = bad(p, section, NULL, "there are two ports of this name");
		else if (!strcmp(c->port[i].tap, port->tap))
			err = bad(p, section, "tap", "port %s has the TAP %s already",
				  c->port[i].name, port->tap);
		else if (!strcmp(c->port[i].device, port->device))
			err = bad(p, section, "device", "port %s has this device already",
				  c->port[i].name);
	}
	c->nports++;
	return err;
}

static int parse_daemon(struct parser *p)
{
	struct rte_cfgfile_entry entry[32];
	int n = rte_cfgfile_section_num_entries(p->file, "cygnetd");
	int err = 0;

	if (n > (int)RTE_DIM(entry))
		return bad(p, "cygnetd", NULL, "has too many keys");
	rte_cfgfile_section_entries(p->file, "cygnetd", entry, n);
	for (int i = 0; i < n && !err; i++) {
		for (int j = 0; j < i && !err; j++)
			if (!strcmp(entry[i].name, entry[j].name))
				err = bad(p, "cygnetd", entry[i].name, "is there twice");
		if (!err)
			err = parse_daemon_key(p, entry[i].name, entry[i].value);
	}
	return err;
}

static int parse_sections(struct parser *p)
{
	static char names[CONF_MAX_PORTS + 2][CFG_NAME_LEN];
	char *pointers[CONF_MAX_PORTS + 2];
	int n = rte_cfgfile_num_sections(p->file, NULL, 0), err = 0;

	if (n > (int)RTE_DIM(names)) {
		snprintf(p->error, p->size, "%s: more than %d sections", p->conf->path,
			 (int)RTE_DIM(names));
		return -EINVAL;
	}
	for (int i = 0; i < n; i++)
		pointers[i] = names[i];
	rte_cfgfile_sections(p->file, pointers, n);
	for (int i = 0; i < n && !err; i++) {
		if (!strcmp(names[i], "cygnetd"))
			err = parse_daemon(p);
		else if (!strncmp(names[i], "port ", 5))
			err = add_port(p, names[i]);
		else
			err = bad(p, names[i], NULL, "unknown section; [cygnetd] and [port NAME] "
						     "are known");
	}
	return err;
}

static void set_defaults(struct conf *conf, const char *path)
{
	*conf = (struct conf){
		.sas = CYGNET_DEFAULT_SAS,
		.policies = CYGNET_DEFAULT_POLICIES,
		.workers = 1,
	};
	rte_strscpy(conf->path, path, sizeof(conf->path));
	rte_strscpy(conf->sadb, CYGNET_SADB_PATH, sizeof(conf->sadb));
}

int conf_read(struct conf *conf, const char *path, char *error, size_t size)
{
	static const struct rte_cfgfile_parameters params = {.comment_character = ';'};
	struct parser p = {conf, NULL, error, size};
	int err;

	set_defaults(conf, path);
	if (access(path, R_OK) < 0) {
		err = -errno;
		snprintf(error, size, "%s: %s", path, strerror(-err));
		return err;
	}
	p.file = rte_cfgfile_load_with_params(path, CFG_FLAG_EMPTY_VALUES, &params);
	if (!p.file) {
		snprintf(error, size, "%s: not an INI file: every line is [SECTION], KEY = VALUE, "
			 "; comment or empty, with at most %d characters of value", path,
			 CFG_VALUE_LEN - 1);
		return -EINVAL;
	}
	err = parse_sections(&p);
	rte_cfgfile_close(p.file);
	if (!err && !conf->nports) {
		snprintf(error, size, "%s: no [port NAME] section: nothing to forward", path);
		err = -EINVAL;
	}
	return err;
}

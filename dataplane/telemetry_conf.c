/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration in force, for cygnetctl show info. It has no secrets. */
#include <string.h>

#include "conf/conf_keys.h"
#include "control.h"
#include "telemetry.h"
#include "telemetry_table.h"

#define KEYS_PER_PAGE 10u /* values may be long */
#define VALUE_SIZE    1024

static const struct conf *conf;

void telemetry_show_conf(const struct conf *in_force)
{
	conf = in_force;
}

/* File and line that give a key; nothing if it has its default. */
static void add_given(struct rte_tel_data *row, const struct conf_port *port,
		      const struct conf_key *key)
{
	char where[PATH_MAX + 128] = "";

	if ((port ? port->given : conf->given)[key - conf_keys].line)
		conf_where(conf, port, key->name, where, sizeof(where));
	if (strstr(where, ": ["))
		*strstr(where, ": [") = '\0';
	rte_tel_data_add_dict_string(row, "given", where);
}

static void add_key(struct rte_tel_data *row, const struct conf_port *port,
		    const struct conf_key *key)
{
	char value[VALUE_SIZE], section[sizeof(port->name) + 8];

	conf_value(key, port ? (const void *)port : conf, value, sizeof(value));
	snprintf(section, sizeof(section), "%s%s", conf_section_names[key->section],
		 port ? port->name : "");
	rte_tel_data_add_dict_string(row, "section", section);
	rte_tel_data_add_dict_string(row, "key", key->name);
	rte_tel_data_add_dict_string(row, "value", value);
	rte_tel_data_add_dict_string(row, "default", key->def ? key->def : "");
	add_given(row, port, key);
}

/* By index: all keys of [cygnetd], then all keys of each port; keys of another section are left out. */
static struct rte_tel_data *add_indexed(struct rte_tel_data *table, unsigned int index,
					unsigned int n)
{
	const struct conf_key *key = &conf_keys[index % CONF_KEYS];
	const struct conf_port *port = index < CONF_KEYS ? NULL
							 : &conf->port[index / CONF_KEYS - 1];
	struct rte_tel_data *row;

	if (key->section != conf_section_of(port))
		return NULL;
	row = add_row(table, n);
	if (row)
		add_key(row, port, key);
	return row;
}

void telemetry_conf(const char *params, struct rte_tel_data *table)
{
	unsigned int index = begin_of(params), n = 0, end;

	if (!conf)
		return;
	control_lock();
	end = (conf->nports + 1) * CONF_KEYS;
	for (; index < end && n < KEYS_PER_PAGE; index++)
		n += add_indexed(table, index, n) != NULL;
	control_unlock();
	if (index < end && n)
		rte_tel_data_add_dict_u64(table, "next", index);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file conf_keys.h
 * The keys of cygnetd.conf, one row each. cygnetd.conf(5) describes the same keys with the same
 * values, which tests/test-manual compares.
 */
#ifndef CYGNETD_CONF_KEYS_H
#define CYGNETD_CONF_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "conf/conf.h"

enum conf_section { CONF_MAIN, CONF_PORT, CONF_TUNNEL };

/** @param port  NULL: [cygnetd] */
static inline enum conf_section conf_section_of(const struct conf_port *port)
{
	if (!port)
		return CONF_MAIN;
	return port->tunnel ? CONF_TUNNEL : CONF_PORT;
}

/** How a section is called: "cygnetd", "port ", "tunnel ". */
extern const char *const conf_section_names[];

enum conf_type {
	CONF_NUMBER, /* min to max */
	CONF_CHOICE, /* one of choices; the field has its index */
	CONF_TEXT,
	CONF_ABSOLUTE,	/* an absolute path */
	CONF_CPUS,	/* "1,2,5"; max CPUs, 0: any number */
	CONF_EAL,	/* arguments of the EAL that are not cygnetd's own to set */
	CONF_INTERFACE, /* name of a network interface */
	CONF_PATHS,	/* absolute paths, with blanks between */
	CONF_VLAN,	/* ID of a VLAN, or those of two tags: "100", "100.200" */
};

struct conf_key {
	const char *name;
	enum conf_section section;
	size_t offset, size; /* of the field in struct conf or struct conf_port */
	enum conf_type type;
	unsigned int min, max;
	const char *choices; /* "auto, cpu, opencl" */
	const char *def;     /* default, as it would be written; NULL: 0 or "" */
	bool live;	     /* a reload applies it; otherwise a restart does */
	const char *help;
};

/** CONF_KEYS rows. */
extern const struct conf_key conf_keys[];

/** @return NULL: the section has no such key */
const struct conf_key *conf_key_find(enum conf_section section, const char *name);
/** Whether a key of the main section is in the configuration. @param name  of one that there is */
bool conf_is_given(const struct conf *conf, const char *name);
/** The value of a CONF_NUMBER, the tags of a CONF_VLAN, or the index of a CONF_CHOICE.
 * @param owner  struct conf or struct conf_port, as key->section says; also below */
unsigned int conf_number(const struct conf_key *key, const void *owner);
void conf_set_number(const struct conf_key *key, void *owner, unsigned int number);
/** The index of a name among the choices of a CONF_CHOICE. @return -1: it is none of them */
int conf_choice(const struct conf_key *key, const char *value);
/** Whether a key has the same value in two owners. */
bool conf_same(const struct conf_key *key, const void *a, const void *b);
/** The value of a key as it would be written. */
void conf_value(const struct conf_key *key, const void *owner, char *out, size_t size);
/** Print all rows, with tabs between the columns. */
void conf_print_keys(FILE *out);

#endif

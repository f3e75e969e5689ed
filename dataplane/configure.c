/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "conf/conf_keys.h"
#include "configure.h"
#include "host/eal_log.h"
#include "host/interface.h"
#include "host/mtu.h"
#include "host/route.h"
#include "host/side.h"
#include "host/wire.h"
#include "ports.h"

#define WHERE (PATH_MAX + NAME_MAX)
#define VALUE PATH_MAX

/* Messages about a reload are not limited in rate: an administrator has asked for it. */
#define say(level, format, ...) \
	log_say(NULL, level, "cygnetd", (struct log_about){0}, format, ##__VA_ARGS__)
#define say_info(format, ...) \
	do { \
		if (log_shows(RTE_LOG_INFO)) \
			say(RTE_LOG_INFO, format, ##__VA_ARGS__); \
	} while (0)

int configuration_read(struct conf *conf, const char *path)
{
	static char error[16384];
	int err = conf_read(conf, path, error, sizeof(error));

	for (char *save, *line = strtok_r(error, "\n", &save); err && line;
	     line = strtok_r(NULL, "\n", &save))
		say(RTE_LOG_ERR, "%s", line);
	return err;
}

void configuration_apply(const struct conf *conf)
{
	__atomic_store_n(&log_level, conf_log_level(conf->log), __ATOMIC_RELAXED);
	settings_publish(conf);
}

void configuration_warn(const struct conf *conf)
{
	/* What is assumed of two ports is right for most gateways: a good start has no warning. */
	uint32_t level = conf->nlinks > 2 ? RTE_LOG_WARNING : RTE_LOG_NOTICE;
	char where[WHERE];

	if (conf->nlinks < 2 || conf_has_sides(conf) || !log_shows(level))
		return;
	conf_where(conf, NULL, NULL, where, sizeof(where));
	say(level,
	    "%s: none of %u ports has a side: decrypted packets that match no policy leave by %s",
	    where, conf->nlinks,
	    conf->nlinks > 2 ? "none"
			     : "the one at which no tunnel ends, which is taken for the LAN's");
}

static void say_applied(const struct conf *conf, const struct conf_port *port,
			const struct conf_key *key)
{
	char where[WHERE], value[VALUE];

	conf_where(conf, port, key->name, where, sizeof(where));
	conf_value(key, port ? (const void *)port : conf, value, sizeof(value));
	say_info("%s: %s from now on", where, value);
}

/* @param is  struct conf or struct conf_port, with the value that stays in force */
static void say_restart(const struct conf *next, const struct conf_port *port,
			const struct conf_key *key, const void *is)
{
	char where[WHERE], value[VALUE];

	conf_where(next, port, key->name, where, sizeof(where));
	conf_value(key, is, value, sizeof(value));
	if (log_shows(RTE_LOG_WARNING))
		say(RTE_LOG_WARNING, "%s: needs a restart; it stays %s", where,
		    value[0] ? value : "unset");
}

/* Keys of [cygnetd]. */
static void reload_main(struct conf *conf, const struct conf *next)
{
	bool dpdk_log = conf->dpdk_log != next->dpdk_log, differs[CONF_KEYS];

	for (unsigned int i = 0; i < CONF_KEYS; i++) {
		const struct conf_key *key = &conf_keys[i];

		differs[i] = key->section == CONF_MAIN && !conf_same(key, conf, next);
		if (differs[i] && key->live)
			conf_set_number(key, conf, conf_number(key, next));
	}
	configuration_apply(conf);
	if (dpdk_log)
		eal_log_set_level(conf_log_level(conf->dpdk_log));
	for (unsigned int i = 0; i < CONF_KEYS; i++) {
		if (differs[i] && conf_keys[i].live)
			say_applied(next, NULL, &conf_keys[i]);
		else if (differs[i])
			say_restart(next, NULL, &conf_keys[i], conf);
	}
}

/* @return 0 or -errno; then interface and TAP have the MTU that they had */
static int set_mtu(struct interface *interface, uint16_t mtu)
{
	const uint16_t before = interface->mtu;
	int err = interface_set_mtu(interface, mtu);

	if (err)
		return err;
	err = tap_set_mtu(&interface->tap, mtu);
	if (err)
		interface_set_mtu(interface, before);
	return err;
}

/* Without the key a VLAN has what its port leaves for it, and a tunnel the usual MTU. That of a port is the MTU of the kernel's
 * interface, and cannot change here. @return whether the interface has what it is to have */
static bool default_mtu(struct interface *interface, const struct conf_port *port)
{
	const uint16_t mtu = interface->kind == INTERFACE_VLAN ? interface_mtu_on(interface)
							       : mtu_wanted(port);

	return mtu == interface->mtu ||
	       (interface->kind != INTERFACE_PORT && set_mtu(interface, mtu) == 0);
}

static void reload_mtu(const struct conf *next, const struct conf_port *port, struct conf_port *is,
		       const struct conf_key *key)
{
	struct interface *interface = interface_named(port->name);
	char where[WHERE];
	int err;

	if (!port->mtu && interface && default_mtu(interface, port)) {
		is->mtu = 0;
		return;
	}
	if (!port->mtu || !interface) {
		say_restart(next, port, key, is);
		return;
	}
	err = set_mtu(interface, port->mtu);
	if (err) {
		conf_where(next, port, key->name, where, sizeof(where));
		say(RTE_LOG_ERR,
		    "%s: device or buffers do not allow %u while cygnetd runs, it stays %u: %s",
		    where, port->mtu, interface->mtu, strerror(-err));
		return;
	}
	is->mtu = port->mtu;
	say_applied(next, port, key);
}

static void reload_port(const struct conf *next, const struct conf_port *port, struct conf_port *is)
{
	for (unsigned int i = 0; i < CONF_KEYS; i++) {
		const struct conf_key *key = &conf_keys[i];

		if (key->section != conf_section_of(is) || conf_same(key, is, port))
			continue;
		if (!key->live) {
			say_restart(next, port, key, is);
		} else if (key->offset == offsetof(struct conf_port, mtu)) {
			reload_mtu(next, port, is, key);
		} else { /* reload_ports() has put it in force */
			conf_set_number(key, is, conf_number(key, port));
			say_applied(next, port, key);
		}
	}
}

static void forget_port(struct conf *conf, unsigned int i)
{
	conf->ndevices -= i < conf->ndevices;
	conf->nlinks -= i < conf->nlinks;
	conf->nports--;
	memmove(&conf->port[i], &conf->port[i + 1], (conf->nports - i) * sizeof(conf->port[0]));
}

/* From the end: VLANs stand behind their ports. */
static void remove_ports(struct conf *conf, const struct conf *next)
{
	for (unsigned int i = conf->nports; i--;) {
		const struct conf_port *now = conf_port_named(next, conf->port[i].name);

		if (now && now->tunnel == conf->port[i].tunnel)
			continue;
		if (port_remove(&conf->port[i], next->path) == 0)
			forget_port(conf, i);
	}
}

static void add_port(struct conf *conf, const struct conf *next, const struct conf_port *port)
{
	const bool on_device = !port->vlan && !port->tunnel;
	unsigned int i = on_device ? conf->ndevices : port->tunnel ? conf->nports : conf->nlinks;
	char where[WHERE];

	if (conf->nports == CONF_MAX_PORTS ||
	    conf->nports + conf->ndevices + 1u + on_device > CONF_MAX_ETHDEVS) {
		conf_where(next, port, NULL, where, sizeof(where));
		say(RTE_LOG_ERR, "%s: ports that could not be removed take the room for it", where);
		return;
	}
	if (port_add(next, port, conf->workers))
		return;
	memmove(&conf->port[i + 1], &conf->port[i], (conf->nports - i) * sizeof(conf->port[0]));
	conf->port[i] = *port;
	conf->ndevices += on_device;
	conf->nlinks += !port->tunnel;
	conf->nports++;
}

static void reload_priorities(const struct conf *next)
{
	for (unsigned int i = next->ndevices; i < next->nlinks; i++) {
		struct interface *vlan = interface_named(next->port[i].name);

		if (vlan)
			interface_set_priority(vlan, &next->port[i]);
	}
}

/* A VLAN became smaller with its port, which may have grown again. */
static void grow_vlans(const struct conf *conf)
{
	for (unsigned int i = conf->ndevices; i < conf->nlinks; i++) {
		struct interface *vlan = interface_named(conf->port[i].name);

		if (vlan && conf->port[i].mtu > vlan->mtu && set_mtu(vlan, conf->port[i].mtu) == 0)
			log_port(RTE_LOG_INFO, vlan->name, "MTU %u again", vlan->mtu);
	}
}

static void reload_ports(struct conf *conf, const struct conf *next)
{
	/* Remove ports first: a new port may have the device of a removed one, or the name of its TAP. */
	remove_ports(conf, next);
	sides_set(next);
	reload_priorities(next);
	for (unsigned int i = 0; i < next->nports; i++) {
		const struct conf_port *is = conf_port_named(conf, next->port[i].name);

		if (is)
			reload_port(next, &next->port[i], &conf->port[is - conf->port]);
		else
			add_port(conf, next, &next->port[i]);
	}
	grow_vlans(conf);
}

void configuration_reload(struct conf *conf)
{
	static struct conf next;

	if (configuration_read(&next, conf->path)) {
		say(RTE_LOG_ERR, "%s: the configuration stays as it was", conf->path);
		return;
	}
	reload_main(conf, &next);
	reload_ports(conf, &next);
	conf_take_places(conf, &next);
	wires_put_back();
	configuration_warn(&next);
	if (!route_readers_wait())
		log_warn("a worker hangs: it has not seen the new configuration yet");
	say_info("%s: reloaded", conf->path);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/changes.h"
#include "base/log.h"
#include "host/interface.h"
#include "host/side.h"

uint8_t sides_kernel;

/* No port has the key side, of at most two ports. */
static bool sides_are_assumed;
/* The interfaces that the default routes lead to, bits by index. */
static uint64_t uplinks;

uint8_t side_said(const struct conf *conf, uint32_t side)
{
	if (!conf_has_sides(conf))
		return conf->nlinks > 2 ? SIDE_UNSAID : SIDE_UNKNOWN;
	return side == CONF_INSIDE ? SIDE_INSIDE : SIDE_OUTSIDE;
}

static bool is_uplink(const struct interface *interface)
{
	return uplinks >> (interface - interfaces) & 1;
}

/* Whether tunnels end at the other one of two ports as well, and that is the outer one: by which the default route
 * leads, or else at which tunnels have ended first. Both may be outer ones: none gives way then. */
static bool gives_way(const struct interface *interface)
{
	if (is_uplink(interface))
		return false;
	for (unsigned int i = 0; i < ninterfaces; i++) {
		const struct interface *other = &interfaces[i];

		if (other == interface || other->removed || !other->ends_tunnel)
			continue;
		if (is_uplink(other) || other->ends_tunnel < interface->ends_tunnel)
			return true;
	}
	return false;
}

/* One of two ports stays the LAN's: a client in the LAN that has a tunnel of its own would otherwise close it for all
 * that is decrypted. */
static uint8_t assumed_side(const struct interface *interface)
{
	return interface->ends_tunnel && !gives_way(interface) ? SIDE_UNSAID : SIDE_UNKNOWN;
}

/* A port that the configuration no longer has, but that could not be removed, is one without the key. */
static uint8_t side_of(const struct conf *conf, const struct interface *interface)
{
	uint8_t side = side_said(conf, CONF_OUTSIDE);

	for (unsigned int i = 0; i < conf->nports; i++)
		if (strcmp(conf->port[i].name, interface->name) == 0)
			side = side_said(conf, conf->port[i].side);
	return side == SIDE_UNKNOWN ? assumed_side(interface) : side;
}

/* @param assumed  whether the side before was assumed. The tunnel may have come while sides were configured. */
static void set_side(struct interface *interface, uint8_t side, bool assumed)
{
	if (sides_are_assumed && side == SIDE_UNSAID && !(assumed && interface->side == side))
		log_port(
			RTE_LOG_INFO, interface->name,
			"a tunnel ends here: decrypted packets that match no policy do not leave by it, unless it has side = inside");
	__atomic_store_n(&interface->side, side, __ATOMIC_RELAXED);
}

void sides_set(const struct conf *conf)
{
	bool assumed = sides_are_assumed;

	sides_are_assumed = side_said(conf, CONF_OUTSIDE) == SIDE_UNKNOWN;
	__atomic_store_n(&sides_kernel, side_said(conf, conf->kernel_side), __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < ninterfaces; i++)
		set_side(&interfaces[i], side_of(conf, &interfaces[i]), assumed);
	changes_note();
}

static void assume_side(struct interface *interface)
{
	uint8_t side = assumed_side(interface);

	if (side == interface->side)
		return;
	set_side(interface, side, true);
	changes_note();
	if (side != SIDE_UNSAID)
		log_port(RTE_LOG_INFO, interface->name,
			 "is taken for the LAN's again: tunnels end at the port of the default "
			 "route, too");
}

void side_end_tunnel(struct interface *interface, uint64_t default_routes)
{
	static uint32_t order;

	if (interface->ends_tunnel && uplinks == default_routes)
		return;
	uplinks = default_routes;
	if (!interface->ends_tunnel)
		interface->ends_tunnel = ++order;
	for (unsigned int i = 0; sides_are_assumed && i < ninterfaces; i++)
		if (!interfaces[i].removed)
			assume_side(&interfaces[i]);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file side.h
 * What interfaces lead to: untrusted networks, or those that tunnels protect. Where no port says it, it is assumed from where
 * tunnels end.
 */
#ifndef CYGNETD_SIDE_H
#define CYGNETD_SIDE_H

#include <stdint.h>

#include "conf/conf.h"

struct interface;

/** What an interface leads to, by the key side of the ports. */
enum side {
	SIDE_UNKNOWN, /* no port has the key side */
	SIDE_UNSAID, /* the same, outside for decrypted packets: of three or more ports, or a tunnel's end */
	SIDE_OUTSIDE,
	SIDE_INSIDE,
};

/** enum side of the kernel's interfaces that are not Cygnet's; atomic. */
extern uint8_t sides_kernel;

/** The side of an interface whose section says side, before any tunnel has ended there. @param side  enum conf_side */
uint8_t side_said(const struct conf *conf, uint32_t side);
/** Take the sides of a configuration over. Control thread only; workers see them by changes_seen(). */
void sides_set(const struct conf *conf);
/**
 * A tunnel ends at an interface: without the key side it is outside for decrypted packets from now on, also when the
 * tunnel is down, unless tunnels end at the other one of two ports as well, and that is the outer one. Control thread only.
 * @param default_routes  the interfaces by which the default route leads, bits by index in interfaces[]
 */
void side_end_tunnel(struct interface *interface, uint64_t default_routes);

#endif

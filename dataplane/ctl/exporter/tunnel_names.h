/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tunnel_names.h
 * Names of tunnels: those of the connection and the CHILD_SA that charon has for their SAs.
 */
#ifndef CYGNET_EXPORTER_TUNNEL_NAMES_H
#define CYGNET_EXPORTER_TUNNEL_NAMES_H

#include <jansson.h>

/**
 * Add "connection" and "child" to each row, "" if they are not known, and leave out rows that have the reqid and the
 * addresses of an earlier one.
 *
 * charon is asked for all names when an SA is new, and not before a hundred times the time has passed that its last answer
 * took: it has one percent of its time for that. What it has said of a tunnel is kept as long as there are rows of it, so
 * that the names stay the same over rekeyings and while charon is busy or down.
 * @param rows    of /cygnet/tunnels
 * @param socket  of vici; NULL: charon is not asked
 */
void tunnel_names_add(json_t *rows, const char *socket);

#endif

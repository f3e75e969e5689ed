/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tunnel_rows.h
 * Tunnels from the rows of /cygnet/sas: a row for all SAs of a reqid between two addresses, which stays the same over
 * rekeyings.
 */
#ifndef CYGNET_EXPORTER_TUNNEL_ROWS_H
#define CYGNET_EXPORTER_TUNNEL_ROWS_H

#include <jansson.h>

/**
 * @param sas       rows of /cygnet/sas
 * @param children  of charon_children(), may be NULL
 * @return rows with "reqid", "local", "peer", "connection" and "child" ("" if they are not known), "state" ("up" if there
 *	   are SAs in both directions) and "age", seconds, of the newest SA; NULL: no memory
 */
json_t *tunnel_rows(const json_t *sas, const json_t *children);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tunnel_end.h
 * The port that a tunnel ends at. It leads to networks that tunnels cross.
 */
#ifndef CYGNETD_TUNNEL_END_H
#define CYGNETD_TUNNEL_END_H

#include <stdint.h>

#include "cygnet.h"

/**
 * Mark the interface that the route to a tunnel's peer leads to, or, if it leads to none, the one that has the tunnel's
 * local address: side_end_tunnel(). Control thread only.
 * @param af  of both, which are zero if they are not known
 */
void tunnel_end_note(uint8_t af, const struct cygnet_addr *local, const struct cygnet_addr *remote);

#endif

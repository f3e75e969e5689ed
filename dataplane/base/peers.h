/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file peers.h
 * The addresses of the peers: destinations of outbound SAs, and of the tunnels of outbound policies that
 * protect. By them policing (path/worker/police.h) tells IKE of peers from other IKE.
 */
#ifndef CYGNETD_PEERS_H
#define CYGNETD_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"

/**
 * Whether an address is a peer's. Any lcore; until peers_init() there is none.
 * @param hash  receives a keyed hash of the address, which no sender can predict
 */
bool peers_have(const struct cygnet_addr *addr, uint64_t *hash);

/* --- control thread only --- */

/** After the databases are open, before the workers start. @return 0 or -errno, logged */
int peers_init(void);
/** What a tunnel is known by: its outer addresses, of one family. Zero: not known. */
typedef void peers_tunnel_fn(uint8_t af, const struct cygnet_addr *local,
			     const struct cygnet_addr *remote);
/**
 * Look for changes in the databases, in some of their slots each call. An address is known about a second after its
 * policy. All slots are looked at again after changes of addresses or routes, too.
 * @param tunnel  called for each SA in tunnel mode and each policy for one, again in each scan
 * @return whether a scan is under way
 */
bool peers_update(peers_tunnel_fn *tunnel);
/** After the workers have ended. */
void peers_free(void);

#endif

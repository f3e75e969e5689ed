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
/** Look for changes in the databases, in some of their slots each call. An address is known about a
 * second after its policy. */
void peers_update(void);
/** After the workers have ended. */
void peers_free(void);

#endif

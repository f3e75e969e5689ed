/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file peers.h
 * The addresses of the peers: where outbound SAs end, and outbound policies that protect. Policing
 * (path/worker/police.h) tells their IKE from that of others.
 */
#ifndef CYGNETD_PEERS_H
#define CYGNETD_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "cygnet.h"

/**
 * Whether an address is a peer's. Any lcore; until peers_init() there is none.
 * @param hash  receives a number that others cannot choose: a keyed hash of the address
 */
bool peers_have(const struct cygnet_addr *addr, uint64_t *hash);

/* --- control thread only --- */

/** After the databases are open, before the workers start. @return 0 or -errno, logged */
int peers_init(void);
/** Look for what has changed in the databases: some of their slots in each call. An address is known about a
 * second after its policy. */
void peers_update(void);
/** After the workers have ended. */
void peers_free(void);

#endif

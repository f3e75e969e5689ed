/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ike.h
 * Charon's ports, as it has them in the shared file, and what is IKE at them.
 */
#ifndef CYGNETD_IKE_H
#define CYGNETD_IKE_H

#include "base/sadb.h"
#include "ip/headers.h"
#include "ip/packet.h"

/** Whether ESP in UDP comes to a port (network byte order) of charon's; also while charon is
 * gone. */
static inline bool ike_is_natt(struct rte_mbuf *m, rte_be16_t port)
{
	return cygnet_ike_port(sadb, packet_family(m), rte_be_to_cpu_16(port)) == CYGNET_IKE_ENCAP;
}

/** Whether policies do not apply to IKE at a port (network byte order): IKE negotiates them
 * (RFC 4301, 4.4.1). */
static inline bool ike_exempt_port(struct rte_mbuf *m, rte_be16_t port)
{
	return cygnet_ike_exempt(sadb, packet_family(m), rte_be_to_cpu_16(port),
				 __atomic_load_n(&sadb_charon, __ATOMIC_RELAXED) != 0);
}

/**
 * Whether policies do not apply to a UDP packet of this host: it is from or to such a port and, by its
 * content, IKE; one from this host has to be to an address that charon has just sent to. Others may send from a port of
 * charon's, or be masqueraded to one. Lcores.
 * @param m    data at its IP header, checked; no later fragment
 * @param h    headers_read()
 * @param out  from this host, otherwise to it
 */
bool ike_exempt(struct rte_mbuf *m, const struct headers *h, bool out);

#endif

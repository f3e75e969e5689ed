/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file fetch.h
 * Fetching packets that are in no cache of this core, all of a burst together: a store that waits for
 * memory or for another core holds up the reads behind it.
 */
#ifndef CYGNETD_FETCH_H
#define CYGNETD_FETCH_H

#include <rte_mbuf.h>
#include <rte_prefetch.h>

/** Fetch what the worker writes in front of and behind a packet: the outer header, and the trailer.
 * The mbuf is in a cache. */
static inline void fetch_around(struct rte_mbuf *m)
{
	char *data = rte_pktmbuf_mtod(m, char *);

	rte_prefetch0_write(data - RTE_CACHE_LINE_SIZE);
	rte_prefetch0_write(data + rte_pktmbuf_data_len(m));
}

/** Fetch what the worker writes of packets that a port has just received. */
static inline void fetch_received(struct rte_mbuf *const *m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		char *private = rte_mbuf_to_priv(m[i]);

		rte_prefetch0_write(private);
		rte_prefetch0_write(private + RTE_CACHE_LINE_SIZE);
		fetch_around(m[i]);
	}
}

#endif

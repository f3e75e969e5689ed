/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file tunnels.h
 * Tunnels: all live SAs of a reqid between two addresses, whatever their protocol and mode. A tunnel stays the same over
 * rekeyings. cygnetctl and cygnetd, for cygnet-exporter, see the same tunnels.
 */
#ifndef CYGNETD_TUNNELS_H
#define CYGNETD_TUNNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cygnet.h"

/** What the SAs of a tunnel have in common. Compared as bytes, so that there is no padding. */
struct tunnel_id {
	struct cygnet_addr local, peer;
	uint32_t reqid;
	uint8_t af, zero[3];
};
_Static_assert(sizeof(struct tunnel_id) == 40, "no padding");

/** An SA of a tunnel. */
struct tunnel_sa {
	struct tunnel_id id;
	uint32_t spi; /* network byte order */
	uint8_t proto, mode, encap;
	bool inbound;
	uint64_t install_time, use_time; /* seconds of CLOCK_MONOTONIC; use_time 0: never */
	uint64_t packets, bytes;
	uint64_t soft, hard; /* seconds; 0: no limit */
};

/** SAs by tunnel, those of a tunnel the newest first. All zero: none. */
struct tunnel_sas {
	struct tunnel_sa *sa;
	size_t n;
};

/** The SAs of one direction of a tunnel. */
struct tunnel_direction {
	const struct tunnel_sa *newest; /* NULL: there is none */
	size_t n;
	uint64_t packets, bytes, use_time; /* use_time: of the last one used */
};

/**
 * Read the SAD.
 * @param takes  which SAs are wanted; NULL: all
 * @param sas    to be freed by tunnel_sas_free()
 * @return 0 or -ENOMEM
 */
int tunnel_sas_read(struct cygnet_db *db,
		    bool (*takes)(const void *context, const struct cygnet_sa *sa),
		    const void *context, struct tunnel_sas *sas);
/** @return the index behind the last SA of the tunnel whose first one is at this index */
size_t tunnel_sas_end(const struct tunnel_sas *sas, size_t first);
/** One direction of a tunnel. @param sa  the tunnel's n SAs */
struct tunnel_direction tunnel_direction(const struct tunnel_sa *sa, size_t n, bool inbound);
void tunnel_sas_free(struct tunnel_sas *sas);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file session.h
 * What a worker knows about an SA beyond the shared file: the crypto device that
 * serves it, the session there, and everything about its packets that does not
 * change, worked out once. One table a worker; only that worker touches it.
 */
#ifndef CYGNETD_SESSION_H
#define CYGNETD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_prefetch.h>

#include "base/drop.h"
#include "base/stats.h"
#include "cygnet.h"
#include "esp/esp_front.h"
#include "esp/sa_route.h"

struct rte_mbuf;

/** Cache lines of a cryptodev session that a short packet needs, about. */
#define SESSION_KEY_LINES 8

/** How a suite works on a packet. */
enum suite_form {
	SUITE_CHAIN,	/* a cipher, then a MAC over the ciphertext */
	SUITE_AEAD,	/* both in one, with associated data */
	SUITE_AUTH,	/* a MAC only: nothing is encrypted */
};

struct session {
	/* Four cache lines that every packet asks: session_prefetch(). */
	uint32_t sa, generation;
	uint32_t in_flight;	/* packets that point to it: at devices, or waiting for one */
	uint32_t salt;		/* the end of it, if it is shorter, in front of the IV */
	uint8_t device;		/* that serves it, if any does: index in engine_device[] */
	uint8_t iv_len;		/* bytes on the wire */
	uint8_t align;		/* ciphertext is a multiple of it, bytes; a power of two */
	uint8_t icv_len;
	uint8_t algorithm;	/* algorithm.h */
	uint8_t form;		/* enum suite_form */
	uint8_t aad_at;		/* offset of the associated data where they are put, bytes */
	bool salted;		/* the device's IV begins with the salt */
	bool gcm;		/* AES-GCM */
	bool by_queue;		/* a device has failed one, and all go by queue: failover.h */
	bool inbound, esn;
	bool ah;		/* else ESP */
	bool esn_inside;	/* its high half is in the middle of what the ICV covers */
	bool transport;		/* mode; else tunnel */
	uint32_t refused;	/* bit mask: the device does not take the SA */
	uint32_t failed;	/* bit mask: the device could not set the SA up */
	uint16_t moved_port;	/* with moved_addr */
	bool moved;		/* if charon has yet to hear of it */
	uint16_t shunned;	/* outbound, bit mask: the device has lost a packet (failover.h), */
	uint16_t to_blame;	/* and that is its fault if another device does the next one */
	struct esp_front front __attribute__((aligned(16))); /* tunnel mode, outbound */
	struct sa_route route;
	/* A crypto core reads this line alone: the worker does not write it. */
	uint64_t chain_ofs;	/* union rte_crypto_sym_ofs: what of a chain's range the cipher leaves
				 * out; 0: no chain */
	bool by_call;		/* a device of the CPU may be called for its packets */
	void *at[STATS_MAX_DEVICES];	/* the cryptodev session on each device, once needed */

	struct rte_mbuf *head, *tail;	/* packets in devices' queues, in the order in which
					 * they leave again: packet()->next; NULL: none */
	uint64_t retry;		/* unserved: not tried again before this second */
	uint64_t mapping_told;	/* the second in which charon heard that the peer has moved */
	uint64_t used;		/* the last second in which it was; clock_now */
	struct session *older, *newer;	/* by that */
	struct cygnet_addr moved_addr;	/* where the peer is */
} __rte_cache_aligned;

_Static_assert(offsetof(struct session, front.bytes) == 64, "one line of headers");
_Static_assert(offsetof(struct session, route) == 128, "one line of limits");
_Static_assert(offsetof(struct session, at) / 64 == 3, "one line with the first devices");

/** Have in the cache soon what the next packet of an SA asks: the session, */
static inline void session_prefetch(const struct session *s, bool inbound)
{
	rte_prefetch0(s);
	if (!inbound)
		rte_prefetch0(s->front.bytes);
	rte_prefetch0(&s->route);
	rte_prefetch0(s->at);
}
/** then, when that is there, what each packet changes of the SA (inbound its window is described
 * elsewhere), */
static inline void session_prefetch_sa(const struct session *s)
{
	rte_prefetch0(&s->route.sa->seq);
	if (s->inbound)
		rte_prefetch0(s->route.sa);
}
/** and in the end, some packets ahead, or it would push out others, the beginning of what the
 * device has made of its key. */
static inline void session_prefetch_keys(const void *crypto)
{
	for (unsigned int line = 0; line < SESSION_KEY_LINES; line++)
		rte_prefetch0((const char *)crypto + line * RTE_CACHE_LINE_SIZE);
}

#endif

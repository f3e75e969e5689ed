/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file session.h
 * A worker's state of an SA: the crypto device, the cryptodev session, and precomputed constants of
 * its packets. Each worker has its own table of sessions.
 */
#ifndef CYGNETD_SESSION_H
#define CYGNETD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_prefetch.h>

#include "base/drop.h"
#include "base/failover_masks.h"
#include "base/stats.h"
#include "cygnet.h"
#include "esp/esp_front.h"
#include "esp/sa_route.h"

struct rte_mbuf;
struct send_order;

/** Cache lines of a cryptodev session that a short packet needs, about: most of them, and all. */
#define SESSION_KEY_LINES     8u
#define SESSION_KEY_LINES_ALL 10u

/** How a suite works on a packet. */
enum suite_form {
	SUITE_CHAIN, /* a cipher, then a MAC over the ciphertext */
	SUITE_AEAD,  /* both in one, with associated data */
	SUITE_AUTH,  /* a MAC only: nothing is encrypted */
};

/** What a worker has taken from a shared SA's counters, or is to add to them, in one batch (out_use.h). */
struct out_block {
	uint64_t next;	 /* number */
	uint32_t left;	 /* numbers from there on */
	uint32_t coming; /* packets of the burst for the SA that have no number yet, about */
	uint32_t packets;
	uint64_t bytes;
};

struct session {
	/* Four cache lines that every packet reads: session_prefetch(). */
	uint32_t sa, generation;
	uint32_t in_flight; /* packets that refer to the session: at or waiting for devices */
	uint32_t salt;	    /* in front of the IV; a shorter salt is at the end */
	uint8_t device;	    /* index in engine_device[] of its device, if any */
	uint8_t iv_len;	    /* bytes on the wire */
	uint8_t align;	    /* ciphertext is a multiple of this, bytes; a power of two */
	uint8_t icv_len;
	uint8_t algorithm; /* algorithm.h */
	uint8_t form;	   /* enum suite_form */
	uint8_t aad_at;	   /* offset of the associated data in esp_job.aad, bytes */
	bool salted;	   /* the device's IV begins with the salt */
	bool gcm;	   /* AES-GCM */
	bool by_queue;	   /* all packets are queued, because a device failed (failover.h) */
	bool inbound, esn;
	bool ah;	 /* else ESP */
	bool esn_inside; /* the ICV covers the high half between SPI and seq */
	bool transport;	 /* mode; else tunnel */
	bool shared; /* outbound: other workers protect packets of the SA, too (path/worker/share.h) */
	uint32_t refused;		/* bit mask: the device does not take the SA */
	uint32_t failed;		/* bit mask: the device could not set the SA up */
	uint16_t moved_port;		/* new source port of the peer */
	bool moved;			/* the peer's move is not yet reported to charon */
	struct failover_masks failover; /* outbound: devices that lost a packet */
	struct esp_front front __attribute__((aligned(16))); /* tunnel mode, outbound */
	struct sa_route route;
	/* A crypto core reads this line alone: the worker does not write it. */
	uint64_t chain_ofs; /* union rte_crypto_sym_ofs: the part of a chain's range that is not
				 * encrypted; 0: no chain */
	bool by_call;	    /* a device of the CPU may be called for its packets */
	void *crypto[STATS_MAX_DEVICES]; /* the cryptodev session on each device, created when
					  * needed */

	struct send_order *order;   /* of the SA's frames, if shared (path/worker/send_order.h) */
	struct out_block out_block; /* out_use.h */
	uint32_t put_last;	    /* number of the last frame that has been put there */
	bool noted; /* numbers have been taken, or frames put there, since the last send_order_flush() */
	bool put;	 /* frames have been */
	uint32_t handed; /* packets that were handed off to this worker in second handed_in */
	uint64_t handed_in;

	struct rte_mbuf *head, *tail;  /* packets in queues of devices, in transmit order,
					 * linked by packet()->next; NULL: none */
	uint64_t retry;		       /* without a device: second of the next attempt */
	uint64_t mapping_told;	       /* second of the last report of the peer's move */
	uint64_t used;		       /* second of the last use, sessions.h; UINT64_MAX: none */
	struct session *older, *newer; /* list ordered by used */
	struct cygnet_addr moved_addr; /* new source address of the peer */
} __rte_cache_aligned;

_Static_assert(offsetof(struct session, front.bytes) == 64, "one line of headers");
_Static_assert(offsetof(struct session, route) == 128, "one line of limits");
_Static_assert(offsetof(struct session, crypto) / 64 == 3, "one line with the first devices");

/** First prefetch for a coming packet of an SA: the session. */
static inline void session_prefetch(const struct session *s, bool inbound)
{
	rte_prefetch0(s);
	if (!inbound)
		rte_prefetch0(s->front.bytes);
	rte_prefetch0(&s->route);
	rte_prefetch0(s->crypto);
}
/** Second prefetch, once the session is cached: the fields of the SA that each packet changes, except the
 * replay window of an inbound SA. */
static inline void session_prefetch_sa(const struct session *s)
{
	rte_prefetch0(&s->route.sa->seq);
	if (s->inbound)
		rte_prefetch0(s->route.sa);
}
/** Third prefetch: the key schedule in the cryptodev session. Only a few packets ahead, because it fills
 * many cache lines that would evict others.
 * @param crypto  session.crypto[] of a device
 * @param lines   SESSION_KEY_LINES, or SESSION_KEY_LINES_ALL */
static inline void session_prefetch_keys(const void *crypto, unsigned int lines)
{
	for (unsigned int line = 0; line < lines; line++)
		rte_prefetch0((const char *)crypto + line * RTE_CACHE_LINE_SIZE);
}

#endif

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

#include "cygnet.h"
#include "drop.h"
#include "esp_front.h"
#include "stats.h"
#include "way.h"

struct flow_table;
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
	bool by_call;		/* a device of the CPU may be called for its packets */
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
	struct way way;
	void *at[STATS_MAX_DEVICES];	/* the cryptodev session on each device, once needed */

	struct rte_mbuf *head, *tail;	/* packets in devices' queues, in the order in which
					 * they leave again: packet()->next; NULL: none */
	uint64_t retry;		/* unserved: not tried again before this second */
	uint64_t mapping_told;	/* the second in which charon heard that the peer has moved */
	uint64_t used;		/* the last second in which it was; control_now */
	struct session *older, *newer;	/* by that */
	struct cygnet_addr moved_addr;	/* where the peer is */
} __rte_cache_aligned;

_Static_assert(offsetof(struct session, front.bytes) == 64, "one line of headers");
_Static_assert(offsetof(struct session, way) == 128, "one line of limits");
_Static_assert(offsetof(struct session, at) / 64 == 3, "one line with the first devices");

/** Have in the cache soon what the next packet of an SA asks: the session, */
static inline void session_prefetch(const struct session *s, bool inbound)
{
	rte_prefetch0(s);
	if (!inbound)
		rte_prefetch0(s->front.bytes);
	rte_prefetch0(&s->way);
	rte_prefetch0(s->at);
}
/** then, when that is there, what each packet changes of the SA (inbound its window is described
 * elsewhere), */
static inline void session_prefetch_sa(const struct session *s)
{
	rte_prefetch0(&s->way.sa->seq);
	if (s->inbound)
		rte_prefetch0(s->way.sa);
}
/** and in the end, some packets ahead, or it would push out others, the beginning of what the
 * device has made of its key. */
static inline void session_prefetch_keys(const struct session *s, unsigned int device)
{
	const char *crypto = s->at[device];

	for (unsigned int line = 0; line < SESSION_KEY_LINES; line++)
		rte_prefetch0(crypto + line * RTE_CACHE_LINE_SIZE);
}

struct session_table;

/**
 * How many sessions a worker has at a time; that of the SA that was used least recently
 * makes room for another.
 * @param sas       of the SAD
 * @param sessions  of all workers, by the configuration
 */
uint32_t sessions_of_worker(uint32_t sas, uint32_t sessions, unsigned int workers);
/**
 * @param slots  of the SAD
 * @param most   sessions_of_worker()
 * @param flows  of the worker: they point to sessions, and are forgotten when one goes; may
 *		 be NULL
 * @return NULL: no memory
 */
struct session_table *sessions_create(uint32_t slots, uint32_t most, struct flow_table *flows);
void sessions_free(struct session_table *table);

/**
 * The session of an SA, made if there is none yet.
 * @param[out] s  stays where it is as long as it has packets in flight, or until the next call
 * @return DROP_NONE; DROP_UNSUPPORTED if no device serves such SAs; DROP_NO_SESSION if
 *	   all sessions, or that of the slot's last SA, have packets in flight, or
 *	   no device could set it up
 */
enum drop_reason session_get(struct session_table *table, const struct cygnet_sa *sa,
			     uint32_t index, struct session **s);

/** The session of an SA, if there is one. @return NULL: there is not, or it is not that SA's */
struct session *session_peek(const struct session_table *table, uint32_t index,
			     uint32_t generation);

/**
 * Have an SA's session on a device as well, made if there is none yet.
 * @param sa  NULL: only if it is there already
 * @return NULL if the device does not take the SA, or is lost
 */
void *session_on(struct session *s, const struct cygnet_sa *sa, unsigned int device);
/**
 * Create a crypto session for an SA that session_describe() takes.
 * @param[out] crypto  NULL if there is none
 * @return 0; -ENOTSUP: the device does not do that; -EIO: it could not set it up
 */
int session_crypto(const struct cygnet_sa *sa, unsigned int device, void **crypto);
/** What does not change about the packets of an SA. @return false: nobody serves it */
bool session_describe(struct session *s, const struct cygnet_sa *sa);

/** Give up some sessions whose SA is gone and which have nothing in flight, and tell again what
 * charon was not told of others (mapping.h); call it once in a while. All of the table is seen
 * every 64 calls or so. */
void sessions_sweep(struct session_table *table);

/** Say which SAs nobody serves since the last call. Control thread. */
void sessions_report(struct session_table *table);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file burst.h
 * ESP of received packets whose way is short to its end: all that is decided about them is
 * known before the first byte is written, and a device of the CPU does them when it is
 * called. They need nothing of struct packet: what is known about them until they have left
 * lies here, in a few lines that stay in the first-level cache.
 */
#ifndef CYGNETD_BURST_H
#define CYGNETD_BURST_H

#include "crypto/crypt_call.h"
#include "esp/esp_tail.h"
#include "esp/session.h"

struct worker;

/** Collected, and not yet given to a device. */
struct burst {
	unsigned int n;
	bool open;		/* for packets of this turn */
	uint8_t port;		/* that they came by */
	struct rte_mbuf *m[CRYPT_CALL_MAX];
	struct session *s[CRYPT_CALL_MAX];
	uint8_t device[CRYPT_CALL_MAX];
	uint64_t seq[CRYPT_CALL_MAX];	/* inbound: with the high bits inferred */
	uint8_t iv[CRYPT_CALL_MAX][16], aad[CRYPT_CALL_MAX][16];
	uint8_t icv[CRYPT_CALL_MAX][ESP_ICV_MAX]; /* where it stood, there is something else */
	struct crypt_vectors vectors;
};

/** Begin: before the first packet of those that were received together. @param port  that they
 * came by */
void burst_begin(struct worker *w, unsigned int port);
/** Whether n ordinary packets of a session can go this way, if burst_fits() says so of each. */
static inline bool burst_is_for(const struct burst *b, const struct session *s, unsigned int n)
{
	/* Packets of the SA that are in flight have to leave before these. */
	return b->open && s->way.by_burst && !s->in_flight && !s->by_queue &&
	       b->n + n <= CRYPT_CALL_MAX;
}
/** Whether the buffer of a packet has room for what is written around it. @param m  data at its IP
 * header, or at the frame's, which leaves less room than there will be */
static inline bool burst_fits(const struct rte_mbuf *m, const struct session *s)
{
	return esp_front_writes_all(rte_pktmbuf_headroom(m), s->iv_len) &&
	       rte_pktmbuf_tailroom(m) >= ESP_TAIL_MAX;
}
/** Protect n packets of a session (data at their IP headers, the hop taken), or unprotect them
 * (data at their outer headers, no options), if burst_is_for() and burst_fits() have said yes.
 * Takes them over. */
void burst_add(struct worker *w, struct rte_mbuf *const *m, unsigned int n, struct session *s);
/** Send on what has been collected: before any other packet of those SAs is looked at, and
 * before any session may go away. */
void burst_go(struct worker *w);

#endif

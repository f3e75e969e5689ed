/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file order.h
 * The order of an SA's packets that are at queues and crypto cores. They may be at several devices at
 * once, which finish in any order: each packet waits in its SA's queue until the packets before it
 * are back (WireGuard's two queues).
 */
#ifndef CYGNETD_ORDER_H
#define CYGNETD_ORDER_H

#include "crypto/crypto_worker.h"

/** A packet of packet()->session goes to a queue or a crypto core. */
void order_append(struct rte_mbuf *m);
/** A packet that a device was called for leaves in front of the packets that went to a queue after it,
 * and behind packets that were called for before it. */
void order_insert(struct rte_mbuf *m);
/** Whether a packet of a session that order_insert() had is not back yet. */
static inline bool order_waits(const struct session *s)
{
	return s->head && packet(s->head)->called;
}
/** A packet is back, for good: it and packets that only waited for it are ready. */
void order_release(struct crypto_worker *c, struct rte_mbuf *m, unsigned int status);

/** The next packet whose turn it is, with packet()->status. @return NULL: there is none now */
struct rte_mbuf *crypto_ready(struct crypto_worker *c);
/** A packet has been done, and has to wait for one of its SA before it that crypto_retry() has. */
void crypto_wait(struct crypto_worker *c, struct rte_mbuf *m, enum rte_crypto_op_status status);

#endif

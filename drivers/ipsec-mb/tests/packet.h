/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file packet.h
 * Packets cut into segments.
 */
#ifndef PACKET_H
#define PACKET_H

#include "harness.h"

#define SEGMENTS 80 /* of a packet, at most */

/** The pool they come from, of n segments of at most so many bytes; closing checks that all are back. */
void packets_open(unsigned int n, uint16_t room);
void packets_close(void);

/** The bytes in so many segments, cut anywhere: some may be empty. */
struct rte_mbuf *packet_make(const uint8_t *data, uint32_t len, unsigned int segments);
/** The same in segments of about the same length. */
struct rte_mbuf *packet_make_even(const uint8_t *data, uint32_t len, unsigned int segments);
/** Whether those are its bytes. */
bool packet_holds(const struct rte_mbuf *m, const uint8_t *data, uint32_t len);

/** A range of it, for a call. @param vec  SEGMENTS of them */
struct rte_crypto_sgl packet_range(const struct rte_mbuf *m, uint32_t offset, uint32_t len,
				  struct rte_crypto_vec *vec);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file packet.h
 * Packets of several segments.
 */
#ifndef PACKET_H
#define PACKET_H

#include "harness.h"

#define SEGMENTS 80 /* maximum number of a packet */

/** Create the pool of all packets.
 * @param n     number of segments
 * @param room  size of a segment, bytes */
void packets_open(unsigned int n, uint16_t room);
/** Free the pool, and check that all packets have been freed. */
void packets_close(void);

/** Make a packet with segments of random lengths, which may be 0. */
struct rte_mbuf *packet_make(const uint8_t *data, uint32_t len, unsigned int segments);
/** Make a packet with segments of about the same length. */
struct rte_mbuf *packet_make_even(const uint8_t *data, uint32_t len, unsigned int segments);
/** Whether the content of a packet is equal to data. */
bool packet_holds(const struct rte_mbuf *m, const uint8_t *data, uint32_t len);

/** The segments of a range of a packet, for a synchronous call. @param vec  array of SEGMENTS */
struct rte_crypto_sgl packet_range(const struct rte_mbuf *m, uint32_t offset, uint32_t len,
				   struct rte_crypto_vec *vec);

#endif

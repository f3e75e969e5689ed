/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file request.h
 * Checks a crypto operation and stages it in a chunk.
 */
#ifndef OCL_REQUEST_H
#define OCL_REQUEST_H

#include <stddef.h>

#include "chunk.h"
#include "session.h"

/* What an operation asks for. Offsets are from the packet's start. */
struct ocl_request {
	const struct ocl_session_priv *session;
	const uint8_t *iv;
	const uint8_t *aad;
	uint8_t *digest;
	uint8_t *src, *dst;
	const struct ocl_pool *pool; /* the packet's, if the packet is not copied; else NULL */
	uint32_t row, column;	     /* in the pool, of the packet's start */
	uint32_t row_from, row_to;   /* columns that go to the device and back */
	bool second;		     /* the packet is in the second of its mbuf's buffers */
	uint32_t digest_column;	     /* in the pool's row */
	bool digest_inside;	     /* the digest is in the packet's own buffer */
	uint32_t cipher_off, cipher_len;
	uint32_t auth_off, auth_len;
	uint32_t start, end; /* the part of the packet that the device gets */
	uint32_t len;	     /* bytes processed, for the scheduler */
	uint32_t size;	     /* of the record and the data behind it, bytes */
	uint32_t reserve;    /* bytes, in case that the packet is copied into the chunk later */
	struct ocl_header header; /* ocl_request_suits() */
};

/**
 * Check an operation. It is not trusted and not changed.
 * @param hint  of ocl_pools_find(); its row is guessed first
 * @return RTE_CRYPTO_OP_STATUS_NOT_PROCESSED if it can be run, else the status
 *	   to give it back with: INVALID_SESSION or INVALID_ARGS
 */
enum rte_crypto_op_status ocl_request_parse(struct ocl_request *request,
					    const struct rte_crypto_op *op,
					    const struct ocl_pmd *pmd, struct ocl_hint *hint);

/**
 * Whether the packet can be added to a chunk whose packets bring their heads: not if its AAD lies where
 * the head goes, for example. To be called before ocl_request_stage().
 */
bool ocl_request_suits(struct ocl_request *request, struct ocl_chunk *chunk);

/**
 * Append the record to a chunk that has room for size + reserve bytes; or the head to a chunk that the
 * request suits.
 * @param op	       the operation that was parsed
 * @param[out] record  its number in the chunk
 * @return false if it has to wait for the next launch (ocl_chunk_add())
 */
bool ocl_request_stage(struct ocl_request *request, struct rte_crypto_op *op,
		       struct ocl_chunk *chunk, uint32_t *record);

/** The distance from a packet's buffer to the one that gets the result, bytes; 0: the same buffer. */
static inline ptrdiff_t ocl_request_twin(const struct ocl_request *r)
{
	if (r->pool == NULL)
		return 0;
	return r->second ? -(ptrdiff_t)r->pool->twin : (ptrdiff_t)r->pool->twin;
}

/** Change the buffer of an operation's mbuf. @param by  ocl_request_twin() */
void ocl_request_move(struct rte_crypto_op *op, ptrdiff_t by);

#endif

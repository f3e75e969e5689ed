/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file request.h
 * One crypto operation: checked, and put into a chunk.
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
	const struct ocl_pool *pool; /* that the packet stays in; NULL: none */
	uint32_t row, column;	     /* there, of the packet's start */
	uint32_t row_from, row_to;   /* columns that go to the device and back */
	bool second;		     /* the packet is in the second of its mbuf's buffers */
	uint32_t digest_column;	     /* there */
	bool digest_inside;	     /* the packet's own buffer has it */
	uint32_t cipher_off, cipher_len;
	uint32_t auth_off, auth_len;
	uint32_t start, end; /* what of the packet the device gets */
	uint32_t len;	     /* bytes processed: what the scheduler goes by */
	uint32_t size;	     /* of the record and what follows it, bytes */
	uint32_t reserve;    /* bytes, should the packet have to be gathered */
	struct ocl_header header; /* ocl_request_suits() */
};

/**
 * Check an operation; nothing in it is trusted, nothing is changed.
 * @param hint  of ocl_pools_find(); its row is guessed first
 * @return RTE_CRYPTO_OP_STATUS_NOT_PROCESSED if it can be run, else the status
 *	   to give it back with: INVALID_SESSION or INVALID_ARGS
 */
enum rte_crypto_op_status ocl_request_parse(struct ocl_request *request,
					    const struct rte_crypto_op *op,
					    const struct ocl_pmd *pmd,
					    struct ocl_hint *hint);

/**
 * Whether it can be the next in a chunk whose packets bring their heads: one whose AAD lies where its
 * head would go cannot. To be asked before it is staged there.
 */
bool ocl_request_suits(struct ocl_request *request, struct ocl_chunk *chunk);

/**
 * Append the record to a chunk that has room for size + reserve bytes, or the head to one of
 * those that it suits.
 * @param op	       the operation that it was made of
 * @param[out] record  which one of the chunk it is
 * @return false if it has to wait for the next launch (ocl_chunk_add())
 */
bool ocl_request_stage(struct ocl_request *request, struct rte_crypto_op *op,
		       struct ocl_chunk *chunk, uint32_t *record);

/** How far from a packet's buffer the one is in which the device leaves the result; 0: it is that. */
static inline ptrdiff_t ocl_request_twin(const struct ocl_request *r)
{
	if (r->pool == NULL)
		return 0;
	return r->second ? -(ptrdiff_t)r->pool->twin : (ptrdiff_t)r->pool->twin;
}

/** Let an operation's mbuf have its other buffer. @param by  ocl_request_twin() */
void ocl_request_move(struct rte_crypto_op *op, ptrdiff_t by);

#endif

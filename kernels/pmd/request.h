/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file request.h
 * One crypto operation: checked, put into a record, and taken out again.
 */
#ifndef OCL_REQUEST_H
#define OCL_REQUEST_H

#include "chunk.h"
#include "session.h"

/* What an operation asks for. Offsets are from the packet's start. */
struct ocl_request {
	const struct ocl_session_priv *session;
	const uint8_t *iv;
	const uint8_t *aad;
	uint8_t *digest;
	const uint8_t *src;
	uint8_t *dst;
	uint32_t cipher_off, cipher_len;
	uint32_t auth_off, auth_len;
	uint32_t start, end; /* what of the packet the device gets */
	uint32_t size;	     /* of the record, bytes */
};

/* Where results go. */
struct ocl_slot {
	struct rte_crypto_op *op;
	uint8_t *data, *digest; /* NULL: nothing to copy */
	uint32_t record;	/* offset in the chunk; OCL_NO_RECORD: op->status is final */
	uint32_t data_from;	/* offset in the chunk */
	uint32_t data_len;
	uint32_t digest_from;
	uint32_t digest_len;
};

#define OCL_NO_RECORD UINT32_MAX

/**
 * Check an operation; nothing in it is trusted, nothing is changed.
 * @return RTE_CRYPTO_OP_STATUS_NOT_PROCESSED if it can be run, else the status
 *	   to give it back with: INVALID_SESSION or INVALID_ARGS
 */
enum rte_crypto_op_status ocl_request_parse(struct ocl_request *request,
					    const struct rte_crypto_op *op,
					    const struct ocl_pmd *pmd);

/** Append the record to a chunk that has room for request->size bytes. */
void ocl_request_stage(const struct ocl_request *request, struct ocl_chunk *chunk,
		       struct ocl_slot *slot);

/** Copy results of a chunk that is back to where they belong; sets op->status. */
void ocl_slot_finish(const struct ocl_slot *slot, const struct ocl_chunk *chunk);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <rte_mbuf.h>

#include "pmd.h"
#include "request.h"

#define ALIGN 16 /* of records, of what is in them, and of the cipher's first block */

/* The session, if it is one of this device. */
static const struct ocl_session_priv *find_session(const struct rte_crypto_op *op,
						   const struct ocl_pmd *pmd)
{
	const struct ocl_session_priv *priv;

	if (op->type != RTE_CRYPTO_OP_TYPE_SYMMETRIC ||
	    op->sess_type != RTE_CRYPTO_OP_WITH_SESSION || op->sym->session == NULL)
		return NULL;
	priv = CRYPTODEV_GET_SYM_SESS_PRIV(op->sym->session);
	return priv->pmd == pmd ? priv : NULL;
}

/* A range of the packet that has to be whole blocks. */
static bool range_ok(uint32_t off, uint32_t len, uint32_t limit, uint32_t block)
{
	return len <= limit && off <= limit - len && len % block == 0;
}

static void extend(struct ocl_request *r, uint32_t off, uint32_t len)
{
	if (len == 0)
		return;
	r->start = r->end == 0 ? off : RTE_MIN(r->start, off);
	r->end = RTE_MAX(r->end, off + len);
}

static bool parse_aead(struct ocl_request *r, const struct rte_crypto_sym_op *sym)
{
	r->cipher_off = sym->aead.data.offset;
	r->cipher_len = sym->aead.data.length;
	r->aad = sym->aead.aad.data;
	r->digest = sym->aead.digest.data;
	if (!range_ok(r->cipher_off, r->cipher_len, sym->m_src->data_len, 1))
		return false;
	extend(r, r->cipher_off, r->cipher_len);
	return r->digest && (r->aad || r->session->aad_len == 0);
}

static bool parse_chain(struct ocl_request *r, const struct rte_crypto_sym_op *sym)
{
	uint32_t limit = sym->m_src->data_len;

	if (r->session->block) {
		r->cipher_off = sym->cipher.data.offset;
		r->cipher_len = sym->cipher.data.length;
		if (!range_ok(r->cipher_off, r->cipher_len, limit, r->session->block))
			return false;
		extend(r, r->cipher_off, r->cipher_len);
	}
	if (r->session->auth) {
		r->auth_off = sym->auth.data.offset;
		r->auth_len = sym->auth.data.length;
		r->digest = sym->auth.digest.data;
		if (!range_ok(r->auth_off, r->auth_len, limit, 1) || r->digest == NULL)
			return false;
		extend(r, r->auth_off, r->auth_len);
	}
	return true;
}

/* Single segments only, and room for the result. */
static bool parse_buffers(struct ocl_request *r, const struct rte_crypto_sym_op *sym)
{
	const struct rte_mbuf *dst = sym->m_dst ? sym->m_dst : sym->m_src;

	if (dst->nb_segs != 1 || r->end > (uint32_t)dst->buf_len - dst->data_off)
		return false;
	r->src = rte_pktmbuf_mtod(sym->m_src, const uint8_t *);
	r->dst = rte_pktmbuf_mtod(dst, uint8_t *);
	return true;
}

/* Bytes in front of the packet's, so that the cipher's are aligned. */
static uint32_t padding(const struct ocl_request *r)
{
	return r->cipher_len ? -(r->cipher_off - r->start) % ALIGN : 0;
}

static uint32_t aad_room(const struct ocl_request *r)
{
	return RTE_ALIGN_CEIL(r->session->aad_len, ALIGN);
}

static uint32_t data_room(const struct ocl_request *r)
{
	return RTE_ALIGN_CEIL(padding(r) + r->end - r->start, ALIGN);
}

enum rte_crypto_op_status ocl_request_parse(struct ocl_request *r, const struct rte_crypto_op *op,
					    const struct ocl_pmd *pmd)
{
	const struct rte_crypto_sym_op *sym = op->sym;
	bool ok;

	memset(r, 0, sizeof(*r));
	r->session = find_session(op, pmd);
	if (r->session == NULL)
		return RTE_CRYPTO_OP_STATUS_INVALID_SESSION;
	if (sym->m_src == NULL || sym->m_src->nb_segs != 1)
		return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
	r->iv = rte_crypto_op_ctod_offset(op, const uint8_t *, r->session->iv_offset);
	if (r->session->aead)
		ok = parse_aead(r, sym);
	else
		ok = parse_chain(r, sym);
	if (!ok || !parse_buffers(r, sym))
		return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
	r->size = sizeof(struct ocl_record) + aad_room(r) + data_room(r) +
		  RTE_ALIGN_CEIL(r->session->digest_len, ALIGN);
	return RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
}

static void fill_record(const struct ocl_request *r, struct ocl_record *record)
{
	uint32_t aad = sizeof(*record);
	uint32_t data = aad + aad_room(r) + padding(r);

	record->session = r->session->slot;
	record->status = OCL_STATUS_PENDING;
	record->cipher_off = data + r->cipher_off - r->start;
	record->cipher_len = r->cipher_len;
	record->auth_off = r->session->aad_len ? aad : data + r->auth_off - r->start;
	record->auth_len = r->session->aad_len ? r->session->aad_len : r->auth_len;
	record->digest_off = aad + aad_room(r) + data_room(r);
	memcpy(record->iv, r->iv, r->session->iv_len);
	if (r->session->aad_len)
		memcpy((uint8_t *)record + aad, r->aad + r->session->aad_skip,
		       r->session->aad_len);
	memcpy((uint8_t *)record + data, r->src + r->start, r->end - r->start);
	if (r->session->verify)
		memcpy((uint8_t *)record + record->digest_off, r->digest, r->session->digest_len);
}

void ocl_request_stage(const struct ocl_request *r, struct ocl_chunk *chunk, struct ocl_slot *slot)
{
	struct ocl_record *record = ocl_chunk_add(chunk, r->size);
	uint32_t base = (u8 *)record - chunk->host;
	bool in_place = r->dst == r->src;

	fill_record(r, record);
	chunk->upload = RTE_MAX(chunk->upload, r->session->upload);
	slot->record = base;
	/* In place only what the cipher changed goes back; else all of it. */
	slot->data = r->dst + (in_place ? r->cipher_off : r->start);
	slot->data_len = in_place ? r->cipher_len : r->end - r->start;
	slot->data_from = base + record->cipher_off - (in_place ? 0 : r->cipher_off - r->start);
	slot->digest = r->digest;
	slot->digest_len = r->session->verify ? 0 : r->session->digest_len;
	slot->digest_from = base + record->digest_off;
}

void ocl_slot_finish(const struct ocl_slot *slot, const struct ocl_chunk *chunk)
{
	const struct ocl_record *record;

	if (slot->record == OCL_NO_RECORD)
		return;
	record = (const struct ocl_record *)(chunk->host + slot->record);
	if (chunk->failed || record->status == OCL_STATUS_PENDING) {
		slot->op->status = RTE_CRYPTO_OP_STATUS_ERROR;
		return;
	}
	if (record->status != OCL_STATUS_DONE) {
		slot->op->status = RTE_CRYPTO_OP_STATUS_AUTH_FAILED;
		return;
	}
	memcpy(slot->data, chunk->host + slot->data_from, slot->data_len);
	if (slot->digest_len)
		memcpy(slot->digest, chunk->host + slot->digest_from, slot->digest_len);
	slot->op->status = RTE_CRYPTO_OP_STATUS_SUCCESS;
}

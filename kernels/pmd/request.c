/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <rte_mbuf.h>

#include "pmd.h"
#include "request.h"

/* The operation's session, if it is one of this driver's. */
static const struct ocl_session_priv *find_session(const struct rte_crypto_op *op,
						   const struct ocl_pmd *pmd)
{
	const struct ocl_session_priv *priv;

	if (op->type != RTE_CRYPTO_OP_TYPE_SYMMETRIC ||
	    op->sess_type != RTE_CRYPTO_OP_WITH_SESSION || op->sym->session == NULL)
		return NULL;
	priv = CRYPTODEV_GET_SYM_SESS_PRIV(op->sym->session);
	return priv->store == pmd->store ? priv : NULL;
}

/* Whether a range lies in the packet and consists of whole blocks. */
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
	r->auth_off = 0;
	r->auth_len = r->session->aad_len;
	r->aad = sym->aead.aad.data;
	r->digest = sym->aead.digest.data;
	if (!range_ok(r->cipher_off, r->cipher_len, sym->m_src->data_len, 1))
		return false;
	extend(r, r->cipher_off, r->cipher_len);
	r->len = r->cipher_len;
	return r->digest && (r->aad || r->session->aad_len == 0);
}

static bool parse_chain(struct ocl_request *r, const struct rte_crypto_sym_op *sym)
{
	uint32_t limit = sym->m_src->data_len;

	r->cipher_off = r->cipher_len = r->auth_off = r->auth_len = 0;
	r->aad = NULL;
	r->digest = NULL;
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
	r->len = RTE_MAX(r->cipher_len, r->auth_len);
	return true;
}

/* The packet's row in its pool. It mostly follows the one of the packet before. */
static void find_row(struct ocl_request *r, struct ocl_hint *hint)
{
	const struct ocl_pool *pool = r->pool;
	size_t offset = r->src - pool->start, pitch = pool->pitch;

	r->second = pool->twin && offset >= pool->twin;
	if (r->second)
		offset -= pool->twin;
	r->row = hint->row + 1;
	if (offset - r->row * pitch >= pitch)
		r->row = offset / pitch;
	r->column = offset - r->row * pitch;
	hint->row = r->row;
}

/* The buffers have to be single segments, with room for the result. */
static bool parse_buffers(struct ocl_request *r, const struct rte_crypto_sym_op *sym,
			  const struct ocl_pools *pools, struct ocl_hint *hint)
{
	const struct rte_mbuf *dst = sym->m_dst ? sym->m_dst : sym->m_src;

	if (dst->nb_segs != 1 || r->end + dst->data_off > dst->buf_len)
		return false;
	r->src = rte_pktmbuf_mtod(sym->m_src, uint8_t *);
	r->dst = rte_pktmbuf_mtod(dst, uint8_t *);
	r->pool = r->src == r->dst && r->end ? ocl_pools_find(pools, r->src, hint) : NULL;
	if (r->pool)
		find_row(r, hint);
	return true;
}

/* Bytes in front of the packet's data that align the cipher's range. */
static uint32_t padding(const struct ocl_request *r)
{
	return r->cipher_len ? -(r->cipher_off - r->start) % OCL_ALIGN : 0;
}

static uint32_t aad_room(const struct ocl_request *r)
{
	return RTE_ALIGN_CEIL((uint32_t)r->session->aad_len, OCL_ALIGN);
}

static uint32_t data_room(const struct ocl_request *r)
{
	return RTE_ALIGN_CEIL(padding(r) + r->end - r->start, OCL_ALIGN);
}

static uint32_t digest_room(const struct ocl_request *r)
{
	return RTE_ALIGN_CEIL((uint32_t)r->session->digest_len, OCL_ALIGN);
}

/* The digest's column in the pool's row. False if the digest is in another buffer, or so far from the
 * data that a copy beside the record is cheaper. */
static bool find_digest(const struct ocl_request *r, uint32_t *column)
{
	size_t offset = r->digest - (r->src - r->column);

	if (r->digest == NULL || offset > r->pool->pitch ||
	    r->session->digest_len > r->pool->pitch - offset)
		return false;
	*column = offset;
	return offset + OCL_MAX_DIGEST >= r->column + r->start &&
	       offset <= r->column + r->end + OCL_MAX_DIGEST;
}

/* The columns of the row that the device gets. If the result gets another buffer, these are the whole packet. */
static void find_columns(struct ocl_request *r, const struct rte_mbuf *m)
{
	const struct ocl_pool *pool = r->pool;
	uint32_t column;

	r->digest_inside = find_digest(r, &r->digest_column);
	r->row_from = r->column + (pool->twin ? 0 : r->start);
	r->row_to = r->column + (pool->twin ? RTE_MAX(r->end, (uint32_t)m->data_len) : r->end);
	if (r->digest_inside) {
		column = r->digest_column;
		r->row_from = RTE_MIN(r->row_from, column);
		r->row_to = RTE_MAX(r->row_to, column + r->session->digest_len);
	}
	/* A digest far away in the buffer would not get into the other buffer. */
	if (r->row_to > pool->pitch || (pool->twin && r->digest && !r->digest_inside &&
					(size_t)(r->digest - (r->src - r->column)) < pool->pitch))
		r->pool = NULL;
}

enum rte_crypto_op_status ocl_request_parse(struct ocl_request *r, const struct rte_crypto_op *op,
					    const struct ocl_pmd *pmd, struct ocl_hint *hint)
{
	const struct rte_crypto_sym_op *sym = op->sym;
	bool ok;

	r->session = find_session(op, pmd);
	if (r->session == NULL)
		return RTE_CRYPTO_OP_STATUS_INVALID_SESSION;
	if (sym->m_src == NULL || sym->m_src->nb_segs != 1)
		return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
	r->start = r->end = 0;
	r->iv = rte_crypto_op_ctod_offset(op, const uint8_t *, r->session->iv_offset);
	if (r->session->aead)
		ok = parse_aead(r, sym);
	else
		ok = parse_chain(r, sym);
	if (!ok || !parse_buffers(r, sym, &pmd->pools, hint))
		return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
	r->size = sizeof(struct ocl_record) + aad_room(r);
	if (r->pool)
		find_columns(r, sym->m_src);
	if (r->pool) {
		r->reserve = r->row_to - r->row_from + 3 * OCL_ALIGN;
	} else {
		r->digest_inside = false;
		r->reserve = 0;
		r->size += data_room(r);
	}
	if (!r->digest_inside)
		r->size += digest_room(r);
	return RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
}

static void fill_record(const struct ocl_request *r, struct ocl_record *record)
{
	record->session = r->session->slot;
	record->cipher_off = r->cipher_off;
	record->cipher_len = r->cipher_len;
	record->auth_off = r->auth_off;
	record->auth_len = r->auth_len;
	memcpy(record->iv, r->iv, r->session->iv_len);
}

/* Copy the AAD behind the record. @return the offset behind it */
static uint32_t place_aad(const struct ocl_request *r, struct ocl_record *record, u8 *host,
			  uint32_t offset)
{
	if (r->session->aad_len) {
		record->auth_off = offset;
		memcpy(host + offset, r->aad + r->session->aad_skip, r->session->aad_len);
	}
	return offset + aad_room(r);
}

static uint32_t place_digest(const struct ocl_request *r, struct ocl_record *record,
			     struct ocl_chunk *chunk, uint32_t offset)
{
	record->digest_area = OCL_AREA_CHUNK;
	record->digest_off = offset;
	if (r->session->verify)
		memcpy(chunk->host + offset, r->digest, r->session->digest_len);
	else if (r->session->digest_len)
		ocl_chunk_copy_digest(chunk, record->result, r->digest, offset,
				      r->session->digest_len);
	return offset + digest_room(r);
}

static void place_data(const struct ocl_request *r, struct ocl_record *record,
		       struct ocl_chunk *chunk, uint32_t offset)
{
	offset += padding(r);
	record->area = OCL_AREA_CHUNK;
	record->base = offset - r->start;
	memcpy(chunk->host + offset, r->src + r->start, r->end - r->start);
	/* In place, only the cipher's range is copied back; else all of it. */
	if (r->dst != r->src)
		ocl_chunk_copy_back(chunk, record->result, r->dst + r->start, offset,
				    r->end - r->start);
	else if (r->cipher_len)
		ocl_chunk_copy_back(chunk, record->result, r->dst + r->cipher_off,
				    record->base + r->cipher_off, r->cipher_len);
}

/* The record refers to the packet's row in its pool. */
static void place_row(const struct ocl_request *r, struct ocl_record *record,
		      struct ocl_chunk *chunk)
{
	const struct ocl_pool *pool = r->pool;
	struct ocl_row row = {
		.record = (u8 *)record - chunk->host,
		.pool = pool->index,
		.row = r->row,
		.from = r->row_from,
		.to = r->row_to,
		.start = r->column + (r->cipher_len ? r->cipher_off : r->start),
		.second = r->second,
	};
	uint32_t first;

	first = chunk->memory->place(chunk, pool, &row);
	chunk->areas |= 1u << pool->index;
	record->area = OCL_AREA_POOL + pool->index;
	record->base = first + r->column;
	if (r->digest_inside) {
		record->digest_area = record->area;
		record->digest_off = first + r->digest_column;
	}
}

void ocl_request_move(struct rte_crypto_op *op, ptrdiff_t by)
{
	const struct ocl_session_priv *session = CRYPTODEV_GET_SYM_SESS_PRIV(op->sym->session);
	uint8_t **digest = session->aead ? &op->sym->aead.digest.data : &op->sym->auth.digest.data;
	struct rte_mbuf *m = op->sym->m_src;

	if ((session->aead || session->auth) &&
	    (size_t)(*digest - (uint8_t *)m->buf_addr) < m->buf_len)
		*digest += by;
	m->buf_addr = RTE_PTR_ADD(m->buf_addr, by);
	m->buf_iova += by;
}

/* One transfer moves a run of rows, all from the mbufs' first buffers or all from the second ones. Copy
 * a packet that is in the other one. */
static void join(struct ocl_request *r, struct rte_crypto_op *op, bool second)
{
	ptrdiff_t by = ocl_request_twin(r);

	if (by == 0 || second == r->second)
		return;
	memcpy(r->src - r->column + r->row_from + by, r->src - r->column + r->row_from,
	       r->row_to - r->row_from);
	ocl_request_move(op, by);
	r->src += by;
	r->dst += by;
	r->second = !r->second;
	if (r->digest_inside)
		r->digest += by;
}

static void join_run(struct ocl_request *r, struct rte_crypto_op *op, const struct ocl_chunk *chunk)
{
	const struct ocl_run *run = NULL;

	if (r->pool)
		run = ocl_rows_continued(&chunk->rows, r->pool->index, r->row);
	if (run)
		join(r, op, run->second);
}

/* Whether the AAD lies where a head may be written: in front of the packet, in either of the mbuf's
 * buffers, because the packet may move between them (join()). */
static bool aad_in_front(const struct ocl_request *r)
{
	const u8 *aad = r->aad + r->session->aad_skip, *buffer = r->src - r->column;
	ptrdiff_t other = ocl_request_twin(r);

	if (r->session->aad_len == 0)
		return false;
	return (aad < buffer + r->row_from && aad + r->session->aad_len > buffer) ||
	       (aad < buffer + other + r->row_from && aad + r->session->aad_len > buffer + other);
}

bool ocl_request_suits(struct ocl_request *r, struct ocl_chunk *chunk)
{
	if (r->pool == NULL || (!r->digest_inside && r->session->digest_len) || aad_in_front(r))
		return false;
	r->header = (struct ocl_header){
		.pool = r->pool,
		.label = r->session->label,
		.key = ocl_bins_heads_key(&chunk->bins, r->session->label, r->len),
		.aad = OCL_HEAD_AAD(r->session->aad_len),
		.row = r->row,
		.from = r->row_from,
		.to = r->row_to,
		.start = r->column + (r->cipher_len ? r->cipher_off : r->start),
	};
	return ocl_heads_suit(&chunk->heads, &r->header);
}

/* Heads are written in place, field by field: copying one that was just written in smaller pieces would
 * stall on store forwarding. */
typedef struct ocl_head __attribute__((aligned(1))) unaligned_head;

/* The usual lengths are constants for the compiler. The device ignores the bytes behind a shorter IV. */
static void write_iv(u8 *to, const struct ocl_request *r)
{
	switch (r->session->iv_len) {
	case 16:
		memcpy(to, r->iv, 16);
		break;
	case 12:
		memcpy(to, r->iv, 12);
		break;
	default:
		memcpy(to, r->iv, r->session->iv_len);
	}
}

static void stage_head(struct ocl_request *r, struct rte_crypto_op *op, struct ocl_chunk *chunk,
		       uint32_t *index)
{
	const struct ocl_head_run *run = ocl_heads_continued(&chunk->heads, r->row);
	uint32_t packet; /* offset of the packet from its head */
	unaligned_head *head;
	u8 *bytes;

	if (run)
		join(r, op, run->second);
	bytes = ocl_chunk_add_head(chunk, &r->header, r->second, index);
	head = (unaligned_head *)bytes;
	packet = r->column - chunk->heads.column;
	head->session = r->session->slot;
	head->cipher_off = packet + r->cipher_off;
	head->cipher_len = r->cipher_len;
	head->auth_off = packet + r->auth_off;
	head->auth_len = r->auth_len;
	head->digest_off = r->digest_inside ? r->digest_column - chunk->heads.column : 0;
	head->status = OCL_STATUS_PENDING;
	write_iv(bytes, r);
	if (r->session->aad_len)
		memcpy(bytes - r->header.aad, r->aad + r->session->aad_skip, r->session->aad_len);
	chunk->used += r->size;
	chunk->reserved += r->reserve;
	chunk->upload = RTE_MAX(chunk->upload, r->session->upload);
}

bool ocl_request_stage(struct ocl_request *r, struct rte_crypto_op *op, struct ocl_chunk *chunk,
		       uint32_t *index)
{
	struct ocl_record *record;
	uint32_t offset;

	if (chunk->headed) {
		stage_head(r, op, chunk, index);
		return true;
	}
	record = ocl_chunk_add(chunk, r->session->label, r->len, r->size);
	if (record == NULL)
		return false;
	join_run(r, op, chunk);
	*index = record->result;
	chunk->upload = RTE_MAX(chunk->upload, r->session->upload);
	fill_record(r, record);
	offset = (u8 *)(record + 1) - chunk->host;
	offset = place_aad(r, record, chunk->host, offset);
	if (!r->digest_inside)
		offset = place_digest(r, record, chunk, offset);
	if (r->pool) {
		chunk->reserved += r->reserve;
		place_row(r, record, chunk);
	} else {
		place_data(r, record, chunk, offset);
	}
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file op.h
 * Crypto operations of DPDK; the mempool element of an operation contains its job.
 */
#ifndef CYGNETD_CRYPTO_OP_H
#define CYGNETD_CRYPTO_OP_H

#include <rte_cryptodev.h>

#include "esp/esp.h"
#include "ip/packet.h"

/* The struct esp_job of an operation follows it in its mempool element. */
#define CRYPTO_OP_JOB	 (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))
#define CRYPTO_OP_IV	 (CRYPTO_OP_JOB + offsetof(struct esp_job, iv))
#define CRYPTO_OP_AAD	 (CRYPTO_OP_JOB + offsetof(struct esp_job, aad))
#define CRYPTO_OP_BYTES	 (CRYPTO_OP_JOB + sizeof(struct esp_job))
#define CRYPTO_OPS_AHEAD 8u

static inline struct esp_job *crypto_op_job(struct rte_crypto_op *op)
{
	return rte_crypto_op_ctod_offset(op, struct esp_job *, CRYPTO_OP_JOB);
}

/** Free an operation. Its IV begins with the SA's salt, which is part of the key. */
static inline void crypto_op_free(struct rte_crypto_op *op)
{
	memset(crypto_op_job(op), 0, sizeof(struct esp_job));
	rte_crypto_op_free(op);
}

/** Prefetch completed packets, which have left the cache while they were at the device. */
static inline void crypto_op_prefetch(struct rte_crypto_op *const *op, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		packet_prefetch(op[i]->sym->m_src);
	for (unsigned int i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(op[i]->sym->m_src, void *));
}

/** Fill an operation from its job. @param form  enum suite_form */
static inline void crypto_op_describe(struct rte_crypto_op *op, struct rte_mbuf *m,
				      unsigned int form)
{
	const struct esp_job *job = crypto_op_job(op);
	struct rte_crypto_sym_op *sym = op->sym;

	sym->m_src = m;
	if (form == SUITE_AEAD) {
		sym->aead.data.offset = job->text_at;
		sym->aead.data.length = job->text_len;
		sym->aead.digest.data = rte_pktmbuf_mtod_offset(m, uint8_t *, job->icv_at);
		sym->aead.digest.phys_addr = rte_pktmbuf_iova_offset(m, job->icv_at);
		sym->aead.aad.data = rte_crypto_op_ctod_offset(op, uint8_t *, CRYPTO_OP_AAD);
		sym->aead.aad.phys_addr = rte_crypto_op_ctophys_offset(op, CRYPTO_OP_AAD);
		return;
	}
	if (form == SUITE_CHAIN) {
		sym->cipher.data.offset = job->text_at;
		sym->cipher.data.length = job->text_len;
	}
	sym->auth.data.offset = job->auth_at;
	sym->auth.data.length = job->auth_len;
	sym->auth.digest.data = rte_pktmbuf_mtod_offset(m, uint8_t *, job->icv_at);
	sym->auth.digest.phys_addr = rte_pktmbuf_iova_offset(m, job->icv_at);
}

/**
 * Allocate an operation for a job. Also prefetches the next free operations, which are not in the
 * cache if many packets are at a device.
 * @return NULL: none free
 */
static inline struct rte_crypto_op *crypto_op_alloc(struct rte_mempool *ops, struct rte_mbuf *m,
						    const struct esp_job *job, unsigned int form)
{
	const struct rte_mempool_cache *cache = rte_mempool_default_cache(ops, rte_lcore_id());
	struct rte_crypto_op *op;

	if (cache && cache->len > CRYPTO_OPS_AHEAD) {
		char *next = cache->objs[cache->len - 1 - CRYPTO_OPS_AHEAD];

		for (unsigned int line = 0; line < CRYPTO_OP_BYTES; line += RTE_CACHE_LINE_SIZE)
			rte_prefetch0(next + line);
	}
	op = rte_crypto_op_alloc(ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
	if (!op)
		return NULL;
	*crypto_op_job(op) = *job;
	crypto_op_describe(op, m, form);
	return op;
}

#endif

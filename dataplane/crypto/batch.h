/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file batch.h
 * Packets for crypto devices that work when they are called, of whatever SAs, in the order in which
 * they came. The one batch type: a worker has one for itself (crypto.h), and some that crypto cores
 * work on (core.h).
 *
 * A multi-buffer library works on several packets side by side: on those of a call, which are all of
 * one SA, or on those in a queue, of any SAs. A call for one packet of a chain (cipher and MAC) takes
 * as long as a call for sixteen. So chains of one SA are called for, and chains of several SAs go
 * through the device's queue and back at once (sync_queue.h), the longest first.
 */
#ifndef CYGNETD_CRYPTO_BATCH_H
#define CYGNETD_CRYPTO_BATCH_H

#include <errno.h>

#include <rte_cryptodev.h>

#include "esp/esp.h"
#include "esp/session.h"

/** Packets of a batch. */
#define CRYPTO_BATCH 64u

/** What rte_cryptodev's "CPU crypto" wants of each packet. */
struct crypto_vectors {
	struct rte_crypto_vec range[CRYPTO_BATCH];
	struct rte_crypto_sgl sgl[CRYPTO_BATCH];
	struct rte_crypto_va_iova_ptr iv[CRYPTO_BATCH], aad[CRYPTO_BATCH], icv[CRYPTO_BATCH];
	int32_t status[CRYPTO_BATCH];
};

/** Neighbouring packets of one session on one device. */
struct crypto_run {
	const struct session *s;
	uint8_t device;	 /* index in engine_device[] */
	uint8_t from, n; /* packets */
};

struct crypto_batch {
	unsigned int n;
	unsigned int without_job; /* packets of these */
	unsigned int nruns;	  /* of run[], once the batch has been executed */
	bool done;		  /* atomic: a crypto core has run the batch */
	struct rte_mbuf *m[CRYPTO_BATCH];
	struct session *s[CRYPTO_BATCH];
	uint8_t device[CRYPTO_BATCH]; /* that has the session */
	/* job[] says what is to be done with the packet, whose struct packet is filled in. Otherwise the arrays behind
	 * it are valid, and so is v. */
	bool has_job[CRYPTO_BATCH];
	uint8_t interface[CRYPTO_BATCH]; /* port to leave by; inbound: that the packet came in by */
	uint64_t seq[CRYPTO_BATCH];	 /* sequence number */
	uint8_t icv[CRYPTO_BATCH]
		   [ESP_ICV_MAX]; /* inbound: ICV, if the high half of the number is in its place */
	uint8_t iv[CRYPTO_BATCH][16], aad[CRYPTO_BATCH][16];
	struct crypto_run run[CRYPTO_BATCH];
	struct esp_job job[CRYPTO_BATCH] __rte_cache_aligned;
	struct crypto_vectors v;
};

static inline bool crypto_batch_is_full(const struct crypto_batch *b)
{
	return b->n == CRYPTO_BATCH;
}

static inline void crypto_batch_clear(struct crypto_batch *b)
{
	b->n = b->without_job = b->nruns = 0;
}

/** Say what a device is to do with packet i: text of len bytes, with its ICV behind that or elsewhere.
 * All of it stays where it is until the device has done it. */
static inline void crypto_vectors_set(struct crypto_vectors *v, unsigned int i, uint8_t *text,
				      unsigned int len, uint8_t *icv, uint8_t *iv, uint8_t *aad)
{
	v->range[i].base = text;
	v->range[i].len = len;
	v->sgl[i] = (struct rte_crypto_sgl){.vec = &v->range[i], .num = 1};
	v->iv[i].va = iv;
	v->aad[i].va = aad;
	v->icv[i].va = icv;
	/* A driver that could not even begin writes nothing. */
	v->status[i] = EIO;
}

/** Whether a device has done packet i. */
static inline bool crypto_vectors_done(const struct crypto_vectors *v, unsigned int i)
{
	return !v->status[i];
}

/** What a device says of packet i. */
static inline enum rte_crypto_op_status crypto_vectors_status(const struct crypto_vectors *v,
							      unsigned int i)
{
	if (crypto_vectors_done(v, i))
		return RTE_CRYPTO_OP_STATUS_SUCCESS;
	return v->status[i] == EBADMSG ? RTE_CRYPTO_OP_STATUS_AUTH_FAILED
				       : RTE_CRYPTO_OP_STATUS_ERROR;
}

/** Add a packet whose job is described in b->job[b->n]. The batch is not full.
 * @param device  that has the session */
void crypto_batch_add(struct crypto_batch *b, struct rte_mbuf *m, struct session *s,
		      unsigned int device);

#endif

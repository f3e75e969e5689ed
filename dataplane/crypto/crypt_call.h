/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file crypt_call.h
 * Packets for a crypto device that works when it is called (rte_cryptodev's "CPU crypto"): no
 * queue, no operation for each.
 */
#ifndef CYGNETD_CRYPT_CALL_H
#define CYGNETD_CRYPT_CALL_H

#include <errno.h>

#include <rte_cryptodev.h>

#include "esp/session.h"

struct worker;

/** Packets of a call. */
#define CRYPT_CALL_MAX 64u

/** What the call wants, of each of a row of packets. */
struct crypt_vectors {
	struct rte_crypto_vec range[CRYPT_CALL_MAX];
	struct rte_crypto_sgl sgl[CRYPT_CALL_MAX];
	struct rte_crypto_va_iova_ptr iv[CRYPT_CALL_MAX], aad[CRYPT_CALL_MAX], icv[CRYPT_CALL_MAX];
	int32_t status[CRYPT_CALL_MAX];
};

/** What a device is to do with packet i: text of len bytes, with its ICV behind that, or wherever
 * it is. All of it stays where it is until the call. */
static inline void crypt_vectors_set(struct crypt_vectors *v, unsigned int i, uint8_t *text,
				     unsigned int len, uint8_t *icv, uint8_t *iv, uint8_t *aad)
{
	v->range[i].base = text;
	v->range[i].len = len;
	v->sgl[i] = (struct rte_crypto_sgl){.vec = &v->range[i], .num = 1};
	v->iv[i].va = iv;
	v->aad[i].va = aad;
	v->icv[i].va = icv;
	/* A driver that could not even begin says nothing. */
	v->status[i] = EIO;
}

/** What a device says of packet i. */
static inline enum rte_crypto_op_status crypt_vectors_status(const struct crypt_vectors *v,
							     unsigned int i)
{
	if (!v->status[i])
		return RTE_CRYPTO_OP_STATUS_SUCCESS;
	return v->status[i] == EBADMSG ? RTE_CRYPTO_OP_STATUS_AUTH_FAILED
				       : RTE_CRYPTO_OP_STATUS_ERROR;
}

/**
 * Have a device do n packets of one of its sessions, the first being number `from`. Any lcore.
 * @param ofs  what of each text the cipher leaves out
 */
void crypt_call_device(unsigned int device, void *crypto, union rte_crypto_sym_ofs ofs,
		       struct crypt_vectors *v, unsigned int from, unsigned int n);
/**
 * PIPSEA's rule for bins of packets (section 3.3), for the lanes of a multi-buffer library: the
 * longest first, so that they all end at about the same time.
 * @param which  n packets, to be put into that order
 * @return false: they are in it
 */
bool crypt_call_sort(const struct crypt_vectors *v, uint8_t *which, unsigned int n);
/** crypt_call_device() for a worker's session, in the order that suits its suite. */
void crypt_call(const struct session *s, unsigned int device, struct crypt_vectors *v,
		unsigned int from, unsigned int n);
/** What came of packet i, which a device was called for; where it is an error: failover_shun(), and
 * it is counted. */
enum rte_crypto_op_status crypt_call_status(struct worker *w, struct session *s, unsigned int device,
					    const struct crypt_vectors *v, unsigned int i);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crypto/crypt_call.h"
#include "crypto/device/engine.h"
#include "crypto/failover.h"
#include "esp/esp_common.h"
#include "path/pipeline.h"

#define CLASSES 32u
#define CLASS_SHIFT 6	/* of 64 bytes: a block of most hashes */

/* What of a chain's range the cipher works on: not the header, which is only authentic, nor
 * what of the number is not sent. An AEAD's range is all text. */
static union rte_crypto_sym_ofs offsets(const struct session *s)
{
	union rte_crypto_sym_ofs ofs = {.raw = 0};

	if (s->form == SUITE_CHAIN) {
		ofs.ofs.cipher.head = (uint16_t)esp_chain_head(s);
		ofs.ofs.cipher.tail = (uint16_t)esn_len(s);
	}
	return ofs;
}

void crypt_call_device(unsigned int device, void *crypto, union rte_crypto_sym_ofs ofs,
		       struct crypt_vectors *v, unsigned int from, unsigned int n)
{
	struct rte_crypto_sym_vec vec = {
		.num = n,
		.src_sgl = v->sgl + from,
		.iv = v->iv + from,
		.aad = v->aad + from,
		.digest = v->icv + from,
		.status = v->status + from,
	};

	rte_cryptodev_sym_cpu_crypto_process(engine_device[device].id, crypto, ofs, &vec);
}

static void call(const struct session *s, unsigned int device, struct crypt_vectors *v,
		 unsigned int from, unsigned int n)
{
	crypt_call_device(device, s->at[device], offsets(s), v, from, n);
}

static unsigned int class_of(const struct crypt_vectors *v, unsigned int i)
{
	unsigned int class = v->range[i].len >> CLASS_SHIFT;

	return class < CLASSES ? CLASSES - 1 - class : 0;
}

static bool same_class(const struct crypt_vectors *v, const uint8_t *which, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++)
		if (class_of(v, which[i]) != class_of(v, which[0]))
			return false;
	return true;
}

/* A counting sort. */
bool crypt_call_sort(const struct crypt_vectors *v, uint8_t *which, unsigned int n)
{
	uint8_t begin[CLASSES + 1] = {0}, sorted[CRYPT_CALL_MAX];

	if (same_class(v, which, n))
		return false;
	for (unsigned int i = 0; i < n; i++)
		begin[class_of(v, which[i]) + 1]++;
	for (unsigned int i = 1; i < CLASSES; i++)
		begin[i] = (uint8_t)(begin[i] + begin[i - 1]);
	for (unsigned int i = 0; i < n; i++)
		sorted[begin[class_of(v, which[i])]++] = which[i];
	memcpy(which, sorted, n);
	return true;
}

static void call_in_order(const struct session *s, unsigned int device, struct crypt_vectors *v,
			  const uint8_t *order, unsigned int n)
{
	struct crypt_vectors sorted;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int o = order[i];

		sorted.sgl[i] = v->sgl[o];
		sorted.iv[i] = v->iv[o];
		sorted.aad[i] = v->aad[o];
		sorted.icv[i] = v->icv[o];
		sorted.status[i] = v->status[o];
	}
	call(s, device, &sorted, 0, n);
	for (unsigned int i = 0; i < n; i++)
		v->status[order[i]] = sorted.status[i];
}

void crypt_call(const struct session *s, unsigned int device, struct crypt_vectors *v,
		unsigned int from, unsigned int n)
{
	uint8_t which[CRYPT_CALL_MAX];

	if (s->form != SUITE_CHAIN) {
		call(s, device, v, from, n);
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		which[i] = (uint8_t)(from + i);
	if (crypt_call_sort(v, which, n))
		call_in_order(s, device, v, which, n);
	else
		call(s, device, v, from, n);
}

enum rte_crypto_op_status crypt_call_status(struct worker *w, struct session *s, unsigned int device,
					    const struct crypt_vectors *v, unsigned int i)
{
	enum rte_crypto_op_status status = crypt_vectors_status(v, i);

	if (status == RTE_CRYPTO_OP_STATUS_SUCCESS ||
	    (status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED && s->inbound))
		return status;
	w->stats->device[device].failed++;
	failover_shun(s, device);
	return RTE_CRYPTO_OP_STATUS_ERROR;
}

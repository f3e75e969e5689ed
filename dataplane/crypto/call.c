/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "crypto/call.h"
#include "crypto/device/engine.h"

#define CLASSES	    32u
#define CLASS_SHIFT 6 /* of 64 bytes: a block of most hashes */

static __rte_always_inline void call(const struct crypto_run *run, struct crypto_vectors *v,
				     unsigned int from)
{
	struct rte_crypto_sym_vec vec = {
		.num = run->n,
		.src_sgl = v->sgl + from,
		.iv = v->iv + from,
		.aad = v->aad + from,
		.digest = v->icv + from,
		.status = v->status + from,
	};
	const union rte_crypto_sym_ofs ofs = {.raw = run->s->chain_ofs};

	rte_cryptodev_sym_cpu_crypto_process(engine_device[run->device].id,
					     run->s->crypto[run->device], ofs, &vec);
}

static unsigned int class_of(const struct crypto_vectors *v, unsigned int i)
{
	unsigned int class = v->range[i].len >> CLASS_SHIFT;

	return class < CLASSES ? CLASSES - 1 - class : 0;
}

static bool same_class(const struct crypto_vectors *v, const uint8_t *which, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++)
		if (class_of(v, which[i]) != class_of(v, which[0]))
			return false;
	return true;
}

/* A counting sort. */
bool crypto_sort(const struct crypto_vectors *v, uint8_t *which, unsigned int n)
{
	uint8_t begin[CLASSES + 1] = {0}, sorted[CRYPTO_BATCH];

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

static void call_in_order(const struct crypto_run *run, struct crypto_vectors *v,
			  const uint8_t *order)
{
	struct crypto_vectors sorted;

	for (unsigned int i = 0; i < run->n; i++) {
		unsigned int o = order[i];

		sorted.sgl[i] = v->sgl[o];
		sorted.iv[i] = v->iv[o];
		sorted.aad[i] = v->aad[o];
		sorted.icv[i] = v->icv[o];
		sorted.status[i] = v->status[o];
	}
	call(run, &sorted, 0);
	for (unsigned int i = 0; i < run->n; i++)
		v->status[order[i]] = sorted.status[i];
}

/* Not inline: its arrays would cost the calls for AEADs a stack frame. */
static __rte_noinline void call_chain(const struct crypto_run *run, struct crypto_vectors *v)
{
	uint8_t which[CRYPTO_BATCH];

	for (unsigned int i = 0; i < run->n; i++)
		which[i] = (uint8_t)(run->from + i);
	if (crypto_sort(v, which, run->n))
		call_in_order(run, v, which);
	else
		call(run, v, run->from);
}

void crypto_call(const struct crypto_run *run, struct crypto_vectors *v)
{
	if (run->s->chain_ofs)
		call_chain(run, v);
	else
		call(run, v, run->from);
}

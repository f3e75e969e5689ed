/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crypto/batch.h"

void crypto_batch_add(struct crypto_batch *b, struct rte_mbuf *m, struct session *s,
		      unsigned int device)
{
	unsigned int i = b->n++;
	struct esp_job *job = &b->job[i];
	uint8_t *data = rte_pktmbuf_mtod(m, uint8_t *);

	b->m[i] = m;
	b->s[i] = s;
	b->device[i] = (uint8_t)device;
	b->has_job[i] = true;
	if (s->form == SUITE_AEAD)
		crypto_vectors_set(&b->v, i, data + job->text_at, job->text_len, data + job->icv_at,
				   job->iv, job->aad);
	else
		crypto_vectors_set(&b->v, i, data + job->auth_at, job->auth_len, data + job->icv_at,
				   job->iv, NULL);
}

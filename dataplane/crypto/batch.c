/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crypto/batch.h"
#include "esp/esp_common.h"

void crypto_batch_add(struct crypto_batch *b, struct rte_mbuf *m, struct session *s,
		      unsigned int device)
{
	unsigned int i = b->n++;
	struct esp_job *job = &b->job[i];
	uint8_t *at = rte_pktmbuf_mtod(m, uint8_t *);

	b->m[i] = m;
	b->s[i] = s;
	b->device[i] = (uint8_t)device;
	b->described[i] = true;
	if (s->form == SUITE_AEAD)
		crypto_vectors_set(&b->v, i, at + job->text_at, job->text_len, at + job->icv_at,
				   job->iv, job->aad);
	else
		crypto_vectors_set(&b->v, i, at + job->auth_at, job->auth_len, at + job->icv_at,
				   job->iv, NULL);
}

/* A chain's cipher leaves out the header, which is only authentic, and what of the sequence number is
 * not sent. The range of an AEAD is all text. */
void crypto_run_set(struct crypto_run *run, const struct session *s, unsigned int device,
		    unsigned int from, unsigned int n)
{
	*run = (struct crypto_run){
		.crypto = s->at[device],
		.device = (uint8_t)device,
		.form = s->form,
		.callable = s->by_call,
		.from = (uint8_t)from,
		.n = (uint8_t)n,
	};
	if (s->form == SUITE_CHAIN) {
		run->ofs.ofs.cipher.head = (uint16_t)esp_chain_head(s);
		run->ofs.ofs.cipher.tail = (uint16_t)esn_len(s);
	}
}

static unsigned int run_length(const struct crypto_batch *b, unsigned int from)
{
	unsigned int n = 1;

	while (from + n < b->n && b->s[from + n] == b->s[from] &&
	       b->device[from + n] == b->device[from] &&
	       b->described[from + n] == b->described[from])
		n++;
	return n;
}

void crypto_batch_find_runs(struct crypto_batch *b)
{
	b->nruns = 0;
	for (unsigned int i = 0, n; i < b->n; i += n) {
		n = run_length(b, i);
		crypto_run_set(&b->run[b->nruns++], b->s[i], b->device[i], i, n);
	}
}

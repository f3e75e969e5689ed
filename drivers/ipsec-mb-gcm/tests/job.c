/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "ipsec-mb/operation.h"
#include "job.h"
#include "queue.h"
#include "reference.h"

void jobs_open(void)
{
	queue_open();
	packets_open(4095, 4096);
}

void jobs_close(void)
{
	queue_close();
	packets_close();
}

static void random_or(uint8_t *to, const uint8_t *from, size_t len)
{
	if (from)
		memcpy(to, from, len);
	else
		rnd_fill(to, len);
}

void job_fill(struct job *job, const struct suite *suite, bool encrypt, const uint8_t *plain,
	      uint32_t len, const uint8_t *iv, const uint8_t *aad)
{
	uint8_t *open = encrypt ? job->before : job->after;
	uint8_t *sealed = encrypt ? job->after : job->before;

	job->forged = false;
	job->offset = rnd_below(MARGIN);
	job->len = len;
	job->total = job->offset + len + rnd_below(MARGIN);
	random_or(job->iv, iv, sizeof(job->iv));
	random_or(job->aad, aad, suite->aad_len);
	rnd_fill(open, job->total);
	if (plain)
		memcpy(open + job->offset, plain, len);
	memcpy(sealed, open, job->total);
	rnd_fill(job->icv, sizeof(job->icv));
	memcpy(job->icv_after, job->icv, sizeof(job->icv));
	reference_aead(OCL_CIPHER_AES_GCM, suite->key, suite->key_len, job->iv, 12, job->aad,
		       suite->aad_len, sealed + job->offset, len, job->icv_after + MARGIN,
		       suite->digest_len);
	if (!encrypt)
		memcpy(job->icv, job->icv_after, sizeof(job->icv));
}

void job_forge(struct job *job, unsigned int bit)
{
	job->icv[MARGIN + bit / 8] ^= (uint8_t)(1 << bit % 8);
	memcpy(job->icv_after, job->icv, sizeof(job->icv));
	job->forged = true;
}

void job_lay(struct job *job, unsigned int from, unsigned int to)
{
	uint8_t other[sizeof(job->before)];

	job->src = job->dst = packet_make(job->before, job->total, from);
	if (!to)
		return;
	/* The bytes around the text in the destination must not change. */
	rnd_fill(other, job->total);
	job->dst = packet_make(other, job->total, to);
	memcpy(other + job->offset, job->after + job->offset, job->len);
	memcpy(job->after, other, job->total);
}

void jobs_call(const struct device *dev, void *session, struct job *jobs, unsigned int n,
	       enum rte_crypto_op_status *status)
{
	struct rte_crypto_vec from[MOST_JOBS][SEGMENTS], to[MOST_JOBS][SEGMENTS];
	struct rte_crypto_sgl from_sgl[MOST_JOBS], to_sgl[MOST_JOBS];
	struct rte_crypto_va_iova_ptr iv[MOST_JOBS], aad[MOST_JOBS], icv[MOST_JOBS];
	int32_t err[MOST_JOBS];
	bool in_place = jobs[0].dst == jobs[0].src;
	struct rte_crypto_sym_vec vec = {
		.num = n,
		.src_sgl = from_sgl,
		.dest_sgl = in_place ? NULL : to_sgl,
		.iv = iv,
		.aad = aad,
		.digest = icv,
		.status = err,
	};
	uint32_t good = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct job *job = &jobs[i];

		from_sgl[i] = packet_range(job->src, job->offset, job->len, from[i]);
		to_sgl[i] = packet_range(job->dst, job->offset, job->len, to[i]);
		iv[i].va = job->iv;
		aad[i].va = job->aad;
		icv[i].va = job->icv + MARGIN;
		err[i] = EIO;
		good += !job->forged;
	}
	CHECK(rte_cryptodev_sym_cpu_crypto_process(dev->id, session, (union rte_crypto_sym_ofs){0},
						   &vec) == good);
	for (unsigned int i = 0; i < n; i++)
		status[i] = mb_operation_status(err[i]);
}

static struct rte_crypto_op *operation(struct job *job, void *session)
{
	struct rte_crypto_op *op = queue_operation(session, job->iv, sizeof(job->iv));

	op->sym->m_src = job->src;
	op->sym->m_dst = job->dst == job->src && rnd_below(2) ? NULL : job->dst;
	op->sym->aead.data.offset = job->offset;
	op->sym->aead.data.length = job->len;
	op->sym->aead.aad.data = job->aad;
	op->sym->aead.digest.data = job->icv + MARGIN;
	return op;
}

void jobs_enqueue(const struct device *dev, void *session, struct job *jobs, unsigned int n,
		  enum rte_crypto_op_status *status)
{
	struct rte_crypto_op *ops[MOST_JOBS];

	for (unsigned int i = 0; i < n; i++)
		ops[i] = operation(&jobs[i], session);
	queue_run(dev, ops, n, status);
}

void job_check(struct job *job, enum rte_crypto_op_status status)
{
	CHECK(status ==
	      (job->forged ? RTE_CRYPTO_OP_STATUS_AUTH_FAILED : RTE_CRYPTO_OP_STATUS_SUCCESS));
	CHECK(packet_holds(job->dst, job->after, job->total));
	CHECK(!memcmp(job->icv, job->icv_after, sizeof(job->icv)));
	if (job->dst != job->src) {
		CHECK(packet_holds(job->src, job->before, job->total));
		rte_pktmbuf_free(job->dst);
	}
	rte_pktmbuf_free(job->src);
}

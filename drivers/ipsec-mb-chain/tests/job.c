/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "ipsec-mb/operation.h"
#include "job.h"
#include "queue.h"
#include "reference.h"

const jobs_run runs[2] = {jobs_call, jobs_enqueue};

void jobs_open(void)
{
	queue_open();
	packets_open(511, PACKET);
}

void jobs_close(void)
{
	queue_close();
	packets_close();
}

/* The shapes of ESP and ESN more often than others. */
struct shape shape_random(void)
{
	static const uint16_t heads[] = {0, 8, 16, 24};

	return (struct shape){
		.skip = rnd_below(2) ? 0 : rnd_below(MARGIN),
		.head = rnd_below(2) ? heads[rnd_below(RTE_DIM(heads))] : rnd_below(80),
		.tail = rnd_below(2)   ? 0
			: rnd_below(2) ? 4
				       : rnd_below(20),
		.spare = rnd_below(2) ? 0 : rnd_below(MARGIN),
	};
}

/* Fill in before and after of a job, whose offsets and lengths are set. */
static void protect(struct job *job, const uint8_t *plain)
{
	const struct suite *suite = &job->keys->suite;
	uint8_t *open = job->encrypt ? job->before : job->after;
	uint8_t *sealed = job->encrypt ? job->after : job->before;
	const uint32_t cipher_at = job->offset + job->shape.head;
	uint8_t digest[64];

	rnd_fill(open, job->total);
	if (plain)
		memcpy(open + cipher_at, plain, job->cipher_len);
	memcpy(sealed, open, job->total);
	reference_cipher(suite->cipher, suite->key, suite->key_len, job->iv, sealed + cipher_at,
			 job->cipher_len);
	reference_auth(suite->auth, suite->mac_key, suite->mac_key_len, NULL, sealed + job->offset,
		       job->len, digest);
	memcpy(sealed + job->icv_at, digest, suite->digest_len);
	if (!job->encrypt)
		memcpy(open + job->icv_at, digest, suite->digest_len);
}

static void begin(struct job *job, const struct keys *keys, bool encrypt, struct shape shape,
		  uint32_t cipher_len, const uint8_t *iv)
{
	job->keys = keys;
	job->encrypt = encrypt;
	job->forged = false;
	job->shape = shape;
	job->cipher_len = cipher_len;
	job->len = shape.head + cipher_len + shape.tail;
	rnd_fill(job->iv, sizeof(job->iv));
	/* The counter of CTR has 32 bits in the driver and 128 in OpenSSL: avoid that it wraps. */
	job->iv[12] &= 0x7f;
	if (iv)
		memcpy(job->iv, iv, sizeof(job->iv));
}

void job_fill(struct job *job, const struct keys *keys, bool encrypt, struct shape shape,
	      uint32_t cipher_len, const uint8_t *plain, const uint8_t *iv)
{
	begin(job, keys, encrypt, shape, cipher_len, iv);
	job->offset = shape.skip + rnd_below(MARGIN);
	/* Directly behind the text, or at a random alignment. */
	job->icv_at = job->offset + job->len + (rnd_below(2) ? rnd_below(MARGIN) : 0);
	job->total = job->icv_at + keys->suite.digest_len + shape.spare + rnd_below(MARGIN);
	protect(job, plain);
}

void job_fill_bare(struct job *job, const struct keys *keys, bool encrypt, struct shape shape,
		   uint32_t cipher_len)
{
	begin(job, keys, encrypt, shape, cipher_len, NULL);
	job->offset = 0;
	job->icv_at = job->len;
	job->total = job->len + keys->suite.digest_len;
	protect(job, NULL);
}

void job_forge(struct job *job, unsigned int bit)
{
	job->before[job->icv_at + bit / 8] ^= (uint8_t)(1 << bit % 8);
	job->forged = true;
}

void job_lay(struct job *job)
{
	job->m = packet_make(job->before, job->total, 1);
}

static uint8_t *in_packet(const struct job *job, uint32_t offset)
{
	return rte_pktmbuf_mtod_offset(job->m, uint8_t *, offset);
}

void call_describe(struct call *call, const struct device *dev, struct job *jobs, unsigned int n)
{
	const struct shape *shape = &jobs[0].shape;

	call->dev = dev;
	call->session = jobs[0].keys->session[jobs[0].encrypt];
	call->ofs.ofs.auth.head = shape->skip;
	call->ofs.ofs.auth.tail = shape->spare;
	call->ofs.ofs.cipher.head = shape->skip + shape->head;
	call->ofs.ofs.cipher.tail = shape->tail + shape->spare;
	for (unsigned int i = 0; i < n; i++) {
		struct job *job = &jobs[i];

		call->piece[i].base = in_packet(job, job->offset - shape->skip);
		call->piece[i].len = shape->skip + job->len + shape->spare;
		call->sgl[i] = (struct rte_crypto_sgl){.vec = &call->piece[i], .num = 1};
		call->iv[i].va = job->iv;
		call->icv[i].va = in_packet(job, job->icv_at);
		call->err[i] = -1;
	}
	call->vec = (struct rte_crypto_sym_vec){
		.num = n,
		.src_sgl = call->sgl,
		.iv = call->iv,
		.digest = call->icv,
		.status = call->err,
	};
}

uint32_t call_make(struct call *call)
{
	uint32_t good = 0, done;

	done = rte_cryptodev_sym_cpu_crypto_process(call->dev->id, call->session, call->ofs,
						    &call->vec);
	for (uint32_t i = 0; i < call->vec.num; i++)
		good += !call->err[i];
	CHECK(done == good);
	return good;
}

void jobs_call(const struct device *dev, struct job *jobs, unsigned int n,
	       enum rte_crypto_op_status *status)
{
	struct call call;

	call_describe(&call, dev, jobs, n);
	call_make(&call);
	for (unsigned int i = 0; i < n; i++)
		status[i] = mb_operation_status(call.err[i]);
}

struct rte_crypto_op *job_operation(const struct job *job)
{
	struct rte_crypto_op *op = queue_operation(job->keys->session[job->encrypt], job->iv,
						   sizeof(job->iv));

	op->sym->m_src = job->m;
	op->sym->m_dst = rnd_below(2) ? NULL : job->m;
	op->sym->cipher.data.offset = job->offset + job->shape.head;
	op->sym->cipher.data.length = job->cipher_len;
	op->sym->auth.data.offset = job->offset;
	op->sym->auth.data.length = job->len;
	op->sym->auth.digest.data = in_packet(job, job->icv_at);
	return op;
}

void jobs_enqueue(const struct device *dev, struct job *jobs, unsigned int n,
		  enum rte_crypto_op_status *status)
{
	struct rte_crypto_op *ops[MOST_JOBS];

	for (unsigned int i = 0; i < n; i++)
		ops[i] = job_operation(&jobs[i]);
	queue_run(dev, ops, n, status);
}

void job_expect(struct job *job, enum rte_crypto_op_status status,
		enum rte_crypto_op_status expected)
{
	CHECK(status == expected);
	CHECK(packet_holds(job->m,
			   status == RTE_CRYPTO_OP_STATUS_SUCCESS ? job->after : job->before,
			   job->total));
	rte_pktmbuf_free(job->m);
}

void job_check(struct job *job, enum rte_crypto_op_status status)
{
	job_expect(job, status,
		   job->forged ? RTE_CRYPTO_OP_STATUS_AUTH_FAILED : RTE_CRYPTO_OP_STATUS_SUCCESS);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file job.h
 * Texts that are protected or opened, in whichever way, and what has to come of them.
 */
#ifndef JOB_H
#define JOB_H

#include "keys.h"
#include "packet.h"

#define MARGIN	  24u /* bytes around a text, and an ICV, that stay as they are; at most */
#define PACKET	  65535u
#define MOST_JOBS 160u /* more than two of the driver's bunches */

/* What there is around the part that is encrypted; bytes. A call has one for all its texts. */
struct shape {
	uint16_t skip;	/* in front of what is authenticated: a call is told of it */
	uint16_t head;	/* authenticated only, in front */
	uint16_t tail;	/* and behind */
	uint16_t spare; /* behind what is authenticated, as skip */
};

struct job {
	const struct keys *keys;
	bool encrypt, forged;
	struct shape shape;
	uint32_t at, len, cipher_len;	/* what is authenticated, in the packet; the encrypted part */
	uint32_t icv_at, total;		/* in the packet; all of that */
	uint8_t iv[16];
	uint8_t before[PACKET], after[PACKET]; /* what the packet holds */
	struct rte_mbuf *m;
};

/** Packets and operations for all others. */
void jobs_open(void);
void jobs_close(void);

/** Any. */
struct shape shape_random(void);

/**
 * A text with random bytes around it, and what OpenSSL makes of it.
 * @param cipher_len  of the encrypted part; of a suite without a cipher as well
 * @param plain, iv   NULL: random ones
 */
void job_fill(struct job *job, const struct keys *keys, bool encrypt, struct shape shape,
	      uint32_t cipher_len, const uint8_t *plain, const uint8_t *iv);
/** As job_fill() of random bytes, with what is authenticated at the packet's start and the ICV just behind. */
void job_fill_bare(struct job *job, const struct keys *keys, bool encrypt, struct shape shape,
		   uint32_t cipher_len);
/** Another ICV than the right one: that bit of it is wrong. */
void job_forge(struct job *job, unsigned int bit);
void job_lay(struct job *job);

/* What a call is told. */
struct call {
	const struct device *dev;
	void *session;
	union rte_crypto_sym_ofs ofs;
	struct rte_crypto_vec piece[MOST_JOBS];
	struct rte_crypto_sgl sgl[MOST_JOBS];
	struct rte_crypto_va_iova_ptr iv[MOST_JOBS], icv[MOST_JOBS];
	int32_t err[MOST_JOBS];
	struct rte_crypto_sym_vec vec;
};

/** The call of texts of one session and one shape. */
void call_describe(struct call *call, const struct device *dev, struct job *jobs, unsigned int n);
/** @return how many went well, as many as err[] says */
uint32_t call_make(struct call *call);

/** One text's operation, for pass(). */
struct rte_crypto_op *job_operation(const struct job *job);

/** By rte_cryptodev_sym_cpu_crypto_process(), all at once: of one session and one shape. */
void jobs_call(const struct device *dev, struct job *jobs, unsigned int n,
	       enum rte_crypto_op_status *status);
/** By a queue pair: of any. */
void jobs_enqueue(const struct device *dev, struct job *jobs, unsigned int n,
		  enum rte_crypto_op_status *status);

typedef void (*way)(const struct device *dev, struct job *jobs, unsigned int n,
		    enum rte_crypto_op_status *status);
extern const way ways[2];

/** It has that status, the packet is as that says, and is freed. */
void job_expect(struct job *job, enum rte_crypto_op_status status, enum rte_crypto_op_status expected);
/** It is as it has to be. */
void job_check(struct job *job, enum rte_crypto_op_status status);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file job.h
 * Texts that are encrypted or decrypted, in whichever way, and what has to come of them.
 */
#ifndef JOB_H
#define JOB_H

#include "keys.h"
#include "packet.h"

#define MAX_TEXT 2600
#define MARGIN	 24 /* of bytes before and behind a text, and an ICV, that stay as they are */
#define MOST_JOBS 8
#define LONG_AAD 1024

struct job {
	struct rte_mbuf *src, *dst; /* dst may be src */
	uint32_t at, len, total;    /* the text in the packets, and all of them, bytes */
	uint8_t iv[12], aad[LONG_AAD];
	uint8_t icv[MARGIN + 16 + MARGIN], icv_after[MARGIN + 16 + MARGIN];
	uint8_t before[MAX_TEXT + 2 * MARGIN], after[MAX_TEXT + 2 * MARGIN]; /* what packets hold */
	bool forged;
};

/** Operations for jobs_enqueue(). */
void jobs_open(void);
void jobs_close(void);

/** A text, AAD and IV, and what OpenSSL makes of them. @param plain, aad, iv  NULL: random ones */
void job_fill(struct job *job, const struct suite *suite, bool encrypt, const uint8_t *plain,
	      uint32_t len, const uint8_t *iv, const uint8_t *aad);
/** Another ICV than the right one: that bit of it is wrong. */
void job_forge(struct job *job, unsigned int bit);
/** Lay it out in so many segments. @param to  0: in place */
void job_lay(struct job *job, unsigned int from, unsigned int to);

/** By rte_cryptodev_sym_cpu_crypto_process(), all at once. */
void jobs_call(const struct device *dev, void *session, struct job *jobs, unsigned int n,
	       enum rte_crypto_op_status *status);
/** By a queue pair. */
void jobs_enqueue(const struct device *dev, void *session, struct job *jobs, unsigned int n,
		  enum rte_crypto_op_status *status);

/** Everything is as it has to be; frees the packets. */
void job_check(struct job *job, enum rte_crypto_op_status status);

#endif

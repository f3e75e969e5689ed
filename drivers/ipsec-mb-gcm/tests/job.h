/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file job.h
 * Texts to encrypt or decrypt, with their expected results.
 */
#ifndef JOB_H
#define JOB_H

#include "keys.h"
#include "packet.h"

#define MAX_TEXT  2600
#define MARGIN	  24 /* maximum number of bytes around a text or an ICV that must not change */
#define MOST_JOBS 8
#define LONG_AAD  1024

struct job {
	struct rte_mbuf *src, *dst; /* dst may be src */
	uint32_t offset, len;	    /* offset and length of the text in the packets, bytes */
	uint32_t total;		    /* length of the packets, bytes */
	uint8_t iv[12], aad[LONG_AAD];
	uint8_t icv[MARGIN + 16 + MARGIN];	 /* given to the driver */
	uint8_t icv_after[MARGIN + 16 + MARGIN]; /* expected */
	uint8_t before[MAX_TEXT + 2 * MARGIN];	 /* content of src */
	uint8_t after[MAX_TEXT + 2 * MARGIN];	 /* expected content of dst */
	bool forged;
};

/** Create the pools of packets and operations. */
void jobs_open(void);
/** Free the pools, and check that all packets and operations have been freed. */
void jobs_close(void);

/** Make a text with AAD and IV, and its expected result with OpenSSL.
 * @param plain, aad, iv  NULL: random ones */
void job_fill(struct job *job, const struct suite *suite, bool encrypt, const uint8_t *plain,
	      uint32_t len, const uint8_t *iv, const uint8_t *aad);
/** Invert a bit of the ICV, so that the text must not verify. */
void job_forge(struct job *job, unsigned int bit);
/** Make the packets.
 * @param from  number of segments of the source
 * @param to    number of segments of the destination; 0: process in place */
void job_lay(struct job *job, unsigned int from, unsigned int to);

/** Process texts with one synchronous call. */
void jobs_call(const struct device *dev, void *session, struct job *jobs, unsigned int n,
	       enum rte_crypto_op_status *status);
/** Process texts through a queue pair. */
void jobs_enqueue(const struct device *dev, void *session, struct job *jobs, unsigned int n,
		  enum rte_crypto_op_status *status);

/** Check status and packets of a text, and free the packets. */
void job_check(struct job *job, enum rte_crypto_op_status status);

#endif

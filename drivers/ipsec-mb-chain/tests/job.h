/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file job.h
 * Texts to encrypt or decrypt, with their expected results.
 */
#ifndef JOB_H
#define JOB_H

#include "keys.h"
#include "packet.h"

#define MARGIN	  24u	 /* maximum number of bytes around a text or an ICV that must not change */
#define PACKET	  65535u /* maximum length of a packet, bytes */
#define MOST_JOBS 160u	 /* more than two batches of the driver */

/* Bytes around the encrypted range of a text. All texts of a synchronous call have the same shape. */
struct shape {
	uint16_t skip;	/* in front of the authenticated range, inside the segment of a call */
	uint16_t head;	/* from the start of the authenticated range to the encrypted range */
	uint16_t tail;	/* from the end of the encrypted range to that of the authenticated range */
	uint16_t spare; /* behind the authenticated range, inside the segment of a call */
};

struct job {
	const struct keys *keys;
	bool encrypt, forged;
	struct shape shape;
	uint32_t offset, len;	/* offset and length of the authenticated range in the packet */
	uint32_t cipher_len;	/* length of the encrypted range */
	uint32_t icv_at, total; /* offset of the ICV in the packet; length of the packet */
	uint8_t iv[16];
	uint8_t before[PACKET]; /* content of the packet */
	uint8_t after[PACKET];	/* expected content of the packet */
	struct rte_mbuf *m;
};

/** Create the pools of packets and operations. */
void jobs_open(void);
/** Free the pools, and check that all packets and operations have been freed. */
void jobs_close(void);

/** A random shape. */
struct shape shape_random(void);

/**
 * Make a text with random bytes around it, and its expected result with OpenSSL.
 * @param cipher_len  length of the encrypted range, also of a suite without a cipher
 * @param plain, iv   NULL: random ones
 */
void job_fill(struct job *job, const struct keys *keys, bool encrypt, struct shape shape,
	      uint32_t cipher_len, const uint8_t *plain, const uint8_t *iv);
/** As job_fill() with random bytes. The packet has only the authenticated range and the ICV. */
void job_fill_bare(struct job *job, const struct keys *keys, bool encrypt, struct shape shape,
		   uint32_t cipher_len);
/** Invert a bit of the ICV, so that the text must not verify. */
void job_forge(struct job *job, unsigned int bit);
/** Make the packet. */
void job_lay(struct job *job);

/* The arguments of a synchronous call. */
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

/** Fill in a call for texts of one session and one shape. */
void call_describe(struct call *call, const struct device *dev, struct job *jobs, unsigned int n);
/** Make the call. @return number of texts processed successfully, which is checked with err[] */
uint32_t call_make(struct call *call);

/** Make the operation of a text, for queue_run(). */
struct rte_crypto_op *job_operation(const struct job *job);

/** Process texts of one session and one shape with a synchronous call. */
void jobs_call(const struct device *dev, struct job *jobs, unsigned int n,
	       enum rte_crypto_op_status *status);
/** Process texts of any sessions and shapes through a queue pair. */
void jobs_enqueue(const struct device *dev, struct job *jobs, unsigned int n,
		  enum rte_crypto_op_status *status);

typedef void (*jobs_run)(const struct device *dev, struct job *jobs, unsigned int n,
			 enum rte_crypto_op_status *status);
/** jobs_call() and jobs_enqueue(). */
extern const jobs_run runs[2];

/** Check that a text has the expected status, and its packet the content for this status. Free the
 * packet. */
void job_expect(struct job *job, enum rte_crypto_op_status status,
		enum rte_crypto_op_status expected);
/** job_expect() with the status for a text that is or is not forged. */
void job_check(struct job *job, enum rte_crypto_op_status status);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file batch.h
 * Batches: texts of one kind and any sessions that ipsec_mb processes with its burst functions for
 * ciphers and for hashes. These do not use the library's job queue.
 */
#ifndef CHAIN_BATCH_H
#define CHAIN_BATCH_H

#include "session.h"

#define CHAIN_BATCH   64u    /* maximum number of texts */
#define CHAIN_LONGEST 65520u /* maximum authenticated bytes of a text: the library uses 16 bits */

/* The batch of a thread or of a queue pair. */
struct chain_batch {
	IMB_MGR *mgr;
	unsigned int n;			  /* number of texts */
	const struct chain_session *like; /* session of the first text; all texts are of its kind */
	uint8_t status[CHAIN_BATCH];	  /* 0 or errno, see chain_batch_work() */
	uint8_t *icv[CHAIN_BATCH]; /* in the packets; received ones are compared with tag[] */
	uint8_t tag[CHAIN_BATCH]
		   [CHAIN_MAX_DIGEST] __rte_cache_aligned; /* computed of received texts */
	IMB_JOB job[CHAIN_BATCH];
};

/* A text of one segment, processed in place. */
struct chain_text {
	uint8_t *start;	     /* start of the authenticated range */
	uint32_t len;	     /* length of the authenticated range, bytes */
	uint32_t head;	     /* offset of the encrypted range from start, bytes */
	uint32_t cipher_len; /* length of the encrypted range, bytes */
	const uint8_t *iv;
	uint8_t *icv; /* written when encrypting, read when decrypting */
};

struct mb_driver;

/** Initialise a batch. @return 0, or -rte_errno of mb_manager_open() */
int chain_batch_open(struct chain_batch *batch, const struct mb_driver *driver);
/** Wipe a batch and its manager. */
void chain_batch_close(struct chain_batch *batch);

/**
 * Add a text of the same kind as the first one. The caller ensures that there are fewer than
 * CHAIN_BATCH texts.
 * @return 0, or EINVAL (an address is missing, or the cipher cannot have a length); the text is not
 *	   added then
 */
int chain_batch_add(struct chain_batch *batch, const struct chain_session *s,
		    const struct chain_text *text);
/**
 * Process all texts and empty the batch. status[] then has the results, in the order in which texts
 * were added: 0, EBADMSG (wrong ICV; the text is not decrypted), or EIO (the library has not
 * processed all texts).
 */
void chain_batch_work(struct chain_batch *batch);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file jobs.h
 * Random operations, and the expected result of each: libcrypto's result, which DPDK's other drivers
 * have to get, too.
 */
#ifndef JOBS_H
#define JOBS_H

#include "harness.h"
#include "peers.h"

#define JOBS  1024	/* maximum number at a time */
#define ROOM  2560	/* bytes of a packet's buffer behind the headroom */
#define EDGES (18 * 16) /* number of lengths at boundaries, each at each alignment */

/* A pair of algorithms, or an AEAD. */
struct kind {
	enum ocl_cipher cipher;
	enum ocl_auth auth;
	uint32_t todo, done;
	uint32_t edge;		  /* the next boundary length, below EDGES */
	uint32_t pooled, heads;	  /* completed operations in a pool of the driver, and with heads */
	uint32_t compared[PEERS]; /* operations compared with each peer */
};

/* One session for each direction. */
struct pair {
	struct kind *kind;
	struct suite suite;
	void *encrypt, *decrypt;
	struct peer_sessions peers;
};

struct job {
	struct rte_crypto_op *op;
	struct rte_mbuf *src, *dst;
	uint8_t *src_expected, *dst_expected; /* whole buffers */
	uint32_t digest_off;		      /* offset from the start of the packet */
	enum rte_crypto_op_status status;
	bool packet_only;  /* bytes around the packet are not compared */
	bool may_be_plain; /* nothing is compared after a failed authentication */
};

/** Open peers, and pools of operations and packets. Closing checks that all are back. */
void jobs_open(void);
void jobs_close(void);

/** @param like  a kind with the same order of algorithms and length of AAD; NULL: any */
void pair_open(const struct device *dev, struct pair *pair, struct kind *kind,
	       const struct suite *like);
void pair_close(const struct device *dev, struct pair *pair);

/** A random operation of any length, in either direction, in place or out of place, valid or
 * malformed. Boundary lengths of the kind come first. */
void job_make(struct job *job, struct pair *pair);

/** A valid operation in place of about len bytes (a few more, or up to a block less), in an mbuf
 * whose data_off is set. 3 KiB of room are enough for 2 KiB. */
void job_make_in(struct job *job, struct pair *pair, struct rte_mbuf *m, uint32_t len,
		 bool encrypt);

/** Whether the operation is malformed. */
bool job_is_refused(const struct job *job);

/** Check a completed operation and its whole buffers, and free it. @param index  number in a
 * message */
void job_finish(struct job *job, const struct rte_crypto_op *op, uint32_t index);

#endif

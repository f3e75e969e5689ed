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

#define JOBS  1024	/* at a time, at most */
#define ROOM  2560	/* of a packet's buffer, behind the headroom */
#define EDGES (18 * 16) /* lengths at which something may end, each at every alignment */

/* A pair of algorithms, or an AEAD. */
struct kind {
	enum ocl_cipher cipher;
	enum ocl_auth auth;
	uint32_t todo, done;
	uint32_t edge; /* of EDGES, the next one */
	uint32_t pooled, heads; /* of those done: in a pool of the driver, and with their heads */
	uint32_t compared[PEERS]; /* operations of which a peer did the like */
};

/* One direction each. */
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
	uint32_t digest_off;		      /* from the packet's start */
	enum rte_crypto_op_status status;
	bool packet_only;  /* what is around the packet does not count */
	bool may_be_plain; /* if it fails to authenticate: then nothing counts */
};

/** Peers, and pools of operations and packets; closing checks that all are back. */
void jobs_open(void);
void jobs_close(void);

/** @param like  whose order of algorithms and length of AAD it has; NULL: any */
void pair_open(const struct device *dev, struct pair *pair, struct kind *kind,
	       const struct suite *like);
void pair_close(const struct device *dev, struct pair *pair);

/** One of them, of any length, in either direction, in place or not, good or malformed; the kind's
 * edges first. */
void job_make(struct job *job, struct pair *pair);

/** A good one, in place, of len bytes, a few more and fewer than a block less, in an mbuf whose
 * data_off is set: 3 KiB of room are enough for 2 KiB. */
void job_make_in(struct job *job, struct pair *pair, struct rte_mbuf *m, uint32_t len, bool encrypt);

/** Whether it is malformed. */
bool job_is_refused(const struct job *job);

/** It has to be as expected, the whole of its buffers. Frees it. @param index  to be named by */
void job_finish(struct job *job, const struct rte_crypto_op *op, uint32_t index);

#endif

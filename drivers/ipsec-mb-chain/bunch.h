/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file bunch.h
 * Texts of one kind, of any sessions, that ipsec_mb works on together: by its calls for many ciphers
 * and for many hashes, which do not go through its queue of jobs.
 */
#ifndef CHAIN_BUNCH_H
#define CHAIN_BUNCH_H

#include "session.h"

#define CHAIN_BUNCH   64u    /* texts, at most */
#define CHAIN_LONGEST 65520u /* that is authenticated, bytes: the library counts with 16 bits */

/* One thread's, or one queue pair's. */
struct chain_bunch {
	IMB_MGR *mgr;
	unsigned int n;
	const struct chain_session *like;    /* the first one's: all are of its kind */
	uint8_t status[CHAIN_BUNCH];	     /* 0 or errno; after chain_bunch_work() */
	uint8_t *icv[CHAIN_BUNCH];	     /* in the packet, to be compared with tag[] */
	uint8_t tag[CHAIN_BUNCH][CHAIN_MAX_DIGEST] __rte_cache_aligned; /* of what is verified */
	IMB_JOB job[CHAIN_BUNCH];
};

/* Where a text is: in one piece, in place. */
struct chain_text {
	uint8_t *at;		/* what is authenticated */
	uint32_t len;		/* bytes of that */
	uint32_t head, cipher_len; /* the part that is encrypted: begins there, and its bytes */
	const uint8_t *iv;
	uint8_t *icv;		/* written, or read */
};

struct mb_driver;

/** @return 0, or what mb_manager_open() says, negative: then it is nothing for chain_bunch_close() */
int chain_bunch_open(struct chain_bunch *bunch, const struct mb_driver *driver);
void chain_bunch_close(struct chain_bunch *bunch);

/**
 * One text more, of the kind of those that there are. The caller sees to it that there is room.
 * @return 0, or EINVAL: it is not taken, for a part is missing or a length is none for the cipher
 */
int chain_bunch_add(struct chain_bunch *bunch, const struct chain_session *s,
		    const struct chain_text *text);
/**
 * Work on them; there are none after that. status[] is then, in the order in which they were added,
 * 0, EBADMSG: not the ICV that came with it, the text is as it was, or EIO: the library did not do it,
 * or not all of them.
 */
void chain_bunch_work(struct chain_bunch *bunch);

#endif

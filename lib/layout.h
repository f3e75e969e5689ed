/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file layout.h
 * The layout of the file, and what a process knows about it. Private.
 *
 * The file is a header, then arrays whose places follow from the geometry
 * (layout_init()). References between slots are index + 1, so that zeroed
 * memory, which a new file is made of, means "none" and costs no page.
 */
#ifndef CYGNET_LAYOUT_H
#define CYGNET_LAYOUT_H

#include <pthread.h>

#include "barrier.h"
#include "cygnet.h"

#define EXPORT __attribute__((visibility("default")))

#define LAYOUT_MAGIC 0x424441534e475943ull /* "CYGNSADB", little endian */
#define LAYOUT_EVENTS 4096u                /* a power of two */
#define LAYOUT_TUPLES 1024u                /* per direction and family */
#define LAYOUT_TUPLE_LISTS (CYGNET_DIRS * 2)
/* 4,096 bits and the word that RFC 6479 keeps spare. */
#define REPLAY_BLOCK_WORDS 65u
#define REPLAY_INLINE_WORDS 4u
#define REPLAY_INLINE_MAX ((REPLAY_INLINE_WORDS - 1) * 64)

/** Where the slots of one kind are: in use, free, or retired and waiting. */
struct pool {
	uint32_t fresh; /* slots from here on were never used */
	uint32_t free;  /* reference to the first of the free list */
	uint32_t retired_head, retired_tail; /* references; the queue is in epoch order */
	uint32_t used;  /* larval and live */
	uint32_t retired;
};

struct tuple {
	uint64_t key;      /* struct tuple_key packed; atomic */
	uint32_t policies; /* 0: the tuple may be given to another key; atomic */
	uint32_t best;     /* no policy of it has a lower priority value; atomic */
};

struct tuple_list {
	uint32_t count; /* tuples in use or emptied; atomic */
	uint32_t reserved[15];
	struct tuple tuple[LAYOUT_TUPLES];
};

struct reader {
	uint64_t seen; /* epoch at its last quiescent state; 0: offline */
	uint8_t pad[CYGNET_CACHE_LINE - 8];
};

/** Written once, covered by the checksum. */
struct fixed {
	uint64_t magic;
	uint32_t abi;
	uint32_t header_size;
	uint64_t features; /* none yet: any bit set means a file we do not know */
	uint64_t file_size;
	struct cygnet_geometry geometry;
	uint32_t sa_buckets, policy_buckets; /* powers of two */
	uint32_t replay_blocks, reserved;
	uint64_t sa_table, policy_table, sas, policies, replay, events; /* offsets, bytes */
	uint64_t seed;
	uint64_t checksum;
};

struct header {
	struct fixed fixed;

	/* The writer's. */
	pthread_mutex_t mutex CYGNET_ALIGNED;
	uint64_t order; /* policies installed so far */
	uint64_t recoveries;
	struct pool sa_pool, policy_pool;
	uint32_t replay_fresh, replay_free; /* blocks; a reference */
	uint32_t replay_used;
	int32_t role_pid[CYGNET_ROLES];

	/* Read by everybody. */
	uint64_t epoch CYGNET_ALIGNED;
	uint64_t spd_changes; /* of chains and tuples, counted after each */
	uint32_t spd_binds;   /* a policy is, or was, bound to an interface */
	uint32_t ike_port[CYGNET_IKE_PORTS] CYGNET_ALIGNED; /* ike.c's; atomic */
	struct reader reader[CYGNET_MAX_READERS] CYGNET_ALIGNED;

	/* The event ring: free-running counters, one line each side. */
	uint32_t event_tail CYGNET_ALIGNED; /* the dataplane's */
	uint32_t event_signal;              /* futex: counts posts and wakes */
	uint32_t event_head CYGNET_ALIGNED; /* the writer's */
	uint32_t event_waiting;             /* it sleeps, or is about to */
	uint32_t event_wakes;               /* calls of cygnet_event_wake() */

	struct tuple_list tuples[LAYOUT_TUPLE_LISTS] CYGNET_ALIGNED;
};

struct replay_block {
	uint64_t word[REPLAY_BLOCK_WORDS];
	uint64_t owned; /* scratch of the repair */
};

struct cygnet_db {
	int fd;
	char *path;
	size_t size;
	unsigned int roles;   /* held by this process, one bit each */
	uint32_t wakes_seen;  /* of header.event_wakes */
	/* Drawn from the kernel for SPIs, some at a time; under the mutex. */
	uint64_t random[32];
	unsigned int randoms; /* that are left */
	/* Copied from the header once it was checked: what bounds an index must
	 * not change under a reader. */
	struct cygnet_geometry geometry;
	uint32_t sa_mask, policy_mask; /* buckets - 1 */
	uint32_t replay_blocks;
	uint64_t seed;

	struct header *header;
	uint32_t *sa_table, *policy_table; /* references */
	struct cygnet_sa *sas;
	struct cygnet_policy *policies;
	struct replay_block *replay;
	struct cygnet_event *events;
};

_Static_assert(sizeof(struct reader) == CYGNET_CACHE_LINE, "no two readers share a line");
_Static_assert(offsetof(struct header, epoch) % CYGNET_CACHE_LINE == 0 &&
	       offsetof(struct header, reader) % CYGNET_CACHE_LINE == 0 &&
	       offsetof(struct header, event_tail) % CYGNET_CACHE_LINE == 0 &&
	       offsetof(struct header, event_head) % CYGNET_CACHE_LINE == 0,
	       "who writes has a line of its own");
_Static_assert(sizeof(struct cygnet_event) == 104, "another size is another ABI version");
_Static_assert((LAYOUT_EVENTS & (LAYOUT_EVENTS - 1)) == 0, "counters wrap at 2^32");

/** Work out header size, buckets, offsets and file size from the geometry. */
void layout_init(struct fixed *fixed);
/** FNV-1a over all but the checksum. */
uint64_t layout_checksum(const struct fixed *fixed);

/* How many slots of a pool were ever used, whatever a damaged file says. */
static inline uint32_t pool_fresh(const struct pool *pool, uint32_t capacity)
{
	return pool->fresh < capacity ? pool->fresh : capacity;
}

/* A reference to an index, or CYGNET_NONE if there is none or it points nowhere. */
static inline uint32_t ref_index(uint32_t ref, uint32_t capacity)
{
	return ref - 1 < capacity ? ref - 1 : CYGNET_NONE;
}

#endif

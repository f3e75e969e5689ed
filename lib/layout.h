/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file layout.h
 * The layout of the file, and the state of a process that has it open. Private.
 *
 * The file has a header and then arrays, whose offsets follow from the geometry
 * (layout_init()). A reference to a slot is its index + 1, and 0 means none. So
 * a new file, which is all zeros, has empty chains without writing a page.
 *
 * Processes of different versions share a file of one ABI version, so that each
 * can be upgraded alone under traffic. A new field needs no new version if
 * - it is in room that is reserved or padding, which is zero in a new file;
 * - zero means the behaviour before the field existed;
 * - an older library that does not know the field does no harm. It neither sets
 *   nor clears it: in a slot the value may be that of an earlier SA or policy,
 *   so it counts only if it is stored together with the slot's generation.
 * abi.c does not compile if a field moves without a new version.
 *
 * A file of another ABI version, or with features that are not known, is replaced as soon as no process
 * has a role of it. It is not read: charon keeps its SAs only as long as it runs, with the library that it
 * was started with, and cygnetd has policies to hold in a file of text (keep_policies.h). So magic, abi,
 * features and the bytes of the roles (role.c) stay where they are in all versions.
 */
#ifndef CYGNET_LAYOUT_H
#define CYGNET_LAYOUT_H

#include <pthread.h>

#include "barrier.h"
#include "cygnet.h"
#include "lengths.h"

#define EXPORT __attribute__((visibility("default")))

#define LAYOUT_MAGIC 0x424441534e475943ull /* "CYGNSADB", little endian */
/** A feature: outbound SAs are filed by the peer's address, too, see sad.c. Older files are without. */
#define LAYOUT_OUT_BY_PEER 1ull
/** A feature: the file has room for addresses that charon sends IKE to, see ike_dst.c. In older files none is noted. */
#define LAYOUT_IKE_DST 2ull
/** A feature: SAs and policies can have interface IDs, and policies are filed by them, too, see place.h. In older files none has. */
#define LAYOUT_IF_ID 4ull
/** All that this library knows; new files have them. A number, because Debian's libcygnet0.preinst has it, too. */
#define LAYOUT_FEATURES 7ull

#define LAYOUT_EVENTS	 4096u		   /* a power of two */
#define LAYOUT_SPD_LISTS (CYGNET_DIRS * 2) /* directions and families */
#define LAYOUT_LOGGED	 15u		   /* entries of the log of changes in each spd_list */
/* 4,096 bits, and one spare word for RFC 6479's algorithm. */
#define REPLAY_BLOCK_WORDS  65u
#define REPLAY_INLINE_WORDS 4u
#define REPLAY_INLINE_MAX   ((REPLAY_INLINE_WORDS - 1) * 64)

/** Lists and counters of the SA slots or of the policy slots. */
struct pool {
	uint32_t fresh;			     /* index of the first slot that was never used */
	uint32_t free;			     /* reference to the first slot of the free list */
	uint32_t retired_head, retired_tail; /* references; the queue is in epoch order */
	uint32_t used;			     /* number of larval and live slots */
	uint32_t retired;		     /* number of retired slots */
};

/** The policies of a direction and family whose peer's side has a prefix of one length, see place.h. */
struct spd_length {
	uint32_t policies; /* number of policies; atomic */
	uint32_t best;	   /* lower bound of their priority values, if there are any; atomic */
	uint32_t local; /* 1 + prefix length of all their local sides, 0: they differ, or have differed; atomic */
};

/** The policies of one direction and family. */
struct spd_list {
	struct lengths peer;  /* lengths with policies */
	uint32_t by_ports;    /* number of policies that restrict ports; atomic */
	uint32_t by_protocol; /* number of policies that restrict the protocol; atomic */
	uint32_t reserved;
	uint32_t logged[LAYOUT_LOGGED]; /* a part of the log of changes, see scope.h; atomic */
	struct spd_length length[LENGTHS];
};

/** The policies with one prefix on the peer's side, see place.h. */
struct peer_net {
	struct lengths local; /* prefix lengths of their local sides */
	uint32_t policies;    /* number of policies; atomic */
	uint32_t marks; /* place_mark() of each prefix that is, or was, in this bucket; atomic */
};

struct reader {
	uint64_t seen; /* epoch of its last quiescent state; 0: offline; atomic */
	uint8_t pad[CYGNET_CACHE_LINE - 8];
};

/** Written when the file is created, and covered by the checksum. */
struct fixed {
	uint64_t magic;
	uint32_t abi;
	uint32_t header_size;
	uint64_t features; /* LAYOUT_FEATURES; a file with any other bit set is refused */
	uint64_t file_size;
	struct cygnet_geometry geometry;
	uint32_t sa_buckets, policy_buckets; /* powers of two */
	uint32_t replay_blocks, net_buckets; /* net_buckets: a power of two */
	/* Offsets, bytes. */
	uint64_t sa_table, policy_table, peer_nets, sharing, sas, policies, replay, events;
	uint64_t seed; /* key of the hash tables */
	uint64_t checksum;
};

struct header {
	struct fixed fixed;

	/* Written by writers, under the mutex. */
	pthread_mutex_t mutex CYGNET_ALIGNED;
	uint64_t order;	     /* number of policies installed so far */
	uint64_t recoveries; /* number of repairs */
	struct pool sa_pool, policy_pool;
	uint32_t replay_fresh;		/* index of the first replay block that was never used */
	uint32_t replay_free;		/* reference to the first free replay block */
	uint32_t replay_used;		/* number of replay blocks that SAs own */
	int32_t role_pid[CYGNET_ROLES]; /* last holder of each role */

	/* Read by writers and readers. */
	uint64_t epoch CYGNET_ALIGNED; /* see qsbr.h; atomic */
	uint64_t spd_changes;	       /* incremented after each change of chains; atomic */
	uint32_t spd_binds;	       /* 1: a policy is or was bound to an interface; atomic */
	uint32_t moving;   /* reference to the SA that changes its chain, see sad_finish_move() */
	uint64_t boot[2];  /* the boot that created the file; 0: not known; see boot.h; atomic */
	int32_t ike_notes; /* process id of the last charon that noted where it sends IKE; atomic */
	uint32_t ike_port[CYGNET_IKE_PORTS] CYGNET_ALIGNED; /* format in ike.c; atomic */
	struct reader reader[CYGNET_MAX_READERS] CYGNET_ALIGNED;

	/* The event ring. Head and tail are free-running counters on separate cache lines. */
	uint32_t event_tail CYGNET_ALIGNED; /* written by the dataplane */
	uint32_t event_signal;		    /* futex: incremented by each post and wake */
	uint32_t event_head CYGNET_ALIGNED; /* written by the writer */
	uint32_t event_waiting;		    /* 1: the writer sleeps, or is about to */
	uint32_t event_wakes;		    /* number of calls of cygnet_event_wake() */

	struct spd_list spd[LAYOUT_SPD_LISTS] CYGNET_ALIGNED;
};

/** A replay window of more than REPLAY_INLINE_MAX packets. */
struct replay_block {
	uint64_t word[REPLAY_BLOCK_WORDS];
	uint64_t owned; /* used only by window_rebuild() */
};

/** A place for an address that charon sends IKE to, see ike_dst.c. */
struct ike_dst {
	uint64_t dst[2]; /* struct cygnet_addr; atomic */
	uint64_t state;	 /* atomic */
	uint64_t reserved;
};

/** An open file. */
struct cygnet_db {
	int fd;
	char *path;
	size_t size; /* of the mapping, bytes */
	/* repair() of repair.h. It uses all that takes the lock, so the lock calls it without knowing it. */
	void (*repair)(struct cygnet_db *db);
	unsigned int roles;  /* held by this process, one bit each */
	uint32_t wakes_seen; /* value of header.event_wakes when last read */
	/* Random numbers for SPIs, read from the kernel in batches. Under the mutex. */
	uint64_t random[32];
	unsigned int randoms; /* number of unused entries of random */
	/* Copied from the header after it was checked, so that a damaged header cannot change
	 * the bounds of an index. */
	struct cygnet_geometry geometry;
	uint32_t sa_mask, policy_mask, net_mask; /* buckets - 1 */
	uint32_t ike_dst_mask;			 /* places - 1 */
	uint32_t replay_blocks;
	uint64_t features, seed;

	struct header *header;
	uint32_t *sa_table, *policy_table; /* references */
	struct peer_net *peer_nets;	   /* hash table, see place.h */
	uint32_t *sharing;		   /* as many counters, see place.h */
	struct cygnet_sa *sas;
	struct cygnet_policy *policies;
	struct replay_block *replay;
	struct cygnet_event *events;
	struct ike_dst *ike_dst; /* hash table; NULL: the file has none */
};

_Static_assert(LAYOUT_FEATURES == (LAYOUT_OUT_BY_PEER | LAYOUT_IKE_DST | LAYOUT_IF_ID),
	       "all features");
_Static_assert(sizeof(struct reader) == CYGNET_CACHE_LINE, "two readers must not share a line");
_Static_assert(offsetof(struct header, epoch) % CYGNET_CACHE_LINE == 0 &&
		       offsetof(struct header, reader) % CYGNET_CACHE_LINE == 0 &&
		       offsetof(struct header, event_tail) % CYGNET_CACHE_LINE == 0 &&
		       offsetof(struct header, event_head) % CYGNET_CACHE_LINE == 0,
	       "fields of different writers must not share a cache line");
_Static_assert(sizeof(struct cygnet_event) == 104, "a change of size needs a new ABI version");
_Static_assert((LAYOUT_EVENTS & (LAYOUT_EVENTS - 1)) == 0, "counters wrap at 2^32");

/** Compute header size, buckets, offsets and file size from the geometry. */
void layout_init(struct fixed *fixed);
/** Places for addresses that charon sends IKE to, within CYGNET_IKE_SENT_S: one for four SAs, but at least 1024. A power of two. */
uint32_t layout_ike_dsts(const struct fixed *fixed);
/** Offset of the first of them; 0: the file has none. */
uint64_t layout_ike_dst(const struct fixed *fixed);
/** FNV-1a over all fields except the checksum. */
uint64_t layout_checksum(const struct fixed *fixed);

/* Number of slots of a pool that were ever used, at most capacity even if the file is damaged. */
static inline uint32_t pool_fresh(const struct pool *pool, uint32_t capacity)
{
	return pool->fresh < capacity ? pool->fresh : capacity;
}

/* The index of a reference. @return CYGNET_NONE if the reference is 0 or out of range */
static inline uint32_t ref_index(uint32_t ref, uint32_t capacity)
{
	return ref - 1 < capacity ? ref - 1 : CYGNET_NONE;
}

#endif

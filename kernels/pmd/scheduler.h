/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file scheduler.h
 * PIPSEA's packet scheduler (CCS'16, section 3.3): the packets of a launch go
 * into bins that are labelled with an algorithm and a range of lengths. A bin is
 * a work-group, so its work-items take the same branches for about as long;
 * and bins that take longest are launched first, so that they do not run alone at the end.
 * Packets stay in place: the order table says which work-item takes which one.
 */
#ifndef OCL_SCHED_H
#define OCL_SCHED_H

#include <stdbool.h>

#include "inc_types.h"

/* How packets are ordered; each of PIPSEA's levels includes those before (the paper's figure 9). */
enum ocl_level {
	OCL_SCHED_NONE,	     /* bins filled in order of arrival */
	OCL_SCHED_ALGORITHM, /* a bin for packets of one algorithm */
	OCL_SCHED_LENGTH,    /* and of one range of lengths */
	OCL_SCHED_ALL,	     /* bins sorted */
	/* The default: as ALGORITHM where a launch has an order table, with so many bins that no packet
	 * is left over; as NONE where packets bring their heads, which need no table (heads.h), and on a CPU,
	 * unless packets have several lanes. */
	OCL_SCHED_AUTO
};

/* Labels, numbered without gaps. */
#define OCL_KINDS (OCL_CIPHERS * OCL_AUTHS * OCL_FLAGS)

static inline uint32_t ocl_kind(uint32_t label)
{
	return (OCL_LABEL_CIPHER(label) * OCL_AUTHS + OCL_LABEL_AUTH(label)) * OCL_FLAGS +
	       OCL_LABEL_FLAGS(label);
}

/* Nanoseconds for a bin: to start it, and for each byte of its longest packet. */
struct ocl_cost {
	float start, byte;
};

/* The scheduler's parameters of a device. */
struct ocl_sched {
	uint32_t chunk;	      /* packets of a launch, at most */
	uint32_t bins;	      /* of a launch, at most */
	uint32_t bin_size;    /* packets; the size of a work-group */
	uint32_t granularity; /* size of a range of lengths, bytes */
	uint32_t lanes;	      /* work-items that share a packet, at most; a power of two */
	uint32_t items;	      /* work-items up to which lanes are given to packets */
	enum ocl_level level;
	struct ocl_cost cost[OCL_KINDS]; /* measured: cost.h */
};

struct ocl_bin {
	uint32_t key;
	uint32_t used;
	uint32_t kind;
	uint32_t serial;  /* the kind of the work that lanes cannot share */
	uint32_t longest; /* bytes */
	bool parallel;	  /* ocl_is_parallel() of its label */
	float cost;
};

/* The bins of one launch. */
struct ocl_bins {
	const struct ocl_sched *sched;
	struct ocl_bin *bin;
	uint32_t *record;	  /* bin_size for each bin */
	uint32_t *sorted;	  /* bins, longest first */
	uint16_t *open;		  /* the bin with that key that has room, + 1; 0: none */
	uint32_t used;		  /* bins that have a label */
	uint32_t ranges;	  /* of lengths */
	uint32_t label, len, key; /* of the last packet, if known */
	bool known;		  /* there was a packet */
};

struct ocl_args;
struct ocl_device;

/**
 * Set the parameters from the arguments and the device's capabilities.
 * @return 0, or -EINVAL if the device cannot have bins that large, logged
 */
int ocl_sched_init(struct ocl_sched *sched, const struct ocl_args *args,
		   const struct ocl_device *dev);

/** @return 0 or -ENOMEM; free after failure, too */
int ocl_bins_init(struct ocl_bins *bins, const struct ocl_sched *sched);
void ocl_bins_free(struct ocl_bins *bins);

/**
 * The bin for a packet: one with its label that has room, else an empty one.
 * @param len  bytes that are processed
 * @return its index, or -1 if there is neither
 */
int ocl_bins_find(struct ocl_bins *bins, uint32_t label, uint32_t len);

/** The key that all packets of a launch with heads have in common: that of their bin, or with
 * OCL_SCHED_AUTO the same for all. */
uint32_t ocl_bins_heads_key(struct ocl_bins *bins, uint32_t label, uint32_t len);

/** How many lanes each of so many packets can have. @param parallel  ocl_is_parallel() of all labels */
uint32_t ocl_sched_lanes(const struct ocl_sched *sched, bool parallel, uint32_t packets);

/** Entries of the order table, at most. */
static inline uint32_t ocl_sched_entries(const struct ocl_sched *sched)
{
	uint32_t entries = sched->bins * sched->bin_size;

	return sched->items > entries ? sched->items : entries;
}

/** Put a record there. @param bin  from ocl_bins_find() */
void ocl_bins_put(struct ocl_bins *bins, int bin, uint32_t len, uint32_t record);

/**
 * Write the order table: the record of each work-item, OCL_NO_RECORD where a bin is not full. A bin
 * whose label is parallel becomes several work-groups if the device has work-items to spare:
 * few packets get many lanes, many packets get one.
 * @param[out] order  room for ocl_sched_entries()
 * @return how many work-items, a multiple of bin_size
 */
uint32_t ocl_bins_order(struct ocl_bins *bins, uint32_t *order);

/** Make them empty. */
void ocl_bins_reset(struct ocl_bins *bins);

#endif

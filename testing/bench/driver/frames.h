/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file frames.h
 * Sets of frames, read from pcap files.
 */
#ifndef BENCH_FRAMES_H
#define BENCH_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "control.h"

/* Frames are copied in steps of this many bytes, and aligned to it. */
#define FRAME_STEP 64u

struct frame {
	const uint8_t *data;
	uint16_t len;  /* bytes on the wire */
	uint16_t copy; /* bytes of data; the others are what the packet buffer contains */
};

/* A set of frames. */
struct frames {
	unsigned int port;   /* number of the port that is their source */
	bool in_turn;	     /* distribute frames to queues round-robin, not by addresses */
	uint32_t n;	     /* number of frames */
	struct frame *frame; /* sorted by queue */
	uint32_t first[BENCH_QUEUES + 1]; /* index of the first frame of each queue */
	uint8_t *data;
};

/**
 * Read a list of sets. A line has the number of a port, the path of a pcap file, and optionally
 * the word "turn", which sets in_turn.
 * A truncated record (with fewer bytes in the file than on the wire) becomes a frame of full
 * length, whose end is not written. This is for plaintext, of which only the headers matter.
 * @param[out] n  number of sets
 * @return        the sets, which are never freed; NULL on an error, with a message on stderr
 */
struct frames *frames_load(const char *list, unsigned int *n);

/**
 * Distribute a set among queues: by addresses, as a network card does (RSS with DPDK's usual
 * key), or round-robin.
 * @return 0 or -ENOMEM
 */
int frames_share(struct frames *set, unsigned int queues);

#endif

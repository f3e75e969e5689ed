/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file frames.h
 * Sets of frames to offer, read from pcap files.
 */
#ifndef BENCH_FRAMES_H
#define BENCH_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "control.h"

/* Copied whole, in steps of this many bytes. */
#define FRAME_STEP 64u

struct frame {
	const uint8_t *data;
	uint16_t len;  /* bytes on the wire */
	uint16_t copy; /* of them are given, the rest is whatever the buffer holds */
};

struct frames {
	unsigned int port; /* that offers them */
	bool in_turn;	   /* the queues get them in turn, not by flow */
	uint32_t n;
	struct frame *frame; /* by queue */
	uint32_t first[BENCH_QUEUES + 1]; /* of each queue */
	uint8_t *data;
};

/**
 * Read a list of sets: lines of a port's number, a pcap file's path and, if a card is to
 * know more of flows than their addresses, the word "turn".
 * A record that was cut short (its length on the wire is larger than what the
 * file has) makes a frame of the full length whose end is not written: for
 * plaintext, of which only the headers matter.
 * @param n    receives how many sets there are
 * @return     the sets, or NULL with a message on stderr; they live as long as the process
 */
struct frames *frames_load(const char *list, unsigned int *n);

/**
 * Share a set out among so many queues, by addresses as a card does (RSS with DPDK's
 * usual key), or in turn.
 * @return 0 or -ENOMEM
 */
int frames_share(struct frames *set, unsigned int queues);

#endif

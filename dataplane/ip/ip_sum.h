/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ip_sum.h
 * The checksum of an IPv4 header (RFC 791, 3.1), a word at a time: DPDK's goes by
 * 16 bits and through a loop that the compiler does not unroll.
 */
#ifndef CYGNETD_IP_SUM_H
#define CYGNETD_IP_SUM_H

#include <stdint.h>
#include <string.h>

/**
 * The sum of a header as it is.
 * @param ip   at any alignment
 * @param len  bytes, a multiple of 4, 20 to 60
 * @return 0xffff if the checksum in it is right
 */
static inline uint16_t ip_sum(const void *ip, unsigned int len)
{
	const uint8_t *at = (const uint8_t *)ip;
	uint64_t first, second, sum;
	uint32_t word;

	/* Each by itself: an array of them would be written to memory first. */
	memcpy(&first, at, sizeof(first));
	memcpy(&second, at + 8, sizeof(second));
	memcpy(&word, at + 16, sizeof(word));
	sum = (first & UINT32_MAX) + (first >> 32) + (second & UINT32_MAX) + (second >> 32) + word;
	for (unsigned int off = 20; off < len; off += sizeof(word)) {
		memcpy(&word, at + off, sizeof(word));
		sum += word;
	}
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/** What belongs into the header's checksum field, which is 0 now. */
static inline uint16_t ip_checksum(const void *ip, unsigned int len)
{
	return (uint16_t)~ip_sum(ip, len);
}

#endif

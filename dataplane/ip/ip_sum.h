/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file ip_sum.h
 * The checksum of an IPv4 header (RFC 791, 3.1), by words of 32 bits. DPDK's function takes 16 bits at
 * a time, in a loop that the compiler does not unroll.
 */
#ifndef CYGNETD_IP_SUM_H
#define CYGNETD_IP_SUM_H

#include <stdint.h>
#include <string.h>

/**
 * The one's complement sum of a header, including its checksum field.
 * @param ip   at any alignment
 * @param len  bytes, a multiple of 4, 20 to 60
 * @return 0xffff: the checksum is correct
 */
static inline uint16_t ip_sum(const void *ip, unsigned int len)
{
	const uint8_t *bytes = (const uint8_t *)ip;
	uint64_t first, second, sum;
	uint32_t word;

	/* Separate variables: an array would be stored to memory first. */
	memcpy(&first, bytes, sizeof(first));
	memcpy(&second, bytes + 8, sizeof(second));
	memcpy(&word, bytes + 16, sizeof(word));
	sum = (first & UINT32_MAX) + (first >> 32) + (second & UINT32_MAX) + (second >> 32) + word;
	for (unsigned int off = 20; off < len; off += sizeof(word)) {
		memcpy(&word, bytes + off, sizeof(word));
		sum += word;
	}
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/** The checksum of a header whose checksum field is 0. */
static inline uint16_t ip_checksum(const void *ip, unsigned int len)
{
	return (uint16_t)~ip_sum(ip, len);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * DPDK's library for pcapng files, with the arguments of each DPDK release that Cygnet is built with. */
#ifndef DPDK_PCAPNG_H
#define DPDK_PCAPNG_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_pcapng.h>

#include "dpdk_release.h"

/* An Ethernet port as an interface of the file. DPDK 22.11 lists all ports by itself. */
static inline bool dpdk_pcapng_add_interface(rte_pcapng_t *file, uint16_t device, const char *name)
{
#if DPDK_SINCE(25, 11)
	return rte_pcapng_add_interface(file, device, 1 /* Ethernet */, name, NULL, NULL) >= 0;
#elif DPDK_SINCE(23, 11)
	return rte_pcapng_add_interface(file, device, name, NULL, NULL) >= 0;
#else
	(void)file;
	(void)device;
	(void)name;
	return true;
#endif
}

/* @return bytes, negative after an error */
static inline ssize_t dpdk_pcapng_write_stats(rte_pcapng_t *file, uint16_t device, uint64_t packets,
					      uint64_t missed)
{
#if DPDK_SINCE(23, 11)
	return rte_pcapng_write_stats(file, device, packets, missed, NULL);
#else
	return rte_pcapng_write_stats(file, device, NULL, 0, 0, packets, missed);
#endif
}

#if !DPDK_SINCE(23, 11)
/* Put a comment behind the last option of an Enhanced Packet Block, where its length stands for the second
 * time, and the end of options behind it (draft-ietf-opsawg-pcapng, 3.5). */
static inline bool dpdk_pcapng_add_comment(struct rte_mbuf *block, const char *comment)
{
	const uint32_t length_offset = 4; /* of the first length of the block, bytes */
	uint16_t option[2] = {1 /* a comment */, (uint16_t)strlen(comment)};
	uint16_t padded = (uint16_t)RTE_ALIGN_CEIL(option[1], 4);
	uint16_t added = (uint16_t)(2 * sizeof(option) + padded);
	uint32_t total = rte_pktmbuf_pkt_len(block) + added;
	char *end;

	if (block->nb_segs != 1)
		return false;
	end = rte_pktmbuf_append(block, added);
	if (!end)
		return false;
	end -= sizeof(total);
	memcpy(end, option, sizeof(option));
	memset(end + sizeof(option), 0, added - sizeof(option));
	memcpy(end + sizeof(option), comment, option[1]);
	memcpy(end + added, &total, sizeof(total));
	memcpy(rte_pktmbuf_mtod_offset(block, char *, length_offset), &total, sizeof(total));
	return true;
}
#endif

/* As rte_pcapng_copy() since 23.11, of queue 0: that of DPDK 22.11 takes no comment. */
static inline struct rte_mbuf *dpdk_pcapng_copy(uint16_t device, const struct rte_mbuf *m,
						struct rte_mempool *pool, uint32_t length,
						enum rte_pcapng_direction direction,
						const char *comment)
{
#if DPDK_SINCE(23, 11)
	return rte_pcapng_copy(device, 0, m, pool, length, direction, comment);
#else
	struct rte_mbuf *block = rte_pcapng_copy(device, 0, m, pool, length, rte_get_tsc_cycles(),
						 direction);

	if (block && !dpdk_pcapng_add_comment(block, comment)) {
		rte_pktmbuf_free(block);
		return NULL;
	}
	return block;
#endif
}

#endif

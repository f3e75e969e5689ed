/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_thash.h>

#include "frames.h"

#define PCAP_MAGIC    0xa1b2c3d4u
#define PCAP_HEADER   24u
#define RECORD_HEADER 16u
#define LARGEST_FRAME 2000u
#define HUGE	      (2u << 20)
#define MAX_SETS      256u

/* The header of a frame in a pcap file. */
struct record {
	uint32_t sec, usec, kept, len;
};

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *in = fopen(path, "rb");
	uint8_t *data = NULL;
	long end;

	if (!in)
		return NULL;
	if (fseek(in, 0, SEEK_END) == 0 && (end = ftell(in)) >= (long)PCAP_HEADER) {
		rewind(in);
		*size = (size_t)end;
		data = malloc(*size);
		if (data && fread(data, 1, *size, in) != *size) {
			free(data);
			data = NULL;
		}
	}
	fclose(in);
	return data;
}

/* Read the record at an offset. @return whether it is valid and complete */
static int record_at(const uint8_t *file, size_t size, size_t offset, struct record *record)
{
	if (offset + RECORD_HEADER > size)
		return 0;
	memcpy(record, file + offset, sizeof(*record));
	return record->kept && record->kept <= record->len && record->len <= LARGEST_FRAME &&
	       record->kept <= size - offset - RECORD_HEADER;
}

static uint32_t count_records(const uint8_t *file, size_t size, size_t *bytes)
{
	struct record record;
	uint32_t n = 0;

	*bytes = 0;
	for (size_t offset = PCAP_HEADER; record_at(file, size, offset, &record);
	     offset += RECORD_HEADER + record.kept, n++)
		*bytes += RTE_ALIGN_CEIL(record.kept, FRAME_STEP);
	return n;
}

static void fill(struct frames *set, const uint8_t *file)
{
	size_t offset = PCAP_HEADER;
	uint8_t *to = set->data;
	struct record record;

	for (uint32_t i = 0; i < set->n; i++) {
		memcpy(&record, file + offset, sizeof(record));
		memcpy(to, file + offset + RECORD_HEADER, record.kept);
		set->frame[i] = (struct frame){to, (uint16_t)record.len, (uint16_t)record.kept};
		to += RTE_ALIGN_CEIL(record.kept, FRAME_STEP);
		offset += RECORD_HEADER + record.kept;
	}
}

static int load_set(struct frames *set, const char *path)
{
	size_t size = 0, bytes;
	uint8_t *file = read_file(path, &size);
	uint32_t magic;

	if (!file)
		return -(errno ? errno : EINVAL);
	memcpy(&magic, file, sizeof(magic));
	set->n = magic == PCAP_MAGIC ? count_records(file, size, &bytes) : 0;
	if (!set->n) {
		free(file);
		return -EINVAL;
	}
	set->frame = calloc(set->n, sizeof(set->frame[0]));
	set->data = aligned_alloc(HUGE, RTE_ALIGN_CEIL(bytes, (size_t)HUGE));
	if (!set->frame || !set->data) {
		free(file);
		return -ENOMEM;
	}
	/* TLB misses of the bench would count as the gateway's time. */
	madvise(set->data, RTE_ALIGN_CEIL(bytes, (size_t)HUGE), MADV_HUGEPAGE);
	fill(set, file);
	free(file);
	return 0;
}

/* Microsoft's RSS key, which network cards and DPDK's examples use. */
static uint8_t rss_key[40] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

/* RSS hash of source and destination address. Network cards have none for other frames, such as ARP: they go to the
 * first queue. */
static uint32_t hash(const struct frame *frame)
{
	const struct rte_ether_hdr *eth = (const void *)frame->data;
	bool v6 = eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6);
	unsigned int words = v6 ? 8 : 2;
	unsigned int offset = v6 ? offsetof(struct rte_ipv6_hdr, src_addr)
				 : offsetof(struct rte_ipv4_hdr, src_addr);
	uint32_t tuple[8];

	if (!v6 && eth->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return 0;
	memcpy(tuple, frame->data + sizeof(*eth) + offset, words * sizeof(tuple[0]));
	for (unsigned int i = 0; i < words; i++)
		tuple[i] = rte_be_to_cpu_32(tuple[i]);
	return rte_softrss(tuple, words, rss_key);
}

/* The queue of frame i. The redirection table of a network card has 128 entries. */
static unsigned int queue_of(const struct frames *set, uint32_t i, unsigned int queues)
{
	return (set->in_turn ? i : hash(&set->frame[i]) % 128) % queues;
}

int frames_share(struct frames *set, unsigned int queues)
{
	struct frame *shared = calloc(set->n, sizeof(*shared));
	uint32_t n = 0;

	if (!shared)
		return -ENOMEM;
	for (unsigned int q = 0; q < queues; q++) {
		set->first[q] = n;
		for (uint32_t i = 0; i < set->n; i++)
			if (queue_of(set, i, queues) == q)
				shared[n++] = set->frame[i];
	}
	set->first[queues] = n;
	free(set->frame);
	set->frame = shared;
	return 0;
}

/* @return false: the list has no further valid line */
static bool read_line(FILE *in, struct frames *set, char *path)
{
	char line[600], spread[8] = "";

	if (!fgets(line, sizeof(line), in) ||
	    sscanf(line, "%u %511s %7s", &set->port, path, spread) < 2)
		return false;
	set->in_turn = !strcmp(spread, "turn");
	return true;
}

struct frames *frames_load(const char *list, unsigned int *n)
{
	static struct frames sets[MAX_SETS];
	FILE *in = fopen(list, "r");
	char path[512];
	int err = in ? 0 : -errno;

	for (*n = 0; !err && *n < MAX_SETS; (*n)++) {
		if (!read_line(in, &sets[*n], path))
			break;
		err = load_set(&sets[*n], path);
		if (err)
			fprintf(stderr, "net_bench: %s: %s\n", path, strerror(-err));
	}
	if (in)
		fclose(in);
	if (err || !*n) {
		fprintf(stderr, "net_bench: %s: no frames\n", list);
		return NULL;
	}
	return sets;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>

#include "frames.h"

#define PCAP_MAGIC 0xa1b2c3d4u
#define PCAP_HEADER 24u
#define RECORD_HEADER 16u
#define LARGEST_FRAME 2000u
#define HUGE (2u << 20)
#define MAX_SETS 256u

/* What precedes a frame in the file. */
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

/* @return whether a whole record starts there */
static int record_at(const uint8_t *file, size_t size, size_t at, struct record *record)
{
	if (at + RECORD_HEADER > size)
		return 0;
	memcpy(record, file + at, sizeof(*record));
	return record->kept && record->kept <= record->len && record->len <= LARGEST_FRAME &&
	       record->kept <= size - at - RECORD_HEADER;
}

static uint32_t count_records(const uint8_t *file, size_t size, size_t *bytes)
{
	struct record record;
	uint32_t n = 0;

	*bytes = 0;
	for (size_t at = PCAP_HEADER; record_at(file, size, at, &record);
	     at += RECORD_HEADER + record.kept, n++)
		*bytes += RTE_ALIGN_CEIL(record.kept, FRAME_STEP);
	return n;
}

static void fill(struct frames *set, const uint8_t *file)
{
	size_t at = PCAP_HEADER;
	uint8_t *to = set->data;
	struct record record;

	for (uint32_t i = 0; i < set->n; i++) {
		memcpy(&record, file + at, sizeof(record));
		memcpy(to, file + at + RECORD_HEADER, record.kept);
		set->frame[i] = (struct frame){to, (uint16_t)record.len, (uint16_t)record.kept};
		to += RTE_ALIGN_CEIL(record.kept, FRAME_STEP);
		at += RECORD_HEADER + record.kept;
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
	/* Misses of the TLB would be the bench's, not the gateway's. */
	madvise(set->data, RTE_ALIGN_CEIL(bytes, (size_t)HUGE), MADV_HUGEPAGE);
	fill(set, file);
	free(file);
	return 0;
}

struct frames *frames_load(const char *list, unsigned int *n)
{
	static struct frames sets[MAX_SETS];
	FILE *in = fopen(list, "r");
	char path[512];
	int err = in ? 0 : -errno;

	for (*n = 0; !err && *n < MAX_SETS; (*n)++) {
		if (fscanf(in, "%u %511s", &sets[*n].port, path) != 2)
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

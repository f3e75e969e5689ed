/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "args.h"
#include "device.h"
#include "log.h"
#include "scheduler.h"

#define LONGEST	      16384 /* bytes; longer packets are all of one range */
#define BIN_SIZE      32
#define CHUNK_OF_CPU  256
#define CHUNK_OF_GPU  2048 /* two under way on each of four queue pairs fill the bus */
#define LANES_OF_CPU  1
#define LANES_OF_GPU  8	  /* for launches that do not keep the device busy */
#define ITEMS_OF_UNIT 128 /* a warp for each of a multiprocessor's schedulers */

static enum ocl_level level_of(const char *name)
{
	static const char *const names[] = {
		[OCL_SCHED_NONE] = "none",     [OCL_SCHED_ALGORITHM] = "algorithm",
		[OCL_SCHED_LENGTH] = "length", [OCL_SCHED_ALL] = "all",
		[OCL_SCHED_AUTO] = "auto",
	};
	unsigned int i = 0;

	while (i < OCL_SCHED_AUTO && strcmp(name, names[i]) != 0)
		i++;
	return i;
}

static uint32_t divide(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

/* The largest power of two up to asked that divides a work-group. */
static uint32_t lanes_of(uint32_t asked, uint32_t bin_size)
{
	uint32_t lanes = 1;

	while (2 * lanes <= asked && bin_size % (2 * lanes) == 0)
		lanes *= 2;
	return lanes;
}

/* Enough for any mix of packets: the bins that a chunk fills, and a part-filled one of each kind. */
static uint32_t bins_for_all(const struct ocl_sched *sched)
{
	return RTE_MIN(sched->chunk, divide(sched->chunk, sched->bin_size) + OCL_KINDS);
}

int ocl_sched_init(struct ocl_sched *sched, const struct ocl_args *args,
		   const struct ocl_device *dev)
{
	memset(sched, 0, sizeof(*sched));
	sched->chunk = args->chunk ? args->chunk : dev->cpu ? CHUNK_OF_CPU : CHUNK_OF_GPU;
	sched->granularity = args->granularity;
	sched->level = level_of(args->sched);
	sched->bins = args->bins;
	sched->bin_size = args->bins ? divide(sched->chunk, args->bins) : BIN_SIZE;
	sched->bin_size = divide(sched->bin_size, dev->group_multiple) * dev->group_multiple;
	/* With many labels many bins stay part-filled. */
	if (sched->bins == 0)
		sched->bins = 2 * divide(sched->chunk, sched->bin_size);
	sched->items = sched->bins * sched->bin_size;
	if (sched->bin_size > dev->max_group) {
		OCL_LOG(ERR, "chunk=%u in bins=%u makes work-groups of %u; %s can have %zu",
			sched->chunk, sched->bins, sched->bin_size, dev->name, dev->max_group);
		return -EINVAL;
	}
	sched->lanes = lanes_of(args->lanes ? args->lanes
				: dev->cpu  ? LANES_OF_CPU
					    : LANES_OF_GPU,
				sched->bin_size);
	/* A CPU runs work-items one after another: only lanes gain by grouping. */
	if (sched->level == OCL_SCHED_AUTO && dev->cpu && sched->lanes == 1)
		sched->level = OCL_SCHED_NONE;
	if (sched->level == OCL_SCHED_AUTO)
		sched->bins = bins_for_all(sched);
	if (!dev->cpu)
		sched->items = RTE_MAX(sched->items, dev->units * ITEMS_OF_UNIT);
	return 0;
}

int ocl_bins_init(struct ocl_bins *bins, const struct ocl_sched *sched)
{
	memset(bins, 0, sizeof(*bins));
	bins->sched = sched;
	bins->ranges = LONGEST / sched->granularity + 1;
	bins->bin = calloc(sched->bins, sizeof(*bins->bin));
	bins->record = calloc((size_t)sched->bins * sched->bin_size, sizeof(*bins->record));
	bins->sorted = calloc(sched->bins, sizeof(*bins->sorted));
	bins->open = calloc(OCL_KINDS * bins->ranges, sizeof(*bins->open));
	return bins->bin && bins->record && bins->sorted && bins->open ? 0 : -ENOMEM;
}

void ocl_bins_free(struct ocl_bins *bins)
{
	free(bins->bin);
	free(bins->record);
	free(bins->sorted);
	free(bins->open);
	memset(bins, 0, sizeof(*bins));
}

static uint32_t key_of(const struct ocl_bins *bins, uint32_t kind, uint32_t len)
{
	const struct ocl_sched *sched = bins->sched;

	if (sched->level == OCL_SCHED_NONE)
		return 0;
	if (sched->level == OCL_SCHED_ALGORITHM || sched->level == OCL_SCHED_AUTO)
		return kind * bins->ranges;
	return kind * bins->ranges + RTE_MIN(len, (uint32_t)LONGEST) / sched->granularity;
}

/* The kind of the work that lanes do not share: the authentication. */
static uint32_t serial_of(uint32_t label)
{
	bool chain = OCL_LABEL_CIPHER(label) != OCL_CIPHER_NONE;
	u32 auth = chain ? OCL_LABEL_AUTH(label) : 0;

	/* CCM's CBC-MAC takes as long as XCBC-MAC. */
	if (OCL_LABEL_CIPHER(label) == OCL_CIPHER_AES_CCM)
		auth = OCL_AUTH_AES_XCBC;
	return ocl_kind(OCL_LABEL(0, auth, OCL_LABEL_FLAGS(label)));
}

/* Most packets have the label and length of the one before. */
static uint32_t find_key(struct ocl_bins *bins, uint32_t label, uint32_t len)
{
	if (bins->known && bins->label == label && bins->len == len)
		return bins->key;
	bins->known = true;
	bins->label = label;
	bins->len = len;
	bins->key = key_of(bins, ocl_kind(label), len);
	return bins->key;
}

uint32_t ocl_bins_heads_key(struct ocl_bins *bins, uint32_t label, uint32_t len)
{
	return bins->sched->level == OCL_SCHED_AUTO ? 0 : find_key(bins, label, len);
}

int ocl_bins_find(struct ocl_bins *bins, uint32_t label, uint32_t len)
{
	uint32_t key = find_key(bins, label, len);
	uint32_t index;

	if (bins->open[key])
		return bins->open[key] - 1;
	if (bins->used == bins->sched->bins)
		return -1;
	index = bins->used++;
	bins->bin[index] = (struct ocl_bin){
		.key = key,
		.kind = ocl_kind(label),
		.serial = serial_of(label),
		.parallel = bins->sched->level != OCL_SCHED_NONE && ocl_is_parallel(label),
	};
	bins->open[key] = index + 1;
	return index;
}

void ocl_bins_put(struct ocl_bins *bins, int index, uint32_t len, uint32_t record)
{
	struct ocl_bin *bin = &bins->bin[index];
	uint32_t size = bins->sched->bin_size;

	bins->record[index * size + bin->used++] = record;
	bin->longest = RTE_MAX(bin->longest, len);
	if (bin->used == size)
		bins->open[bin->key] = 0;
}

/* Work-items of a bin, whole work-groups. */
static uint32_t items_of(const struct ocl_bins *bins, const struct ocl_bin *bin, uint32_t lanes)
{
	return RTE_ALIGN_MUL_CEIL(bin->used * (bin->parallel ? lanes : 1), bins->sched->bin_size);
}

static uint32_t count_items(const struct ocl_bins *bins, uint32_t lanes)
{
	uint32_t items = 0;

	for (uint32_t i = 0; i < bins->used; i++)
		items += items_of(bins, &bins->bin[i], lanes);
	return items;
}

/* As many lanes as the device has work-items for. */
static uint32_t choose_lanes(const struct ocl_bins *bins)
{
	uint32_t lanes = bins->sched->lanes;

	while (lanes > 1 && count_items(bins, lanes) > bins->sched->items)
		lanes /= 2;
	return lanes;
}

uint32_t ocl_sched_lanes(const struct ocl_sched *sched, bool parallel, uint32_t packets)
{
	uint32_t lanes = sched->lanes;

	if (sched->level == OCL_SCHED_NONE || !parallel)
		return 1;
	while (lanes > 1 && RTE_ALIGN_MUL_CEIL(packets * lanes, sched->bin_size) > sched->items)
		lanes /= 2;
	return lanes;
}

static float cost_of(const struct ocl_bins *bins, const struct ocl_bin *bin, uint32_t lanes)
{
	const struct ocl_cost *all = &bins->sched->cost[bin->kind];
	const struct ocl_cost *serial = &bins->sched->cost[bin->serial];
	float cost = all->start + all->byte * bin->longest;
	float alone = serial->start + serial->byte * bin->longest;

	if (!bin->parallel || alone >= cost)
		return cost;
	return alone + (cost - alone) / lanes;
}

/* Longest first: few bins, and most already in order when labels are few. */
static void sort(struct ocl_bins *bins, uint32_t lanes)
{
	for (uint32_t i = 0; i < bins->used; i++) {
		struct ocl_bin *bin = &bins->bin[i];
		uint32_t place = i;

		bin->cost = cost_of(bins, bin, lanes);
		for (; place > 0 && bins->bin[bins->sorted[place - 1]].cost < bin->cost; place--)
			bins->sorted[place] = bins->sorted[place - 1];
		bins->sorted[place] = i;
	}
}

/* A bin's work-items; returns how many. */
static uint32_t order_bin(const struct ocl_bins *bins, uint32_t index, uint32_t lanes,
			  uint32_t *order)
{
	const struct ocl_bin *bin = &bins->bin[index];
	const uint32_t *record = bins->record + index * bins->sched->bin_size;
	const uint32_t items = items_of(bins, bin, lanes);
	uint32_t n = 0;

	if (!bin->parallel)
		lanes = 1;
	for (uint32_t i = 0; i < bin->used; i++) {
		for (uint32_t lane = 0; lane < lanes; lane++)
			order[n++] = OCL_ENTRY(record[i], lane, lanes);
	}
	while (n < items)
		order[n++] = OCL_NO_RECORD;
	return n;
}

uint32_t ocl_bins_order(struct ocl_bins *bins, uint32_t *order)
{
	uint32_t lanes = choose_lanes(bins), items = 0;

	if (bins->sched->level == OCL_SCHED_ALL) {
		sort(bins, lanes);
	} else {
		for (uint32_t i = 0; i < bins->used; i++)
			bins->sorted[i] = i;
	}
	for (uint32_t i = 0; i < bins->used; i++)
		items += order_bin(bins, bins->sorted[i], lanes, order + items);
	return items;
}

void ocl_bins_reset(struct ocl_bins *bins)
{
	for (uint32_t i = 0; i < bins->used; i++)
		bins->open[bins->bin[i].key] = 0;
	bins->used = 0;
}

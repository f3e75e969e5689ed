/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include <rte_common.h>

#include "heads.h"
#include "memory.h"

#define SLACK 64 /* bytes between a head and its packet, at most */
#define WORD  4u /* alignment of heads on the device, bytes */

/* Aligns the encrypted range of the first packet on the device. */
static uint32_t shift_of(const struct ocl_header *header)
{
	return -header->start % OCL_ALIGN;
}

static bool has_room(const struct ocl_header *header)
{
	return header->from >= sizeof(struct ocl_head) + header->aad + WORD;
}

bool ocl_heads_suit(const struct ocl_heads *heads, const struct ocl_header *header)
{
	uint32_t behind = heads->column + sizeof(struct ocl_head);

	if (heads->runs == 0)
		return has_room(header);
	if (header->pool != heads->pool || header->key != heads->key || header->aad != heads->aad ||
	    header->from < behind || header->from - behind > SLACK)
		return false;
	return heads->runs < OCL_HEAD_RUNS || ocl_heads_continued(heads, header->row);
}

static void begin(struct ocl_heads *heads, const struct ocl_header *header)
{
	heads->pool = header->pool;
	heads->parallel = true;
	heads->key = header->key;
	heads->aad = header->aad;
	heads->shift = shift_of(header);
	/* Right in front of the packet, in a cache line that is written anyway: one more cache miss for each
	 * packet would cost more than all other work for its head. */
	heads->column = header->from + heads->shift - (uint32_t)sizeof(struct ocl_head);
	heads->column = RTE_ALIGN_FLOOR(heads->column, WORD) - heads->shift;
	heads->to = 0;
}

u8 *ocl_heads_add(struct ocl_heads *heads, const struct ocl_header *header, bool second)
{
	struct ocl_head_run *run;

	if (heads->runs == 0)
		begin(heads, header);
	if (!ocl_heads_continued(heads, header->row))
		heads->run[heads->runs++] = (struct ocl_head_run){.row = header->row,
								  .second = second};
	run = &heads->run[heads->runs - 1];
	run->rows++;
	heads->parallel = heads->parallel && ocl_is_parallel(header->label);
	heads->to = RTE_MAX(heads->to, header->to);
	return heads->pool->start + (second ? heads->pool->twin : 0) +
	       (size_t)header->row * heads->pool->pitch + heads->column;
}

void ocl_heads_describe(const struct ocl_heads *heads, uint32_t lanes, struct ocl_head_rows *rows)
{
	const uint32_t pitch = heads->pool->mirror_pitch;

	memset(rows, 0, sizeof(*rows));
	for (uint32_t i = 0; i < heads->runs; i++) {
		rows->first[i] = heads->run[i].row * pitch + heads->column + heads->shift;
		rows->rows[i] = heads->run[i].rows;
	}
	rows->pitch = pitch;
	rows->lanes = lanes;
}

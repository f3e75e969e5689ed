/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "memory.h"
#include "rows.h"

int ocl_rows_init(struct ocl_rows *rows, uint32_t max)
{
	memset(rows, 0, sizeof(*rows));
	rows->row = calloc(max, sizeof(*rows->row));
	rows->run = calloc(max, sizeof(*rows->run));
	return rows->row && rows->run ? 0 : -ENOMEM;
}

void ocl_rows_free(struct ocl_rows *rows)
{
	free(rows->row);
	free(rows->run);
	memset(rows, 0, sizeof(*rows));
}

const struct ocl_run *ocl_rows_continued(const struct ocl_rows *rows, uint32_t pool, uint32_t row)
{
	if (rows->runs == 0 || pool != rows->last_pool || row != rows->last_row + 1)
		return NULL;
	return &rows->run[rows->runs - 1];
}

uint32_t ocl_rows_add(struct ocl_rows *rows, const struct ocl_row *row)
{
	const struct ocl_run *last = ocl_rows_continued(rows, row->pool, row->row);
	struct ocl_run *run = &rows->run[rows->runs];

	if (last && last->second == row->second) {
		run--;
		run->rows++;
		run->from = RTE_MIN(run->from, row->from);
		run->to = RTE_MAX(run->to, row->to);
	} else {
		rows->runs++;
		*run = (struct ocl_run){
			.first = rows->rows,
			.rows = 1,
			.from = row->from,
			.to = row->to,
			.shift = -row->start % OCL_ALIGN,
			.second = row->second,
		};
	}
	if (run->rows <= OCL_KEPT_ROWS)
		rows->row[rows->rows++] = *row;
	rows->last_pool = row->pool;
	rows->last_row = row->row;
	return run->shift;
}

static uint32_t runs_of(const struct ocl_rows *rows, uint32_t least)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rows->runs; i++)
		n += rows->run[i].rows >= least;
	return n;
}

uint32_t ocl_rows_least(const struct ocl_rows *rows)
{
	uint32_t least = OCL_FEW_ROWS;

	while (least < OCL_KEPT_ROWS && runs_of(rows, least) > OCL_FEW_RUNS)
		least *= 2;
	return least;
}

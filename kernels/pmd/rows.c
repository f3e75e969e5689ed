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

/* The last run, if the row continues it. */
static struct ocl_run *continued(struct ocl_rows *rows, const struct ocl_row *row)
{
	if (rows->runs == 0 || row->pool != rows->last.pool || row->row != rows->last.row + 1)
		return NULL;
	return &rows->run[rows->runs - 1];
}

uint32_t ocl_rows_add(struct ocl_rows *rows, const struct ocl_row *row)
{
	struct ocl_run *run = continued(rows, row);

	if (run) {
		run->rows++;
		run->from = RTE_MIN(run->from, row->from);
		run->to = RTE_MAX(run->to, row->to);
	} else {
		run = &rows->run[rows->runs++];
		*run = (struct ocl_run){
			.first = rows->rows,
			.rows = 1,
			.from = row->from,
			.to = row->to,
			.shift = -row->start % OCL_ALIGN,
		};
	}
	if (run->rows <= OCL_FEW_ROWS)
		rows->row[rows->rows++] = *row;
	rows->last = *row;
	return run->shift;
}

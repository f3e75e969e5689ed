/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file rows.h
 * Which packets of a launch lie one after another in a pool: the device's copy
 * engine moves such a run as the rows of one rectangle, and no core touches
 * what is in them.
 */
#ifndef OCL_ROWS_H
#define OCL_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* A run of fewer takes longer to start, 12 us of OpenCL's calls, than to gather by a core, some 250 ns a row. */
#define OCL_FEW_ROWS 32
/* Of longer ones nobody asks for each row, so only the first ones are kept: what is written for each
 * packet has to fit in a cache. */
#define OCL_KEPT_ROWS 256
/* More runs in a launch keep whoever makes those calls for all queue pairs from the others' launches:
 * then longer ones are gathered as well, up to OCL_KEPT_ROWS. */
#define OCL_FEW_RUNS 8

/* A packet in its row. Columns are bytes from the start of the mbuf's buffer. */
struct ocl_row {
	uint32_t record;   /* offset of its record in the chunk */
	uint32_t row;	   /* which of the pool's mbufs */
	uint32_t from, to; /* the columns that go to the device and back */
	uint32_t start;	   /* the column that the device would like to find aligned */
	/* Not beside the row: what was written in two is slow to read in one. */
	uint32_t pool;	   /* its index */
	bool second;	   /* in which of its two buffers: in the one that all of a run are in */
};

/* Rows that follow each other; the columns of the rectangle enclose all of theirs. */
struct ocl_run {
	uint32_t first; /* the first row's index in row: OCL_KEPT_ROWS of them at most */
	uint32_t rows;
	uint32_t from, to;
	uint32_t shift; /* columns by which the device has it further right */
	bool second;
};

struct ocl_rows {
	struct ocl_row *row;
	struct ocl_run *run;
	uint32_t last_row; /* that was added */
	uint32_t rows, runs;
	uint32_t last_pool;
};

/** @param max  rows at most; @return 0 or -ENOMEM; free after failure, too */
int ocl_rows_init(struct ocl_rows *rows, uint32_t max);
void ocl_rows_free(struct ocl_rows *rows);

/** The run that a row of a pool would continue; NULL: it begins one. */
const struct ocl_run *ocl_rows_continued(const struct ocl_rows *rows, uint32_t pool, uint32_t row);

/** Add one. @return the shift: where in the device's row its columns will be */
uint32_t ocl_rows_add(struct ocl_rows *rows, const struct ocl_row *row);

/** The number of rows that a run has to have to be moved as a rectangle. */
uint32_t ocl_rows_least(const struct ocl_rows *rows);

static inline void ocl_rows_reset(struct ocl_rows *rows)
{
	rows->rows = 0;
	rows->runs = 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file rows.h
 * Runs: packets of a launch that are consecutive in a pool. The device's copy
 * engine moves a run as the rows of one rectangle, and no core reads or writes
 * the packets.
 */
#ifndef OCL_ROWS_H
#define OCL_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* For a shorter run OpenCL's calls, 12 us, take longer than a core that copies, some 250 ns a row. */
#define OCL_FEW_ROWS 32
/* Rows that are kept of a run, the first ones. Longer runs are always rectangles, and what is written
 * for each packet has to fit in a cache. */
#define OCL_KEPT_ROWS 256
/* With more runs in a launch OpenCL's calls would delay the launches of other queue pairs: longer runs
 * are copied by the core as well, up to OCL_KEPT_ROWS. */
#define OCL_FEW_RUNS 8

/* A packet in its row. Columns are bytes from the start of the mbuf's buffer. */
struct ocl_row {
	uint32_t record;   /* offset of its record in the chunk */
	uint32_t row;	   /* which of the pool's mbufs */
	uint32_t from, to; /* the columns that go to the device and back */
	uint32_t start;	   /* the column that should be aligned on the device */
	/* Not beside row: reading two fields at once that were written one by one is slow. */
	uint32_t pool; /* its index */
	bool second;   /* in the second of its two buffers; the same for all of a run */
};

/* Consecutive rows; the columns of the rectangle enclose those of all rows. */
struct ocl_run {
	uint32_t first; /* the first row's index in row: OCL_KEPT_ROWS of them at most */
	uint32_t rows;
	uint32_t from, to;
	uint32_t shift; /* column on the device minus column on the host */
	bool second;
};

struct ocl_rows {
	struct ocl_row *row;
	struct ocl_run *run;
	uint32_t last_row; /* of the row added last */
	uint32_t rows, runs;
	uint32_t last_pool; /* likewise */
};

/** @param max  rows at most; @return 0 or -ENOMEM; free after failure, too */
int ocl_rows_init(struct ocl_rows *rows, uint32_t max);
void ocl_rows_free(struct ocl_rows *rows);

/** The run that a row of a pool would continue; NULL: it begins one. */
const struct ocl_run *ocl_rows_continued(const struct ocl_rows *rows, uint32_t pool, uint32_t row);

/** Add a row. @return the shift of its columns on the device */
uint32_t ocl_rows_add(struct ocl_rows *rows, const struct ocl_row *row);

/** The number of rows that a run needs to be moved as a rectangle. */
uint32_t ocl_rows_least(const struct ocl_rows *rows);

static inline void ocl_rows_reset(struct ocl_rows *rows)
{
	rows->rows = 0;
	rows->runs = 0;
}

#endif

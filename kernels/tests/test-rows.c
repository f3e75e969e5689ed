/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of a launch's packets are moved as rectangles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rows.h"

#define MOST 2048

static struct ocl_rows rows;

static int begin(void **state)
{
	(void)state;
	return ocl_rows_init(&rows, MOST);
}

static int end(void **state)
{
	(void)state;
	ocl_rows_free(&rows);
	return 0;
}

/* n adjacent rows, followed by a gap. */
static void add(uint32_t *next, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct ocl_row row = {.row = (*next)++, .from = 64, .to = 128, .start = 64};

		ocl_rows_add(&rows, &row);
	}
	(*next)++;
}

static void gap_ends_a_run(void **state)
{
	uint32_t next = 0;

	(void)state;
	add(&next, 5);
	add(&next, 1);
	assert_int_equal(rows.runs, 2);
	assert_int_equal(rows.run[0].rows, 5);
	assert_int_equal(rows.run[1].rows, 1);
	assert_int_equal(rows.run[1].first, 5);
}

/* All rows of runs that may be copied are kept. */
static void enough_are_kept(void **state)
{
	uint32_t next = 0;

	(void)state;
	add(&next, OCL_KEPT_ROWS + 10);
	add(&next, 3);
	assert_int_equal(rows.run[0].rows, OCL_KEPT_ROWS + 10);
	assert_int_equal(rows.run[1].first, OCL_KEPT_ROWS);
	assert_int_equal(rows.row[rows.run[1].first].row, OCL_KEPT_ROWS + 10 + 1);
}

static void few_rows(void **state)
{
	uint32_t next = 0;

	(void)state;
	assert_int_equal(ocl_rows_least(&rows), OCL_FEW_ROWS);
	for (unsigned int i = 0; i < 30; i++)
		add(&next, OCL_FEW_ROWS - 1);
	for (unsigned int i = 0; i < OCL_FEW_RUNS; i++)
		add(&next, OCL_FEW_ROWS);
	assert_int_equal(ocl_rows_least(&rows), OCL_FEW_ROWS);
	add(&next, OCL_FEW_ROWS);
	assert_int_equal(ocl_rows_least(&rows), 2 * OCL_FEW_ROWS);
}

/* The maximum of runs that are never copied. */
static void many_rows(void **state)
{
	uint32_t next = 0;

	(void)state;
	for (unsigned int i = 0; i < 7; i++)
		add(&next, OCL_KEPT_ROWS);
	assert_int_equal(ocl_rows_least(&rows), OCL_FEW_ROWS);
	add(&next, OCL_KEPT_ROWS / 2);
	add(&next, OCL_KEPT_ROWS / 2 - 1);
	assert_int_equal(ocl_rows_least(&rows), OCL_KEPT_ROWS / 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(gap_ends_a_run, begin, end),
		cmocka_unit_test_setup_teardown(enough_are_kept, begin, end),
		cmocka_unit_test_setup_teardown(few_rows, begin, end),
		cmocka_unit_test_setup_teardown(many_rows, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

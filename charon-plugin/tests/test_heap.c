/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fixture.h"
#include "../kernel_cygnet_heap.h"

#define COUNT 1000

static kernel_cygnet_heap_t *heap;

static int setup(void **state)
{
	heap = kernel_cygnet_heap_create();
	return 0;
}

static int teardown(void **state)
{
	heap->destroy(heap);
	return 0;
}

static void test_empty(void **state)
{
	time_t due;
	int thing;

	assert_false(heap->next(heap, &due));
	assert_null(heap->take(heap));
	heap->put(heap, 7, &thing);
	assert_ptr_equal(heap->take(heap), &thing);
	assert_false(heap->next(heap, &due));
	assert_null(heap->take(heap));
}

/* the value of an item is the time when it is due */
static void check_order(time_t *items, int count)
{
	time_t last = -1, due, *item;
	int i;

	for (i = 0; i < count; i++)
	{
		assert_true(heap->next(heap, &due));
		item = heap->take(heap);
		assert_int_equal(*item, due);
		assert_true(due >= last);
		last = due;
		*item = -1;
	}
	assert_null(heap->take(heap));
	for (i = 0; i < count; i++)
	{
		assert_int_equal(items[i], -1);
	}
}

static void test_order(void **state)
{
	time_t items[COUNT];
	int i, step;

	/* ascending, descending and other orders, then all at the same time */
	for (step = 1; step < 600; step += 7)
	{
		for (i = 0; i < COUNT; i++)
		{
			items[i] = i * step % 601;
			heap->put(heap, items[i], &items[i]);
		}
		check_order(items, COUNT);
	}
	for (i = 0; i < COUNT; i++)
	{
		items[i] = 5;
		heap->put(heap, items[i], &items[i]);
	}
	check_order(items, COUNT);
}

static void test_put_between_takes(void **state)
{
	time_t items[] = {9, 3, 12, 6, 1};

	heap->put(heap, items[0], &items[0]);
	heap->put(heap, items[1], &items[1]);
	heap->put(heap, items[2], &items[2]);
	assert_ptr_equal(heap->take(heap), &items[1]);
	heap->put(heap, items[3], &items[3]);
	heap->put(heap, items[4], &items[4]);
	assert_ptr_equal(heap->take(heap), &items[4]);
	assert_ptr_equal(heap->take(heap), &items[3]);
	assert_ptr_equal(heap->take(heap), &items[0]);
	assert_ptr_equal(heap->take(heap), &items[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_put_between_takes, setup, teardown),
	};
	int failed;

	library_init("", "test-heap");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	library_deinit();
	return failed;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The place of a packet's head in its headroom: as near to the packet as alignment allows. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "heads.h"
#include "memory.h"

#define PITCH 2304u
#define ROWS  16u
#define WORD  4u /* bytes that the device reads at a time */

static uint8_t memory[2 * ROWS * PITCH];
static const struct ocl_pool pool = {
	.start = memory,
	.rows = ROWS,
	.pitch = PITCH,
	.twin = ROWS * PITCH,
	.mirror_pitch = PITCH + OCL_ALIGN,
};

/* ESP around a packet that was received behind the usual headroom of 128 bytes and its Ethernet
 * header. */
static const struct esp {
	uint32_t from, start; /* offsets of the outer header and of the encrypted range */
	uint32_t aad;
} layouts[] = {
	{98, 126, 0},	/* IPv4, AES-CBC */
	{90, 118, 0},	/* in UDP */
	{78, 126, 0},	/* IPv6 */
	{106, 142, 8},	/* IPv4, AES-GCM */
	{106, 142, 12}, /* with a 64-bit sequence number */
};

static struct ocl_header header_of(const struct esp *esp, uint32_t row)
{
	return (struct ocl_header){
		.pool = &pool,
		.aad = OCL_HEAD_AAD(esp->aad),
		.row = row,
		.from = esp->from,
		.to = esp->from + 1100,
		.start = esp->start,
	};
}

static void next_to_its_packet(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct esp *esp = &layouts[i];
		struct ocl_header header = header_of(esp, 3);
		struct ocl_heads heads = {0};
		struct ocl_head_rows rows;
		uint32_t column;

		assert_true(ocl_heads_suit(&heads, &header));
		column = (uint32_t)(ocl_heads_add(&heads, &header, false) - memory) - 3 * PITCH;
		assert_true(column + sizeof(struct ocl_head) <= esp->from);
		assert_true(column + sizeof(struct ocl_head) + WORD > esp->from);
		assert_true(header.aad >= esp->aad && header.aad < esp->aad + WORD);
		ocl_heads_describe(&heads, 1, &rows);
		assert_int_equal(rows.first[0], 3 * pool.mirror_pitch + column + heads.shift);
		assert_int_equal(rows.first[0] % WORD, 0);
		assert_int_equal((rows.first[0] + esp->start - column) % OCL_ALIGN, 0);
	}
}

/* A further cache line of each packet would be a cache miss. */
static void in_one_line_with_it(void **state)
{
	static const struct esp usual[] = {{98, 126, 0}, {106, 142, 8}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct ocl_header header = header_of(&usual[i], 0);
		struct ocl_heads heads = {0};
		size_t first;

		first = (size_t)(ocl_heads_add(&heads, &header, false) - memory) - header.aad;
		assert_int_equal(first / RTE_CACHE_LINE_SIZE, usual[i].from / RTE_CACHE_LINE_SIZE);
	}
}

static void needs_room(void **state)
{
	(void)state;
	for (uint32_t start = 64; start < 64 + OCL_ALIGN; start++) {
		for (uint32_t aad = 0; aad <= 12; aad += 4) {
			uint32_t least = (uint32_t)sizeof(struct ocl_head) + aad + WORD;
			struct esp esp = {least, start, aad};
			struct ocl_header header = header_of(&esp, 0);
			struct ocl_heads heads = {0};

			assert_true(ocl_heads_suit(&heads, &header));
			assert_true(ocl_heads_add(&heads, &header, false) - memory >=
				    (ptrdiff_t)aad);
			header.from = least - 1;
			heads.runs = 0;
			assert_false(ocl_heads_suit(&heads, &header));
		}
	}
}

/* The device writes into the other buffer. */
static void status_of_each(void **state)
{
	struct ocl_heads heads = {0};
	uint8_t *head[4];

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct ocl_header header = header_of(&layouts[0], (ROWS - 2 + i) % ROWS);

		assert_true(ocl_heads_suit(&heads, &header));
		head[i] = ocl_heads_add(&heads, &header, i >= 2);
	}
	assert_int_equal(heads.runs, 2);
	for (uint32_t i = 0; i < 4; i++) {
		ptrdiff_t other = i < 2 ? (ptrdiff_t)pool.twin : -(ptrdiff_t)pool.twin;

		assert_ptr_equal(ocl_heads_status(&heads, i),
				 head[i] + other + offsetof(struct ocl_head, status));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(next_to_its_packet),
		cmocka_unit_test(in_one_line_with_it),
		cmocka_unit_test(needs_room),
		cmocka_unit_test(status_of_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "telemetry_table.h"

/* Of the answer that is being made. */
static unsigned int rows;
static const char *error; /* NULL: none */

void table_begin(struct rte_tel_data *table)
{
	rows = 0;
	error = NULL;
	rte_tel_data_start_dict(table);
}

void table_fail(const char *reason)
{
	if (!error)
		error = reason;
}

struct rte_tel_data *add_row(struct rte_tel_data *table, unsigned int number)
{
	struct rte_tel_data *row = rte_tel_data_alloc();
	char name[16];

	snprintf(name, sizeof(name), "%u", number);
	if (row)
		rte_tel_data_start_dict(row);
	if (row && !rte_tel_data_add_dict_container(table, name, row, 0)) {
		rows++;
		return row;
	}
	rte_tel_data_free(row);
	table_fail("no memory for a row");
	return NULL;
}

void table_end(struct rte_tel_data *table)
{
	rte_tel_data_add_dict_u64(table, "rows", rows);
	if (error)
		rte_tel_data_add_dict_string(table, "error", error);
}

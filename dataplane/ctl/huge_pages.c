/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>

#include "huge_pages.h"

#define FOLDER "/sys/kernel/mm/hugepages"

static json_int_t read_number(const char *folder, const char *size, const char *name)
{
	char path[PATH_MAX];
	long long number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%.255s/%.255s/%s", folder, size, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%lld", &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

json_t *huge_pages_rows(const char *root)
{
	char folder[PATH_MAX];
	struct dirent *entry;
	json_t *rows = json_array();
	DIR *sizes;

	snprintf(folder, sizeof(folder), "%s" FOLDER, root);
	sizes = opendir(folder);
	while (sizes && (entry = readdir(sizes))) {
		unsigned long kb;

		if (sscanf(entry->d_name, "hugepages-%lukB", &kb) != 1)
			continue;
		json_array_append_new(
			rows, json_pack("{s:I, s:I, s:I}", "size", (json_int_t)kb * 1024, "pages",
					read_number(folder, entry->d_name, "nr_hugepages"), "free",
					read_number(folder, entry->d_name, "free_hugepages")));
	}
	if (sizes)
		closedir(sizes);
	return rows;
}

long long huge_pages_number(const json_t *rows, long long size, const char *field)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (json_integer_value(json_object_get(row, "size")) == size)
			return json_integer_value(json_object_get(row, field));
	}
	return 0;
}

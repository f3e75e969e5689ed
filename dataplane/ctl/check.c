/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "report.h"
#include "text.h"

static void print_counts(const struct cygnet_db_info *info, bool json)
{
	unsigned int deleted = info->sas_waiting + info->policies_waiting;
	json_t *row;

	if (!json) {
		printf("%s: %u SAs, %u policies, %u deleted ones to be wiped: no error found\n",
		       info->path, info->sas, info->policies, deleted);
		return;
	}
	row = json_pack("{s:o, s:I, s:I, s:I}", "sadb", text_json(info->path, strlen(info->path)),
			"sas", (json_int_t)info->sas, "policies", (json_int_t)info->policies,
			"deleted", (json_int_t)deleted);
	json_dumpf(row, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(row);
}

int check(const struct options *options, int argc, char **argv)
{
	struct cygnet_db_info info;
	struct cygnet_db *db;
	char error[1024];
	int err;

	(void)argv;
	if (argc != 1)
		return COMMAND_USAGE;
	db = options_sadb(options, error, sizeof(error));
	if (!db)
		return report_error(options, 1, "%s", error);
	err = cygnet_db_check(db, error, sizeof(error));
	cygnet_db_info(db, &info);
	if (err)
		report_error(options, 1, "%s", error);
	else
		print_counts(&info, options->json);
	cygnet_db_close(db);
	return err ? 1 : 0;
}

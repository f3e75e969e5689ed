/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "exporter/complaint.h"

void complain(struct complaint *complaint, const char *who, const char *error)
{
	char now[sizeof(complaint->error)];

	snprintf(now, sizeof(now), "%s", error ? error : "");
	if (!strcmp(now, complaint->error))
		return;
	if (error)
		fprintf(stderr, "cygnet-exporter: %s\n", now);
	else
		fprintf(stderr, "cygnet-exporter: %s answers again\n", who);
	strcpy(complaint->error, now);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Huge pages: those that the cygnetd has that serves, and those that another one finds. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "conf/conf_keys.h"
#include "doctor.h"
#include "huge_pages.h"

#define MIB	    1048576ll
#define USUAL_PORTS 2 /* of which HUGE_PAGES_MIB is known */

/* @return huge pages that a process has, MiB; 0: it is not known */
static long long huge_mib_of(const struct diagnosis *d, int pid)
{
	char path[PATH_MAX], line[256];
	long long kb = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%.255s/proc/%d/status", d->root, pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "HugetlbPages: %lld", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb / 1024;
}

/* A cygnetd with other ports is restarted in an upgrade. */
static bool can_be_taken_over(const struct diagnosis *d)
{
	for (unsigned int i = 0; d->conf && i < d->conf->ndevices; i++)
		if (!conf_is_shared(d->conf->port[i].device))
			return false;
	return true;
}

/* While a cygnetd serves, the pages that it has are not free: the others are for one that takes over.
 * @param missing  MiB, to those that it has, or less than 0 */
static void add_served(struct diagnosis *d, const char *pages, long long used, long long missing,
		       long long wanted)
{
	char todo[160];

	snprintf(todo, sizeof(todo),
		 "%lld pages of 2 MiB (vm.nr_hugepages, if that is the default size), for an upgrade under traffic",
		 wanted);
	if (used && missing > 0 && can_be_taken_over(d))
		diagnosis_add(d, "huge pages", FOUND_WELL, todo,
			      "%s; cygnetd has %lld MiB, and no other one can take over", pages,
			      used);
	else if (used)
		diagnosis_add(d, "huge pages", FOUND_WELL, NULL, "%s; cygnetd has %lld MiB", pages,
			      used);
	else
		diagnosis_add(d, "huge pages", FOUND_WELL, NULL, "%s", pages);
}

/* Whether all that huge pages depend on is as by default. */
static bool is_usual(const struct conf *conf)
{
	static const char *const keys[] = {"routes",	   "flows",  "sessions", "workers",
					   "crypto_cores", "engine", "opencl",	 "eal"};
	static struct conf usual;

	conf_defaults(&usual);
	for (unsigned int i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!conf_same(conf_key_find(CONF_MAIN, keys[i]), conf, &usual))
			return false;
	for (unsigned int i = 0; i < conf->ndevices; i++)
		if (conf->port[i].mtu || strstr(conf->port[i].device, "queue"))
			return false;
	return conf->nports <= USUAL_PORTS;
}

/* While no cygnetd serves. What one needs is known of the default configuration alone.
 * @param mib  free */
static void add_needed(struct diagnosis *d, const char *pages, long long mib)
{
	bool usual = d->conf && is_usual(d->conf), two = can_be_taken_over(d);
	char todo[160];

	snprintf(todo, sizeof(todo),
		 "%u pages of 2 MiB (vm.nr_hugepages, if that is the default size)%s",
		 two ? HUGE_PAGES_TWO : HUGE_PAGES_ONE,
		 two ? ", for two cygnetd, of which one takes over" : "");
	if (!mib || (usual && mib < HUGE_PAGES_MIB))
		diagnosis_add(d, "huge pages", FOUND_PROBLEM, todo, "%s", pages);
	else if (usual)
		diagnosis_add(d, "huge pages", FOUND_WELL, NULL, "%s", pages);
	else
		diagnosis_add(d, "huge pages", FOUND_NOTHING, NULL,
			      "%s; cygnetd needs about %u MiB with the defaults%s", pages,
			      HUGE_PAGES_MIB, d->conf ? ", which this configuration changes" : "");
}

/* @return MiB of all sizes */
static long long free_mib(const json_t *rows)
{
	long long bytes = 0;
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) bytes += json_integer_value(json_object_get(row, "size")) *
						  json_integer_value(json_object_get(row, "free"));
	return bytes / MIB;
}

void doctor_huge_pages(struct diagnosis *d, int pid)
{
	json_t *rows = huge_pages_rows(d->root);
	long long pages = huge_pages_number(rows, 2 * MIB, "pages"), mib = free_mib(rows),
		  used = pid ? huge_mib_of(d, pid) : 0;
	char text[128];

	snprintf(text, sizeof(text), "%lld of 2 MiB, %lld free; %lld of 1 GiB, %lld free", pages,
		 huge_pages_number(rows, 2 * MIB, "free"),
		 huge_pages_number(rows, 1024 * MIB, "pages"),
		 huge_pages_number(rows, 1024 * MIB, "free"));
	if (!json_array_size(rows))
		diagnosis_add(d, "huge pages", FOUND_PROBLEM, "a kernel with hugetlbfs is needed",
			      "the kernel has no huge pages");
	else if (pid)
		add_served(d, text, used, used - mib, pages + (used - mib + 1) / 2);
	else
		add_needed(d, text, mib);
	json_decref(rows);
}

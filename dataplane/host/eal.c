/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "base/log.h"
#include "host/eal.h"
#include "host/eal_log.h"
#include "host/runtime.h"

#define MAX_ARGS 64

struct args {
	char *v[MAX_ARGS + 1];
	int n;
	int err; /* of the first argument that could not be added; 0: none */
};

static void add(struct args *args, const char *text)
{
	if (args->err)
		return;
	if (args->n == MAX_ARGS) {
		args->err = -E2BIG;
		return;
	}
	args->v[args->n] = strdup(text);
	if (args->v[args->n])
		args->n++;
	else
		args->err = -ENOMEM;
}

/* Parse a CPU list such as "1,2,5". @return number of CPUs */
static unsigned int read_cpus(const char *list, unsigned int *cpus)
{
	char *pos = (char *)(uintptr_t)list;
	unsigned int n = 0;

	for (; *pos && n < CPU_SETSIZE; pos += *pos == ',')
		cpus[n++] = (unsigned int)strtoul(pos, &pos, 10);
	return n;
}

/* The CPU of worker w: the w-th CPU of cores in the configuration. Without cores it is the w-th
 * allowed CPU that is not a crypto core. If every allowed CPU is a crypto core, workers share CPUs
 * with crypto cores. With more workers than CPUs, workers share CPUs with each other. */
static unsigned int worker_cpu(const struct conf *conf, unsigned int w, const cpu_set_t *allowed)
{
	unsigned int cpus[CPU_SETSIZE], n = read_cpus(conf->crypto_cores, cpus);
	cpu_set_t left = *allowed;

	for (unsigned int i = 0; i < n; i++)
		CPU_CLR(cpus[i], &left);
	if (!CPU_COUNT(&left))
		left = *allowed;
	n = read_cpus(conf->cores, cpus);
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE && !conf->cores[0]; cpu++)
		if (CPU_ISSET(cpu, &left))
			cpus[n++] = cpu;
	return n ? cpus[w % n] : 0;
}

/* The value of --lcores, such as "0@(0-1),1@0,2@1". The control thread may run on every allowed CPU.
 * The lcores of the crypto cores follow those of the workers. */
static int lcore_map(const struct conf *conf, char *out, size_t size)
{
	unsigned int crypto[CPU_SETSIZE];
	cpu_set_t allowed;
	int used, first = 1;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return -errno;
	used = snprintf(out, size, "0@(");
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE && used < (int)size; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		used += snprintf(out + used, size - (size_t)used, "%s%u", first ? "" : ",", cpu);
		first = 0;
	}
	if (used < (int)size)
		used += snprintf(out + used, size - (size_t)used, ")");
	for (unsigned int w = 0; w < conf->workers && used < (int)size; w++)
		used += snprintf(out + used, size - (size_t)used, ",%u@%u", w + 1,
				 worker_cpu(conf, w, &allowed));
	read_cpus(conf->crypto_cores, crypto);
	for (unsigned int c = 0; c < conf->ncrypto_cores && used < (int)size; c++)
		used += snprintf(out + used, size - (size_t)used, ",%u@%u", conf->workers + c + 1,
				 crypto[c]);
	return used < (int)size ? 0 : -E2BIG;
}

bool eal_has(const struct conf *conf, const char *begin)
{
	const char *at = conf->eal;

	while ((at = strstr(at, begin)) && at != conf->eal && at[-1] != ' ' && at[-1] != '\t')
		at++;
	return at;
}

bool eal_has_cards(const struct conf *conf)
{
	for (unsigned int i = 0; i < conf->ndevices; i++)
		if (conf_is_pci(conf->port[i].device))
			return true;
	return eal_has(conf, "-a") || eal_has(conf, "--allow");
}

static void add_devices(struct args *args, const struct conf *conf)
{
	bool pci = false;

	for (unsigned int i = 0; i < conf->ndevices; i++) {
		if (!conf_is_pci(conf->port[i].device))
			continue;
		pci = true;
		add(args, "-a");
		add(args, conf->port[i].device);
	}
	if (!pci && !eal_has(conf, "--no-pci"))
		add(args, "--no-pci");
	/* Physical addresses of memory, which root alone can know, are for devices that read it by themselves. */
	if (!eal_has_cards(conf) && !eal_has(conf, "--iova-mode"))
		add(args, "--iova-mode=va");
}

static void add_words(struct args *args, const char *text)
{
	char copy[sizeof(((struct conf *)0)->eal)], *save, *word;

	snprintf(copy, sizeof(copy), "%s", text);
	for (word = strtok_r(copy, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
		add(args, word);
}

/* Arguments for settings that the configuration does not give. --in-memory uses huge pages without a
 * mounted hugetlbfs and leaves no files behind. */
static void add_defaults(struct args *args, const struct conf *conf)
{
	static const char *const memory[] = {"--in-memory", "--huge-dir", "--huge-unlink",
					     "--no-huge", "--legacy-mem"};
	char prefix[sizeof(conf->eal)];
	bool given = false;

	for (unsigned int i = 0; i < RTE_DIM(memory); i++)
		given |= strstr(conf->eal, memory[i]) != NULL;
	if (!given)
		add(args, "--in-memory");
	/* The EAL of DPDK 25.11 refuses an option that is there twice. */
	if (strstr(conf->eal, "--file-prefix"))
		return;
	conf_file_prefix(conf, prefix, sizeof(prefix));
	add(args, "--file-prefix");
	add(args, prefix);
}

/* The last of several prefixes counts. */
static void add_own_prefix(struct args *args, const struct conf *conf)
{
	char prefix[sizeof(conf->eal) + 16];

	runtime_prefix(conf, prefix, sizeof(prefix));
	add(args, "--file-prefix");
	add(args, prefix);
}

int eal_start(const struct conf *conf, const char *program, bool beside)
{
	/* The EAL keeps pointers to the strings, so they live as long as the process. The EAL
	 * also reorders the array, so it gets a copy. */
	static struct args args, given;
	char map[4096], where[PATH_MAX + NAME_MAX], level[32];
	int err;

	args.err = lcore_map(conf, map, sizeof(map));
	add(&args, program);
	add(&args, "--lcores");
	add(&args, map);
	add(&args, "--main-lcore");
	add(&args, "0");
	add_devices(&args, conf);
	add_defaults(&args, conf);
	/* Levels that the configuration's own arguments give come later, and count. */
	eal_log_set_level(conf_log_level(conf->dpdk_log));
	snprintf(level, sizeof(level), "--log-level=*:%u", conf_log_level(conf->dpdk_log));
	add(&args, level);
	add_words(&args, conf->eal);
	if (beside)
		add_own_prefix(&args, conf);
	else
		runtime_clean(conf);
	given = args;
	err = args.err;
	if (!err && rte_eal_init(given.n, given.v) < 0)
		err = -(rte_errno ? rte_errno : EINVAL);
	if (!err) {
		eal_log_libraries();
		return 0;
	}
	conf_where(conf, NULL, "eal", where, sizeof(where));
	log_error("%s: DPDK does not start with '%s': %s", where, conf->eal, strerror(-err));
	return err;
}

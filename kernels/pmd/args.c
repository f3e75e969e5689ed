/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cryptodev.h>
#include <rte_kvargs.h>
#include <rte_lcore.h>

#include "args.h"
#include "dpdk_release.h"
#include "inc_types.h"
#include "log.h"

struct number {
	const char *key;
	size_t offset;
	uint32_t min, max;
};

static const struct number numbers[] = {
	{"chunk", offsetof(struct ocl_args, chunk), 1, 16384},
	{"bins", offsetof(struct ocl_args, bins), 1, 4096},
	{"lanes", offsetof(struct ocl_args, lanes), 1, OCL_MAX_LANES},
	{"granularity", offsetof(struct ocl_args, granularity), 16, 65536},
	{"wait_us", offsetof(struct ocl_args, wait_us), 0, 1000000},
	{"busy_wait_us", offsetof(struct ocl_args, busy_wait_us), 0, 1000000},
	{"under_way", offsetof(struct ocl_args, under_way), 64, 1 << 21},
	{"timeout_ms", offsetof(struct ocl_args, timeout_ms), 10, 3600000},
	{"max_sessions", offsetof(struct ocl_args, max_sessions), 1, 1 << 21},
	{"max_nb_queue_pairs", offsetof(struct ocl_args, max_queue_pairs), 1, 1024},
	{"socket_id", offsetof(struct ocl_args, socket_id), 0, RTE_MAX_NUMA_NODES - 1},
};

static int parse_number(const char *key, const char *value, void *opaque)
{
	const struct number *number = NULL;
	unsigned long x;
	char *end;

	for (unsigned int i = 0; i < RTE_DIM(numbers); i++) {
		if (strcmp(key, numbers[i].key) == 0)
			number = &numbers[i];
	}
	if (number == NULL)
		return -EINVAL;
	if (value == NULL || *value < '0' || *value > '9')
		goto bad;
	errno = 0;
	x = strtoul(value, &end, 0);
	if (errno || *end != '\0' || x < number->min || x > number->max)
		goto bad;
	*(uint32_t *)((char *)opaque + number->offset) = x;
	return 0;
bad:
	OCL_LOG(ERR, "%s=%s: expected a number from %u to %u", key, value ? value : "", number->min,
		number->max);
	return -EINVAL;
}

static int parse_device(const char *key, const char *value, void *opaque)
{
	struct ocl_args *args = opaque;

	if (value == NULL || *value == '\0' || strlen(value) >= sizeof(args->device)) {
		OCL_LOG(ERR, "%s=%s: expected an index or part of a device's name", key,
			value ? value : "");
		return -EINVAL;
	}
	strcpy(args->device, value);
	return 0;
}

/* The values of a key. */
struct choice {
	const char *key;
	size_t offset;
	const char *values[6];
};

static const struct choice choices[] = {
	{"memory", offsetof(struct ocl_args, memory), {"auto", "svm", "persistent", "staged"}},
	{"sched", offsetof(struct ocl_args, sched), {"auto", "all", "none", "algorithm", "length"}},
	{"tables", offsetof(struct ocl_args, tables), {"auto", "banks", "one"}},
	{"launches", offsetof(struct ocl_args, launches), {"auto", "lcore", "thread"}},
};

static int parse_choice(const char *key, const char *value, void *opaque)
{
	for (unsigned int i = 0; i < RTE_DIM(choices); i++) {
		const struct choice *choice = &choices[i];

		if (strcmp(key, choice->key) != 0)
			continue;
		for (unsigned int j = 0; value && choice->values[j]; j++) {
			if (strcmp(value, choice->values[j]) == 0) {
				strcpy((char *)opaque + choice->offset, value);
				return 0;
			}
		}
	}
	OCL_LOG(ERR, "%s=%s is no choice; arguments are %s", key, value ? value : "",
		OCL_PARAM_STRING);
	return -EINVAL;
}

static bool is_known(const char *key)
{
	bool known = strcmp(key, "device") == 0;

	for (unsigned int i = 0; i < RTE_DIM(choices); i++)
		known = known || strcmp(key, choices[i].key) == 0;
	for (unsigned int i = 0; i < RTE_DIM(numbers); i++)
		known = known || strcmp(key, numbers[i].key) == 0;
	return known;
}

/* rte_kvargs refuses unknown keys too, but does not say which. */
static int check_keys(const struct rte_kvargs *kvargs)
{
	for (unsigned int i = 0; i < kvargs->count; i++) {
		if (is_known(kvargs->pairs[i].key))
			continue;
		OCL_LOG(ERR, "there is no argument '%s'; arguments are %s", kvargs->pairs[i].key,
			OCL_PARAM_STRING);
		return -EINVAL;
	}
	return 0;
}

static int parse_text(struct ocl_args *args, const char *text)
{
	struct rte_kvargs *kvargs = rte_kvargs_parse(text, NULL);
	int err;

	if (kvargs == NULL) {
		OCL_LOG(ERR, "cannot parse '%s'; arguments are %s", text, OCL_PARAM_STRING);
		return -EINVAL;
	}
	err = check_keys(kvargs);
	if (!err)
		err = rte_kvargs_process_opt(kvargs, "device", parse_device, args);
	for (unsigned int i = 0; !err && i < RTE_DIM(choices); i++)
		err = rte_kvargs_process_opt(kvargs, choices[i].key, parse_choice, args);
	for (unsigned int i = 0; !err && i < RTE_DIM(numbers); i++)
		err = rte_kvargs_process_opt(kvargs, numbers[i].key, parse_number, args);
	rte_kvargs_free(kvargs);
	return err ? -EINVAL : 0;
}

int ocl_args_parse(struct ocl_args *args, const char *text)
{
	*args = (struct ocl_args){
		.memory = "auto",
		.sched = "auto",
		.tables = "auto",
		.launches = "lcore",
		.granularity = 256,
		.wait_us = 50,
		.timeout_ms = 5000,
		.max_sessions = 65536,
		.max_queue_pairs = 64,
		.socket_id = rte_socket_id() == (unsigned int)SOCKET_ID_ANY ? 0 : rte_socket_id(),
	};
	if (text && *text && parse_text(args, text))
		return -EINVAL;
	args->busy_wait_us = RTE_MAX(args->busy_wait_us, args->wait_us);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include <rte_common.h>
#include <rte_log.h>

#include "base/log.h"
#include "host/eal_log.h"

/* Messages that are logged as errors or warnings although nothing is wrong; patterns of fnmatch(3). From DPDK 24.11 on,
 * those of net_tap begin with "TAP: ". */
static const char *const harmless[] = {
	/* net_tap needs sch_multiq for rte_flow only, which cygnetd does not use on TAPs. */
	"*tap_nl_dump_ext_ack(): Specified qdisc kind is unknown",
	"*qdisc_create_multiq(): Could not add multiq qdisc (2): No such file or directory",
	"*eth_dev_tap_create(): *: failed to create multiq qdisc.",
	"*eth_dev_tap_create():  Disabling rte flow support: No such file or directory(2)",
	/* -ENOTSUP: with --in-memory there are no secondary processes to tell. */
	"*tap_mp_req_on_rxtx(): Failed to send start req to secondary 95",
	/* Huge pages of 2 MiB serve as well, and --in-memory needs no hugetlbfs. */
	"EAL: No free 1048576 kB hugepages reported on node *",
	"EAL: * hugepages of size * reserved, but no mounted hugetlbfs found for that size",
	/* The old socket is for old clients; cygnetctl uses the new one. */
	"TELEMETRY: No legacy callbacks, legacy socket not created",
	/* libxdp attaches a program by itself; only several programs on one interface need bpffs. */
	"libxdp: No bpffs found at /sys/fs/bpf",
	"libxdp: Can't use dispatcher without a working bpffs",
	"libxdp: Falling back to loading single prog without dispatcher",
};

static uint32_t shown = RTE_LOG_NOTICE;

static uint32_t level_of(uint32_t level, const char *text)
{
	for (unsigned int i = 0; i < RTE_DIM(harmless); i++)
		if (fnmatch(harmless[i], text, 0) == 0)
			return RTE_LOG_DEBUG;
	return level;
}

/* Errors and warnings are limited, those of all sources together. */
static void take_line(const char *from, uint32_t level, const char *text)
{
	static struct log_cause causes[RTE_LOG_WARNING + 1];
	uint32_t is = level_of(level, text);

	if (is <= __atomic_load_n(&shown, __ATOMIC_RELAXED))
		log_say(is <= RTE_LOG_WARNING ? &causes[is] : NULL, is, from, (struct log_about){0},
			"%s", text);
}

void eal_log_take(const char *from, uint32_t level, const char *text, size_t len)
{
	char line[1024];

	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t used = end ? (size_t)(end - text) + 1 : len, length;

		snprintf(line, sizeof(line), "%.*s", (int)used, text);
		for (length = strlen(line); length && strchr(" \r\n", line[length - 1]); length--)
			line[length - 1] = '\0';
		if (length)
			take_line(from, level, line);
		text += used;
		len -= used;
	}
}

/* DPDK flushes the stream behind each message. */
static ssize_t write_stream(void *cookie, const char *text, size_t len)
{
	int level = rte_log_cur_msg_loglevel();

	(void)cookie;
	eal_log_take("dpdk", (uint32_t)RTE_MAX(level, (int)RTE_LOG_ERR), text, len);
	return (ssize_t)len;
}

int eal_log_open(void)
{
	const cookie_io_functions_t functions = {.write = write_stream};
	FILE *stream = fopencookie(NULL, "w", functions);

	return stream ? rte_openlog_stream(stream) : -errno;
}

__attribute__((format(printf, 3, 0))) static int take_print(const char *from, unsigned int level,
							    const char *format, va_list args)
{
	static const uint32_t levels[] = {RTE_LOG_WARNING, RTE_LOG_INFO, RTE_LOG_DEBUG};
	char text[1024];

	vsnprintf(text, sizeof(text), format, args);
	eal_log_take(from, levels[RTE_MIN(level, RTE_DIM(levels) - 1)], text, strlen(text));
	return 0;
}

/* libbpf_print_fn_t and libxdp_print_fn_t: the enum has three levels from 0 on, warning to debug. */
__attribute__((format(printf, 2, 0))) static int print_bpf(unsigned int level, const char *format,
							   va_list args)
{
	return take_print("libbpf", level, format, args);
}

__attribute__((format(printf, 2, 0))) static int print_xdp(unsigned int level, const char *format,
							   va_list args)
{
	return take_print("libxdp", level, format, args);
}

typedef int print_function(unsigned int level, const char *format, va_list args);

static void set_print(const char *library, const char *setter, print_function *print)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	union {
		void *symbol;
		print_function *(*call)(print_function *);
	} set;

	if (!handle)
		return;
	set.symbol = dlsym(handle, setter);
	if (set.symbol)
		set.call(print);
	dlclose(handle);
}

void eal_log_libraries(void)
{
	set_print("libbpf.so.1", "libbpf_set_print", print_bpf);
	set_print("libxdp.so.1", "libxdp_set_print", print_xdp);
}

void eal_log_set_level(uint32_t level)
{
	/* EAL logs each changed level: hide that. */
	__atomic_store_n(&shown, RTE_LOG_ERR, __ATOMIC_RELAXED);
	rte_log_set_level_pattern("*", level);
	__atomic_store_n(&shown, level, __ATOMIC_RELAXED);
}

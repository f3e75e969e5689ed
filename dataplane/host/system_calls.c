/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>

#include "base/log.h"
#include "config.h"
#include "host/system_calls.h"

#define ALL	UINT32_MAX
#define RUNS	07111u /* modes of a file that can be executed, or changes the user */
#define TYPE	0xfu   /* of a socket, without SOCK_CLOEXEC and SOCK_NONBLOCK */
#define VIRTUAL "net_"
#define XDP	"net_af_xdp"

static const int allowed[] = {
	/* Threads and their CPUs. */
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(futex),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(getcpu),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rseq),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sched_setaffinity),
	SCMP_SYS(sched_setscheduler),
	SCMP_SYS(sched_yield),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(sigaltstack),
	/* Signals. */
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigpending),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	/* Time, and waiting. Where the vDSO cannot read the clock, system calls do. */
	SCMP_SYS(clock_getres),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(eventfd2),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(nanosleep),
	SCMP_SYS(pipe2),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(pselect6),
	SCMP_SYS(select),
	SCMP_SYS(time),
	SCMP_SYS(timerfd_create),
	SCMP_SYS(timerfd_settime),
	/* Memory, huge pages and the NUMA node that they are of. */
	SCMP_SYS(brk),
	SCMP_SYS(fallocate),
	SCMP_SYS(ftruncate),
	SCMP_SYS(get_mempolicy),
	SCMP_SYS(madvise),
	SCMP_SYS(mbind),
	SCMP_SYS(memfd_create),
	SCMP_SYS(mlock),
	SCMP_SYS(mlock2),
	SCMP_SYS(move_pages),
	SCMP_SYS(mremap),
	SCMP_SYS(munlock),
	SCMP_SYS(munmap),
	SCMP_SYS(set_mempolicy),
	/* Files: the configuration, /proc/sys, /sys, files of state, sockets in the file system. */
	SCMP_SYS(access),
	SCMP_SYS(close),
	SCMP_SYS(dup),
	SCMP_SYS(dup2),
	SCMP_SYS(dup3),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(fcntl),
	SCMP_SYS(fdatasync),
	SCMP_SYS(flock),
	SCMP_SYS(fstat),
	SCMP_SYS(fstatfs),
	SCMP_SYS(fsync),
	SCMP_SYS(getdents64),
	SCMP_SYS(lseek),
	SCMP_SYS(lstat),
	SCMP_SYS(mkdir),
	SCMP_SYS(mkdirat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(pread64),
	SCMP_SYS(pwrite64),
	SCMP_SYS(read),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(readv),
	SCMP_SYS(rename),
	SCMP_SYS(renameat),
	SCMP_SYS(renameat2),
	SCMP_SYS(rmdir),
	SCMP_SYS(stat),
	SCMP_SYS(statfs),
	SCMP_SYS(statx),
	SCMP_SYS(symlink),
	SCMP_SYS(symlinkat),
	SCMP_SYS(unlink),
	SCMP_SYS(unlinkat),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	/* Devices and interfaces: TAPs, VFIO, settings. */
	SCMP_SYS(ioctl),
	/* Sockets; socket() is below. */
	SCMP_SYS(accept),
	SCMP_SYS(accept4),
	SCMP_SYS(bind),
	SCMP_SYS(connect),
	SCMP_SYS(getpeername),
	SCMP_SYS(getsockname),
	SCMP_SYS(getsockopt),
	SCMP_SYS(listen),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmmsg),
	SCMP_SYS(recvmsg),
	SCMP_SYS(sendmmsg),
	SCMP_SYS(sendmsg),
	SCMP_SYS(sendto),
	SCMP_SYS(setsockopt),
	SCMP_SYS(shutdown),
	/* What the C library asks about the host and the user. */
	SCMP_SYS(getegid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getrandom),
	SCMP_SYS(getuid),
	SCMP_SYS(sysinfo),
	SCMP_SYS(uname),
#ifdef CYGNET_SANITIZERS
	/* LeakSanitizer stops the threads by a process that traces them. */
	SCMP_SYS(clone),
	SCMP_SYS(getdents),
	SCMP_SYS(getppid),
	SCMP_SYS(open),
	SCMP_SYS(prctl),
	SCMP_SYS(ptrace),
	SCMP_SYS(wait4),
#endif
};

/* Calls that are allowed with certain arguments: (argument & mask) == value. */
static const struct rule {
	int call;
	struct {
		unsigned int argument;
		uint32_t mask, value; /* no mask: no condition */
	} where[2];
} rules[] = {
#ifndef CYGNET_SANITIZERS
	/* Threads, no processes. */
	{SCMP_SYS(clone), {{0, CLONE_THREAD, CLONE_THREAD}}},
	/* Names of threads, and of mappings, which malloc() may give. */
	{SCMP_SYS(prctl), {{0, ALL, PR_GET_NAME}}},
	{SCMP_SYS(prctl), {{0, ALL, PR_SET_NAME}}},
	{SCMP_SYS(prctl), {{0, ALL, PR_SET_VMA}}},
#endif
	{SCMP_SYS(mmap), {{2, PROT_EXEC, 0}}},
	{SCMP_SYS(mprotect), {{2, PROT_EXEC, 0}}},
	/* Limits of this process. */
	{SCMP_SYS(prlimit64), {{0, ALL, 0}}},
	/* What it creates cannot be executed. */
	{SCMP_SYS(openat), {{2, O_CREAT, 0}}},
	{SCMP_SYS(openat), {{2, O_CREAT, O_CREAT}, {3, RUNS, 0}}},
	{SCMP_SYS(fchmod), {{1, RUNS, 0}}},
	{SCMP_SYS(socket), {{0, ALL, AF_UNIX}}},
	{SCMP_SYS(socket), {{0, ALL, AF_NETLINK}}},
	{SCMP_SYS(socket), {{0, ALL, AF_PACKET}}},
	{SCMP_SYS(socket), {{0, ALL, AF_XDP}}},
	/* For ioctl() on interfaces. */
	{SCMP_SYS(socket), {{0, ALL, AF_INET}, {1, TYPE, SOCK_DGRAM}}},
	{SCMP_SYS(socket), {{0, ALL, AF_INET6}, {1, TYPE, SOCK_DGRAM}}},
	{SCMP_SYS(socketpair), {{0, ALL, AF_UNIX}}},
};

/* The C library does without: arguments in memory cannot be checked. */
static const int absent[] = {SCMP_SYS(clone3), SCMP_SYS(openat2)};

static bool enforced, has_bpf;

static int allow(scmp_filter_ctx filter, const struct rule *rule)
{
	struct scmp_arg_cmp where[RTE_DIM(rule->where)];
	unsigned int n = 0;

	for (unsigned int i = 0; i < RTE_DIM(where); i++)
		if (rule->where[i].mask)
			where[n++] = (struct scmp_arg_cmp){
				.arg = rule->where[i].argument,
				.op = SCMP_CMP_MASKED_EQ,
				.datum_a = rule->where[i].mask,
				.datum_b = rule->where[i].value,
			};
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rule->call, n, where);
}

/* Signals to threads of this process, abort() for one. */
static int allow_own(scmp_filter_ctx filter)
{
	const struct rule rule = {SCMP_SYS(tgkill), {{0, ALL, (uint32_t)getpid()}}};

	return allow(filter, &rule);
}

/* Executable memory is refused, and ends nothing: who wants to compile or load something can do without. */
static int refuse_executable(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp where = {2, SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC};
	int err = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(mmap), 1, &where);

	return err ? err
		   : seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(mprotect), 1,
					    &where);
}

static int add_rules(scmp_filter_ctx filter, bool enforce)
{
	int err = allow_own(filter);

	for (unsigned int i = 0; i < RTE_DIM(allowed) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	for (unsigned int i = 0; i < RTE_DIM(rules) && !err; i++)
		err = allow(filter, &rules[i]);
	for (unsigned int i = 0; i < RTE_DIM(absent) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), absent[i], 0);
	if (has_bpf && !err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(bpf), 0);
	return err || !enforce ? err : refuse_executable(filter);
}

static int load(bool enforce)
{
	scmp_filter_ctx filter = seccomp_init(enforce ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_LOG);
	int err = filter ? add_rules(filter, enforce) : -ENOTSUP;

	if (!err)
		err = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!err)
		err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!err) {
		/* As far as library and kernel have them. Search the calls by bisection; do not slow the CPU down
		 * against Spectre v4, which a kernel before 5.16 does for threads with a filter. */
		seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
		seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
		seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1);
		err = seccomp_load(filter);
	}
	seccomp_release(filter);
	return err;
}

static bool starts_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

static bool has_port(const struct conf *conf, const char *kind, bool is)
{
	for (unsigned int i = 0; i < conf->nports; i++)
		if (starts_with(conf->port[i].device, kind) == is)
			return true;
	return false;
}

int system_calls_restrict(const struct conf *conf, bool foreign)
{
	bool enforce = conf->seccomp == SECCOMP_ENFORCE ||
		       (conf->seccomp == SECCOMP_AUTO && !foreign &&
			!has_port(conf, VIRTUAL, false));
	char where[PATH_MAX + NAME_MAX];
	int err;

	if (conf->seccomp == SECCOMP_NO)
		return 0;
	has_bpf = has_port(conf, XDP, true);
	/* pthread_cancel() loads it. */
	if (enforce)
		dlopen("libgcc_s.so.1", RTLD_NOW);
	err = load(enforce);
	enforced = enforce && !err;
	if (!err) {
		log_info("seccomp: system calls that cygnetd does not need %s",
			 enforce ? "end it from now on" : "are in the kernel's log from now on");
		return 0;
	}
	conf_where(conf, NULL, "seccomp", where, sizeof(where));
	log_error("%s: no filter of system calls: %s. seccomp = no does without", where,
		  strerror(-err));
	return err;
}

bool system_calls_suffice(const char *device)
{
	return !enforced || has_bpf || !starts_with(device, XDP);
}

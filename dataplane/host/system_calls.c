/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
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
#define MEMIF	"net_memif"

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
	{SCMP_SYS(openat), {{2, O_CREAT | O_TRUNC, 0}}},
	{SCMP_SYS(openat), {{2, O_CREAT | O_TRUNC, O_CREAT}, {3, RUNS, 0}}},
	/* Access by nobody else. */
	{SCMP_SYS(fchmod), {{1, 07177, 0}}},
	{SCMP_SYS(socket), {{0, ALL, AF_UNIX}}},
	/* No events of devices, which udev would take from root. */
	{SCMP_SYS(socket), {{0, ALL, AF_NETLINK}, {2, ALL, NETLINK_ROUTE}}},
	{SCMP_SYS(socket), {{0, ALL, AF_NETLINK}, {2, ALL, NETLINK_NETFILTER}}},
	{SCMP_SYS(socket), {{0, ALL, AF_PACKET}}},
	{SCMP_SYS(socket), {{0, ALL, AF_XDP}}},
	/* For ioctl() on interfaces. */
	{SCMP_SYS(socket), {{0, ALL, AF_INET}, {1, TYPE, SOCK_DGRAM}}},
	{SCMP_SYS(socket), {{0, ALL, AF_INET6}, {1, TYPE, SOCK_DGRAM}}},
	{SCMP_SYS(socketpair), {{0, ALL, AF_UNIX}}},
};

/* The C library does without: arguments in memory cannot be checked. */
static const int absent[] = {SCMP_SYS(clone3), SCMP_SYS(openat2)};

/* What no driver and no OpenCL needs, from the start on: other programs' memory, name spaces, mounts, modules, keys,
 * the clock, devices, owners of files. The starter cannot have a list of what it may do, because each process that
 * takes over would have it. */
static const int refused[] = {
	SCMP_SYS(acct),
	SCMP_SYS(add_key),
	SCMP_SYS(adjtimex),
	SCMP_SYS(chown),
	SCMP_SYS(chroot),
	SCMP_SYS(clock_adjtime),
	SCMP_SYS(clock_settime),
	SCMP_SYS(delete_module),
	SCMP_SYS(fchown),
	SCMP_SYS(fchownat),
	SCMP_SYS(finit_module),
	SCMP_SYS(fremovexattr),
	SCMP_SYS(fsconfig),
	SCMP_SYS(fsetxattr),
	SCMP_SYS(fsmount),
	SCMP_SYS(fsopen),
	SCMP_SYS(fspick),
	SCMP_SYS(init_module),
	SCMP_SYS(io_uring_enter),
	SCMP_SYS(io_uring_register),
	SCMP_SYS(io_uring_setup),
	SCMP_SYS(ioperm),
	SCMP_SYS(iopl),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(kexec_load),
	SCMP_SYS(keyctl),
	SCMP_SYS(lchown),
	SCMP_SYS(lremovexattr),
	SCMP_SYS(lsetxattr),
	SCMP_SYS(mknod),
	SCMP_SYS(mknodat),
	SCMP_SYS(mount),
	SCMP_SYS(mount_setattr),
	SCMP_SYS(move_mount),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(open_tree),
	SCMP_SYS(perf_event_open),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(pivot_root),
	SCMP_SYS(process_madvise),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
#ifndef CYGNET_SANITIZERS
	SCMP_SYS(ptrace),
#endif
	SCMP_SYS(quotactl),
	SCMP_SYS(reboot),
	SCMP_SYS(removexattr),
	SCMP_SYS(request_key),
	SCMP_SYS(setdomainname),
	SCMP_SYS(sethostname),
	SCMP_SYS(setns),
	SCMP_SYS(settimeofday),
	SCMP_SYS(setxattr),
	SCMP_SYS(swapoff),
	SCMP_SYS(swapon),
	SCMP_SYS(syslog),
	SCMP_SYS(umount2),
	SCMP_SYS(unshare),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(vhangup),
};

/* The same with certain arguments. */
static const struct rule refused_where[] = {
	{SCMP_SYS(clone), {{0, CLONE_NEWCGROUP, CLONE_NEWCGROUP}}},
	{SCMP_SYS(clone), {{0, CLONE_NEWIPC, CLONE_NEWIPC}}},
	{SCMP_SYS(clone), {{0, CLONE_NEWNET, CLONE_NEWNET}}},
	{SCMP_SYS(clone), {{0, CLONE_NEWNS, CLONE_NEWNS}}},
	{SCMP_SYS(clone), {{0, CLONE_NEWPID, CLONE_NEWPID}}},
	{SCMP_SYS(clone), {{0, CLONE_NEWUSER, CLONE_NEWUSER}}},
	{SCMP_SYS(clone), {{0, CLONE_NEWUTS, CLONE_NEWUTS}}},
	/* Typing on a terminal for its user. */
	{SCMP_SYS(ioctl), {{1, ALL, TIOCSTI}}},
	{SCMP_SYS(ioctl), {{1, ALL, TIOCLINUX}}},
	/* Files that change the user. */
	{SCMP_SYS(chmod), {{1, S_ISUID, S_ISUID}}},
	{SCMP_SYS(chmod), {{1, S_ISGID, S_ISGID}}},
	{SCMP_SYS(fchmod), {{1, S_ISUID, S_ISUID}}},
	{SCMP_SYS(fchmod), {{1, S_ISGID, S_ISGID}}},
	{SCMP_SYS(fchmodat), {{2, S_ISUID, S_ISUID}}},
	{SCMP_SYS(fchmodat), {{2, S_ISGID, S_ISGID}}},
};

/* What ends the process once packets flow, and is refused at least where the filter only logs. */
static const int ways_out[] = {
	/* Programs, other programs' sockets, rights of files. */
	SCMP_SYS(chmod),
	SCMP_SYS(connect),
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	SCMP_SYS(fchmodat),
	SCMP_SYS(truncate),
	/* Users and capabilities. */
	SCMP_SYS(capset),
	SCMP_SYS(setfsgid),
	SCMP_SYS(setfsuid),
	SCMP_SYS(setgid),
	SCMP_SYS(setgroups),
	SCMP_SYS(setregid),
	SCMP_SYS(setresgid),
	SCMP_SYS(setresuid),
	SCMP_SYS(setreuid),
	SCMP_SYS(setuid),
	/* Signals to other processes. */
	SCMP_SYS(kill),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(rt_sigqueueinfo),
	SCMP_SYS(rt_tgsigqueueinfo),
	SCMP_SYS(tkill),
};

static bool enforced, has_bpf, has_memif;

static int add(scmp_filter_ctx filter, uint32_t action, const struct rule *rule)
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
	return seccomp_rule_add_array(filter, action, rule->call, n, where);
}

static int allow(scmp_filter_ctx filter, const struct rule *rule)
{
	return add(filter, SCMP_ACT_ALLOW, rule);
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

/* libbpf of Debian 13 asks the kernel by generic netlink what a card can do with XDP, before it takes a program off; it does
 * without where the kernel does not know that question. */
static int refuse_generic(scmp_filter_ctx filter)
{
	const struct rule rule = {SCMP_SYS(socket),
				  {{0, ALL, AF_NETLINK}, {2, ALL, NETLINK_GENERIC}}};

	return add(filter, SCMP_ACT_ERRNO(ENOENT), &rule);
}

static int refuse_ways_out(scmp_filter_ctx filter)
{
	int err = 0;

	for (unsigned int i = 0; i < RTE_DIM(ways_out) && !err; i++)
		if (ways_out[i] != SCMP_SYS(connect) || !has_memif)
			err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), ways_out[i], 0);
	return err;
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
	if (has_bpf && !err)
		err = refuse_generic(filter);
	/* It connects again by itself. */
	if (has_memif && !err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(connect), 0);
	if (err)
		return err;
	return enforce ? refuse_executable(filter) : refuse_ways_out(filter);
}

/* @param err  of the rules; 0: put them in force for all threads */
static int load(scmp_filter_ctx filter, int err)
{
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

static bool only_virtual(const struct conf *conf)
{
	for (unsigned int i = 0; i < conf->ndevices; i++)
		if (!starts_with(conf->port[i].device, VIRTUAL))
			return false;
	return true;
}

/* Rules that the process before has put in force: a call that is wrong, which the kernel would say, is refused. */
static bool refuses(void)
{
	return process_vm_readv(getpid(), NULL, 0, NULL, 0, 1) < 0 && errno == EACCES;
}

static int add_refused(scmp_filter_ctx filter)
{
	int err = 0;

	for (unsigned int i = 0; i < RTE_DIM(refused) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), refused[i], 0);
	for (unsigned int i = 0; i < RTE_DIM(refused_where) && !err; i++)
		err = add(filter, SCMP_ACT_ERRNO(EACCES), &refused_where[i]);
	for (unsigned int i = 0; i < RTE_DIM(absent) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), absent[i], 0);
	if (!has_bpf && !err)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(bpf), 0);
	return err;
}

static void say_no_filter(const struct conf *conf, int err)
{
	char where[PATH_MAX + NAME_MAX];

	conf_where(conf, NULL, "seccomp", where, sizeof(where));
	log_error("%s: no filter of system calls: %s. seccomp = no does without", where,
		  strerror(-err));
}

int system_calls_refuse(const struct conf *conf)
{
	scmp_filter_ctx filter;
	int err;

	has_bpf = conf_has_device(conf, XDP);
	if (conf->seccomp == SECCOMP_NO || refuses())
		return 0;
	filter = seccomp_init(SCMP_ACT_ALLOW);
	err = load(filter, filter ? add_refused(filter) : -ENOTSUP);
	if (err)
		say_no_filter(conf, err);
	return err;
}

int system_calls_restrict(const struct conf *conf, bool foreign)
{
	bool enforce = conf->seccomp == SECCOMP_ENFORCE ||
		       (conf->seccomp == SECCOMP_AUTO && !foreign && only_virtual(conf));
	scmp_filter_ctx filter;
	int err;

	if (conf->seccomp == SECCOMP_NO)
		return 0;
	has_bpf = conf_has_device(conf, XDP);
	has_memif = conf_has_device(conf, MEMIF);
	/* pthread_cancel() loads it. */
	if (enforce)
		dlopen("libgcc_s.so.1", RTLD_NOW);
	filter = seccomp_init(enforce ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_LOG);
	err = load(filter, filter ? add_rules(filter, enforce) : -ENOTSUP);
	enforced = enforce && !err;
	if (!err) {
		log_info("seccomp: system calls that cygnetd does not need %s",
			 enforce ? "end it from now on" : "are in the kernel's log from now on");
		return 0;
	}
	say_no_filter(conf, err);
	return err;
}

bool system_calls_suffice(const char *device)
{
	return !enforced || has_bpf || !starts_with(device, XDP);
}

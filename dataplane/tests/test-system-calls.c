/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filter of system calls, in force in a child: each kind of call that it forbids ends the child, and what
 * cygnetd does while packets flow it still can do. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/state_file.h"
#include "config.h"
#include "host/system_calls.h"

/* Exit status of a child in which something else than the call has failed. */
#define BROKEN 99

static char folder[] = "/tmp/cygXXXXXX";
static char path[64];

static struct conf with_device(enum seccomp_choice seccomp, const char *device)
{
	struct conf conf;

	conf_defaults(&conf);
	conf.seccomp = seccomp;
	conf.nports = conf.ndevices = 1;
	snprintf(conf.port[0].device, sizeof(conf.port[0].device), "%s", device);
	return conf;
}

/* Run a function in a child. @return wait status */
static int in_child(int (*function)(const void *), const void *argument)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(function(argument));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* --- forbidden --- */

/* clang-format off */
#define CALL(text, number, ...) {.what = text, .call = SYS_##number, .with = {__VA_ARGS__}}
/* clang-format on */
/* A call that sanitizers make, too. */
/* clang-format off */
#define OF_SANITIZERS(text, number, ...) \
	{.what = text, .call = SYS_##number, .with = {__VA_ARGS__}, .of_sanitizers = true}
/* clang-format on */

static const struct forbidden {
	const char *what;
	long call, with[4];
	bool of_sanitizers;
} forbidden[] = {
	CALL("execve", execve, (long)"/bin/true"),
	CALL("execveat", execveat, AT_FDCWD, (long)"/bin/true"),
	CALL("fork", fork, 0),
	CALL("vfork", vfork, 0),
	OF_SANITIZERS("clone", clone, SIGCHLD),
	OF_SANITIZERS("clone of a name space", clone, CLONE_NEWUSER | SIGCHLD),
	OF_SANITIZERS("ptrace", ptrace, 0),
	CALL("process_vm_readv", process_vm_readv, 0),
	CALL("process_vm_writev", process_vm_writev, 0),
	CALL("pidfd_open", pidfd_open, 0),
	CALL("kill", kill, 1),
	CALL("tgkill of another process", tgkill, 1, 1),
	CALL("bpf", bpf, BPF_PROG_LOAD),
	CALL("perf_event_open", perf_event_open, 0),
	CALL("io_uring_setup", io_uring_setup, 8),
	CALL("userfaultfd", userfaultfd, 0),
	CALL("keyctl", keyctl, 0),
	CALL("init_module", init_module, 0),
	CALL("finit_module", finit_module, -1),
	CALL("kexec_load", kexec_load, 0),
	CALL("reboot", reboot, 0),
	CALL("mount", mount, 0),
	CALL("pivot_root", pivot_root, 0),
	CALL("chroot", chroot, 0),
	CALL("unshare", unshare, CLONE_NEWNS),
	CALL("setns", setns, -1),
	CALL("setuid", setuid, 0),
	CALL("capset", capset, 0),
	OF_SANITIZERS("another prctl", prctl, PR_SET_DUMPABLE, 1),
	CALL("seccomp", seccomp, 0),
	CALL("personality", personality, 0),
	CALL("pkey_mprotect", pkey_mprotect, 0),
	CALL("shmat", shmat, 0),
	CALL("chmod", chmod, (long)"/nowhere/file"),
	CALL("fchmod to what can be executed", fchmod, -1, 0700),
	CALL("chown", chown, (long)"/nowhere/file"),
	CALL("link", link, (long)"/nowhere/file", (long)"/nowhere/link"),
	CALL("mknod", mknod, (long)"/nowhere/device"),
	CALL("a new file that can be executed", openat, AT_FDCWD, (long)"/nowhere/file",
	     O_WRONLY | O_CREAT, 0755),
	CALL("a new file that changes the user", openat, AT_FDCWD, (long)"/nowhere/file",
	     O_RDWR | O_CREAT, 04600),
	OF_SANITIZERS("open", open, (long)"/nowhere/file"),
	CALL("limits of another process", prlimit64, 1),
	CALL("TCP", socket, AF_INET, SOCK_STREAM),
	CALL("TCP by IPv6", socket, AF_INET6, SOCK_STREAM | SOCK_CLOEXEC),
	CALL("raw IP", socket, AF_INET, SOCK_RAW),
	CALL("AF_ALG", socket, AF_ALG, SOCK_SEQPACKET),
	CALL("AF_VSOCK", socket, AF_VSOCK, SOCK_STREAM),
	CALL("AF_KEY", socket, AF_KEY, SOCK_RAW),
	{.what = "a call that no kernel has", .call = 5000},
};

static int call_it(const void *argument)
{
	const struct forbidden *f = argument;
	const struct conf conf = with_device(SECCOMP_AUTO, "net_af_packet0,iface=a");

	if (system_calls_restrict(&conf, false))
		return BROKEN;
	syscall(f->call, f->with[0], f->with[1], f->with[2], f->with[3]);
	return 0;
}

static bool killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static void forbidden_ends(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		int status;

#ifdef CYGNET_SANITIZERS
		if (forbidden[i].of_sanitizers)
			continue;
#endif
		status = in_child(call_it, &forbidden[i]);
		if (!killed(status))
			fail_msg("%s: wait status %x", forbidden[i].what, (unsigned int)status);
	}
}

/* --- all threads --- */

static pthread_barrier_t barrier;

static void *wait_and_call(void *argument)
{
	(void)argument;
	pthread_barrier_wait(&barrier); /* it is there */
	pthread_barrier_wait(&barrier); /* the filter is in force */
	syscall(SYS_getpgrp);
	return NULL;
}

/* A thread that was there before the filter. */
static int call_in_thread(const void *argument)
{
	const struct conf *conf = argument;
	pthread_t thread;

	if (pthread_barrier_init(&barrier, NULL, 2) ||
	    pthread_create(&thread, NULL, wait_and_call, NULL))
		return BROKEN;
	pthread_barrier_wait(&barrier);
	if (system_calls_restrict(conf, false))
		return BROKEN;
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	return 0;
}

static void all_threads(void **state)
{
	struct conf conf = with_device(SECCOMP_ENFORCE, "net_null0");

	(void)state;
	assert_true(killed(in_child(call_in_thread, &conf)));
	conf.seccomp = SECCOMP_NO;
	assert_int_equal(in_child(call_in_thread, &conf), 0);
}

/* --- when it is enforced --- */

static const struct choice {
	enum seccomp_choice seccomp;
	const char *device;
	bool foreign, enforced;
} choices[] = {
	{SECCOMP_AUTO, "net_af_packet0,iface=a", false, true},
	{SECCOMP_AUTO, "net_af_xdp0,iface=a", false, true},
	{SECCOMP_AUTO, "net_af_packet0,iface=a", true, false},
	{SECCOMP_AUTO, "0000:03:00.0", false, false},
	{SECCOMP_ENFORCE, "net_af_packet0,iface=a", true, true},
	{SECCOMP_ENFORCE, "0000:03:00.0", true, true},
	{SECCOMP_LOG, "net_af_packet0,iface=a", false, false},
	{SECCOMP_NO, "net_af_packet0,iface=a", false, false},
};

/* Which ports can be added: bits of the exit status. */
enum { OF_XDP = 1, OF_PACKET = 2 };

static int ports_possible(void)
{
	return (system_calls_suffice("net_af_xdp1,iface=b") ? OF_XDP : 0) |
	       (system_calls_suffice("net_af_packet1,iface=b") ? OF_PACKET : 0);
}

/* @return them, if the call does not end it */
static int choose(const void *argument)
{
	const struct choice *c = argument;
	const struct conf conf = with_device(c->seccomp, c->device);
	int can;

	if (system_calls_restrict(&conf, c->foreign))
		return BROKEN;
	can = ports_possible();
	syscall(SYS_getpgrp);
	return can;
}

static void when_enforced(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		int status = in_child(choose, &choices[i]);

		if (choices[i].enforced) {
			assert_true(killed(status));
			continue;
		}
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), OF_XDP | OF_PACKET);
	}
}

/* @return which ports can be added */
static int ask(const void *argument)
{
	const struct conf conf = with_device(SECCOMP_ENFORCE, argument);

	if (system_calls_restrict(&conf, false))
		return BROKEN;
	return ports_possible();
}

/* bpf() is allowed if there is a port that needs it. */
static void ports_that_can_come(void **state)
{
	(void)state;
	assert_int_equal(in_child(ask, "net_af_packet0,iface=a"), OF_PACKET << 8);
	assert_int_equal(in_child(ask, "net_af_xdp0,iface=a"), (OF_XDP | OF_PACKET) << 8);
}

/* --- allowed --- */

/* @return NULL: done */
static void *name_itself(void *argument)
{
	return pthread_setname_np(pthread_self(), "other") ? argument : NULL;
}

/* Until it is cancelled, which unwinds its stack. */
static void *sleep_on(void *argument)
{
	(void)argument;
	for (;;)
		poll(NULL, 0, 1000);
	return NULL;
}

/* An error of a call that is allowed: the kernel has looked at it. */
static bool fails(long result, int error)
{
	return result < 0 && errno == error;
}

static bool opens_sockets(void)
{
	static const struct {
		int family, type;
	} kinds[] = {{AF_UNIX, SOCK_SEQPACKET},
		     {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC},
		     {AF_NETLINK, SOCK_RAW},
		     {AF_INET, SOCK_DGRAM | SOCK_CLOEXEC},
		     {AF_INET6, SOCK_DGRAM}};
	int pair[2];

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int fd = socket(kinds[i].family, kinds[i].type, 0);

		if (fd < 0 && errno != EAFNOSUPPORT)
			return false;
		close(fd);
	}
	/* These need rights or a module. */
	close(socket(AF_PACKET, SOCK_RAW, 0));
	close(socket(AF_XDP, SOCK_RAW, 0));
	return socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0;
}

static bool has_no_executable_memory(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page != MAP_FAILED && fails(mprotect(page, 4096, PROT_READ | PROT_EXEC), EACCES) &&
	       mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		       MAP_FAILED &&
	       errno == EACCES && mprotect(page, 4096, PROT_READ) == 0;
}

/* @return 0, or the number of what does not work */
static int go_on(const void *argument)
{
	const struct timespec moment = {.tv_nsec = 1};
	const struct conf conf = with_device(SECCOMP_ENFORCE, "net_af_xdp0,iface=a");
	pthread_t thread;
	void *memory;

	(void)argument;
	if (system_calls_restrict(&conf, false))
		return BROKEN;
	if (pthread_create(&thread, NULL, name_itself, folder) || pthread_join(thread, &memory) ||
	    memory)
		return 1;
	if (pthread_create(&thread, NULL, sleep_on, NULL) || pthread_cancel(thread) ||
	    pthread_join(thread, NULL))
		return 2;
	if (state_file_write(path, "a\n", 2, 0600) || access(path, R_OK) || unlink(path))
		return 3;
	if (!opens_sockets())
		return 4;
	if (!has_no_executable_memory())
		return 5;
	memory = malloc(1 << 24);
	if (!memory || nanosleep(&moment, NULL) || sched_yield())
		return 6;
	free(memory);
	if (!fails(syscall(SYS_clone3, NULL, 0), ENOSYS) ||
	    !fails(syscall(SYS_openat2, 0, NULL, NULL, 0), ENOSYS))
		return 7;
	/* With a port of net_af_xdp. */
	if (!fails(syscall(SYS_bpf, 10000, NULL, 0), EINVAL) && errno != EPERM)
		return 8;
	return 0;
}

static void needed_works(void **state)
{
	(void)state;
	assert_int_equal(in_child(go_on, NULL), 0);
}

static int abort_it(const void *argument)
{
	const struct conf conf = with_device(SECCOMP_ENFORCE, "net_null0");

	(void)argument;
	if (system_calls_restrict(&conf, false))
		return BROKEN;
	abort();
}

/* abort() ends it by SIGABRT, which tells more than SIGSYS. */
static void aborts(void **state)
{
	int status = in_child(abort_it, NULL);

	(void)state;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/policies", folder);
	/* No core files of the children. */
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static int tear_down(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forbidden_ends), cmocka_unit_test(all_threads),
		cmocka_unit_test(when_enforced),  cmocka_unit_test(ports_that_can_come),
		cmocka_unit_test(needed_works),	  cmocka_unit_test(aborts),
	};

	log_level = RTE_LOG_ERR;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

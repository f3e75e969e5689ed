/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ways out of a cygnetd that executes an attacker's code as root: each is tried in a child that has the limits which
 * main() sets, in its order, and has to fail; what cygnetd needs has to work. Each way works for root without these
 * limits, as far as trying it does no harm. Needs root and Landlock. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <linux/netlink.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/log.h"
#include "config.h"
#include "base/sadb.h"
#include "base/state_file.h"
#include "host/files.h"
#include "host/privileges.h"
#include "host/system_calls.h"
#include "host/user.h"

#define BROKEN	200 /* exit status: something else than the way has failed */
#define REFUSED 201
#ifdef CYGNET_SANITIZERS /* user.c */
#define STAYS_ROOT true
#else
#define STAYS_ROOT false
#endif
#define ANYBODY "64199" /* has no entry among the users */

static char folder[] = "/tmp/cygXXXXXX"; /* root's, with the folder "own" which is cygnetd's */
static char server[64];			 /* a socket of another program, as systemd's */
static struct conf conf;

/* --- ways out: 0 or -errno --- */

static int try_open(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	if (fd < 0)
		return -errno;
	close(fd);
	if (flags & O_CREAT)
		unlink(path);
	return 0;
}

#define OPENS(name, path, flags) \
	static int name(void) \
	{ \
		return try_open(path, flags); \
	}

OPENS(write_program, "/usr/bin/env", O_WRONLY)
OPENS(create_program, "/usr/bin/cygnet-escape", O_WRONLY | O_CREAT)
OPENS(create_udev_rule, "/etc/cygnet-escape.rules", O_WRONLY | O_CREAT)
OPENS(create_unit, "/run/cygnet-escape.service", O_WRONLY | O_CREAT)
OPENS(create_in_home, "/root/cygnet-escape", O_WRONLY | O_CREAT)
OPENS(preload, "/etc/ld.so.preload", O_WRONLY | O_CREAT | O_EXCL)
OPENS(core_pattern, "/proc/sys/kernel/core_pattern", O_WRONLY)
OPENS(sysrq, "/proc/sysrq-trigger", O_WRONLY)
OPENS(own_code, "/proc/self/mem", O_RDWR)
OPENS(memory_of_init, "/proc/1/mem", O_RDWR)
OPENS(uevent_of_card, "/sys/devices/virtual/mem/null/uevent", O_WRONLY)
OPENS(read_passwords, "/etc/shadow", O_RDONLY)
OPENS(read_other_file, "/etc/fstab", O_RDONLY)
OPENS(write_kernel_log, "/dev/kmsg", O_WRONLY)
OPENS(device_of_memory, "/dev/mem", O_RDWR)

/* A file in a folder that may be read. */
static int truncate_open(void)
{
	char readable[80];

	snprintf(readable, sizeof(readable), "%s/drivers/file", folder);
	return try_open(readable, O_RDONLY | O_TRUNC);
}

static int truncate_path(void)
{
	char readable[80];

	snprintf(readable, sizeof(readable), "%s/drivers/file", folder);
	return truncate(readable, 0) ? -errno : 0;
}

/* A file of cygnetd over a file in a folder of others. */
static int rename_over(void)
{
	char own[80], other[80];
	int err;

	snprintf(own, sizeof(own), "%s/own/program", folder);
	snprintf(other, sizeof(other), "%s/replaced", folder);
	close(open(own, O_WRONLY | O_CREAT, 0600));
	err = rename(own, other) ? -errno : 0;
	unlink(other);
	unlink(own);
	return err;
}

static int link_to(void)
{
	return symlink("/nowhere", "/usr/bin/cygnet-escape") ? -errno
							     : unlink("/usr/bin/cygnet-escape");
}

static int remove_file(void)
{
	char other[80];

	snprintf(other, sizeof(other), "%s/other", folder);
	return unlink(other) ? -errno : 0;
}

static int set_user(void)
{
	char other[80];

	snprintf(other, sizeof(other), "%s/other", folder);
	return chmod(other, 04755) ? -errno : 0;
}

static int own_file(void)
{
	char own[80];
	int err;

	snprintf(own, sizeof(own), "%s/own/program", folder);
	close(open(own, O_WRONLY | O_CREAT, 0600));
	err = chown(own, 1, 1) ? -errno : 0;
	unlink(own);
	return err;
}

static int connect_server(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", server);
	return connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) ? -errno : 0;
}

static int uevents(void)
{
	return socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT) < 0 ? -errno : 0;
}

static int execute(void)
{
	execl("/bin/true", "true", NULL);
	return -errno;
}

/* What cygnetd has written. */
static int execute_own(void)
{
	char own[80];
	int fd;

	snprintf(own, sizeof(own), "%s/own/program", folder);
	fd = open(own, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || fchmod(fd, 0700) || write(fd, "#!/bin/true\n", 12) != 12 || close(fd))
		return -errno;
	execl(own, "program", NULL);
	return -errno;
}

static int trace(void)
{
	return ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) ? -errno : 0;
}

static int write_memory(void)
{
	static char byte;
	struct iovec here = {&byte, 1}, there = {&byte, 1};

	return process_vm_writev(getppid(), &here, 1, &there, 1, 0) == 1 ? 0 : -errno;
}

static int mount_it(void)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/own", folder);
	return mount("none", path, "tmpfs", 0, "") ? -errno : umount(path);
}

static int new_name_space(void)
{
	return unshare(CLONE_NEWNS) ? -errno : 0;
}

static int new_user_space(void)
{
	return unshare(CLONE_NEWUSER) ? -errno : 0;
}

static int join_name_space(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY);

	return fd < 0 || setns(fd, 0) ? -errno : 0;
}

static int load_module(void)
{
	return syscall(SYS_init_module, NULL, 0, "") ? -errno : 0;
}

static int load_bpf(void)
{
	return syscall(SYS_bpf, BPF_PROG_LOAD, NULL, 0) ? -errno : 0;
}

static int keys(void)
{
	return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1) < 0 ? -errno
											   : 0;
}

static int by_handle(void)
{
	return syscall(SYS_open_by_handle_at, AT_FDCWD, NULL, O_RDWR) < 0 ? -errno : 0;
}

static int make_device(void)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/own/device", folder);
	return mknod(path, S_IFBLK | 0600, 0x800) ? -errno : unlink(path);
}

static int signal_init(void)
{
	return kill(1, 0) ? -errno : 0;
}

static int become_root(void)
{
	return setresuid(0, 0, 0) ? -errno : 0;
}

/* What cygnetd's rules for files allow to root. */
static int open_shared_file(void)
{
	return try_open(conf.sadb, O_RDWR | O_CREAT);
}

/* Who is refused: cygnetd that stays root, under its filter; one whose filter only logs; one of another user, whose
 * filter only logs; and the starter with the processes that take over, before their filter. */
enum { SERVING = 1, LOGGING = 2, STARTER = 4, USER = 8, ALL = SERVING | LOGGING | STARTER | USER };

static const struct way {
	const char *what;
	int (*go)(void);
	int refused;
	bool harms; /* not tried without limits: it fails there for another reason, or must not be done */
} ways[] = {
	{"write a program", write_program, ALL, false},
	{"truncate a file by open", truncate_open, ALL, false},
	{"truncate a file", truncate_path, ALL, false},
	{"create a program", create_program, ALL, false},
	{"rename over a file", rename_over, ALL, false},
	{"link in a program's folder", link_to, ALL, false},
	{"create a rule in /etc", create_udev_rule, ALL, false},
	{"create a unit in /run", create_unit, ALL, false},
	{"create a file in root's home", create_in_home, ALL, false},
	{"write ld.so.preload", preload, ALL, true},
	{"write core_pattern", core_pattern, ALL, false},
	{"write sysrq-trigger", sysrq, ALL, false},
	{"write own code", own_code, ALL, false},
	{"write memory of init by its file", memory_of_init, ALL, true},
	{"write an uevent", uevent_of_card, ALL, false},
	{"read passwords", read_passwords, ALL, false},
	{"read another file of /etc", read_other_file, ALL, true},
	{"write /dev/kmsg", write_kernel_log, ALL, true},
	{"open /dev/mem", device_of_memory, ALL, true},
	{"remove a file", remove_file, ALL, true},
	{"make a file change the user", set_user, ALL, false},
	{"give a file away", own_file, ALL, false},
	{"connect to a server", connect_server, SERVING | LOGGING | USER, false},
	{"listen to devices", uevents, SERVING, false},
	{"execute a program", execute, SERVING | LOGGING | USER, true},
	{"execute a file of its own", execute_own, ALL, true},
	{"trace a process", trace, ALL, true},
	{"write another process's memory", write_memory, ALL, false},
	{"mount", mount_it, ALL, false},
	{"a name space", new_name_space, ALL, false},
	/* In a chroot the kernel refuses that by itself. */
	{"a user's name space", new_user_space, ALL, true},
	{"enter a name space", join_name_space, ALL, false},
	{"load a module", load_module, ALL, true},
	{"bpf", load_bpf, ALL, true},
	{"keyctl", keys, ALL, false},
	{"a file by its handle", by_handle, ALL, true},
	{"make a device", make_device, ALL, false},
	{"signal init", signal_init, SERVING | LOGGING | USER, false},
	{"become root", become_root, SERVING | LOGGING | USER, false},
	{"open the shared file anew", open_shared_file, STAYS_ROOT ? 0 : USER, true},
};

/* --- limits, as in main() --- */

static int limit(int who)
{
	snprintf(conf.user, sizeof(conf.user), who & (USER | STARTER) ? ANYBODY : "root");
	if (user_find(&conf) || user_prepare(&conf) || privileges_drop(&conf, user_will_change()) ||
	    files_restrict(&conf) || system_calls_refuse(&conf))
		return -1;
	if (who & (USER | STARTER) && !STAYS_ROOT && !user_will_change() && geteuid() == 0)
		return -1;
	if (who == STARTER)
		return 0;
	return user_become(&conf) || system_calls_restrict(&conf, who != SERVING);
}

/* Run in a child. @param who  0: without limits. @return wait status */
static int in_child(int who, int (*go)(void))
{
	int status = 0, err;
	pid_t pid = fork();

	if (pid == 0) {
		if (who && limit(who))
			_exit(BROKEN);
		err = go();
		_exit(err == -EACCES || err == -EPERM || err == -EROFS ? REFUSED : -err & 0x7f);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static bool was_refused(int status)
{
	return WIFSIGNALED(status) ? WTERMSIG(status) == SIGSYS : WEXITSTATUS(status) == REFUSED;
}

/* A device or file that this machine does not have. */
static bool is_missing(int status)
{
	return WIFEXITED(status) && (WEXITSTATUS(status) == ENOENT || WEXITSTATUS(status) == ENXIO);
}

static int landlock_version(void)
{
	return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* Landlock knows of truncating from its version 3 on (Linux 6.2). */
static bool is_unknown(const struct way *way)
{
	return (way->go == truncate_open || way->go == truncate_path) && landlock_version() < 3;
}

static void no_way_out(void **state)
{
	static const struct {
		int who;
		const char *name;
	} of[] = {{SERVING, "cygnetd"},
		  {LOGGING, "cygnetd that logs"},
		  {USER, "cygnetd of another user"},
		  {STARTER, "starter"}};
	unsigned int failed = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (is_unknown(&ways[i])) {
			print_message("%s: not tried: Landlock of this kernel does not know it\n",
				      ways[i].what);
			continue;
		}
		if (!ways[i].harms && was_refused(in_child(0, ways[i].go))) {
			print_error("%s: refused without limits, too\n", ways[i].what);
			failed++;
		}
		for (unsigned int w = 0; w < sizeof(of) / sizeof(of[0]); w++) {
			int status = in_child(of[w].who, ways[i].go);

			if (!(ways[i].refused & of[w].who) || was_refused(status) ||
			    is_missing(status))
				continue;
			print_error("%s: %s: wait status %x\n", of[w].name, ways[i].what,
				    (unsigned int)status);
			failed++;
		}
	}
	assert_int_equal(failed, 0);
}

/* --- what is needed --- */

static int serve(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char path[PATH_MAX + 16];
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%s/policies", conf.state);
	if (state_file_write(path, "a\n", 2, 0600) || unlink(path))
		return -1;
	file = fopen(conf.path, "re");
	if (!file)
		return -2;
	fclose(file);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/own/dpdk/cygnet/socket", folder);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 1) ||
	    unlink(addr.sun_path))
		return -3;
	if (try_open("/dev/net/tun", O_RDWR) && errno != ENOENT)
		return -4;
	if (try_open("/proc/sys/net/ipv4/conf/lo/rp_filter", O_WRONLY))
		return -5;
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	return fd < 0 ? -6 : 0;
}

/* The shared file and its folder are made, and removed again. */
static int share(void)
{
	const struct cygnet_geometry geometry = {64, 64};
	struct cygnet_db *db;
	char error[512];

	if (cygnet_db_open_flags(conf.sadb, &geometry, CYGNET_OPEN_ON_DISK, &db, error,
				 sizeof(error)))
		return -1;
	cygnet_db_close(db);
	return unlink(conf.sadb) ? -2 : serve();
}

static void needed_works(void **state)
{
	(void)state;
	assert_int_equal(in_child(SERVING, serve), 0);
	assert_int_equal(in_child(LOGGING, serve), 0);
	assert_int_equal(in_child(USER, serve), 0);
	assert_int_equal(in_child(STARTER, share), 0);
	assert_int_equal(in_child(STARTER, execute), 0);
}

/* A file outside, which exists, and which only the key paths allows. */
static int write_other(void)
{
	char other[80];

	snprintf(other, sizeof(other), "%s/other", folder);
	return try_open(other, O_RDWR);
}

static int read_driver(void)
{
	char driver[80];

	snprintf(driver, sizeof(driver), "%s/eal/driver", folder);
	return try_open(driver, O_RDONLY);
}

static int write_driver(void)
{
	char driver[80];

	snprintf(driver, sizeof(driver), "%s/eal/driver", folder);
	return try_open(driver, O_RDWR);
}

static int write_beside_driver(void)
{
	char driver[80];

	snprintf(driver, sizeof(driver), "%s/eal/other", folder);
	return try_open(driver, O_WRONLY | O_CREAT);
}

/* By the file or its folder, with and without a space. What else has a path is written. */
static void drivers_are_read(void **state)
{
	static const struct {
		const char *option, *name;
	} forms[] = {{"-d ", "/driver"}, {"-d ", ""}, {"-d", "/driver"}};
	const struct conf usual = conf;

	(void)state;
	assert_true(was_refused(in_child(SERVING, read_driver)));
	for (unsigned int i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		snprintf(conf.eal, sizeof(conf.eal), "%s%s/eal%s", forms[i].option, folder,
			 forms[i].name);
		assert_int_equal(in_child(SERVING, read_driver), 0);
		assert_true(was_refused(in_child(SERVING, write_driver)));
		assert_true(was_refused(in_child(SERVING, write_beside_driver)));
	}
	snprintf(conf.eal, sizeof(conf.eal), "--vdev=net_pcap0,tx_pcap=%s/eal/driver", folder);
	assert_int_equal(in_child(SERVING, write_driver), 0);
	conf = usual;
}

static void paths_of_configuration(void **state)
{
	const struct conf usual = conf;

	(void)state;
	assert_true(was_refused(in_child(SERVING, write_other)));
	snprintf(conf.paths, sizeof(conf.paths), "/nowhere/at/all %s/other", folder);
	assert_int_equal(in_child(SERVING, write_other), 0);
	conf = usual;
	snprintf(conf.port[0].device, sizeof(conf.port[0].device), "net_pcap0,tx_pcap=%s/other",
		 folder);
	assert_int_equal(in_child(SERVING, write_other), 0);
	conf = usual;
}

/* One set of rules for the processes that take over one after the other: many of them change nothing. */
static int limit_often(void)
{
	for (unsigned int i = 0; i < 40; i++)
		if (limit(STARTER))
			return -1;
	return limit(SERVING) ? -2 : serve();
}

static void taken_over_often(void **state)
{
	(void)state;
	assert_int_equal(in_child(STARTER, limit_often), 0);
}

/* --- */

static int listen_as_server(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(server, sizeof(server), "%s/private", folder);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", server);
	return fd >= 0 && bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0 &&
			       listen(fd, 100) == 0
		       ? 0
		       : -1;
}

/* @return 0: made, with a folder */
static int make_file(const char *in, const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, in);
	if (mkdir(path, 0700))
		return -1;
	snprintf(path, sizeof(path), "%s/%s/%s", folder, in, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 ? -1 : close(fd);
}

static int set_up(void **state)
{
	char path[128];

	(void)state;
	/* The user's process, too, gets to its folders. */
	if (!mkdtemp(folder) || chmod(folder, 0711))
		return -1;
	snprintf(path, sizeof(path), "%s/own", folder);
	if (mkdir(path, 0711) || make_file("drivers", "file") || make_file("eal", "driver"))
		return -1;
	setenv("RUNTIME_DIRECTORY", path, 1);
	/* As cygnetd leaves them that stays root. */
	snprintf(path, sizeof(path), "%s/own/dpdk", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/own/dpdk/cygnet", folder);
	mkdir(path, 0700);
	conf_defaults(&conf);
	conf.engine = ENGINE_CPU;
	conf.lock_memory = false;
	conf.nports = conf.ndevices = 1;
	snprintf(conf.port[0].device, sizeof(conf.port[0].device), "net_af_packet0,iface=a");
	snprintf(conf.path, sizeof(conf.path), "%s/own/cygnetd.conf", folder);
	snprintf(conf.state, sizeof(conf.state), "%s/own/state", folder);
	snprintf(conf.sadb, sizeof(conf.sadb), "%s/own/shared/sadb", folder);
	snprintf(conf.driver_path, sizeof(conf.driver_path), "%s/drivers", folder);
	close(open(conf.path, O_WRONLY | O_CREAT, 0644));
	snprintf(path, sizeof(path), "%s/other", folder);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	return listen_as_server();
}

static int tear_down(void **state)
{
	static const char *const files[] =
		{"own/cygnetd.conf", "own/program", "own/state", "own/shared", "own/dpdk/cygnet",
		 "own/dpdk",	     "own",	    "other",	 "private",    "drivers/file",
		 "drivers",	     "eal/driver",  "eal"};
	char path[128];

	(void)state;
	for (unsigned int i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		remove(path);
	}
	return rmdir(folder);
}

/* @return what the preparation says with this folder of state */
static const char *said_with(const char *state)
{
	static char text[4096];
	char path[sizeof(folder) + 16];
	int status = 0, fd;
	ssize_t len;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/said", folder);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	pid = fork();
	if (pid == 0) {
		dup2(fd, STDERR_FILENO);
		log_level = RTE_LOG_WARNING;
		strcpy(conf.user, ANYBODY);
		snprintf(conf.state, sizeof(conf.state), "%s/%s", folder, state);
		_exit(user_find(&conf) || user_prepare(&conf));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 0);
	len = pread(fd, text, sizeof(text) - 1, 0);
	text[len < 0 ? 0 : len] = '\0';
	close(fd);
	unlink(path);
	return text;
}

/* A folder whose parent is missing is not said to be one that the user can replace. */
static void state_is_refused(void **state)
{
	char path[sizeof(folder) + 16];
	const char *said;

	(void)state;
	if (STAYS_ROOT)
		skip();
	said = said_with("missing/state");
	assert_non_null(strstr(said, "are not held: No such file or directory"));
	assert_null(strstr(said, "replace it"));
	snprintf(path, sizeof(path), "%s/open", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0777), 0);
	assert_non_null(strstr(said_with("open/state"), "open/state: user "));
	assert_non_null(strstr(said_with("open/state"), "replace it"));
	rmdir(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_way_out),
		cmocka_unit_test(needed_works),
		cmocka_unit_test(paths_of_configuration),
		cmocka_unit_test(drivers_are_read),
		cmocka_unit_test(taken_over_often),
		cmocka_unit_test(state_is_refused),
	};

	if (geteuid() || landlock_version() < 0) {
		puts("skipped: needs root and Landlock");
		return 77;
	}
	log_level = RTE_LOG_ERR;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

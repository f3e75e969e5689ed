/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <link.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_common.h>

#include "base/log.h"
#include "host/eal.h"
#include "host/files.h"
#include "host/runtime.h"

/* Linux 6.2 */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

#define READ	LANDLOCK_ACCESS_FS_READ_FILE
#define EXECUTE (READ | LANDLOCK_ACCESS_FS_EXECUTE)
/* What exists. Opening with O_TRUNC and truncate(2) are known from 6.2 on, renaming between folders from 5.19 on. */
#define WRITE	 (READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)
#define OF_FILES (EXECUTE | WRITE) /* what a rule for a file that is no folder may have */
/* No devices: they would give access to disks and memory. */
#define CREATE \
	(WRITE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
	 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | \
	 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_SYM | \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_REFER)
#define ALL (EXECUTE | CREATE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)

struct rules {
	int fd;
	uint64_t known; /* rights of ALL that the kernel knows */
	int err;	/* of the first rule that could not be added; 0: none */
};

/* What any cygnetd needs. What is not there is left out. No patterns: AppArmor does not let it list /etc. */
static const struct {
	const char *path;
	uint64_t rights;
} usual[] = {
	{"/usr", EXECUTE},
	{"/lib", EXECUTE},
	{"/lib32", EXECUTE},
	{"/lib64", EXECUTE},
	{"/bin", EXECUTE},
	{"/sbin", EXECUTE},
	{"/opt", EXECUTE},
	{"/proc", READ},
	{"/sys", READ},
	/* Libraries, names of users, time zone; OpenCL's implementations. */
	{"/etc/ld.so.cache", READ},
	{"/etc/ld.so.preload", READ},
	{"/etc/alternatives", READ},
	{"/etc/localtime", READ},
	{"/etc/nsswitch.conf", READ},
	{"/etc/passwd", READ},
	{"/etc/group", READ},
	{"/etc/openssl", READ},
	{"/etc/ssl/openssl.cnf", READ},
	{"/etc/libibverbs.d", READ},
	{"/etc/OpenCL", READ},
	{"/etc/nvidia", READ},
	{"/etc/drirc", READ},
	/* Settings of interfaces. */
	{"/proc/sys/net", WRITE},
	{"/dev/null", WRITE},
	{"/dev/zero", WRITE},
	{"/dev/full", WRITE},
	{"/dev/random", READ},
	{"/dev/urandom", READ},
	{"/dev/net/tun", WRITE},
	{"/dev/hugepages", CREATE},
};

/* Patterns of glob(7). Devices and settings of PCI cards: VFIO, UIO, InfiniBand. */
static const char *const of_pci[] = {"/dev/vfio", "/dev/uio*",	  "/dev/infiniband",
				     "/dev/hpet", "/sys/bus/pci", "/sys/devices"};

static const char *const of_opencl[] = {"/dev/nvidia*", "/dev/dri", "/dev/kfd", "/dev/dxg",
					"/dev/shm"};

/* --- the kernel's interface --- */

static int create_rules(const struct landlock_ruleset_attr *attr, size_t size, uint32_t flags)
{
	return (int)syscall(SYS_landlock_create_ruleset, attr, size, flags);
}

/* What each version of the interface knows. */
static uint64_t known_by(int version)
{
	uint64_t known = ALL;

	if (version < 2)
		known &= ~(uint64_t)LANDLOCK_ACCESS_FS_REFER;
	if (version < 3)
		known &= ~(uint64_t)LANDLOCK_ACCESS_FS_TRUNCATE;
	return known;
}

/* The rights hold for a file, or for all in a folder. Paths that do not exist are left out. */
static void allow(struct rules *rules, const char *path, uint64_t rights)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = rights & rules->known};
	struct stat st;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return;
	if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.allowed_access &= OF_FILES;
	if (syscall(SYS_landlock_add_rule, rules->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) &&
	    !rules->err)
		rules->err = -errno;
	close(rule.parent_fd);
}

static void allow_pattern(struct rules *rules, const char *pattern, uint64_t rights)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		allow(rules, found.gl_pathv[i], rights);
	globfree(&found);
}

/* --- what is allowed --- */

/* A folder that is made if it is missing, because making it later would take rights for the folder around it. */
static void allow_folder(struct rules *rules, const char *path, mode_t mode)
{
	mkdir(path, mode);
	allow(rules, path, CREATE);
}

static void allow_folder_of(struct rules *rules, const char *path, uint64_t rights, mode_t mode)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	if (rights & LANDLOCK_ACCESS_FS_MAKE_REG)
		allow_folder(rules, dirname(copy), mode);
	else
		allow(rules, dirname(copy), rights);
}

/* A path of the configuration: a folder, a device or socket, or a file, which may be written anew. */
static void allow_named(struct rules *rules, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		allow(rules, path, CREATE);
	else
		allow_folder_of(rules, path, CREATE, 0700);
}

/* Drivers: a folder of them, or one, with what may be beside it. */
static void allow_drivers(struct rules *rules, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		allow(rules, path, EXECUTE);
	else
		allow_folder_of(rules, path, EXECUTE, 0);
}

/* Absolute paths in arguments: "a=/b,c=/d". Of EAL's option -d, "-d /a" or "-d/a", they are drivers, which nobody
 * writes. */
static void allow_paths_in(struct rules *rules, const char *text)
{
	char copy[1024], *save, *word;
	bool option = false;

	snprintf(copy, sizeof(copy), "%s", text);
	for (word = strtok_r(copy, " \t,=", &save); word; word = strtok_r(NULL, " \t,=", &save)) {
		if (strncmp(word, "-d/", 3) == 0)
			allow_drivers(rules, word + 2);
		else if (*word == '/' && option)
			allow_drivers(rules, word);
		else if (*word == '/')
			allow_named(rules, word);
		option = strcmp(word, "-d") == 0;
	}
}

static void allow_list(struct rules *rules, const char *variable)
{
	char *copy = getenv(variable) ? strdup(getenv(variable)) : NULL, *save, *word;

	for (word = copy ? strtok_r(copy, ":", &save) : NULL; word;
	     word = strtok_r(NULL, ":", &save))
		allow(rules, word, EXECUTE);
	free(copy);
}

/* Where a library was found is where the next cygnetd finds it. */
static int allow_library(struct dl_phdr_info *info, size_t size, void *rules)
{
	(void)size;
	if (info->dlpi_name[0] == '/')
		allow_folder_of(rules, info->dlpi_name, EXECUTE, 0);
	return 0;
}

/* The program's folder, where libraries may be as well, those of the libraries that it has, and what is named for
 * loaders. */
static void allow_program(struct rules *rules)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len > 0) {
		path[len] = '\0';
		allow_folder_of(rules, path, EXECUTE, 0);
	}
	dl_iterate_phdr(allow_library, rules);
	allow_list(rules, "LD_LIBRARY_PATH");
	allow_list(rules, "OCL_ICD_VENDORS");
}

/* What OpenCL has compiled, and where it compiles. */
static void allow_caches(struct rules *rules)
{
	static const char *const names[] = {"POCL_CACHE_DIR", "XDG_CACHE_HOME", "CUDA_CACHE_PATH",
					    "TMPDIR"};
	const char *home = getenv("HOME");
	char path[PATH_MAX];

	for (unsigned int i = 0; i < RTE_DIM(names); i++)
		if (getenv(names[i]))
			allow_folder(rules, getenv(names[i]), 0700);
	if (!getenv("TMPDIR"))
		allow(rules, "/tmp", CREATE);
	if (!home || getenv("XDG_CACHE_HOME"))
		return;
	snprintf(path, sizeof(path), "%s/.cache", home);
	allow_folder(rules, path, 0700);
	snprintf(path, sizeof(path), "%s/.nv", home);
	allow_folder(rules, path, 0700);
}

static void allow_ports(struct rules *rules, const struct conf *conf)
{
	bool pci = false;

	for (unsigned int i = 0; i < conf->ndevices; i++) {
		pci |= conf_is_pci(conf->port[i].device);
		allow_paths_in(rules, conf->port[i].device);
	}
	for (unsigned int i = 0; pci && i < RTE_DIM(of_pci); i++)
		allow_pattern(rules, of_pci[i], WRITE);
}

/* The file, its drop-ins, and where they are links to. Files in these folders may be replaced. */
static void allow_configuration(struct rules *rules, const struct conf *conf)
{
	char path[PATH_MAX + NAME_MAX + 8], target[PATH_MAX];

	allow_folder_of(rules, conf->path, READ, 0);
	if (realpath(conf->path, target))
		allow_folder_of(rules, target, READ, 0);
	for (unsigned int i = 0; i < conf->ndropins; i++) {
		snprintf(path, sizeof(path), "%s" CONF_DROPINS "/%s", conf->path, conf->dropin[i]);
		if (realpath(path, target))
			allow_folder_of(rules, target, READ, 0);
	}
}

static void allow_needed(struct rules *rules, const struct conf *conf)
{
	char path[PATH_MAX];

	for (unsigned int i = 0; i < RTE_DIM(usual); i++)
		allow(rules, usual[i].path, usual[i].rights);
	allow_program(rules);
	allow_configuration(rules, conf);
	allow(rules, conf->driver_path, EXECUTE);
	allow_folder_of(rules, conf->sadb, CREATE, 0700);
	allow_folder(rules, conf->state, 0755);
	runtime_parent(path, sizeof(path));
	allow_folder(rules, path, 0700);
	allow_ports(rules, conf);
	allow_paths_in(rules, conf->eal);
	allow_paths_in(rules, conf->opencl_args);
	allow_paths_in(rules, conf->paths);
	if (conf->engine == ENGINE_CPU)
		return;
	for (unsigned int i = 0; i < RTE_DIM(of_opencl); i++)
		allow_pattern(rules, of_opencl[i], WRITE);
	allow_caches(rules);
}

/* A process that takes over has the rules of the one before. There can be 16 sets of them, of which one does. */
static int restrict_self(int fd)
{
	return syscall(SYS_landlock_restrict_self, fd, 0) && errno != E2BIG ? -errno : 0;
}

static int restrict_to(const struct conf *conf, int version)
{
	struct rules rules = {.known = known_by(version)};
	struct landlock_ruleset_attr attr = {.handled_access_fs = rules.known};

	rules.fd = create_rules(&attr, sizeof(attr), 0);
	if (rules.fd < 0)
		return -errno;
	allow_needed(&rules, conf);
	if (!rules.err)
		rules.err = restrict_self(rules.fd);
	close(rules.fd);
	return rules.err;
}

int files_restrict(const struct conf *conf)
{
	int version = create_rules(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION), err;

	if (version < 0) {
		log_warn("files are not restricted: the kernel has no Landlock (%s)",
			 strerror(errno));
		return 0;
	}
	err = restrict_to(conf, version);
	if (err)
		log_error("files cannot be restricted by Landlock: %s", strerror(-err));
	return err;
}

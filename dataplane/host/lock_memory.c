/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "host/lock_memory.h"

static bool has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capget, &header, data) == 0 &&
	       data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

/* The address space that DPDK reserves counts, though little of it is used: a limit would be reached at some
 * later mmap(). */
static bool is_unlimited(void)
{
	struct rlimit limit;

	return has_capability(CAP_IPC_LOCK) ||
	       (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY);
}

int lock_memory(const struct conf *conf)
{
	char where[PATH_MAX + NAME_MAX];
	int err = 0;

	if (!conf->lock_memory)
		return 0;
	if (!is_unlimited())
		err = -EPERM;
	else if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		err = -errno;
	if (!err)
		return 0;
	conf_where(conf, NULL, "lock_memory", where, sizeof(where));
	log_error("%s: keys cannot be kept out of swap: %s. cygnetd needs CAP_IPC_LOCK, or "
		  "RLIMIT_MEMLOCK without limit (LimitMEMLOCK=infinity); lock_memory = no does without",
		  where, strerror(-err));
	return err;
}

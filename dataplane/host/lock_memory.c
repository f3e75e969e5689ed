/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/log.h"
#include "host/lock_memory.h"
#include "host/privileges.h"
#include "host/user.h"

/* The address space that DPDK reserves counts, though little of it is used: a limit would be reached at some
 * later mmap(). */
static bool is_unlimited(void)
{
	struct rlimit limit;

	/* Threads of another user have no capabilities. */
	return (privileges_have(CAP_IPC_LOCK) && !user_will_change()) ||
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
	log_error(
		"%s: keys cannot be kept out of swap: %s. cygnetd needs CAP_IPC_LOCK, or "
		"RLIMIT_MEMLOCK without limit (LimitMEMLOCK=infinity); lock_memory = no does without",
		where, strerror(-err));
	return err;
}

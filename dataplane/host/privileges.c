/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "config.h"
#include "host/privileges.h"

/* LeakSanitizer needs CAP_SYS_PTRACE, because the process is not dumpable. */
#ifdef CYGNET_SANITIZERS
#define KEEPS_ALL true
#else
#define KEEPS_ALL false
#endif

/* cygnetd.service has the same. */
static const uint64_t kept =
	/* links, addresses, TAPs, XDP on an interface */
	UINT64_C(1) << CAP_NET_ADMIN |
	/* AF_PACKET and AF_XDP sockets */
	UINT64_C(1) << CAP_NET_RAW |
	/* lock_memory, memory for DMA */
	UINT64_C(1) << CAP_IPC_LOCK |
	/* loading XDP programs, physical addresses without an IOMMU */
	UINT64_C(1) << CAP_SYS_ADMIN;

static int get(struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, data) ? -errno : 0;
}

static int set(const struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

bool privileges_have(unsigned int capability)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return get(data) == 0 && data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

/* The bounding set: what executed programs can get at most. */
static int restrict_bounding_set(void)
{
	for (unsigned long c = 0; prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
		if (!(kept >> c & 1) && prctl(PR_CAPBSET_DROP, c, 0, 0, 0))
			return -errno;
	return 0;
}

static int restrict_capabilities(void)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	int err = get(data);

	if (err || !privileges_have(CAP_SETPCAP))
		return err;
	err = restrict_bounding_set();
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (uint32_t)(kept >> 32 * i);
		data[i].effective &= (uint32_t)(kept >> 32 * i);
		data[i].inheritable = 0;
	}
	return err ? err : set(data);
}

int privileges_drop(void)
{
	int err = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;

	if (!err && !KEEPS_ALL)
		err = restrict_capabilities();
	if (err)
		log_error("cannot give up rights: %s", strerror(-err));
	return err;
}

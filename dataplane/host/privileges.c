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
#include "host/eal.h"
#include "host/privileges.h"

/* LeakSanitizer needs CAP_SYS_PTRACE, because the process is not dumpable. */
#ifdef CYGNET_SANITIZERS
#define KEEPS_ALL true
#else
#define KEEPS_ALL false
#endif

#define ADMIN (UINT64_C(1) << CAP_SYS_ADMIN)
/* Becoming another user; the starter then ends a new process that hangs, though it may be that user's already. */
#define CHANGE_USER (UINT64_C(1) << CAP_SETUID | UINT64_C(1) << CAP_KILL)
/* What user_prepare() needs, which has been called before. */
#define PREPARE (UINT64_C(1) << CAP_SETGID | UINT64_C(1) << CAP_CHOWN)

/* cygnetd.service has the same; see needs_admin() for the last one. */
static const uint64_t needed =
	/* links, addresses, TAPs, XDP on an interface */
	UINT64_C(1) << CAP_NET_ADMIN |
	/* AF_PACKET and AF_XDP sockets */
	UINT64_C(1) << CAP_NET_RAW |
	/* lock_memory, memory for DMA */
	UINT64_C(1) << CAP_IPC_LOCK |
	/* loading XDP programs, physical addresses without an IOMMU */
	ADMIN;

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
static int restrict_bounding_set(uint64_t kept)
{
	for (unsigned long c = 0; prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
		if (!(kept >> c & 1) && prctl(PR_CAPBSET_DROP, c, 0, 0, 0))
			return -errno;
	return 0;
}

/* Whether a device may need CAP_SYS_ADMIN: ports of net_af_xdp, and PCI devices. */
static bool needs_admin(const struct conf *conf)
{
	return conf_has_device(conf, "net_af_xdp") || strstr(conf->eal, "net_af_xdp") ||
	       eal_has_cards(conf) || eal_has(conf, "--iova-mode");
}

/* Of chosen capabilities those are given up that are for what is not done. */
static uint64_t to_keep(bool chosen, bool admin, bool changes_user)
{
	const uint64_t some = ADMIN | CHANGE_USER | PREPARE;

	return (chosen ? ~some : needed & ~some) | (admin ? ADMIN : 0) |
	       (changes_user ? CHANGE_USER : 0);
}

/* @return 0 or -errno */
static int restrict_capabilities(const struct conf *conf, bool changes_user)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	bool chosen = !privileges_have(CAP_SETPCAP), admin = needs_admin(conf);
	uint64_t kept = to_keep(chosen, admin, changes_user);
	int err = get(data);

	if (err)
		return err;
	if (admin && !privileges_have(CAP_SYS_ADMIN))
		log_warn(
			"no CAP_SYS_ADMIN, which ports of net_af_xdp and of cards may need. A "
			"cygnetd that was started for a takeover has no more than the one before it: "
			"restart it");
	if (!chosen)
		err = restrict_bounding_set(kept);
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (uint32_t)(kept >> 32 * i);
		data[i].effective &= (uint32_t)(kept >> 32 * i);
		data[i].inheritable &= chosen ? (uint32_t)(kept >> 32 * i) : 0;
	}
	return err ? err : set(data);
}

int privileges_drop(const struct conf *conf, bool changes_user)
{
	int err = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;

	if (!err && !KEEPS_ALL)
		err = restrict_capabilities(conf, changes_user);
	if (err)
		log_error("cannot give up rights: %s", strerror(-err));
	return err;
}

/* Have in force what the change of user has left as permitted. */
static int use_permitted(uint64_t without)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	int err = get(data);

	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= ~(uint32_t)(without >> 32 * i);
		data[i].effective = data[i].permitted;
	}
	return err ? err : set(data);
}

void privileges_hide_memory(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

int privileges_change_user(uid_t uid)
{
	/* Of this thread alone: in the others the kernel clears all capabilities with the change. */
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setresuid(uid, uid, uid))
		return -errno;
	privileges_hide_memory();
	if (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0))
		return -errno;
	return use_permitted(CHANGE_USER);
}

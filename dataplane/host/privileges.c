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

/* Whether one of the EAL's arguments begins so. */
static bool eal_has(const struct conf *conf, const char *beginning)
{
	const char *at = conf->eal;

	while ((at = strstr(at, beginning)) && at != conf->eal && at[-1] != ' ' && at[-1] != '\t')
		at++;
	return at;
}

/* Whether a device may need CAP_SYS_ADMIN: ports of net_af_xdp, and PCI devices, those of arguments of the EAL too. */
static bool needs_admin(const struct conf *conf)
{
	for (unsigned int i = 0; i < conf->nports; i++)
		if (eal_is_pci(conf->port[i].device) || strstr(conf->port[i].device, "net_af_xdp"))
			return true;
	return eal_has(conf, "-a") || eal_has(conf, "--allow") || eal_has(conf, "--iova-mode") ||
	       strstr(conf->eal, "net_af_xdp");
}

/* @return 0 or -errno. Of chosen capabilities CAP_SYS_ADMIN alone is given up. */
static int restrict_capabilities(const struct conf *conf)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	bool chosen = !privileges_have(CAP_SETPCAP), admin = needs_admin(conf);
	uint64_t kept = (chosen ? ~ADMIN : needed & ~ADMIN) | (admin ? ADMIN : 0);
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

int privileges_drop(const struct conf *conf)
{
	int err = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;

	if (!err && !KEEPS_ALL)
		err = restrict_capabilities(conf);
	if (err)
		log_error("cannot give up rights: %s", strerror(-err));
	return err;
}

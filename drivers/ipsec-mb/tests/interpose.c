/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>

#include "harness.h"
#include "interpose.h"

#define IN_FRONT __attribute__((visibility("default")))

bool no_aesni;
unsigned int managers_open;
void (*manager_initialised)(IMB_MGR *mgr);

IN_FRONT void init_mb_mgr_auto(IMB_MGR *mgr, IMB_ARCH *arch)
{
	void (*real)(IMB_MGR * mgr, IMB_ARCH * arch);

	*(void **)&real = dlsym(RTLD_NEXT, "init_mb_mgr_auto");
	CHECK(real);
	real(mgr, arch);
	if (no_aesni)
		mgr->features &= ~IMB_FEATURE_AESNI;
	if (manager_initialised)
		manager_initialised(mgr);
}

IN_FRONT IMB_MGR *alloc_mb_mgr(uint64_t flags)
{
	IMB_MGR *(*real)(uint64_t flags);

	*(void **)&real = dlsym(RTLD_NEXT, "alloc_mb_mgr");
	CHECK(real);
	__atomic_fetch_add(&managers_open, 1, __ATOMIC_RELAXED);
	return real(flags);
}

static bool is_wiped(const IMB_MGR *mgr)
{
	const uint8_t *bytes = (const uint8_t *)mgr;
	uint8_t any = 0;

	for (size_t i = 0; i < imb_get_mb_mgr_size(); i++)
		any |= bytes[i];
	return !any;
}

IN_FRONT void free_mb_mgr(IMB_MGR *mgr)
{
	void (*real)(IMB_MGR * mgr);

	*(void **)&real = dlsym(RTLD_NEXT, "free_mb_mgr");
	CHECK(real);
	/* A refused manager has not been used, so the driver need not wipe it. */
	CHECK(no_aesni || is_wiped(mgr));
	__atomic_fetch_sub(&managers_open, 1, __ATOMIC_RELAXED);
	real(mgr);
}

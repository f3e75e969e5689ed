/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dlfcn.h>

#include <intel-ipsec-mb.h>

#include "harness.h"
#include "no-aesni.h"

bool no_aesni;

/* In front of the library's own: what that has found out is made less. */
__attribute__((visibility("default"))) void init_mb_mgr_auto(IMB_MGR *mgr, IMB_ARCH *arch)
{
	void (*real)(IMB_MGR *mgr, IMB_ARCH *arch);

	*(void **)&real = dlsym(RTLD_NEXT, "init_mb_mgr_auto");
	CHECK(real);
	real(mgr, arch);
	if (no_aesni)
		mgr->features &= ~IMB_FEATURE_AESNI;
}

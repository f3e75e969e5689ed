/* SPDX-License-Identifier: GPL-2.0-or-later */
/* To be preloaded: ipsec_mb is used as on a CPU without AVX-512, for measurements on one that has it. */
#include <stddef.h>

#include <intel-ipsec-mb.h>

#define INSTEAD __attribute__((visibility("default")))

INSTEAD void init_mb_mgr_auto(IMB_MGR *mgr, IMB_ARCH *arch)
{
	init_mb_mgr_avx2(mgr);
	if (arch != NULL)
		*arch = IMB_ARCH_AVX2;
}

/* Called by VPP, which looks at the CPU itself. */
INSTEAD void init_mb_mgr_avx512(IMB_MGR *mgr)
{
	init_mb_mgr_avx2(mgr);
}

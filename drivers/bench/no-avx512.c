/* SPDX-License-Identifier: GPL-2.0-or-later */
/* To be preloaded: cygnetd uses ipsec_mb as on a CPU without AVX-512, for measurements on one that has it. */
#include <stddef.h>

#include <intel-ipsec-mb.h>

__attribute__((visibility("default"))) void init_mb_mgr_auto(IMB_MGR *mgr, IMB_ARCH *arch)
{
	init_mb_mgr_avx2(mgr);
	if (arch != NULL)
		*arch = IMB_ARCH_AVX2;
}

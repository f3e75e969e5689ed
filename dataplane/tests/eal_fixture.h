/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file eal_fixture.h
 * DPDK for a unit test: neither root nor hugepages.
 */
#ifndef EAL_FIXTURE_H
#define EAL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <rte_common.h>
#include <rte_eal.h>

#include "log.h"

int log_type;

static inline int start_eal(const char *program)
{
	const char *args[] = {
		program,     "--no-huge",      "-m",       "320",	 "--no-shconf",
		"--no-pci",  "--no-telemetry", "--lcores", "0",		 "--iova-mode=va",
		"--log-level=lib.eal:error",   "--log-level=lib.lpm:error",
	};

	/* Ours, beside DPDK's own; where it is not built they do without. */
	if (BUILT_IPSEC_MB_GCM &&
	    !dlopen(BUILT_DRIVERS "/librte_crypto_ipsec_mb_gcm.so", RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	log_type = rte_log_register_type_and_pick_level("cygnetd", RTE_LOG_EMERG);
	return rte_eal_init(RTE_DIM(args), (char **)(uintptr_t)args) < 0 ? -1 : 0;
}

#endif

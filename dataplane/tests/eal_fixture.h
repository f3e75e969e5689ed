/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file eal_fixture.h
 * Starts DPDK for a unit test, without root and hugepages.
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

#include "base/log.h"

/* Drivers of Cygnet, beside those of DPDK. Tests that need one of them skip if it was not built. */
static inline int load_ours(void)
{
	static const char *const ours[] = {
		BUILT_DRIVERS "/librte_crypto_ipsec_mb_gcm.so",
		BUILT_DRIVERS "/librte_crypto_ipsec_mb_chain.so",
	};

	for (unsigned int i = 0; BUILT_IPSEC_MB && i < RTE_DIM(ours); i++) {
		if (dlopen(ours[i], RTLD_NOW))
			continue;
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	return 0;
}

static inline int start_eal(const char *program)
{
	const char *args[] = {
		program,
		"--no-huge",
		"-m",
		"320",
		"--no-shconf",
		"--no-pci",
		"--no-telemetry",
		"--lcores",
		"0",
		"--iova-mode=va",
		"--log-level=lib.eal:error",
		"--log-level=lib.lpm:error",
	};

	if (load_ours())
		return -1;
	log_level = RTE_LOG_EMERG;
	return rte_eal_init(RTE_DIM(args), (char **)(uintptr_t)args) < 0 ? -1 : 0;
}

#endif

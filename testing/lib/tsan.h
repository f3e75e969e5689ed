/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For ThreadSanitizer (testing/tsan), in front of each file. A producer of DPDK's ring waits for earlier producers by a
 * relaxed load, so that in C11's model, unlike x86's, what these have written does not happen before what a consumer
 * reads. */
#if __has_include(<rte_pause.h>)
#include <rte_pause.h>
#define rte_wait_until_equal_32(address, expected, order) \
	rte_wait_until_equal_32(address, expected, __ATOMIC_ACQUIRE)
#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * Differences between the DPDK releases that Cygnet is built with: 22.11, 24.11 and 25.11. */
#ifndef DPDK_RELEASE_H
#define DPDK_RELEASE_H

#include <pthread.h>
#include <stdint.h>
#include <rte_lcore.h>
#include <rte_thread.h>
#include <rte_version.h>

#define DPDK_SINCE(year, month) (RTE_VERSION >= RTE_VERSION_NUM(year, month, 0, 0))

/* IPv6 addresses in arguments of rte_rib6 and rte_fib6, from a pointer to 16 bytes. Since 24.11 they are
 * structs, as in struct rte_ipv6_hdr: code takes the address of its fields, which are 16 bytes in each
 * release. */
#if DPDK_SINCE(24, 11)
#define DPDK_IP6(bytes)	     ((const struct rte_ipv6_addr *)(bytes))
#define DPDK_IP6_LIST(bytes) DPDK_IP6(bytes)
#else
#define DPDK_IP6(bytes)	     ((const uint8_t *)(bytes))
#define DPDK_IP6_LIST(bytes) ((uint8_t(*)[16])(bytes))
#endif

/* Control threads, which EAL keeps off the lcores: rte_thread_create_control() came with 23.07,
 * rte_ctrl_thread_create() left with 23.11. Both return 0 or a negative errno. */
#if DPDK_SINCE(23, 7)
typedef uint32_t dpdk_thread_result;

static inline int dpdk_control_thread(pthread_t *thread, const char *name,
				      dpdk_thread_result (*run)(void *), void *arg)
{
	rte_thread_t id;
	int err = rte_thread_create_control(&id, name, run, arg);

	if (!err)
		*thread = (pthread_t)id.opaque_id;
	return err;
}
#else
typedef void *dpdk_thread_result;

static inline int dpdk_control_thread(pthread_t *thread, const char *name,
				      dpdk_thread_result (*run)(void *), void *arg)
{
	return rte_ctrl_thread_create(thread, name, NULL, run, arg);
}
#endif

/* Renamed with 23.03. */
#if DPDK_SINCE(23, 3)
#define rte_tel_data_add_dict_u64 rte_tel_data_add_dict_uint
#endif

/* Calls the handler for a key without a value, too, as rte_kvargs_process() did before 24.11. */
#if !DPDK_SINCE(24, 11)
#define rte_kvargs_process_opt rte_kvargs_process
#endif

/* Whether crypto_aesni_mb with DES or 3DES encrypts and decrypts the text of another packet, of any SA: on
 * AVX-512, when fewer than 16 packets are flushed. libIPSec_MB 2.0 does (Debian 13, with DPDK 24.11), 1.3 does
 * not (Debian 12, with 22.11). */
#define DPDK_AESNI_MB_MIXES_DES DPDK_SINCE(23, 11)

#endif

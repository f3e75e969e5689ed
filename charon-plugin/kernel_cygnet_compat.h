/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @defgroup kernel_cygnet_compat kernel_cygnet_compat
 * @{ @ingroup kernel_cygnet
 * Differences between the releases of strongSwan from 5.9.8 on.
 *
 * STRONGSWAN_RELEASE is the release whose headers are compiled with, as a
 * number that configure computes: 60002 is 6.0.2.
 */

#ifndef KERNEL_CYGNET_COMPAT_H_
#define KERNEL_CYGNET_COMPAT_H_

#include <config/child_cfg.h>
#include <kernel/kernel_interface.h>

#include <cygnet.h>

#ifndef STRONGSWAN_RELEASE
#error "STRONGSWAN_RELEASE is not defined"
#endif

/** Feature: query_sa() returns when an SA was last used */
#if STRONGSWAN_RELEASE >= 50910
#define COMPAT_SA_USE_TIME KERNEL_SA_USE_TIME
#else
#define COMPAT_SA_USE_TIME 0
#endif

/** Feature: charon may give the SA of an acquire another reqid than the trap's */
#if STRONGSWAN_RELEASE >= 60002
#define COMPAT_ACQUIRE_SEQ KERNEL_ACQUIRE_SEQ
#else
#define COMPAT_ACQUIRE_SEQ 0
#endif

/** Whether charon deletes an outbound SA that add_sa() has refused; inbound SAs
 * are deleted in all releases */
#define COMPAT_DELETES_REFUSED_OUTBOUND (STRONGSWAN_RELEASE < 60000)

/** Whether the plugin loader checks the version of a plugin */
#define COMPAT_LOADER_CHECKS_VERSION (STRONGSWAN_RELEASE >= 60003)

/**
 * Get the configured traffic selectors of one side, the dynamic ones narrowed
 * to the given addresses; the list and its items are destroyed by the caller
 */
static inline linked_list_t *compat_traffic_selectors(child_cfg_t *child,
												bool local, linked_list_t *hosts)
{
#if STRONGSWAN_RELEASE >= 60002
	return child->get_traffic_selectors(child, local, hosts);
#else
	return child->get_traffic_selectors(child, local, NULL, hosts, FALSE);
#endif
}

/**
 * Set the CPU that the SA of an acquire is to be for, from cygnet_event.cpu
 */
static inline void compat_set_acquire_cpu(kernel_acquire_data_t *data,
										  uint16_t cpu)
{
#if STRONGSWAN_RELEASE >= 60002
	data->cpu = cpu ? cpu - 1 : CPU_ID_MAX;
#endif
}

/**
 * The flags of an SA for one CPU, 0 of any other SA
 */
static inline uint32_t compat_sa_cpu_flags(kernel_ipsec_add_sa_t *data)
{
#if STRONGSWAN_RELEASE >= 60002
	if (data->cpu != CPU_ID_MAX)
	{
		return cygnet_sa_cpu_flags(data->cpu);
	}
#endif
	return 0;
}

/**
 * Whether a policy is that of one of several SAs, each for a CPU
 */
static inline bool compat_is_per_cpu(kernel_ipsec_manage_policy_t *data)
{
#if STRONGSWAN_RELEASE >= 60002
	return data->pcpu_acquires;
#else
	return FALSE;
#endif
}

/**
 * Name an option of an SA that is not in all releases and not supported, or
 * return NULL
 */
static inline const char *compat_unsupported_sa(kernel_ipsec_add_sa_t *data)
{
#if STRONGSWAN_RELEASE >= 60002
	if (data->cpu != CPU_ID_MAX && data->cpu > CYGNET_CPU_MAX)
	{
		return "CPU numbers above 65534 (per_cpu_sas)";
	}
#endif
#if STRONGSWAN_RELEASE >= 60005
	if (data->forward_icmp)
	{
		return "ICMP errors from outside the policies (icmp)";
	}
#endif
	return NULL;
}

/**
 * Name an option of a policy that is not in all releases and not supported, or
 * return NULL
 */
static inline const char *compat_unsupported_policy(
											kernel_ipsec_manage_policy_t *data)
{
#if STRONGSWAN_RELEASE >= 60005
	if (data->forward_icmp)
	{
		return "ICMP errors from outside the policies (icmp)";
	}
#endif
	return NULL;
}

/**
 * Name a mode that is neither tunnel nor transport
 */
static inline const char *compat_mode_name(ipsec_mode_t mode)
{
#if STRONGSWAN_RELEASE >= 60002
	if (mode == MODE_IPTFS)
	{
		return "IP-TFS mode";
	}
#endif
	return mode == MODE_BEET ? "BEET mode" : "this IPsec mode";
}

#endif /** KERNEL_CYGNET_COMPAT_H_ @}*/

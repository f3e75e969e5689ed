/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_policy.h"
#include "kernel_cygnet_addr.h"
#include "kernel_cygnet_compat.h"

#include <netinet/in.h>

/** Distance between two priority classes, as in kernel-netlink */
#define PRIO_BASE 200000

/** All ports, or all ICMP types or codes */
#define PORT_ANY 0xffff

/**
 * Number of leading bits that the first and last value of a port range share
 */
static u_int port_bits(uint16_t lo, uint16_t hi)
{
	return lo == hi ? 16 : __builtin_clz(lo ^ hi) - 16;
}

/**
 * Whether a traffic selector matches any port
 */
static bool any_port(traffic_selector_t *ts)
{
	return ts->get_from_port(ts) == 0 && ts->get_to_port(ts) == PORT_ANY;
}

/**
 * Whether a traffic selector is for packets without visible ports (OPAQUE in
 * RFC 4301)
 */
static bool opaque_port(traffic_selector_t *ts)
{
	return ts->get_from_port(ts) > ts->get_to_port(ts);
}

/**
 * Get the traffic selector that restricts ICMP type and code. If both do,
 * choose as kernel-netlink does.
 */
static traffic_selector_t *icmp_ts(kernel_ipsec_policy_id_t *id)
{
	traffic_selector_t *src = id->src_ts, *dst = id->dst_ts;

	if (any_port(src))
	{
		return dst;
	}
	if (any_port(dst))
	{
		return src;
	}
	return src->get_from_port(src) >= dst->get_from_port(dst) ? src : dst;
}

/**
 * Map ICMP types and codes.
 *
 * Returns FALSE for a range of several types that restricts their codes.
 */
static bool map_icmp(traffic_selector_t *ts, struct cygnet_selector *sel)
{
	uint16_t from = ts->get_from_port(ts), to = ts->get_to_port(ts);
	uint8_t code_lo = traffic_selector_icmp_code(from);
	uint8_t code_hi = traffic_selector_icmp_code(to);

	sel->sport_hi = sel->dport_hi = PORT_ANY;
	if (any_port(ts))
	{
		return TRUE;
	}
	sel->sport_lo = traffic_selector_icmp_type(from);
	sel->sport_hi = traffic_selector_icmp_type(to);
	if (!code_lo && (code_hi == 0xff || !code_hi))
	{	/* all codes: charon has type 8 alone as 0x0800, not 0x0800-0x08ff */
		return TRUE;
	}
	sel->dport_lo = code_lo;
	sel->dport_hi = code_hi;
	return sel->sport_lo == sel->sport_hi;
}

/**
 * Map port ranges
 */
static void map_ports(kernel_ipsec_policy_id_t *id, struct cygnet_selector *sel)
{
	sel->sport_lo = id->src_ts->get_from_port(id->src_ts);
	sel->sport_hi = id->src_ts->get_to_port(id->src_ts);
	sel->dport_lo = id->dst_ts->get_from_port(id->dst_ts);
	sel->dport_hi = id->dst_ts->get_to_port(id->dst_ts);
}

/**
 * Map address ranges
 */
static void map_addresses(kernel_ipsec_policy_id_t *id,
						  struct cygnet_selector *sel)
{
	traffic_selector_t *src = id->src_ts, *dst = id->dst_ts;

	sel->af = src->get_type(src) == TS_IPV6_ADDR_RANGE ? AF_INET6 : AF_INET;
	sel->src_lo = kernel_cygnet_addr_from_chunk(src->get_from_address(src));
	sel->src_hi = kernel_cygnet_addr_from_chunk(src->get_to_address(src));
	sel->dst_lo = kernel_cygnet_addr_from_chunk(dst->get_from_address(dst));
	sel->dst_hi = kernel_cygnet_addr_from_chunk(dst->get_to_address(dst));
}

/**
 * Name an unsupported property of the traffic selectors, or return NULL
 */
static const char *unsupported_selector(kernel_ipsec_policy_id_t *id)
{
	if (id->src_ts->get_type(id->src_ts) != id->dst_ts->get_type(id->dst_ts))
	{
		return "traffic selectors of two address families";
	}
	if (opaque_port(id->src_ts) || opaque_port(id->dst_ts))
	{
		return "opaque ports";
	}
	if (id->mark.value | id->mark.mask)
	{
		return "marks (mark_in, mark_out)";
	}
	if (id->if_id && id->interface)
	{
		return "an interface together with an interface ID";
	}
	if (id->label)
	{
		return "security labels";
	}
	return NULL;
}

/**
 * Name an unsupported property of the SA of a policy, or return NULL
 */
static const char *unsupported_sa(kernel_ipsec_policy_id_t *id,
								  kernel_ipsec_manage_policy_t *data)
{
	if (data->sa->ah.use && data->sa->esp.use)
	{
		return "ESP inside AH by one policy";
	}
	if (data->sa->ipcomp.transform != IPCOMP_NONE)
	{
		return "IPComp";
	}
	if (data->sa->mode != MODE_TUNNEL && data->sa->mode != MODE_TRANSPORT)
	{
		return compat_mode_name(data->sa->mode);
	}
	if (data->sa->mode == MODE_TRANSPORT && id->if_id)
	{
		return "interface IDs (if_id_in, if_id_out) in transport mode";
	}
	if (data->src->get_family(data->src) != data->dst->get_family(data->dst))
	{
		return "endpoints of two address families";
	}
	return compat_unsupported_policy(data);
}

/**
 * Map the action of a policy. Policies with an SA, but without a reqid are
 * outbound forward policies (policies_fwd_out). They let packets pass the
 * forward check; the outbound policy protects these packets later.
 */
static uint8_t map_action(kernel_ipsec_manage_policy_t *data)
{
	switch (data->type)
	{
		case POLICY_DROP:
			return CYGNET_DISCARD;
		case POLICY_IPSEC:
			return data->sa->reqid ? CYGNET_PROTECT : CYGNET_BYPASS;
		default:
			return CYGNET_BYPASS;
	}
}

/*
 * Described in header.
 */
uint32_t kernel_cygnet_policy_spi(ipsec_sa_cfg_t *sa)
{
	return sa->ah.use ? sa->ah.spi : sa->esp.spi;
}

/**
 * Map the SA of a policy. Inbound policies match packets by reqid only, but
 * include the SPI as well, so that the policies of an old and a new SA differ
 * during rekeying.
 */
static void map_sa(kernel_ipsec_manage_policy_t *data,
				   struct cygnet_policy_params *params)
{
	params->reqid = data->sa->reqid;
	params->spi = kernel_cygnet_policy_spi(data->sa);
	params->proto = data->sa->ah.use ? IPPROTO_AH : IPPROTO_ESP;
	params->mode = data->sa->mode == MODE_TRANSPORT ? CYGNET_TRANSPORT :
													  CYGNET_TUNNEL;
	params->per_cpu = compat_is_per_cpu(data);
	params->af = data->dst->get_family(data->dst);
	params->src = kernel_cygnet_addr_from_host(data->src);
	params->dst = kernel_cygnet_addr_from_host(data->dst);
}

/*
 * Described in header.
 */
enum cygnet_dir kernel_cygnet_policy_dir(policy_dir_t dir)
{
	switch (dir)
	{
		case POLICY_IN:
			return CYGNET_IN;
		case POLICY_OUT:
			return CYGNET_OUT;
		default:
			return CYGNET_FWD;
	}
}

/*
 * Described in header.
 */
status_t kernel_cygnet_policy_selector(kernel_ipsec_policy_id_t *id,
									   struct cygnet_selector *sel,
									   const char **why)
{
	memset(sel, 0, sizeof(*sel));
	*why = unsupported_selector(id);
	if (*why)
	{
		return NOT_SUPPORTED;
	}
	/* one of the protocols may be "any" (0): use the other one */
	sel->proto = max(id->src_ts->get_protocol(id->src_ts),
					 id->dst_ts->get_protocol(id->dst_ts));
	map_addresses(id, sel);
	sel->by_if_id = id->if_id != 0;
	sel->interface = id->interface ? cygnet_interface(id->interface) : id->if_id;
	if (sel->proto == IPPROTO_ICMP || sel->proto == IPPROTO_ICMPV6)
	{
		if (!map_icmp(icmp_ts(id), sel))
		{
			*why = "ICMP codes across several types";
			return NOT_SUPPORTED;
		}
	}
	else
	{
		map_ports(id, sel);
	}
	return SUCCESS;
}

/*
 * Described in header.
 *
 * The priority is the base of the class minus
 *   512 per bit of the two prefixes,
 *   256 if the policy has a protocol,
 *     4 per bit of the two port masks,
 *     2 if the policy is bound to an interface by its name,
 *     1 unless it is a trap, so that the policy of an SA precedes the trap.
 */
uint32_t kernel_cygnet_policy_priority(const struct cygnet_selector *sel,
									   policy_priority_t prio)
{
	uint32_t priority = PRIO_BASE;

	switch (prio)
	{
		case POLICY_PRIORITY_FALLBACK:
			priority += PRIO_BASE;
			/* fall-through */
		case POLICY_PRIORITY_ROUTED:
		case POLICY_PRIORITY_DEFAULT:
			priority += PRIO_BASE;
			/* fall-through */
		case POLICY_PRIORITY_PASS:
			break;
	}
	priority -= 512 * cygnet_addr_common(sel->af, &sel->src_lo, &sel->src_hi);
	priority -= 512 * cygnet_addr_common(sel->af, &sel->dst_lo, &sel->dst_hi);
	priority -= sel->proto ? 256 : 0;
	priority -= 4 * port_bits(sel->sport_lo, sel->sport_hi);
	priority -= 4 * port_bits(sel->dport_lo, sel->dport_hi);
	priority -= sel->interface && !sel->by_if_id ? 2 : 0;
	priority -= prio != POLICY_PRIORITY_ROUTED;
	return priority;
}

/*
 * Described in header.
 */
status_t kernel_cygnet_policy_params(kernel_ipsec_policy_id_t *id,
									 kernel_ipsec_manage_policy_t *data,
									 struct cygnet_policy_params *params,
									 const char **why)
{
	memset(params, 0, sizeof(*params));
	if (kernel_cygnet_policy_selector(id, &params->sel, why) != SUCCESS)
	{
		return NOT_SUPPORTED;
	}
	params->dir = kernel_cygnet_policy_dir(id->dir);
	params->action = map_action(data);
	/* between policies of the same manual priority the rank decides: the policy
	 * of an SA precedes its trap, whichever was installed last */
	params->rank = kernel_cygnet_policy_priority(&params->sel, data->prio);
	params->priority = min(data->manual_prio ?: params->rank,
						   CYGNET_PRIORITY_LAST - 1);
	if (params->action == CYGNET_PROTECT)
	{
		*why = unsupported_sa(id, data);
		if (*why)
		{
			return NOT_SUPPORTED;
		}
		map_sa(data, params);
	}
	return SUCCESS;
}

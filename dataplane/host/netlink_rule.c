/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's routing rules. Those that match every packet that cygnetd routes give the order of the tables; so
 * do those that match none, for example by a mark, which such packets do not have. Whether a rule by addresses,
 * by interface or by ports matches is another thing for each packet: these are not followed. */
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

#include "base/log.h"
#include "host/netlink_attr.h"
#include "host/netlink_kind.h"
#include "host/route.h"

enum match { MATCH_NONE, MATCH_ALL, MATCH_SOME };

struct order {
	struct route_table table[ROUTE_TABLES_MAX];
	unsigned int n;
	uint32_t skip_to; /* rules of lower priority numbers are jumped over */
	bool ended;	  /* by a rule that refuses all */
};

static struct order orders[2]; /* by family, while rules are dumped */
static struct {
	uint8_t family;
	uint32_t priority;
} logged[32];
static unsigned int nlogged;
static bool full_logged;

static enum match by_mark(const struct nlattr **table)
{
	uint32_t mark = netlink_get_u32(table[FRA_FWMARK], 0);
	uint32_t mask = netlink_get_u32(table[FRA_FWMASK], UINT32_MAX);

	return mark & mask ? MATCH_NONE : MATCH_ALL;
}

/* cygnetd's packets are root's, if anybody's. */
static enum match by_user(const struct nlattr *attr)
{
	const struct fib_rule_uid_range *range = netlink_payload(attr, sizeof(*range));

	return range && range->start ? MATCH_NONE : MATCH_ALL;
}

/* Whether an attribute may restrict a rule to some packets. Attributes of the rule's action do not, and those that
 * match_of() evaluates are not counted; unknown ones of a newer kernel may. */
static bool restricts_packets(const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case FRA_UNSPEC:
	case FRA_DST:
	case FRA_SRC:
	case FRA_GOTO:
	case FRA_PRIORITY:
	case FRA_FWMARK:
	case FRA_TUN_ID:
	case FRA_SUPPRESS_PREFIXLEN:
	case FRA_TABLE:
	case FRA_FWMASK:
	case FRA_OIFNAME:
	case FRA_PAD:
	case FRA_L3MDEV:
	case FRA_UID_RANGE:
	case FRA_PROTOCOL:
		return false;
	case FRA_SUPPRESS_IFGROUP:
		return netlink_get_u32(attr, 0) != UINT32_MAX; /* UINT32_MAX: no group */
	default:
		return true;
	}
}

static int note_restriction(const struct nlattr *attr, void *data)
{
	bool *restricted = data;

	*restricted = *restricted || restricts_packets(attr);
	return MNL_CB_OK;
}

/* Whether any attribute of a rule may restrict it to some packets. */
static bool is_restricted(const struct nlmsghdr *nlh)
{
	const size_t body = MNL_ALIGN(sizeof(struct fib_rule_hdr)),
		     len = mnl_nlmsg_get_payload_len(nlh);
	bool restricted = false;

	if (len > body)
		mnl_attr_parse_payload(mnl_nlmsg_get_payload_offset(nlh, body), len - body,
				       note_restriction, &restricted);
	return restricted;
}

static enum match match_of(const struct nlmsghdr *nlh, const struct nlattr **table)
{
	const struct fib_rule_hdr *frh = mnl_nlmsg_get_payload(nlh);
	const uint8_t *vrf = netlink_payload(table[FRA_L3MDEV], sizeof(*vrf));
	bool restricted = is_restricted(nlh);
	enum match match = !restricted && !frh->src_len && !frh->dst_len && !frh->tos ? MATCH_ALL
										      : MATCH_SOME;

	/* Only sockets are bound to an interface, tunnels have an id, and no port is in a VRF. */
	if (by_mark(table) == MATCH_NONE || by_user(table[FRA_UID_RANGE]) == MATCH_NONE ||
	    table[FRA_OIFNAME] || table[FRA_TUN_ID] || (vrf && *vrf))
		match = MATCH_NONE;
	if (frh->flags & FIB_RULE_INVERT && match != MATCH_SOME)
		match = match == MATCH_ALL ? MATCH_NONE : MATCH_ALL;
	return match == MATCH_ALL && restricted ? MATCH_SOME : match;
}

static void append(struct order *order, uint32_t table, int suppress)
{
	if (order->n < ROUTE_TABLES_MAX) {
		order->table[order->n++] = (struct route_table){table, suppress};
		return;
	}
	if (!full_logged)
		log_warn("more than %u routing rules for all packets: the others are not followed",
			 ROUTE_TABLES_MAX);
	full_logged = true;
}

static void log_rule(uint8_t family, uint32_t priority)
{
	for (unsigned int i = 0; i < nlogged; i++)
		if (logged[i].family == family && logged[i].priority == priority)
			return;
	if (nlogged == RTE_DIM(logged))
		return;
	logged[nlogged].family = family;
	logged[nlogged++].priority = priority;
	log_warn("the IPv%c routing rule %u is for some packets only: cygnetd routes as if it were not there",
		 family == AF_INET6 ? '6' : '4', priority);
}

void netlink_on_rule(const struct nlmsghdr *nlh)
{
	const struct fib_rule_hdr *frh = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *table[FRA_MAX + 1] = {0};
	struct netlink_attrs attrs = {table, FRA_MAX};
	struct order *order;
	uint32_t priority;
	enum match match;

	if (!netlink_has_body(nlh, sizeof(*frh)) || !netlink_known_family(frh->family))
		return;
	netlink_parse(nlh, sizeof(*frh), &attrs);
	order = &orders[frh->family == AF_INET6];
	priority = netlink_get_u32(table[FRA_PRIORITY], 0);
	/* A jump to a rule that is not there is none. */
	if (order->ended || priority < order->skip_to || frh->action == FR_ACT_NOP ||
	    (frh->flags & FIB_RULE_UNRESOLVED))
		return;
	match = match_of(nlh, table);
	if (match == MATCH_SOME)
		log_rule(frh->family, priority);
	if (match != MATCH_ALL)
		return;
	if (frh->action == FR_ACT_TO_TBL)
		append(order, netlink_get_u32(table[FRA_TABLE], frh->table),
		       (int)netlink_get_u32(table[FRA_SUPPRESS_PREFIXLEN], UINT32_MAX));
	else if (frh->action == FR_ACT_GOTO)
		order->skip_to = netlink_get_u32(table[FRA_GOTO], 0);
	else if (frh->action == FR_ACT_BLACKHOLE || frh->action == FR_ACT_UNREACHABLE ||
		 frh->action == FR_ACT_PROHIBIT)
		order->ended = true;
}

void netlink_rules_begin(uint8_t family)
{
	orders[family == AF_INET6] = (struct order){0};
}

void netlink_rules_end(uint8_t family)
{
	const struct order *order = &orders[family == AF_INET6];

	routes_set_tables(family, order->table, order->n);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel_cygnet_rules.h"
#include "kernel_cygnet_addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <library.h>

/** Chains with the rules of the policies, by enum cygnet_dir */
static const char *const chains[] = {
	[CYGNET_IN] = "in_policies",
	[CYGNET_OUT] = "out_policies",
	[CYGNET_FWD] = "fwd_policies",
};

/** Before the filters of others */
#define HOOK "type filter hook %s priority filter - 1; policy accept; "

/**
 * Order in which policies apply. Where that cannot be told, a bypass is the last.
 */
static int compare(const void *a, const void *b)
{
	const struct cygnet_policy *x = a, *y = b;

	if (cygnet_policy_wins(x, y))
	{
		return -1;
	}
	if (cygnet_policy_wins(y, x))
	{
		return 1;
	}
	return (x->action == CYGNET_BYPASS) - (y->action == CYGNET_BYPASS);
}

/**
 * Copy the policies, sorted. Those with an interface ID are left out: the kernel
 * has no packets of such an interface
 *
 * @param size		number of policies that there is room for
 * @param drops		receives whether there is one that is no bypass
 * @return			number of policies
 */
static u_int read_policies(struct cygnet_db *db, struct cygnet_policy *policies,
						   u_int size, bool *drops)
{
	struct cygnet_db_info info;
	u_int i, n = 0;

	*drops = FALSE;
	cygnet_db_info(db, &info);
	for (i = 0; i < info.geometry.policies && n < size; i++)
	{
		if (cygnet_policy_snapshot(db, i, &policies[n]) &&
			policies[n].dir < CYGNET_DIRS && !policies[n].sel.by_if_id)
		{
			*drops = *drops || policies[n].action != CYGNET_BYPASS;
			n++;
		}
	}
	qsort(policies, n, sizeof(*policies), compare);
	return n;
}

/**
 * Write a match of a range of addresses, nothing if it is all of them
 */
static void put_addrs(FILE *out, uint8_t af, const char *what,
					  const struct cygnet_addr *lo, const struct cygnet_addr *hi)
{
	char from[INET6_ADDRSTRLEN] = "", to[INET6_ADDRSTRLEN] = "";
	size_t i, len = kernel_cygnet_addr_len(af);
	const u_char *first = (const u_char*)lo, *last = (const u_char*)hi;
	bool all = TRUE;

	for (i = 0; i < len; i++)
	{
		all = all && first[i] == 0 && last[i] == 0xff;
	}
	if (!all)
	{
		inet_ntop(af, lo, from, sizeof(from));
		inet_ntop(af, hi, to, sizeof(to));
		fprintf(out, " %s %s %s-%s", af == AF_INET6 ? "ip6" : "ip", what, from,
				to);
	}
}

/**
 * Whether packets of a protocol have ports at the same place as those of UDP
 */
static bool has_ports(uint8_t proto)
{
	switch (proto)
	{
		case IPPROTO_TCP:
		case IPPROTO_UDP:
		case IPPROTO_SCTP:
		case IPPROTO_DCCP:
		case IPPROTO_UDPLITE:
			return TRUE;
		default:
			return FALSE;
	}
}

/**
 * Write a match of a range of ports, or of ICMP's types or codes, nothing if it
 * is all of them
 */
static void put_range(FILE *out, const char *what, uint16_t lo, uint16_t hi,
					  uint16_t most)
{
	if (lo || hi < most)
	{
		fprintf(out, " %s %u-%u", what, min(lo, most), min(hi, most));
	}
}

/**
 * Whether packets of a protocol have ICMP's types and codes
 */
static bool is_icmp(const struct cygnet_selector *sel)
{
	return (sel->proto == IPPROTO_ICMP && sel->af == AF_INET) ||
		   (sel->proto == IPPROTO_ICMPV6 && sel->af == AF_INET6);
}

/**
 * Write the matches of ports, or of types and codes, that nftables has
 */
static void put_ports(FILE *out, const struct cygnet_selector *sel)
{
	const char *icmp = sel->af == AF_INET6 ? "icmpv6" : "icmp";
	char what[16];

	if (has_ports(sel->proto))
	{
		put_range(out, "th sport", sel->sport_lo, sel->sport_hi, 65535);
		put_range(out, "th dport", sel->dport_lo, sel->dport_hi, 65535);
	}
	else if (is_icmp(sel))
	{
		snprintf(what, sizeof(what), "%s type", icmp);
		put_range(out, what, sel->sport_lo, sel->sport_hi, 255);
		snprintf(what, sizeof(what), "%s code", icmp);
		put_range(out, what, sel->dport_lo, sel->dport_hi, 255);
	}
}

/**
 * Whether a policy selects by ports, types or codes
 */
static bool uses_ports(const struct cygnet_selector *sel)
{
	return sel->sport_lo || sel->dport_lo || sel->sport_hi < 65535 ||
		   sel->dport_hi < 65535;
}

/**
 * Write the match of the family and the addresses
 */
static void put_hosts(FILE *out, const struct cygnet_selector *sel)
{
	fprintf(out, "meta nfproto %s", sel->af == AF_INET6 ? "ipv6" : "ipv4");
	put_addrs(out, sel->af, "saddr", &sel->src_lo, &sel->src_hi);
	put_addrs(out, sel->af, "daddr", &sel->dst_lo, &sel->dst_hi);
}

/**
 * Drop fragments that may be of such packets: they have no ports.
 */
static void put_fragments(FILE *out, const struct cygnet_selector *sel)
{
	put_hosts(out, sel);
	fprintf(out, " %s counter drop\n", sel->af == AF_INET6 ?
			"frag frag-off != 0" : "ip frag-off & 0x1fff != 0");
}

/**
 * Whether a rule can select what a policy does, and no more
 */
static bool is_exact(const struct cygnet_selector *sel)
{
	return !sel->interface &&
		   (!uses_ports(sel) || has_ports(sel->proto) || is_icmp(sel));
}

/**
 * Write the rule of a policy
 */
static void put_policy(FILE *out, const struct cygnet_policy *policy)
{
	const struct cygnet_selector *sel = &policy->sel;
	bool drops = policy->action != CYGNET_BYPASS;

	if (!drops && !is_exact(sel))
	{
		return;
	}
	if (drops && uses_ports(sel))
	{
		put_fragments(out, sel);
	}
	put_hosts(out, sel);
	if (sel->proto)
	{
		fprintf(out, " meta l4proto %u", sel->proto);
	}
	put_ports(out, sel);
	fprintf(out, " counter %s\n", drops ? "drop" : "return");
}

/**
 * Write the chain of a direction
 */
static void put_chain(FILE *out, enum cygnet_dir dir,
					  const struct cygnet_policy *policies, u_int n)
{
	u_int i;

	fprintf(out, "chain %s {\n", chains[dir]);
	for (i = 0; i < n; i++)
	{
		if (policies[i].dir == dir)
		{
			put_policy(out, &policies[i]);
		}
	}
	fprintf(out, "}\n");
}

/**
 * Write the hook of what this host sends or receives
 *
 * @param interface		match of the interface, before its name
 * @param who			match of the process whose ports are exempt, or ""
 * @param port			match of charon's port, before its number
 */
static void put_local(FILE *out, struct cygnet_db *db, const char *hook,
					  const char *interface, const char *who, const char *port,
					  enum cygnet_dir dir)
{
	uint16_t ports[CYGNET_IKE_PORTS + 2];
	u_int i, n = cygnet_ike_ports(db, ports);

	fprintf(out, "chain %s {\n" HOOK "\n%s lo return\n"
			"icmpv6 type 133-137 return\n", hook, hook, interface);
	for (i = 0; i < n; i++)
	{
		fprintf(out, "%s%s %u return\n", who, port, ports[i]);
	}
	fprintf(out, "jump %s\n}\n", chains[dir]);
}

/**
 * Match packets of charon's sockets: others may bind its ports, too. It creates them
 * before or after it becomes another user.
 */
static const char *who_is_charon(char *text, size_t size)
{
	snprintf(text, size, geteuid() ? "meta skuid { 0, %u } " : "meta skuid %u ",
			 geteuid());
	return text;
}

/**
 * Write the table
 */
static void put_table(FILE *out, struct cygnet_db *db,
					  const struct cygnet_policy *policies, u_int n)
{
	char who[64];

	fprintf(out, "table inet " KERNEL_CYGNET_TABLE "\n"
			"delete table inet " KERNEL_CYGNET_TABLE "\n"
			"table inet " KERNEL_CYGNET_TABLE " {\n"
			"comment \"packets of IPsec policies, until cygnetd serves\"\n");
	put_chain(out, CYGNET_OUT, policies, n);
	put_chain(out, CYGNET_IN, policies, n);
	put_chain(out, CYGNET_FWD, policies, n);
	put_local(out, db, "output", "oif", who_is_charon(who, sizeof(who)),
			  "udp sport", CYGNET_OUT);
	put_local(out, db, "input", "iif", "", "udp dport", CYGNET_IN);
	fprintf(out, "chain forward {\n" HOOK "\njump out_policies\njump fwd_policies\n}\n}\n",
			"forward");
}

/*
 * Described in header.
 */
bool kernel_cygnet_rules(struct cygnet_db *db, char **text)
{
	struct cygnet_policy *policies;
	struct cygnet_db_info info;
	size_t len;
	FILE *out;
	bool drops;
	u_int n;

	*text = NULL;
	cygnet_db_info(db, &info);
	policies = calloc(info.policies + 1, sizeof(*policies));
	if (!policies)
	{
		return FALSE;
	}
	n = read_policies(db, policies, info.policies, &drops);
	if (drops)
	{
		out = open_memstream(text, &len);
		if (out)
		{
			put_table(out, db, policies, n);
			fclose(out);
		}
	}
	free(policies);
	return !drops || *text;
}

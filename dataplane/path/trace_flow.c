/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/interface.h"
#include "path/trace_flow.h"

#define SIZE_LEAST	64u /* room for any header that is looked at */
#define PROTO_NOT_GIVEN (UINT8_MAX + 1u)

static const struct {
	const char *name;
	uint8_t number;
} protocols[] = {
	{"icmp", IPPROTO_ICMP},	    {"tcp", IPPROTO_TCP},   {"udp", IPPROTO_UDP},
	{"gre", IPPROTO_GRE},	    {"esp", IPPROTO_ESP},   {"ah", IPPROTO_AH},
	{"icmpv6", IPPROTO_ICMPV6}, {"sctp", IPPROTO_SCTP},
};

static bool parse_number(const char *text, unsigned long least, unsigned long most, uint32_t *to)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 0);
	*to = (uint32_t)number;
	return !errno && end != text && !*end && *text != '-' && number >= least && number <= most;
}

static bool parse_proto(const char *text, uint32_t *proto)
{
	for (size_t i = 0; i < RTE_DIM(protocols); i++) {
		*proto = protocols[i].number;
		if (!strcmp(protocols[i].name, text))
			return true;
	}
	return parse_number(text, 0, UINT8_MAX, proto);
}

static bool parse_address(const char *text, uint8_t *af, struct cygnet_addr *addr)
{
	*af = strchr(text, ':') ? AF_INET6 : AF_INET;
	*addr = (struct cygnet_addr){0};
	return inet_pton(*af, text, addr) == 1;
}

static bool parse_choice(const char *text, const char *yes, const char *no, bool *choice)
{
	*choice = !strcmp(text, yes);
	return *choice || !strcmp(text, no);
}

static bool parse_in(const char *text, struct trace_flow *flow)
{
	flow->from_kernel = !strcmp(text, "kernel");
	for (unsigned int i = 0; i < ninterfaces; i++)
		if (interfaces_present() >> i & 1 && interfaces[i].kind != INTERFACE_TUNNEL &&
		    !strcmp(interfaces[i].name, text))
			flow->interface = (int)i;
	return flow->from_kernel || flow->interface >= 0;
}

/* @return whether the value is valid; -1: the keyword is unknown */
static int parse_pair(struct trace_flow *flow, struct trace_packet *p, const char *keyword,
		      const char *value)
{
	if (!strcmp(keyword, "src"))
		return parse_address(value, &p->src_af, &p->src);
	if (!strcmp(keyword, "dst"))
		return parse_address(value, &p->af, &p->dst);
	if (!strcmp(keyword, "proto"))
		return parse_proto(value, &p->proto);
	if (!strcmp(keyword, "sport"))
		return parse_number(value, 0, UINT16_MAX, &p->sport);
	if (!strcmp(keyword, "dport"))
		return parse_number(value, 0, UINT16_MAX, &p->dport);
	if (!strcmp(keyword, "size"))
		return parse_number(value, SIZE_LEAST, TRACE_SIZE_MOST, &p->size);
	if (!strcmp(keyword, "spi"))
		return parse_number(value, 1, UINT32_MAX, &p->spi);
	if (!strcmp(keyword, "df"))
		return parse_choice(value, "yes", "no", &p->df);
	if (!strcmp(keyword, "encap"))
		return parse_choice(value, "udp", "none", &flow->encap);
	return !strcmp(keyword, "in") ? parse_in(value, flow) : -1;
}

static const char *check_addresses(const struct trace_packet *p)
{
	if (!p->af)
		return "dst is missing";
	if (!p->src_af)
		return p->spi ? NULL : "src is missing";
	return p->src_af == p->af ? NULL : "src and dst are not of the same family";
}

static const char *check(const struct trace_flow *flow)
{
	const struct trace_packet *p = &flow->packet;
	const char *wrong = check_addresses(p);

	if (wrong)
		return wrong;
	if (p->spi && p->proto != IPPROTO_ESP && p->proto != IPPROTO_AH)
		return "with spi, proto is esp or ah";
	if (flow->encap && (!p->spi || p->proto != IPPROTO_ESP))
		return "encap: udp is for spi with proto esp";
	if (!flow->has_inner)
		return NULL;
	return p->spi && !flow->inner.spi ? check_addresses(&flow->inner)
					  : "inner needs spi, in front of it";
}

/* Read a word, and the one behind it. @return false: wrong, with the reason in error */
static bool parse_word(struct trace_flow *flow, const char *keyword, char **rest, char *error,
		       size_t size)
{
	const char *value;
	int valid;

	if (!strcmp(keyword, "inner") && !flow->has_inner) {
		flow->has_inner = true;
		return true;
	}
	value = strtok_r(NULL, " ", rest);
	valid = parse_pair(flow, flow->has_inner ? &flow->inner : &flow->packet, keyword,
			   value ? value : "");
	if (valid < 0)
		snprintf(error, size, "a keyword is unknown: cygnetctl(8) has all of them");
	else if (!valid)
		snprintf(error, size, "%s: %s", keyword, value ? "not a valid value" : "no value");
	return valid > 0;
}

int trace_flow_parse(struct trace_flow *flow, const char *text, char *error, size_t size)
{
	const struct trace_packet usual = {.proto = IPPROTO_UDP, .size = 100};
	char copy[TRACE_TEXT], *rest, *word;
	const char *wrong;

	*flow = (struct trace_flow){.interface = -1, .packet = usual, .inner = usual};
	flow->packet.proto = PROTO_NOT_GIVEN;
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy)) {
		snprintf(error, size, "too long");
		return -EINVAL;
	}
	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		if (!parse_word(flow, word, &rest, error, size))
			return -EINVAL;
	if (flow->packet.proto == PROTO_NOT_GIVEN)
		flow->packet.proto = flow->packet.spi ? IPPROTO_ESP : IPPROTO_UDP;
	wrong = check(flow);
	if (wrong)
		snprintf(error, size, "%s", wrong);
	return wrong ? -EINVAL : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/interface.h"
#include "path/trace_flow.h"

#define SIZE_USUAL 100u
#define SIZE_LEAST 64u	/* room for any header that is looked at */

static const struct {
	const char *name;
	uint8_t number;
} protocols[] = {
	{"icmp", IPPROTO_ICMP}, {"tcp", IPPROTO_TCP}, {"udp", IPPROTO_UDP},
	{"gre", IPPROTO_GRE},	{"esp", IPPROTO_ESP}, {"ah", IPPROTO_AH},
	{"icmpv6", IPPROTO_ICMPV6}, {"sctp", IPPROTO_SCTP},
};

static bool parse_number(const char *text, unsigned long least, unsigned long most,
			 unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 0);
	return !errno && end != text && !*end && *text != '-' && *number >= least && *number <= most;
}

static bool parse_address(const char *text, uint8_t *af, struct cygnet_addr *addr)
{
	*af = strchr(text, ':') ? AF_INET6 : AF_INET;
	*addr = (struct cygnet_addr){0};
	return inet_pton(*af, text, addr) == 1;
}

static bool parse_src(struct trace_flow *flow, struct trace_packet *p, const char *text)
{
	(void)flow;
	return parse_address(text, &p->src_af, &p->src);
}

static bool parse_dst(struct trace_flow *flow, struct trace_packet *p, const char *text)
{
	(void)flow;
	return parse_address(text, &p->af, &p->dst);
}

static bool parse_proto(struct trace_flow *flow, struct trace_packet *p, const char *text)
{
	unsigned long number;

	(void)flow;
	for (size_t i = 0; i < RTE_DIM(protocols); i++) {
		if (!strcmp(protocols[i].name, text)) {
			p->proto = protocols[i].number;
			return true;
		}
	}
	if (!parse_number(text, 0, UINT8_MAX, &number))
		return false;
	p->proto = (uint8_t)number;
	return true;
}

static bool parse_u16(const char *text, unsigned long least, unsigned long most, uint16_t *to)
{
	unsigned long number;

	if (!parse_number(text, least, most, &number))
		return false;
	*to = (uint16_t)number;
	return true;
}

static bool parse_sport(struct trace_flow *flow, struct trace_packet *p, const char *text)
{
	(void)flow;
	return parse_u16(text, 0, UINT16_MAX, &p->sport);
}

static bool parse_dport(struct trace_flow *flow, struct trace_packet *p, const char *text)
{
	(void)flow;
	return parse_u16(text, 0, UINT16_MAX, &p->dport);
}

static bool parse_size(struct trace_flow *flow, struct trace_packet *p, const char *text)
{
	(void)flow;
	return parse_u16(text, SIZE_LEAST, TRACE_SIZE_MOST, &p->size);
}

static bool parse_choice(const char *text, const char *yes, const char *no, bool *choice)
{
	*choice = !strcmp(text, yes);
	return *choice || !strcmp(text, no);
}

static bool parse_df(struct trace_flow *flow, struct trace_packet *p, const char *text)
{
	(void)flow;
	return parse_choice(text, "yes", "no", &p->df);
}

static bool parse_encap(struct trace_flow *flow, struct trace_packet *p, const char *text)
{
	return p == &flow->packet && parse_choice(text, "udp", "none", &flow->encap);
}

static bool parse_spi(struct trace_flow *flow, struct trace_packet *p, const char *text)
{
	unsigned long spi;

	if (p != &flow->packet || !parse_number(text, 1, UINT32_MAX, &spi))
		return false;
	flow->spi = htonl((uint32_t)spi);
	return true;
}

static bool parse_in(struct trace_flow *flow, struct trace_packet *p, const char *text)
{
	if (p != &flow->packet)
		return false;
	flow->from_kernel = !strcmp(text, "kernel");
	for (unsigned int i = 0; i < ninterfaces; i++)
		if (interfaces_present() >> i & 1 && !strcmp(interfaces[i].name, text))
			flow->interface = (int)i;
	return flow->from_kernel || flow->interface >= 0;
}

static const struct {
	const char *name;
	bool (*parse)(struct trace_flow *flow, struct trace_packet *p, const char *text);
} keywords[] = {
	{"src", parse_src},	{"dst", parse_dst}, {"proto", parse_proto}, {"sport", parse_sport},
	{"dport", parse_dport}, {"in", parse_in},   {"size", parse_size},   {"df", parse_df},
	{"spi", parse_spi},	{"encap", parse_encap},
};

static int parse_pair(struct trace_flow *flow, struct trace_packet *p, const char *name,
		      const char *value, char *error, size_t size)
{
	for (size_t i = 0; i < RTE_DIM(keywords); i++) {
		if (strcmp(keywords[i].name, name))
			continue;
		if (value && keywords[i].parse(flow, p, value))
			return 0;
		snprintf(error, size, "%s: %s", keywords[i].name,
			 value ? "not a valid value" : "no value");
		return -EINVAL;
	}
	snprintf(error, size, "a keyword is unknown: src, dst, proto, sport, dport, in, size, df, spi, "
			      "encap or inner are known");
	return -EINVAL;
}

static int check_packet(const struct trace_packet *p, bool needs_src, char *error, size_t size)
{
	const char *lack = !p->af ? "dst is missing" : needs_src && !p->src_af ? "src is missing" :
			   p->src_af && p->src_af != p->af ? "src and dst are not of the same family" :
			   NULL;

	if (!lack)
		return 0;
	snprintf(error, size, "%s", lack);
	return -EINVAL;
}

static int check(const struct trace_flow *flow, char *error, size_t size)
{
	uint8_t proto = flow->packet.proto;

	if (check_packet(&flow->packet, !flow->spi, error, size) ||
	    (flow->has_inner && check_packet(&flow->inner, true, error, size)))
		return -EINVAL;
	if (flow->has_inner && !flow->spi) {
		snprintf(error, size, "inner needs spi");
		return -EINVAL;
	}
	if (flow->spi && proto != IPPROTO_ESP && proto != IPPROTO_AH) {
		snprintf(error, size, "with spi, proto is esp or ah");
		return -EINVAL;
	}
	return 0;
}

int trace_flow_parse(struct trace_flow *flow, const char *text, char *error, size_t size)
{
	const struct trace_packet usual = {.proto = IPPROTO_UDP, .size = SIZE_USUAL};
	struct trace_packet *p = &flow->packet;
	char copy[TRACE_TEXT], *rest, *name;

	*flow = (struct trace_flow){.interface = -1, .packet = usual, .inner = usual};
	flow->packet.proto = 0;
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy)) {
		snprintf(error, size, "too long");
		return -EINVAL;
	}
	for (name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
		if (!strcmp(name, "inner") && !flow->has_inner) {
			flow->has_inner = true;
			p = &flow->inner;
		} else if (parse_pair(flow, p, name, strtok_r(NULL, " ", &rest), error, size)) {
			return -EINVAL;
		}
	}
	if (!flow->packet.proto)
		flow->packet.proto = flow->spi ? IPPROTO_ESP : IPPROTO_UDP;
	return check(flow, error, size);
}

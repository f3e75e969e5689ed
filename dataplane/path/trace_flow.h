/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file trace_flow.h
 * The packet that cygnetctl trace asks about, as text: pairs of a keyword and its value.
 *
 *   src ADDRESS dst ADDRESS [proto NAME|NUMBER] [sport N] [dport N] [in PORT|kernel] [size BYTES] [df yes|no]
 *   spi SPI dst ADDRESS [proto esp|ah] [encap udp|none] [in PORT] [inner src ADDRESS dst ADDRESS ...]
 *
 * sport and dport of ICMP and ICMPv6 are type and code. Keywords behind inner are about the packet in
 * the protected one. encap udp is for ESP only.
 */
#ifndef CYGNETD_TRACE_FLOW_H
#define CYGNETD_TRACE_FLOW_H

#include <stdbool.h>
#include <stddef.h>

#include "cygnet.h"

/** The longest text, with the NUL: DPDK reads requests of 1,024 bytes. */
#define TRACE_TEXT 960u

/** The longest packet, bytes: there is room for what protects it. */
#define TRACE_SIZE_MOST 64000u

struct trace_packet {
	uint8_t af;	/* of dst; 0: no address is given */
	uint8_t src_af; /* of src; 0: none is given */
	bool df;
	uint32_t proto;
	uint32_t size;	       /* of the IP packet, bytes */
	uint32_t sport, dport; /* ICMP: type and code */
	uint32_t spi;	       /* 0: plaintext */
	struct cygnet_addr src, dst;
};

struct trace_flow {
	bool encap;	  /* with an SPI: ESP in UDP */
	bool from_kernel; /* the kernel of this host sends it */
	int interface;	  /* index in interfaces[] that it comes in by; -1: not given */
	bool has_inner;
	struct trace_packet packet, inner;
};

/**
 * Read the text. Any thread, under control_lock().
 * @param error  receives the reason, printable
 * @return 0 or -EINVAL
 */
int trace_flow_parse(struct trace_flow *flow, const char *text, char *error, size_t size);

#endif

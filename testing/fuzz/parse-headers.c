/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads IP packets, each behind its length (two bytes, network byte order), and writes a line for each:
 * "drop", or what the parser has found. For test-headers, which compares it with Scapy.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "ip/headers.h"
#include "ip/packet.h"

/* An mbuf that ends with the packet, so that sanitizers detect reads beyond it. */
static void parse(uint8_t *packet, uint16_t len)
{
	struct rte_mbuf m = {
		.buf_addr = packet,
		.buf_len = len,
		.data_len = len,
		.pkt_len = len,
		.nb_segs = 1,
	};
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	struct cygnet_flow flow;
	struct headers h;

	if (headers_check(&m, true) != DROP_NONE) {
		puts("drop");
		return;
	}
	h = headers_read(&m);
	packet_flow(&m, &flow);
	inet_ntop(flow.af, &flow.src, src, sizeof(src));
	inet_ntop(flow.af, &flow.dst, dst, sizeof(dst));
	printf("%s %s len %u header %u proto %u fragment %d later %d", src, dst, m.pkt_len, h.len,
	       h.proto, h.fragment, h.later);
	if (flow.has_ports)
		printf(" ports %u %u", flow.sport, flow.dport);
	putchar('\n');
}

int main(void)
{
	uint8_t prefix[2];

	while (fread(prefix, 1, sizeof(prefix), stdin) == sizeof(prefix)) {
		uint16_t len = (uint16_t)(prefix[0] << 8 | prefix[1]);
		uint8_t *packet = len ? malloc(len) : NULL;

		if (!packet || fread(packet, 1, len, stdin) != len) {
			free(packet);
			return 1;
		}
		parse(packet, len);
		free(packet);
	}
	return 0;
}

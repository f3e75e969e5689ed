/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Headers of IPv4 and IPv6: the parser by itself on a buffer that ends with the packet, and a whole frame
 * at a port. The input changes a valid frame.
 */
#include <netinet/in.h>
#include <stdlib.h>

#include "gateway.h"
#include "ip/headers.h"

#define ETHER	 14u
#define MOST	 600u
#define V6	 1u
#define TO_US	 2u
#define ESP	 4u
#define FROM_LAN 8u
#define AS_IT_IS 16u /* the input is the frame */

void fuzz_set_up(void)
{
}

/* What headers.h guarantees for an accepted packet. */
static void parse(const uint8_t *ip, unsigned int len)
{
	struct rte_mbuf *m = esp_packet(ip, len, 0, 0);
	struct headers h, front;

	if (headers_check(m, len & 1) == DROP_NONE) {
		h = headers_read(m);
		front = headers_front(m);
		headers_link_control(m, &h);
		if (h.len > rte_pktmbuf_data_len(m) || front.len > h.len || h.proto_at >= h.len ||
		    h.fragment_at > h.len || (h.later && !h.fragment) ||
		    rte_pktmbuf_pkt_len(m) != rte_pktmbuf_data_len(m) ||
		    *rte_pktmbuf_mtod_offset(m, const uint8_t *, h.proto_at) != h.proto)
			abort();
	}
	rte_pktmbuf_free(m);
}

static void template(uint8_t choice, unsigned int len, uint8_t *frame)
{
	static const uint8_t own4[] = {192, 0, 2, 1}, own6[16] = {0x20, 1, 0xd, 0xb8, [15] = 1};
	bool v6 = choice & V6, lan = choice & FROM_LAN;
	uint8_t *ip = frame + ETHER;
	uint16_t sum;

	memset(frame, 0, ETHER);
	frame[0] = 2;
	frame[5] = lan ? 1 : 2;
	frame[12] = v6 ? 0x86 : 8;
	frame[13] = v6 ? 0xdd : 0;
	gateway_packet(ip, lan ? 1 : 2, lan ? 2 : 1, v6, len, 1, 64);
	if (choice & TO_US)
		memcpy(ip + (v6 ? 24 : 16), v6 ? own6 : own4, v6 ? 16 : 4);
	if (choice & ESP)
		ip[v6 ? 6 : 9] = IPPROTO_ESP;
	if (v6)
		return;
	memset(ip + 10, 0, 2);
	sum = peer_checksum(ip, 20);
	memcpy(ip + 10, &sum, sizeof(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t choice = input_byte(&in), frame[ETHER + MOST];
	unsigned int len = 48 + input_word(&in) % (MOST - 47);

	if (choice & AS_IT_IS) {
		len = (unsigned int)input_bytes(&in, frame, sizeof(frame));
	} else {
		template(choice, len, frame);
		len += ETHER;
		input_change(&in, frame, len);
	}
	if (len > ETHER)
		parse(frame + ETHER, len - ETHER);
	if (len)
		fuzz_frame(frame, len, choice & FROM_LAN ? GATEWAY_LAN : GATEWAY_WAN);
	fuzz_settle(0);
	return 0;
}

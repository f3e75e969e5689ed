/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sequences of fragments: to this gateway (IKE, ESP, ESP in UDP), to a tunnel, and forwarded. Each takes
 * six bytes of the input.
 */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "gateway.h"

#define MOST	 40u
#define V6	 1u
#define MORE	 2u
#define TO_US	 4u
#define FROM_LAN 8u
#define AH	 16u

void fuzz_set_up(void)
{
}

static void addresses(uint8_t choice, uint8_t *ip)
{
	static const uint8_t own4[] = {192, 0, 2, 1}, own6[16] = {0x20, 1, 0xd, 0xb8, [15] = 1};

	/* gateway_packet() has written a path through the gateway. */
	if (choice & TO_US && choice & V6)
		memcpy(ip + 24, own6, sizeof(own6));
	else if (choice & TO_US)
		memcpy(ip + 16, own4, sizeof(own4));
}

/* @return length of the packet */
static unsigned int fragment(struct input *in, uint8_t choice, uint8_t *ip)
{
	static const uint8_t protos[] = {IPPROTO_UDP, IPPROTO_ESP, IPPROTO_ICMP, IPPROTO_TCP};
	unsigned int lan = choice & FROM_LAN, v6 = choice & V6;
	uint8_t id = input_byte(in), at_low = input_byte(in), at_high = input_byte(in);
	unsigned int len = input_byte(in) * 6u + input_byte(in) % 8u, front = v6 ? 48 : 20;
	uint16_t field, sum;

	len += len == 0;
	gateway_packet(ip, lan ? 1 : 2, lan ? 2u + (id >> 6) : 1, v6, front + (len < 8 ? 8 : len),
		       1, 64);
	addresses(choice, ip);
	field = htons((uint16_t)((at_high << 8 | at_low) << (v6 ? 3 : 0)));
	if (v6) {
		const uint8_t ext[] =
			{choice & AH ? IPPROTO_AH : protos[id >> 2 & 3], 0, 0, 0, 0, 0, 0, id & 3};
		uint16_t payload = htons((uint16_t)(len + 8));

		field |= htons(choice & MORE ? 1 : 0);
		ip[6] = IPPROTO_FRAGMENT;
		memcpy(ip + 4, &payload, sizeof(payload));
		memcpy(ip + 40, ext, sizeof(ext));
		memcpy(ip + 42, &field, sizeof(field));
	} else {
		uint16_t total = htons((uint16_t)(len + 20));

		field = (uint16_t)((field & htons(0x1fff)) | htons(choice & MORE ? 0x2000 : 0));
		memcpy(ip + 2, &total, sizeof(total));
		ip[5] = id & 3;
		memcpy(ip + 6, &field, sizeof(field));
		ip[9] = choice & AH ? IPPROTO_AH : protos[id >> 2 & 3];
		memset(ip + 10, 0, 2);
		sum = peer_checksum(ip, 20);
		memcpy(ip + 10, &sum, sizeof(sum));
	}
	/* A UDP header with IKE's ports, for the case of a first fragment. */
	if (len >= 8) {
		const uint16_t udp[] = {htons(500), htons(id & 16 ? 4500 : 500),
					htons((uint16_t)len), 0};

		memcpy(ip + front, udp, sizeof(udp));
	}
	return front + len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t ip[GATEWAY_FRAME];

	for (unsigned int i = 0; i < MOST && in.left; i++) {
		uint8_t choice = input_byte(&in);
		unsigned int len = fragment(&in, choice, ip);

		fuzz_packet(ip, len, choice & FROM_LAN ? GATEWAY_LAN : GATEWAY_WAN);
	}
	fuzz_settle(0);
	return 0;
}

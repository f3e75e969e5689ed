/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outbound: packets of this gateway's network to both tunnels, to a policy without SA, and anywhere. The
 * input changes a valid packet.
 */
#include <netinet/in.h>

#include "gateway.h"

#define MOST  1500u
#define V6    8u
#define VALID 16u /* its length and checksum are set after the change */

void fuzz_set_up(void)
{
}

static void repair(uint8_t *ip, unsigned int len)
{
	const uint8_t bytes[2] = {(uint8_t)(len >> 8), (uint8_t)len};
	unsigned int front = (ip[0] & 15u) * 4;
	uint16_t sum;

	if (ip[0] >> 4 != 4 || front < 20 || front > len)
		return;
	memcpy(ip + 2, bytes, sizeof(bytes));
	memset(ip + 10, 0, 2);
	sum = peer_checksum(ip, front);
	memcpy(ip + 10, &sum, sizeof(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t choice = input_byte(&in), ip[MOST];
	bool v6 = choice & V6;
	unsigned int len = 48 + input_word(&in) % (MOST - 47);

	gateway_packet(ip, 1, 1 + (choice & 7), v6, len, 1, 64);
	input_change(&in, ip, len);
	if (choice & VALID)
		repair(ip, len);
	/* The second packet is of a known flow. */
	for (unsigned int i = 0; i < 2; i++)
		fuzz_packet(ip, len, GATEWAY_LAN);
	fuzz_settle(0);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inbound ESP: the input is the plaintext with the ESP trailer. It is encrypted as by the peer, so that the
 * ICV is valid. The first byte selects the SA and options.
 */
#include <netinet/in.h>
#include <stdlib.h>

#include "gateway.h"

#define MOST	     1400u
#define BY_CBC	     1u
#define WITH_TRAILER 2u /* a valid one, with a next header of the input */
#define DAMAGED	     4u
#define REPLAYED     8u

static uint64_t last_seq[2];

void fuzz_set_up(void)
{
}

/* @return its length */
static unsigned int plaintext(struct input *in, uint8_t choice, const struct tunnel *t,
			      uint8_t *text)
{
	unsigned int block = t->peer.algorithm->block, len;
	uint8_t next = choice & WITH_TRAILER ? input_byte(in) : 0;

	len = (unsigned int)input_bytes(in, text, MOST);
	if (choice & WITH_TRAILER)
		return peer_trailer(text, len, peer_padding(t->peer.algorithm, len), next);
	return len / block * block;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t choice = input_byte(&in), text[MOST + 64] = {0}, ip[GATEWAY_FRAME];
	const struct tunnel *t = choice & BY_CBC ? &fuzz_cbc : &fuzz_gcm;
	uint64_t *seq = &last_seq[choice & BY_CBC];
	unsigned int len = plaintext(&in, choice, t, text);

	len = gateway_seal(ip, t, choice & REPLAYED && *seq ? *seq : ++*seq, text, len);
	if (choice & DAMAGED)
		ip[20 + (text[0] | text[1] << 8) % (len - 20)] ^= (uint8_t)(choice | 1);
	fuzz_packet(ip, len, GATEWAY_WAN);
	/* The second packet is of a known flow. */
	len = gateway_seal(ip, t, ++*seq, text,
			   len - (t->v6 ? 40u : 20u) - 8 - t->peer.algorithm->iv_len -
				   t->peer.algorithm->icv_len);
	fuzz_packet(ip, len, GATEWAY_WAN);
	fuzz_settle(t->number);
	return 0;
}

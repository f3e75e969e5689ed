/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layout.h"

static uint32_t round_up_pow2(uint32_t n)
{
	uint32_t p = 64;

	while (p < n)
		p <<= 1;
	return p;
}

/* Append an array to the file. @return its offset; arrays start at page boundaries */
static uint64_t place(uint64_t *end, uint64_t bytes)
{
	uint64_t offset = *end;

	*end = (offset + bytes + 4095) & ~4095ull;
	return offset;
}

void layout_init(struct fixed *h)
{
	uint64_t end = 0;

	h->header_size = sizeof(struct header);
	h->sa_buckets = round_up_pow2(h->geometry.sas * 2);
	h->policy_buckets = round_up_pow2(h->geometry.policies * 2);
	h->net_buckets = h->policy_buckets / 2;
	/* Enough for every inbound SA, if half of all SAs are inbound. */
	h->replay_blocks = (h->geometry.sas + 1) / 2;
	place(&end, sizeof(struct header));
	h->sa_table = place(&end, (uint64_t)h->sa_buckets * sizeof(uint32_t));
	h->policy_table = place(&end, (uint64_t)h->policy_buckets * sizeof(uint32_t));
	h->peer_nets = place(&end, (uint64_t)h->net_buckets * sizeof(struct peer_net));
	h->sharing = place(&end, (uint64_t)h->net_buckets * sizeof(uint32_t));
	h->sas = place(&end, (uint64_t)h->geometry.sas * sizeof(struct cygnet_sa));
	h->policies = place(&end, (uint64_t)h->geometry.policies * sizeof(struct cygnet_policy));
	h->replay = place(&end, (uint64_t)h->replay_blocks * sizeof(struct replay_block));
	h->events = place(&end, LAYOUT_EVENTS * sizeof(struct cygnet_event));
	if (h->features & LAYOUT_IKE_DST)
		place(&end, (uint64_t)layout_ike_dsts(h) * sizeof(struct ike_dst));
	h->file_size = end;
}

uint32_t layout_ike_dsts(const struct fixed *h)
{
	return h->sa_buckets / 8 < 1024 ? 1024 : h->sa_buckets / 8;
}

uint64_t layout_ike_dst(const struct fixed *h)
{
	uint64_t end = h->events;

	if (!(h->features & LAYOUT_IKE_DST))
		return 0;
	place(&end, LAYOUT_EVENTS * sizeof(struct cygnet_event));
	return end;
}

uint64_t layout_checksum(const struct fixed *h)
{
	const uint8_t *byte = (const uint8_t *)h;
	uint64_t sum = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < offsetof(struct fixed, checksum); i++)
		sum = (sum ^ byte[i]) * 0x100000001b3ull;
	return sum;
}

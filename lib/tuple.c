/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <endian.h>

#include "hash.h"
#include "tuple.h"

static enum tuple_ports ports_of(uint16_t lo, uint16_t hi)
{
	if (lo == 0 && hi == UINT16_MAX)
		return TUPLE_ANY_PORT;
	return lo == hi ? TUPLE_ONE_PORT : TUPLE_PORT_RANGE;
}

struct tuple_key tuple_of(enum cygnet_dir dir, const struct cygnet_selector *sel)
{
	return (struct tuple_key){
		.src_bits = (uint8_t)cygnet_addr_common(sel->af, &sel->src_lo, &sel->src_hi),
		.dst_bits = (uint8_t)cygnet_addr_common(sel->af, &sel->dst_lo, &sel->dst_hi),
		.proto = sel->proto != 0,
		.sport = (uint8_t)ports_of(sel->sport_lo, sel->sport_hi),
		.dport = (uint8_t)ports_of(sel->dport_lo, sel->dport_hi),
		.dir = (uint8_t)dir,
		.af = sel->af,
		.valid = 1,
	};
}

/*
 * Prefix lengths of merged keys. Policies of different peers differ in the peer's addresses, so
 * that side has more lengths: policies that do not overlap seldom meet in a chain.
 */
static const uint8_t far_bits[2][8] = {{32, 28, 24, 20, 16, 12, 8, 0},
				       {128, 64, 60, 56, 48, 40, 32, 0}};
static const uint8_t near_bits[2][TUPLE_NEAR] = {{32, 16, 0}, {128, 48, 0}};

_Static_assert(sizeof(far_bits[0]) * sizeof(near_bits[0]) == TUPLE_MERGED, "merged keys");

struct tuple_key tuple_merged(enum cygnet_dir dir, uint8_t af, unsigned int i)
{
	uint8_t far = far_bits[af == AF_INET6][i / TUPLE_NEAR];
	uint8_t near = near_bits[af == AF_INET6][i % TUPLE_NEAR];

	/* TUPLE_PORT_RANGE: ports are not hashed, but policies may select by ports. */
	return (struct tuple_key){
		.src_bits = dir == CYGNET_OUT ? near : far,
		.dst_bits = dir == CYGNET_OUT ? far : near,
		.sport = TUPLE_PORT_RANGE,
		.dport = TUPLE_PORT_RANGE,
		.dir = (uint8_t)dir,
		.af = af,
		.valid = 1,
	};
}

bool tuple_is_merged(struct tuple_key key)
{
	for (unsigned int i = 0; i < TUPLE_MERGED; i++)
		if (tuple_pack(tuple_merged(key.dir, key.af, i)) == tuple_pack(key))
			return true;
	return false;
}

bool tuple_may_hold(struct tuple_key key, struct tuple_key own)
{
	if (tuple_pack(key) == tuple_pack(own))
		return true;
	return key.dir == own.dir && key.af == own.af && !key.proto &&
	       key.sport == TUPLE_PORT_RANGE && key.dport == TUPLE_PORT_RANGE &&
	       key.src_bits <= own.src_bits && key.dst_bits <= own.dst_bits;
}

/* The leading bits of 64 bits of an address, in network byte order, the others zero. */
static uint64_t leading(uint64_t word, unsigned int bits)
{
	if (bits >= 64)
		return word;
	return bits ? word & htobe64(~0ull << (64 - bits)) : 0;
}

uint64_t tuple_hash_addr(uint64_t hash, const struct cygnet_addr *addr, unsigned int bits, uint8_t af)
{
	hash = hash_mix(hash, leading(addr->words[0], bits));
	if (af == AF_INET6)
		hash = hash_mix(hash, leading(addr->words[1], bits > 64 ? bits - 64 : 0));
	return hash;
}

uint64_t tuple_hash(uint64_t seed, uint64_t packed, const struct cygnet_flow *flow)
{
	struct tuple_key key = tuple_unpack(packed);
	uint64_t l4 = (uint64_t)(key.proto ? flow->proto : 0) << 32 |
			 (uint64_t)(key.sport == TUPLE_ONE_PORT ? flow->sport : 0) << 16 |
			 (key.dport == TUPLE_ONE_PORT ? flow->dport : 0);
	uint64_t hash = hash_mix(seed ^ packed, l4);

	hash = tuple_hash_addr(hash, &flow->src, key.src_bits, key.af);
	return tuple_hash_addr(hash, &flow->dst, key.dst_bits, key.af);
}

struct cygnet_flow tuple_example(const struct cygnet_selector *sel)
{
	return (struct cygnet_flow){
		.src = sel->src_lo,
		.dst = sel->dst_lo,
		.sport = sel->sport_lo,
		.dport = sel->dport_lo,
		.af = sel->af,
		.proto = sel->proto,
		.has_ports = 1,
	};
}

uint32_t tuple_count(const struct tuple_list *list)
{
	uint32_t count = load_acquire(&list->count);

	return count < LAYOUT_TUPLES ? count : LAYOUT_TUPLES;
}

struct tuple_list *tuple_list(struct cygnet_db *db, enum cygnet_dir dir, uint8_t af)
{
	return &db->header->tuples[(unsigned int)dir * 2 + (af == AF_INET6)];
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a lookup of a policy visits. */
#include "chain.h"
#include "place.h"
#include "policy_fixture.h"

struct visits {
	unsigned int nets, chains, policies;
};

/* The places that a lookup comes to if no policy matches the flow. */
static struct visits visits_of(struct cygnet_db *db, const struct cygnet_flow *flow)
{
	struct lengths peers = lengths_copy(&place_list(db, CYGNET_OUT, flow->af)->peer), locals;
	struct visits n = {0, 0, 0};
	unsigned int peer, local;

	while (lengths_take(&peers, &peer)) {
		uint64_t hash = place_peer_hash(db, CYGNET_OUT,
						flow->by_if_id ? flow->interface : 0, flow->af,
						&flow->dst, peer);

		n.nets++;
		locals = lengths_copy(&place_net(db, hash)->local);
		while (lengths_take(&locals, &local)) {
			const struct cygnet_policy *policy =
				chain_follow(db,
					     place_chain(db, hash, flow->af, &flow->src, local));

			n.chains++;
			for (; policy; policy = chain_follow(db, &policy->next))
				n.policies++;
		}
	}
	return n;
}

#define HOSTILE 20000u

static int large_setup(void **state)
{
	int err = fixture_setup(state);
	struct fixture *f = *state;

	cygnet_db_close(f->db);
	unlink(f->path);
	f->db = fixture_open(f, 64, HOSTILE + 64);
	return err;
}

static uint32_t below(unsigned int bits)
{
	return bits < 32 ? htonl(UINT32_MAX >> bits) : 0;
}

/* All that a peer can ask for whose configured networks are 10.1.0.0/16 here and 10.2.0.0/16 there. */
static struct cygnet_policy_params hostile_policy(unsigned int i)
{
	struct cygnet_policy_params p = policy(selector("10.1.0.0", 16, "10.2.0.0", 16), 1000,
					       CYGNET_PROTECT);
	unsigned int src = 16 + i % 17, dst = 16 + i / 17 % 17;

	p.sel.src_lo.v4 = (p.sel.src_lo.v4 | below(16)) & ~below(src);
	p.sel.dst_lo.v4 = (p.sel.dst_lo.v4 | below(16)) & ~below(dst);
	p.sel.sport_lo = (uint16_t)(i / 289);
	p.sel.sport_hi = (uint16_t)(i / 289 + 1);
	p.sel.proto = IPPROTO_UDP;
	return p;
}

/* A peer with many selectors makes lookups of its own flows slow, but of no others, and no policy is refused. */
static void hostile_peer(void **state)
{
	struct cygnet_flow own = flow4("10.1.255.255", "10.2.255.255", 17, 60000, 2);
	struct cygnet_flow other = flow4("10.1.255.255", "10.3.255.255", 17, 60000, 2);
	struct fixture *f = *state;
	struct visits visits;

	for (unsigned int i = 0; i < HOSTILE; i++) {
		struct cygnet_policy_params p = hostile_policy(i);

		assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	}
	visits = visits_of(f->db, &own);
	assert_int_equal(visits.nets, 17);
	/* Some more by chance, where a net or chain shares its bucket. */
	assert_in_range(visits.policies, HOSTILE, HOSTILE + 1000);
	visits = visits_of(f->db, &other);
	assert_int_equal(visits.nets, 17);
	assert_in_range(visits.chains, 0, 40);
	assert_in_range(visits.policies, 0, 400);
	for (unsigned int i = 0; i < HOSTILE; i++) {
		struct cygnet_policy_params p = hostile_policy(i);

		assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
	}
	visits = visits_of(f->db, &own);
	assert_int_equal(visits.nets + visits.chains + visits.policies, 0);
}

/* A child with 64 by 64 networks of several lengths: a lookup visits few policies. */
static void many_networks(void **state)
{
	struct fixture *f = *state;
	unsigned int most = 0;

	for (unsigned int i = 0; i < 64 * 64; i++) {
		unsigned int here = i % 64, there = i / 64;
		struct cygnet_policy_params p = policy(selector("10.0.0.0", 20 + here % 9,
								"20.0.0.0", 20 + there % 9),
						       1000, CYGNET_PROTECT);

		p.sel.src_lo.v4 |= htonl(here << 12);
		p.sel.src_hi.v4 |= htonl(here << 12);
		p.sel.dst_lo.v4 |= htonl(there << 12);
		p.sel.dst_hi.v4 |= htonl(there << 12);
		p.reqid = 1 + i;
		assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	}
	for (unsigned int i = 0; i < 64 * 64; i++) {
		struct cygnet_flow flow = flow4("10.0.0.1", "20.0.0.1", 17, 1, 2);
		struct visits visits;

		flow.src.v4 |= htonl((i % 64) << 12);
		flow.dst.v4 |= htonl((i / 64) << 12);
		assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->reqid, 1 + i);
		visits = visits_of(f->db, &flow);
		assert_int_equal(visits.nets, 9);
		most = visits.policies > most ? visits.policies : most;
	}
	assert_in_range(most, 1, 24);
}

/* Tunnels that are all for all addresses, each with its interface ID: a lookup visits the policies of one. */
static void many_interface_ids(void **state)
{
	struct fixture *f = *state;
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 17, 1, 2);
	unsigned int most = 0;

	for (unsigned int i = 0; i < 5000; i++) {
		struct cygnet_policy_params p = policy(selector("0.0.0.0", 0, "0.0.0.0", 0), 1000,
						       CYGNET_PROTECT);

		p.sel.interface = p.reqid = 1 + i;
		p.sel.by_if_id = 1;
		assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	}
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	flow.by_if_id = 1;
	for (unsigned int i = 0; i < 5000; i++) {
		struct visits visits;

		flow.interface = 1 + i;
		assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->reqid, 1 + i);
		visits = visits_of(f->db, &flow);
		most = visits.policies > most ? visits.policies : most;
	}
	assert_in_range(most, 1, 16);
}

/* A local length is forgotten with the last policy that has it, and all with the last of the net. */
static void forgotten_lengths(void **state)
{
	struct cygnet_policy_params wide = policy(selector("10.0.0.0", 8, "20.0.0.0", 24), 1000,
						  CYGNET_PROTECT);
	struct cygnet_policy_params narrow = policy(selector("10.0.0.0", 24, "20.0.0.0", 24), 1000,
						    CYGNET_PROTECT);
	struct cygnet_policy_params other = policy(selector("10.0.1.0", 24, "20.0.0.0", 24), 1000,
						   CYGNET_PROTECT);
	struct fixture *f = *state;
	const struct lengths *local = &place_of(f->db, CYGNET_OUT, &wide.sel).net->local;

	assert_int_equal(cygnet_policy_add(f->db, &wide), 0);
	assert_int_equal(cygnet_policy_add(f->db, &narrow), 0);
	assert_int_equal(cygnet_policy_add(f->db, &other), 0);
	assert_true(lengths_have(local, 8) && lengths_have(local, 24));
	assert_int_equal(cygnet_policy_delete(f->db, &narrow), 0);
	assert_true(lengths_have(local, 24));
	assert_int_equal(cygnet_policy_delete(f->db, &other), 0);
	assert_true(lengths_have(local, 8) && !lengths_have(local, 24));
	assert_int_equal(cygnet_policy_delete(f->db, &wide), 0);
	assert_false(lengths_have(local, 8));
	assert_false(lengths_have(&place_list(f->db, CYGNET_OUT, AF_INET)->peer, 24));
}

static void lengths_in_order(void **state)
{
	static const unsigned int want[] = {128, 127, 64, 63, 1, 0};
	struct lengths set = {{0, 0, 0}};
	unsigned int length;

	(void)state;
	for (unsigned int i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		lengths_add(&set, want[i]);
	for (unsigned int i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_true(lengths_take(&set, &length));
		assert_int_equal(length, want[i]);
	}
	assert_false(lengths_take(&set, &length));
	/* A damaged file has lengths that do not exist, and others. */
	set.word[2] = 3;
	set.word[0] = 1;
	set = lengths_copy(&set);
	assert_true(lengths_take(&set, &length));
	assert_int_equal(length, 128);
	assert_true(lengths_take(&set, &length));
	assert_int_equal(length, 0);
	assert_false(lengths_take(&set, &length));
}

static void common_bits(void **state)
{
	struct cygnet_addr lo = {0}, hi = {0};

	(void)state;
	lo.bytes[15] = 1;
	hi.bytes[15] = 2;
	assert_int_equal(cygnet_addr_common(AF_INET6, &lo, &hi), 126);
	assert_int_equal(cygnet_addr_common(AF_INET6, &lo, &lo), 128);
	assert_int_equal(cygnet_addr_common(AF_INET, &lo, &hi), 32);
	hi.bytes[0] = 0x80;
	assert_int_equal(cygnet_addr_common(AF_INET6, &lo, &hi), 0);
	lo.bytes[0] = 0x81;
	assert_int_equal(cygnet_addr_common(AF_INET, &lo, &hi), 7);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hostile_peer, large_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(many_networks, large_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(many_interface_ids, large_setup, fixture_teardown),
		TEST(forgotten_lengths),
		TEST(lengths_in_order),
		TEST(common_bits),
	};

	return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}

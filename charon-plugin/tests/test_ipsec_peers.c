/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Limits of SAs and policies, with their defaults for 64 slots of each.
 */

#include "charon.h"

#include <daemon.h>

/** The limit of an IKE_SA, identity or connection, three quarters */
#define LIMIT 48
/** What new peers may use, seven eighths */
#define OPEN 56
/** What a peer may have of the reserve */
#define SHARE 4

/** A client that chooses two identities, another one, and a site */
static ike_sa_t *greedy[2], *modest, *site;

static int peers_setup(void **state)
{
	if (charon_test_setup(state))
	{
		return 1;
	}
	greedy[0] = create_peer("greedy.example", "clients");
	greedy[1] = create_peer("chosen.example", "clients");
	modest = create_peer("modest.example", "clients");
	site = create_peer("site.example", "site");
	return 0;
}

static int peers_teardown(void **state)
{
	use_peer(NULL);
	greedy[0]->destroy(greedy[0]);
	greedy[1]->destroy(greedy[1]);
	modest->destroy(modest);
	site->destroy(site);
	return charon_test_teardown(state);
}

static status_t add_numbered_sa(uint32_t number)
{
	sa.id.spi = htonl(0xc0000200 + number);
	return add_sa();
}

static status_t del_numbered_sa(uint32_t number)
{
	sa.id.spi = htonl(0xc0000200 + number);
	return del_sa();
}

static void add_sas(uint32_t first, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
	{
		assert_int_equal(add_numbered_sa(first + i), SUCCESS);
	}
}

/** Add count SAs and expect that the next one is refused */
static void expect_limit(uint32_t first, uint32_t count)
{
	add_sas(first, count);
	assert_int_equal(add_numbered_sa(first + count), FAILED);
}

static void test_sas(void **state)
{
	uint32_t i;

	use_peer(site);
	for (i = 0; i < LIMIT; i++)
	{
		assert_int_equal(log_lines, i < 39 ? 0 : 1);
		assert_int_equal(add_numbered_sa(i), SUCCESS);
	}
	assert_non_null(strstr(log_text, "peer 'site.example' of site["));
	assert_non_null(strstr(log_text, "its IKE_SA has 39 SAs"));
	log_lines = 0;
	assert_int_equal(add_numbered_sa(LIMIT), FAILED);
	assert_int_equal(log_lines, 1);
	assert_non_null(strstr(log_text, "has 48 SAs"));
	assert_non_null(strstr(log_text, "max_sas_per_ike_sa"));
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, LIMIT);
	/* other peers are not affected */
	use_peer(modest);
	assert_int_equal(add_numbered_sa(LIMIT), SUCCESS);
	use_peer(NULL);
	assert_int_equal(add_numbered_sa(LIMIT + 1), SUCCESS);
	/* any thread may delete an SA; a refused SA is not counted */
	assert_int_equal(del_sa(), SUCCESS);
	use_peer(site);
	assert_int_equal(add_numbered_sa(LIMIT + 1), FAILED);
	use_peer(NULL);
	assert_int_equal(del_numbered_sa(0), SUCCESS);
	use_peer(site);
	assert_int_equal(add_numbered_sa(1), FAILED);
	assert_int_equal(add_numbered_sa(LIMIT + 1), SUCCESS);
	assert_int_equal(add_numbered_sa(LIMIT + 2), FAILED);
}

/** All IKE_SAs of an identity share a limit */
static void test_identity(void **state)
{
	ike_sa_t *again = create_peer("site.example", "other");

	use_peer(site);
	add_sas(0, 30);
	use_peer(again);
	expect_limit(30, LIMIT - 30);
	assert_non_null(strstr(log_text, "its identity has 48 SAs"));
	assert_non_null(strstr(log_text, "max_sas_per_peer"));
	use_peer(modest);
	assert_int_equal(add_numbered_sa(100), SUCCESS);
	assert_int_equal(charon->kernel->flush_sas(charon->kernel), SUCCESS);
	/* a peer without SAs and policies is forgotten; later ones are new peers */
	use_peer(modest);
	assert_int_equal(add_numbered_sa(100), SUCCESS);
	use_peer(again);
	expect_limit(0, LIMIT);
	use_peer(NULL);
	again->destroy(again);
}

/** An IKE_SA is no new one because it is rekeyed */
static void test_rekeyed_ike_sa(void **state)
{
	ike_sa_t *rekeyed = create_peer("site.example", "site");

	use_peer(site);
	add_sas(0, LIMIT);
	charon->bus->ike_rekey(charon->bus, site, rekeyed);
	use_peer(rekeyed);
	assert_int_equal(add_numbered_sa(LIMIT), FAILED);
	assert_non_null(strstr(log_text, "max_sas_per_ike_sa"));
	assert_int_equal(del_numbered_sa(0), SUCCESS);
	assert_int_equal(add_numbered_sa(LIMIT), SUCCESS);
	use_peer(NULL);
	rekeyed->destroy(rekeyed);
}

/** A client that chooses its identities is limited by its connection */
static void test_connection(void **state)
{
	use_peer(greedy[0]);
	add_sas(0, 30);
	use_peer(greedy[1]);
	expect_limit(30, LIMIT - 30);
	assert_non_null(strstr(log_text, "its connection has 48 SAs"));
	assert_non_null(strstr(log_text, "max_sas_per_connection"));
	/* the other clients share that limit, and other connections do not */
	use_peer(modest);
	assert_int_equal(add_numbered_sa(LIMIT), FAILED);
	use_peer(site);
	assert_int_equal(add_numbered_sa(LIMIT), SUCCESS);
}

/** Make the other peers use up what new peers may have, and let a site have four SAs of that */
static void fill_sad(void)
{
	use_peer(site);
	add_sas(100, 4);
	add_child(site, sa.data.reqid);
	use_peer(greedy[0]);
	add_sas(0, 24);
	use_peer(greedy[1]);
	add_sas(24, 24);
	use_peer(NULL);
	add_sas(LIMIT, OPEN - LIMIT - 4);
}

static status_t get_spi(uint32_t *spi)
{
	return charon->kernel->get_spi(charon->kernel, sa.id.src, sa.id.dst,
								   IPPROTO_ESP, spi);
}

/** Only a peer that rekeys a CHILD_SA may use the reserve */
static void test_reserve(void **state)
{
	ike_sa_t *late = create_peer("late.example", "other");
	uint32_t spi;

	fill_sad();
	use_peer(late);
	assert_int_equal(get_spi(&spi), FAILED);
	assert_non_null(strstr(log_text, "reserved_sas"));
	log_lines = 0;
	assert_int_equal(add_numbered_sa(200), FAILED);
	assert_int_equal(log_lines, 1);
	assert_non_null(strstr(log_text, "'late.example'"));
	assert_non_null(strstr(log_text, "reserved_sas"));
	use_peer(site);
	assert_int_equal(get_spi(&spi), SUCCESS);
	sa.id.spi = spi;
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(add_numbered_sa(200), SUCCESS);
	/* another CHILD_SA of the site is new */
	sa.data.reqid++;
	assert_int_equal(add_numbered_sa(201), FAILED);
	sa.data.reqid--;
	/* the operator's own may use it, too */
	use_peer(NULL);
	assert_int_equal(add_numbered_sa(202), SUCCESS);
	/* who always keeps the old SAs does not get more than three times as many */
	use_peer(site);
	add_child(site, sa.data.reqid);
	assert_int_equal(add_numbered_sa(203), SUCCESS);
	add_child(site, sa.data.reqid);
	assert_int_equal(add_numbered_sa(204), FAILED);
	use_peer(NULL);
	late->destroy(late);
}

/** Who never deletes what it replaces gets a share of the reserve, also with
 * several IKE_SAs: others may rekey */
static void test_reserve_share(void **state)
{
	ike_sa_t *again = create_peer("site.example", "site");

	fill_sad();
	assert_int_equal(del_numbered_sa(0), SUCCESS);
	assert_int_equal(del_numbered_sa(1), SUCCESS);
	assert_int_equal(del_numbered_sa(2), SUCCESS);
	use_peer(modest);
	add_sas(110, 2);
	add_child(modest, sa.data.reqid);
	use_peer(again);
	add_sas(112, 1);
	add_child(again, sa.data.reqid);
	use_peer(site);
	expect_limit(200, SHARE);
	assert_non_null(strstr(log_text, "reserved_sas"));
	use_peer(again);
	assert_int_equal(add_numbered_sa(210), FAILED);
	use_peer(modest);
	add_sas(220, 2);
	/* what is deleted makes room for as much */
	use_peer(NULL);
	assert_int_equal(del_numbered_sa(100), SUCCESS);
	assert_int_equal(del_numbered_sa(101), SUCCESS);
	use_peer(site);
	expect_limit(210, 2);
	use_peer(NULL);
	again->destroy(again);
}

/** Who rekeys is not refused because others use its identity and connection */
static void test_rekey_at_limit(void **state)
{
	ike_sa_t *victim = create_peer("greedy.example", "clients");

	use_peer(victim);
	add_sas(100, 2);
	add_child(victim, sa.data.reqid);
	use_peer(greedy[0]);
	expect_limit(0, LIMIT - 2);
	assert_non_null(strstr(log_text, "max_sas_per_peer"));
	use_peer(victim);
	add_sas(102, 2);
	/* its own IKE_SA's limit still counts */
	use_peer(greedy[0]);
	add_child(greedy[0], sa.data.reqid);
	expect_limit(LIMIT - 2, 2);
	assert_non_null(strstr(log_text, "max_sas_per_ike_sa"));
	use_peer(NULL);
	victim->destroy(victim);
}

static status_t add_numbered_policy(uint32_t number)
{
	char net[32];

	snprintf(net, sizeof(net), "10.2.%u.0/24", number);
	fixture_policy_select(&policy, MOON_NET, net, 0, 0, 65535);
	return charon->kernel->add_policy(charon->kernel, &policy.id,
									  &policy.data);
}

static void add_policies(uint32_t first, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
	{
		assert_int_equal(add_numbered_policy(first + i), SUCCESS);
	}
}

static status_t del_policy(void)
{
	return charon->kernel->del_policy(charon->kernel, &policy.id, &policy.data);
}

static void test_policies(void **state)
{
	uint32_t i;

	use_peer(site);
	add_policies(0, LIMIT);
	/* one more install of a policy is not one more policy */
	assert_int_equal(add_numbered_policy(LIMIT - 1), SUCCESS);
	assert_int_equal(add_numbered_policy(LIMIT), FAILED);
	assert_non_null(strstr(log_text, "has 48 policies"));
	assert_non_null(strstr(log_text, "max_policies_per_ike_sa"));
	assert_int_equal(del_policy(), NOT_FOUND);
	assert_int_equal(add_numbered_policy(LIMIT), FAILED);
	use_peer(modest);
	assert_int_equal(add_numbered_policy(LIMIT), SUCCESS);
	use_peer(NULL);
	assert_int_equal(add_numbered_policy(LIMIT + 1), SUCCESS);
	use_peer(site);
	assert_int_equal(add_numbered_policy(LIMIT - 1), SUCCESS);
	for (i = 0; i < 3; i++)
	{
		assert_int_equal(add_numbered_policy(LIMIT + 2), FAILED);
		fixture_policy_select(&policy, MOON_NET, "10.2.47.0/24", 0, 0, 65535);
		assert_int_equal(del_policy(), SUCCESS);
	}
	assert_int_equal(add_numbered_policy(LIMIT + 2), SUCCESS);
	assert_int_equal(add_numbered_policy(LIMIT + 3), FAILED);
	/* flushed policies do not count any more */
	charon->kernel->flush_policies(charon->kernel);
	add_policies(0, LIMIT);
}

/** Policies by connection, and their reserve */
static void test_policies_of_all(void **state)
{
	ike_sa_t *late;

	use_peer(site);
	add_policies(100, 4);
	add_child(site, policy.sa.reqid);
	use_peer(greedy[0]);
	add_policies(0, 24);
	use_peer(greedy[1]);
	add_policies(24, 24);
	assert_int_equal(add_numbered_policy(LIMIT), FAILED);
	assert_non_null(strstr(log_text, "max_policies_per_connection"));
	use_peer(NULL);
	add_policies(LIMIT, OPEN - LIMIT - 4);
	use_peer(site);
	add_policies(104, 1);
	policy.sa.reqid++;
	assert_int_equal(add_numbered_policy(105), FAILED);
	assert_non_null(strstr(log_text, "reserved_policies"));
	policy.sa.reqid--;
	add_policies(105, 2);
	/* policies_fwd_out */
	policy.id.dir = POLICY_FWD;
	policy.sa.reqid = 0;
	add_policies(0, 1);
	late = create_peer("late.example", "late");
	use_peer(late);
	assert_int_equal(add_numbered_policy(1), FAILED);
	assert_non_null(strstr(log_text, "reserved_policies"));
	add_policies(0, 1);
	use_peer(NULL);
	late->destroy(late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sas, peers_setup, peers_teardown),
		cmocka_unit_test_setup_teardown(test_identity, peers_setup,
										peers_teardown),
		cmocka_unit_test_setup_teardown(test_rekeyed_ike_sa, peers_setup,
										peers_teardown),
		cmocka_unit_test_setup_teardown(test_connection, peers_setup,
										peers_teardown),
		cmocka_unit_test_setup_teardown(test_reserve, peers_setup,
										peers_teardown),
		cmocka_unit_test_setup_teardown(test_reserve_share, peers_setup,
										peers_teardown),
		cmocka_unit_test_setup_teardown(test_rekey_at_limit, peers_setup,
										peers_teardown),
		cmocka_unit_test_setup_teardown(test_policies, peers_setup,
										peers_teardown),
		cmocka_unit_test_setup_teardown(test_policies_of_all, peers_setup,
										peers_teardown),
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}

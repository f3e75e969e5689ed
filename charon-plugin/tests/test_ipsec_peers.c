/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Limits of a peer's SAs and policies. The default limit is three quarters of the 64 slots.
 */

#include "charon.h"

#include <daemon.h>

#define LIMIT 48

static ike_sa_t *ike_sas[2];

static int peers_setup(void **state)
{
	if (charon_test_setup(state))
	{
		return 1;
	}
	ike_sas[0] = create_peer("greedy.example");
	ike_sas[1] = create_peer("modest.example");
	return 0;
}

static int peers_teardown(void **state)
{
	int i;

	use_peer(NULL);
	for (i = 0; i < 2; i++)
	{
		ike_sas[i]->destroy(ike_sas[i]);
	}
	return charon_test_teardown(state);
}

static status_t add_numbered_sa(uint32_t number)
{
	sa.id.spi = htonl(0xc0000200 + number);
	return add_sa();
}

static void test_sas(void **state)
{
	uint32_t i;

	use_peer(ike_sas[0]);
	for (i = 0; i < LIMIT; i++)
	{
		assert_int_equal(log_lines, i < 39 ? 0 : 1);
		assert_int_equal(add_numbered_sa(i), SUCCESS);
	}
	assert_non_null(strstr(log_text, "'greedy.example' has 39 SAs"));
	log_lines = 0;
	assert_int_equal(add_numbered_sa(LIMIT), FAILED);
	assert_int_equal(log_lines, 1);
	assert_non_null(strstr(log_text, "'greedy.example' has 48 SAs"));
	assert_non_null(strstr(log_text, "max_sas_per_peer"));
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, LIMIT);
	/* other peers are not affected */
	use_peer(ike_sas[1]);
	assert_int_equal(add_numbered_sa(LIMIT), SUCCESS);
	use_peer(NULL);
	assert_int_equal(add_numbered_sa(LIMIT + 1), SUCCESS);
	/* any thread may delete an SA; a refused SA is not counted */
	assert_int_equal(del_sa(), SUCCESS);
	use_peer(ike_sas[0]);
	assert_int_equal(add_numbered_sa(LIMIT + 1), FAILED);
	use_peer(NULL);
	sa.id.spi = htonl(0xc0000200);
	assert_int_equal(del_sa(), SUCCESS);
	use_peer(ike_sas[0]);
	assert_int_equal(add_numbered_sa(1), FAILED);
	assert_int_equal(add_numbered_sa(LIMIT + 1), SUCCESS);
	assert_int_equal(add_numbered_sa(LIMIT + 2), FAILED);
}

/** Add count SAs and expect that the next one is refused */
static void expect_limit(uint32_t first, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
	{
		assert_int_equal(add_numbered_sa(first + i), SUCCESS);
	}
	assert_int_equal(add_numbered_sa(first + count), FAILED);
}

static void test_ike_sas(void **state)
{
	ike_sa_t *again = create_peer("greedy.example");

	/* all IKE_SAs of an identity share the limit */
	use_peer(ike_sas[0]);
	assert_int_equal(add_numbered_sa(100), SUCCESS);
	use_peer(again);
	expect_limit(0, LIMIT - 1);
	assert_int_equal(charon->kernel->flush_sas(charon->kernel), SUCCESS);
	/* a peer without SAs and policies is removed; later ones are new peers */
	use_peer(ike_sas[1]);
	assert_int_equal(add_numbered_sa(100), SUCCESS);
	use_peer(again);
	expect_limit(0, LIMIT);
	use_peer(NULL);
	again->destroy(again);
}

/** Two IKE_SAs whose unique IDs are equal modulo 1,024 */
static void test_unique_ids(void **state)
{
	uint32_t first = ike_sas[0]->get_unique_id(ike_sas[0]);
	ike_sa_t *other = create_peer("modest.example");

	while ((other->get_unique_id(other) - first) % 1024)
	{
		other->destroy(other);
		other = create_peer("modest.example");
	}
	use_peer(ike_sas[0]);
	assert_int_equal(add_numbered_sa(100), SUCCESS);
	use_peer(other);
	assert_int_equal(add_numbered_sa(101), SUCCESS);
	use_peer(ike_sas[0]);
	expect_limit(0, LIMIT - 1);
	use_peer(NULL);
	other->destroy(other);
}

static status_t add_numbered_policy(uint32_t number)
{
	char net[32];

	snprintf(net, sizeof(net), "10.2.%u.0/24", number);
	fixture_policy_select(&policy, MOON_NET, net, 0, 0, 65535);
	return charon->kernel->add_policy(charon->kernel, &policy.id,
									  &policy.data);
}

static void test_policies(void **state)
{
	uint32_t i;

	use_peer(ike_sas[0]);
	for (i = 0; i < LIMIT; i++)
	{
		assert_int_equal(add_numbered_policy(i), SUCCESS);
	}
	/* one more install of a policy is not one more policy */
	assert_int_equal(add_numbered_policy(LIMIT - 1), SUCCESS);
	assert_int_equal(add_numbered_policy(LIMIT), FAILED);
	assert_non_null(strstr(log_text, "'greedy.example' has 48 policies"));
	assert_int_equal(charon->kernel->del_policy(charon->kernel, &policy.id,
												&policy.data), NOT_FOUND);
	assert_int_equal(add_numbered_policy(LIMIT), FAILED);
	use_peer(ike_sas[1]);
	assert_int_equal(add_numbered_policy(LIMIT), SUCCESS);
	use_peer(NULL);
	assert_int_equal(add_numbered_policy(LIMIT + 1), SUCCESS);
	use_peer(ike_sas[0]);
	assert_int_equal(add_numbered_policy(LIMIT - 1), SUCCESS);
	for (i = 0; i < 3; i++)
	{
		assert_int_equal(add_numbered_policy(LIMIT + 2), FAILED);
		fixture_policy_select(&policy, MOON_NET, "10.2.47.0/24", 0, 0, 65535);
		assert_int_equal(charon->kernel->del_policy(charon->kernel, &policy.id,
													&policy.data), SUCCESS);
	}
	assert_int_equal(add_numbered_policy(LIMIT + 2), SUCCESS);
	assert_int_equal(add_numbered_policy(LIMIT + 3), FAILED);
	/* flushed policies do not count any more */
	charon->kernel->flush_policies(charon->kernel);
	for (i = 0; i < LIMIT; i++)
	{
		assert_int_equal(add_numbered_policy(i), SUCCESS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sas, peers_setup, peers_teardown),
		cmocka_unit_test_setup_teardown(test_ike_sas, peers_setup,
										peers_teardown),
		cmocka_unit_test_setup_teardown(test_unique_ids, peers_setup,
										peers_teardown),
		cmocka_unit_test_setup_teardown(test_policies, peers_setup,
										peers_teardown),
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}

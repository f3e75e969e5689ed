/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * charon deletes an SA that add_sa() has refused; the SA of another peer with
 * that id stays.
 */

#include "charon.h"
#include "../kernel_cygnet_compat.h"
#include "../kernel_cygnet_refused.h"

#include <daemon.h>
#include <threading/thread.h>

#define PEERS 8

static ike_sa_t *peers[PEERS];

static int refused_setup(void **state)
{
	char id[32];
	int i;

	if (charon_test_setup(state))
	{
		return 1;
	}
	for (i = 0; i < PEERS; i++)
	{
		snprintf(id, sizeof(id), "peer%d.example", i);
		peers[i] = create_peer(id, "clients");
	}
	return 0;
}

static int refused_teardown(void **state)
{
	int i;

	use_peer(NULL);
	for (i = 0; i < PEERS; i++)
	{
		peers[i]->destroy(peers[i]);
	}
	return charon_test_teardown(state);
}

#define REFUSED_TEST(name) \
	cmocka_unit_test_setup_teardown(name, refused_setup, refused_teardown)

static status_t update_sa(void)
{
	kernel_ipsec_update_sa_t update = {
		.new_src = host_create_from_string("192.0.2.7", 0),
		.new_dst = host_create_from_string("192.0.2.8", 0),
	};
	status_t status;

	status = charon->kernel->update_sa(charon->kernel, &sa.id, &update);
	update.new_src->destroy(update.new_src);
	update.new_dst->destroy(update.new_dst);
	return status;
}

/**
 * The first peer has an SA, the second one is refused one with its id. Its
 * del_sa() and its update_sa() do nothing, and the SA expires as it would have.
 */
static void test_other_peer(void **state)
{
	sa.lifetime.time.life = 1;
	use_peer(peers[0]);
	assert_int_equal(add_sa(), SUCCESS);
	use_peer(peers[1]);
	assert_int_equal(add_sa(), FAILED);
	assert_int_equal(log_lines, 1);
	assert_int_equal(update_sa(), NOT_SUPPORTED);
	assert_int_equal(del_sa(), NOT_FOUND);
	assert_int_equal(query_sa(NULL, NULL, NULL), SUCCESS);
	assert_true(raised_wait(&raised.expires, 1, LONG_WAIT));
	assert_string_equal(raised.limits, "h");
	use_peer(peers[0]);
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(query_sa(NULL, NULL, NULL), NOT_FOUND);
}

/**
 * The same if the SA is not supported at all, for several refusals
 */
static void test_not_supported(void **state)
{
	int i;

	use_peer(peers[0]);
	assert_int_equal(add_sa(), SUCCESS);
	use_peer(peers[1]);
	sa.data.mode = MODE_BEET;
	for (i = 0; i < 3; i++)
	{
		assert_int_equal(add_sa(), NOT_SUPPORTED);
	}
	for (i = 0; i < 3; i++)
	{
		assert_int_equal(del_sa(), NOT_FOUND);
		assert_int_equal(query_sa(NULL, NULL, NULL), SUCCESS);
	}
	use_peer(peers[0]);
	assert_int_equal(update_sa(), SUCCESS);
}

/**
 * charon deletes refused outbound SAs in some releases, and in the others no
 * refusal is remembered: a later SA with the id would not be deleted.
 */
static void test_outbound(void **state)
{
	sa.data.inbound = FALSE;
	use_peer(peers[0]);
	assert_int_equal(add_sa(), SUCCESS);
	use_peer(peers[1]);
	assert_int_equal(add_sa(), FAILED);
	if (COMPAT_DELETES_REFUSED_OUTBOUND)
	{
		assert_int_equal(del_sa(), NOT_FOUND);
		assert_int_equal(query_sa(NULL, NULL, NULL), SUCCESS);
	}
	use_peer(peers[0]);
	assert_int_equal(del_sa(), SUCCESS);
	use_peer(peers[1]);
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
}

/**
 * The other peer deletes its SA before the refused one is deleted, and the
 * refused peer then gets an SA with the id
 */
static void test_installed_later(void **state)
{
	use_peer(peers[0]);
	assert_int_equal(add_sa(), SUCCESS);
	use_peer(peers[1]);
	assert_int_equal(add_sa(), FAILED);
	use_peer(peers[0]);
	assert_int_equal(del_sa(), SUCCESS);
	use_peer(peers[1]);
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(del_sa(), NOT_FOUND);
	assert_int_equal(query_sa(NULL, NULL, NULL), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(query_sa(NULL, NULL, NULL), NOT_FOUND);
}

/**
 * The refused SA's SPI was reserved, and is free after del_sa()
 */
static void test_reserved(void **state)
{
	uint32_t spi;

	use_peer(peers[0]);
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi), SUCCESS);
	sa.id.spi = spi;
	sa.data.mode = MODE_BEET;
	assert_int_equal(add_sa(), NOT_SUPPORTED);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, 1);
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, 0);
}

/**
 * Two IKE_SAs of one identity: the second del_sa() deletes the SA
 */
static void test_same_identity(void **state)
{
	ike_sa_t *other = create_peer("peer0.example", "clients");

	use_peer(peers[0]);
	assert_int_equal(add_sa(), SUCCESS);
	use_peer(other);
	assert_int_equal(add_sa(), FAILED);
	use_peer(peers[0]);
	assert_int_equal(del_sa(), NOT_FOUND);
	use_peer(other);
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(query_sa(NULL, NULL, NULL), NOT_FOUND);
	use_peer(NULL);
	other->destroy(other);
}

/** Result of a thread: of add_sa() and of del_sa() after it */
typedef struct {
	ike_sa_t *peer;
	status_t added, deleted;
} attempt_t;

static void *attempt(void *arg)
{
	attempt_t *this = arg;

	use_peer(this->peer);
	this->added = add_sa();
	if (this->added != SUCCESS)
	{
		this->deleted = del_sa();
	}
	use_peer(NULL);
	return NULL;
}

/**
 * Peers install SAs with one id at once: one gets it, and it stays
 */
static void test_threads(void **state)
{
	attempt_t attempts[PEERS];
	thread_t *threads[PEERS];
	int i, round, winners;

	for (round = 0; round < 100; round++)
	{
		winners = 0;
		for (i = 0; i < PEERS; i++)
		{
			attempts[i] = (attempt_t){ .peer = peers[i] };
			threads[i] = thread_create(attempt, &attempts[i]);
			assert_non_null(threads[i]);
		}
		for (i = 0; i < PEERS; i++)
		{
			threads[i]->join(threads[i]);
		}
		assert_int_equal(query_sa(NULL, NULL, NULL), SUCCESS);
		for (i = 0; i < PEERS; i++)
		{
			if (attempts[i].added == SUCCESS)
			{
				winners++;
				use_peer(peers[i]);
				assert_int_equal(del_sa(), SUCCESS);
				use_peer(NULL);
				continue;
			}
			assert_int_equal(attempts[i].deleted, NOT_FOUND);
		}
		assert_int_equal(winners, 1);
		assert_int_equal(query_sa(NULL, NULL, NULL), NOT_FOUND);
	}
}

/* what charon has not deleted in time does not save a later SA of that id */
static void test_forgotten(void **state)
{
	kernel_cygnet_refused_t *kept = kernel_cygnet_refused_create(60);
	kernel_cygnet_refused_t *forgotten = kernel_cygnet_refused_create(0);
	struct cygnet_sa_id id = {
		.spi = htonl(0xc0000001),
	};

	kept->add(kept, &id);
	forgotten->add(forgotten, &id);
	assert_true(kept->has(kept, &id));
	assert_false(forgotten->has(forgotten, &id));
	assert_true(kept->take(kept, &id));
	assert_false(kept->take(kept, &id));
	kept->destroy(kept);
	forgotten->destroy(forgotten);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		REFUSED_TEST(test_other_peer),
		REFUSED_TEST(test_not_supported),
		REFUSED_TEST(test_outbound),
		REFUSED_TEST(test_installed_later),
		REFUSED_TEST(test_reserved),
		REFUSED_TEST(test_same_identity),
		REFUSED_TEST(test_threads),
		REFUSED_TEST(test_forgotten),
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The plugin logs what kernel-netlink logs, in its words and at its levels:
 * people's scripts look for them in charon's log.
 */

#include "charon.h"

#include <daemon.h>
#include <collections/linked_list.h>

/** A line, and the level it was logged at */
typedef struct {
	level_t level;
	char text[256];
} line_t;

static linked_list_t *lines;

static void log_line(logger_t *this, debug_t group, level_t level, int thread,
					 ike_sa_t *ike_sa, const char *message)
{
	line_t *line;

	if (group == DBG_KNL)
	{
		INIT(line,
			.level = level,
		);
		snprintf(line->text, sizeof(line->text), "%s", message);
		lines->insert_last(lines, line);
	}
}

static level_t log_level(logger_t *this, debug_t group)
{
	return LEVEL_RAW;
}

static logger_t logger = {
	.log = log_line,
	.get_level = log_level,
};

static int log_setup(void **state)
{
	lines = linked_list_create();
	if (charon_test_setup(state))
	{
		return 1;
	}
	charon->bus->add_logger(charon->bus, &logger);
	return 0;
}

static int log_teardown(void **state)
{
	charon->bus->remove_logger(charon->bus, &logger);
	lines->destroy_function(lines, free);
	return charon_test_teardown(state);
}

#define LOG_TEST(name) \
	cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)

/** Expect the next line */
static void expect_line(level_t level, const char *text)
{
	line_t *line;

	assert_int_equal(lines->remove_first(lines, (void**)&line), SUCCESS);
	assert_string_equal(line->text, text);
	assert_int_equal(line->level, level);
	free(line);
}

/** Expect that there is no further line */
static void expect_end(void)
{
	assert_int_equal(lines->get_count(lines), 0);
}

static void test_spi(void **state)
{
	char line[64];
	uint32_t spi;

	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi), SUCCESS);
	snprintf(line, sizeof(line), "got SPI %.8x", ntohl(spi));
	expect_line(2, line);
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
								sa.id.dst, IPPROTO_COMP, &spi), NOT_SUPPORTED);
	expect_line(1, "unable to get SPI: kernel-cygnet does not support this IPsec "
				"protocol");
	expect_end();
}

static void test_add(void **state)
{
	sa.data.esn = TRUE;
	assert_int_equal(add_sa(), SUCCESS);
	expect_line(2, "adding SAD entry with SPI c0000123 and reqid {7}");
	expect_line(2, "  using encryption algorithm AES_CBC with key size 128");
	expect_line(2, "  using integrity algorithm HMAC_SHA2_256_128 with key size "
				"256");
	expect_line(2, "  using replay window of 32 packets");
	expect_line(2, "  using extended sequence numbers (ESN)");
	expect_line(2, "  HW offload: no");
	expect_end();
	sa.data.enc_alg = ENCR_AES_GCM_ICV16;
	sa.data.enc_key.len = 20;
	sa.data.int_alg = AUTH_UNDEFINED;
	sa.data.int_key.len = 0;
	sa.data.esn = FALSE;
	sa.data.update = TRUE;
	assert_int_equal(add_sa(), FAILED);
	expect_line(2, "adding SAD entry with SPI c0000123 and reqid {7}");
	expect_line(2, "  using encryption algorithm AES_GCM_16 with key size 160");
	expect_line(2, "  using replay window of 32 packets");
	expect_line(2, "  HW offload: no");
	expect_line(1, "allocated SPI not found anymore, try to add SAD entry");
	expect_line(1, "unable to add SAD entry with SPI c0000123: File exists");
	expect_end();
	sa.data.mode = MODE_BEET;
	assert_int_equal(add_sa(), NOT_SUPPORTED);
	expect_line(2, "adding SAD entry with SPI c0000123 and reqid {7}");
	expect_line(1, "unable to add SAD entry with SPI c0000123: kernel-cygnet does "
				"not support BEET mode");
	expect_end();
}

static void test_reserved(void **state)
{
	line_t *line;
	uint32_t spi;

	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi), SUCCESS);
	sa.id.spi = spi;
	sa.data.update = TRUE;
	assert_int_equal(add_sa(), SUCCESS);
	while (lines->remove_first(lines, (void**)&line) == SUCCESS)
	{
		assert_null(strstr(line->text, "not found anymore"));
		free(line);
	}
}

static void test_query_update_delete(void **state)
{
	kernel_ipsec_update_sa_t update = {
		.new_src = host_create_from_string("192.0.2.7", 4500),
		.new_dst = host_create_from_string("192.0.2.8", 4500),
	};
	line_t *line;

	assert_int_equal(query_sa(NULL, NULL, NULL), NOT_FOUND);
	expect_line(3, "querying SAD entry with SPI c0000123");
	expect_line(2, "unable to query SAD entry with SPI c0000123");
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 NOT_SUPPORTED);
	expect_line(2, "updating SAD entry with SPI c0000123 from 192.0.2.1[4500].."
				"192.0.2.2[1024] to 192.0.2.7[4500]..192.0.2.8[4500]");
	expect_line(1, "unable to update SAD entry with SPI c0000123: No such file or "
				"directory");
	assert_int_equal(del_sa(), NOT_FOUND);
	expect_line(2, "deleting SAD entry with SPI c0000123");
	expect_end();
	assert_int_equal(add_sa(), SUCCESS);
	while (lines->remove_first(lines, (void**)&line) == SUCCESS)
	{
		free(line);
	}
	assert_int_equal(query_sa(NULL, NULL, NULL), SUCCESS);
	expect_line(3, "querying SAD entry with SPI c0000123");
	assert_int_equal(del_sa(), SUCCESS);
	expect_line(2, "deleting SAD entry with SPI c0000123");
	expect_line(2, "deleted SAD entry with SPI c0000123");
	expect_end();
	update.new_src->destroy(update.new_src);
	update.new_dst->destroy(update.new_dst);
}

static status_t add_policy(void)
{
	return charon->kernel->add_policy(charon->kernel, &policy.id, &policy.data);
}

static status_t del_policy(void)
{
	return charon->kernel->del_policy(charon->kernel, &policy.id, &policy.data);
}

#define POLICY "policy 10.1.0.0/16 === 10.2.0.0/16 in"

static void test_policy(void **state)
{
	kernel_ipsec_query_policy_t query = {};
	time_t use;

	policy.id.dir = POLICY_IN;
	assert_int_equal(charon->kernel->query_policy(charon->kernel, &policy.id,
												  &query, &use), NOT_FOUND);
	expect_line(3, "querying " POLICY);
	expect_line(2, "unable to query " POLICY);
	assert_int_equal(add_policy(), SUCCESS);
	expect_line(2, "adding " POLICY " [priority 383615, refcount 1]");
	assert_int_equal(charon->kernel->query_policy(charon->kernel, &policy.id,
												  &query, &use), SUCCESS);
	expect_line(3, "querying " POLICY);
	expect_end();
	/* a trap, and the policy of a new SA */
	policy.sa.esp.spi = 0;
	policy.data.prio = POLICY_PRIORITY_ROUTED;
	assert_int_equal(add_policy(), SUCCESS);
	expect_line(2, POLICY " already exists, increasing refcount");
	expect_line(2, "not updating " POLICY " [priority 383615, refcount 2]");
	policy.sa.esp.spi = htonl(0xc0000124);
	policy.data.prio = POLICY_PRIORITY_DEFAULT;
	assert_int_equal(add_policy(), SUCCESS);
	expect_line(2, POLICY " already exists, increasing refcount");
	expect_line(2, "updating " POLICY " [priority 383615, refcount 3]");
	expect_end();
	/* the old SA's, the new SA's and the trap's policy go */
	policy.sa.esp.spi = htonl(0xc0000123);
	assert_int_equal(del_policy(), SUCCESS);
	expect_line(2, "deleting " POLICY);
	expect_line(2, "policy still used by another CHILD_SA, not removed");
	expect_line(2, "not updating " POLICY " [priority 383615, refcount 2]");
	policy.sa.esp.spi = htonl(0xc0000124);
	assert_int_equal(del_policy(), SUCCESS);
	expect_line(2, "deleting " POLICY);
	expect_line(2, "policy still used by another CHILD_SA, not removed");
	expect_line(2, "updating " POLICY " [priority 383616, refcount 1]");
	policy.sa.esp.spi = 0;
	policy.data.prio = POLICY_PRIORITY_ROUTED;
	assert_int_equal(del_policy(), SUCCESS);
	expect_line(2, "deleting " POLICY);
	assert_int_equal(del_policy(), NOT_FOUND);
	expect_line(2, "deleting " POLICY);
	expect_line(1, "deleting " POLICY " failed, not found");
	expect_end();
}

static void test_flush(void **state)
{
	assert_int_equal(charon->kernel->flush_sas(charon->kernel), SUCCESS);
	expect_line(2, "flushing all ESP SAD entries");
	expect_line(2, "flushing all AH SAD entries");
	assert_int_equal(charon->kernel->flush_policies(charon->kernel), SUCCESS);
	expect_line(2, "flushing all policies from SPD");
	expect_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOG_TEST(test_spi),
		LOG_TEST(test_add),
		LOG_TEST(test_reserved),
		LOG_TEST(test_query_update_delete),
		LOG_TEST(test_policy),
		LOG_TEST(test_flush),
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}

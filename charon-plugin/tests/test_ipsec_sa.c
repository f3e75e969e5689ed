/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * SAs and SPIs.
 */

#include "charon.h"

#include <unistd.h>

#include <daemon.h>

/* docs/plugin.md has them, too */
static void test_features(void **state)
{
	int features = KERNEL_POLICY_SPI | KERNEL_ESP_V3_TFC;

#if STRONGSWAN_RELEASE >= 50910
	features |= KERNEL_SA_USE_TIME;
#endif
#if STRONGSWAN_RELEASE >= 60002
	features |= KERNEL_ACQUIRE_SEQ;
#endif
	assert_int_equal(charon->kernel->get_features(charon->kernel), features);
}

static void test_spi(void **state)
{
	uint32_t spi[2];
	int i;

	for (i = 0; i < 2; i++)
	{
		assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi[i]), SUCCESS);
		assert_in_range(ntohl(spi[i]), CYGNET_SPI_MIN, CYGNET_SPI_MAX);
	}
	assert_int_not_equal(spi[0], spi[1]);
	/* the first SPI gets an SA, the second one is only reserved */
	sa.id.spi = spi[0];
	sa.data.update = TRUE;
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
	sa.id.spi = spi[1];
	assert_int_equal(query_sa(NULL, NULL, NULL), NOT_FOUND);
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(del_sa(), NOT_FOUND);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, 0);
}

/**
 * charon reserves an SPI for AH, and the peer selects ESP
 */
static void test_spi_of_other_protocol(void **state)
{
	uint32_t spi;

	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_AH, &spi), SUCCESS);
	sa.id.spi = spi;
	sa.data.inbound = TRUE;
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, 1);
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, 0);
}

/**
 * Wait until the plugin reads the settings again, which it does once a second
 */
static void await_settings(void)
{
	time_t start = time_monotonic(NULL);

	while (time_monotonic(NULL) == start)
	{
		usleep(10000);
	}
}

static void test_spi_range(void **state)
{
	uint32_t spi;

	lib->settings->set_int(lib->settings, "%s.spi_min", 0x1001, lib->ns);
	lib->settings->set_int(lib->settings, "%s.spi_max", 0x1000, lib->ns);
	await_settings();
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi), SUCCESS);
	assert_in_range(ntohl(spi), 0x1000, 0x1001);
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi), SUCCESS);
	/* both SPIs of the range are in use */
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi), FAILED);
	assert_int_equal(log_lines, 1);
	lib->settings->set_int(lib->settings, "%s.spi_min", 0xff, lib->ns);
	await_settings();
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi), FAILED);
	assert_non_null(strstr(log_text, "spi_min is 0x000000ff"));
	lib->settings->set_int(lib->settings, "%s.spi_min", CYGNET_SPI_MIN,
						   lib->ns);
	lib->settings->set_int(lib->settings, "%s.spi_max", CYGNET_SPI_MAX,
						   lib->ns);
	await_settings();
}

/* the warning is logged once, not at each rekeying */
static void test_des(void **state)
{
	assert_int_equal(add_sa(), SUCCESS);
	sa.data.enc_alg = ENCR_DES;
	sa.data.enc_key.len = 8;
	/* the SPI is in use, so no SA with DES is installed */
	assert_int_equal(add_sa(), FAILED);
	assert_int_equal(log_lines, 1);
	assert_null(strstr(log_text, "DES"));
	assert_int_equal(del_sa(), NOT_FOUND);
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(log_lines, 2);
	assert_non_null(strstr(log_text, "DES, which is broken"));
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(log_lines, 2);
}

static void test_usage(void **state)
{
	struct cygnet_event event = sa_event(0);
	uint64_t bytes = 1, packets = 1;
	time_t use = 1;

	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(query_sa(&bytes, &packets, &use), SUCCESS);
	assert_int_equal(bytes, 0);
	assert_int_equal(packets, 0);
	assert_int_equal(use, 0);
	assert_int_equal(dataplane_ask(DATAPLANE_COUNT, &event).result, 0);
	assert_int_equal(query_sa(&bytes, &packets, &use), SUCCESS);
	assert_int_equal(bytes, 1400);
	assert_int_equal(packets, 3);
	assert_int_equal(use, 77);
}

static void test_update(void **state)
{
	struct cygnet_event event = sa_event(0);
	kernel_ipsec_update_sa_t update = {
		.new_encap = TRUE,
	};
	uint64_t bytes = 0;

	update.new_src = host_create_from_string("192.0.2.7", 4500);
	update.new_dst = host_create_from_string("192.0.2.8", 4500);
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 NOT_SUPPORTED);
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(dataplane_ask(DATAPLANE_COUNT, &event).result, 0);
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 SUCCESS);
	assert_int_equal(query_sa(&bytes, NULL, NULL), NOT_FOUND);
	sa.id.dst->destroy(sa.id.dst);
	sa.id.dst = update.new_dst->clone(update.new_dst);
	assert_int_equal(query_sa(&bytes, NULL, NULL), SUCCESS);
	assert_int_equal(bytes, 1400);
	/* repeated updates to the same path */
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 SUCCESS);
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 SUCCESS);
	/* endpoints of two families are refused, and the SA is unchanged */
	update.new_src->destroy(update.new_src);
	update.new_src = host_create_from_string("2001:db8::7", 4500);
	log_lines = 0;
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 NOT_SUPPORTED);
	assert_int_equal(log_lines, 1);
	assert_int_equal(query_sa(&bytes, NULL, NULL), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
	update.new_src->destroy(update.new_src);
	update.new_dst->destroy(update.new_dst);
}

static void test_ah(void **state)
{
	kernel_ipsec_update_sa_t update = {};
	uint64_t bytes;
	uint32_t spi;

	sa.id.proto = IPPROTO_AH;
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_AH, &spi), SUCCESS);
	sa.id.spi = spi;
	sa.data.inbound = TRUE;
	sa.data.enc_alg = ENCR_UNDEFINED;
	sa.data.enc_key = chunk_empty;
	assert_int_equal(add_sa(), SUCCESS);
	/* AH cannot be encapsulated in UDP if charon detects a NAT later */
	update.new_src = host_create_from_string("192.0.2.7", 4500);
	update.new_dst = host_create_from_string("192.0.2.8", 4500);
	update.new_encap = TRUE;
	log_lines = 0;
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 NOT_SUPPORTED);
	assert_int_equal(log_lines, 1);
	assert_non_null(strstr(log_text, "AH in UDP"));
	assert_int_equal(query_sa(&bytes, NULL, NULL), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
	update.new_src->destroy(update.new_src);
	update.new_dst->destroy(update.new_dst);
}

static void test_refused(void **state)
{
	uint32_t spi;
	uint16_t cpi;

	sa.data.mode = MODE_BEET;
	assert_int_equal(add_sa(), NOT_SUPPORTED);
	assert_int_equal(log_lines, 1);
	assert_non_null(strstr(log_text, "BEET mode"));
	assert_non_null(strstr(log_text, "c0000123"));

	policy.sa.mode = MODE_BEET;
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), NOT_SUPPORTED);
	assert_int_equal(log_lines, 2);
	assert_non_null(strstr(log_text, "BEET mode"));
	assert_non_null(strstr(log_text, "c0000123"));
	/* charon also deletes the refused policy */
	assert_int_equal(charon->kernel->del_policy(charon->kernel, &policy.id,
												&policy.data), NOT_FOUND);
	assert_int_equal(log_lines, 3);

	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
								sa.id.dst, IPPROTO_COMP, &spi), NOT_SUPPORTED);
	assert_int_equal(log_lines, 4);
	assert_int_equal(charon->kernel->get_cpi(charon->kernel, sa.id.src,
								sa.id.dst, &cpi), NOT_SUPPORTED);
	assert_int_equal(log_lines, 5);
}

#if STRONGSWAN_RELEASE >= 60002
/** Add an outbound SA and its policy, as charon does for per_cpu_sas */
static void add_per_cpu(uint32_t spi, uint32_t cpu)
{
	sa.id.spi = policy.sa.esp.spi = htonl(spi);
	sa.data.cpu = cpu;
	sa.data.inbound = FALSE;
	policy.data.pcpu_acquires = TRUE;
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
}

/** Check with which SA a worker sends from MOON_NET to SUN_NET */
static void expect_sa(uint32_t worker, uint32_t spi, int wants)
{
	dataplane_response_t response;
	struct cygnet_event event;

	memset(&event, 0, sizeof(event));
	event.flow.af = AF_INET;
	event.flow.proto = IPPROTO_UDP;
	event.flow.has_ports = 1;
	event.flow.src.v4 = inet_addr("10.1.0.1");
	event.flow.dst.v4 = inet_addr("10.2.0.1");
	event.cpu = worker + 1;
	response = dataplane_ask(DATAPLANE_SEND, &event);
	assert_int_equal(response.result, 0);
	assert_int_equal(response.spi, htonl(spi));
	assert_int_equal(response.wants, wants);
}

/**
 * Each worker sends with the SA for its CPU, without one by that for all
 */
static void test_one_cpu(void **state)
{
	add_per_cpu(0xc0000200, CPU_ID_MAX);
	expect_sa(1, 0xc0000200, 1);
	add_per_cpu(0xc0000201, 1);
	expect_sa(1, 0xc0000201, CYGNET_WANTS_NOTHING);
	expect_sa(2, 0xc0000200, 2);
	assert_int_equal(charon->kernel->del_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
	expect_sa(1, 0xc0000200, 1);
	assert_int_equal(log_lines, 0);
}
#endif

#if STRONGSWAN_RELEASE >= 60005
/**
 * Check that SA and policy are refused, and that the log names the option
 */
static void refuse_both(const char *what)
{
	char line[128];

	assert_int_equal(add_sa(), NOT_SUPPORTED);
	assert_int_equal(log_lines, 1);
	snprintf(line, sizeof(line), "c0000123: kernel-cygnet does not support %s",
			 what);
	assert_non_null(strstr(log_text, line));

	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), NOT_SUPPORTED);
	assert_int_equal(log_lines, 2);
	snprintf(line, sizeof(line), "does not support %s, for SA with SPI", what);
	assert_non_null(strstr(log_text, line));
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, 0);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).policies, 0);
}

static void test_forward_icmp(void **state)
{
	sa.data.forward_icmp = TRUE;
	policy.data.forward_icmp = TRUE;
	refuse_both("ICMP errors from outside the policies (icmp)");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_features),
		TEST(test_spi),
		TEST(test_spi_of_other_protocol),
		TEST(test_spi_range),
		TEST(test_des),
		TEST(test_usage),
		TEST(test_update),
		TEST(test_ah),
		TEST(test_refused),
#if STRONGSWAN_RELEASE >= 60002
		TEST(test_one_cpu),
#endif
#if STRONGSWAN_RELEASE >= 60005
		TEST(test_forward_icmp),
#endif
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Policies, and the IKE sockets that bypass them.
 */

#include "charon.h"

#include <sys/socket.h>
#include <unistd.h>

#include <daemon.h>

static void test_policies(void **state)
{
	kernel_ipsec_query_policy_t policy_query = {};
	time_t use = 1;

	assert_int_equal(charon->kernel->query_policy(charon->kernel, &policy.id,
											&policy_query, &use), NOT_FOUND);
	/* as during rekeying: two installs of one policy, one with another SA */
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).policies, 1);
	policy.sa.esp.spi = htonl(0xc0000124);
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).policies, 2);
	assert_int_equal(charon->kernel->query_policy(charon->kernel, &policy.id,
											&policy_query, &use), SUCCESS);
	assert_int_equal(use, 0);
	assert_int_equal(charon->kernel->del_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
	assert_int_equal(charon->kernel->del_policy(charon->kernel, &policy.id,
												&policy.data), NOT_FOUND);
	/* flush_policies() removes the policy that is installed twice */
}

/* children with the same selectors */
static void test_many_users(void **state)
{
	uint32_t i;

	for (i = 0; i < 50; i++)
	{
		policy.sa.esp.spi = htonl(0xc0000200 + i);
		assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
													&policy.data), SUCCESS);
	}
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).policies, 50);
	for (i = 0; i < 50; i++)
	{
		policy.sa.esp.spi = htonl(0xc0000200 + i);
		assert_int_equal(charon->kernel->del_policy(charon->kernel, &policy.id,
													&policy.data), SUCCESS);
	}
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).policies, 0);
}

/* open a UDP socket on a loopback address that other processes do not use */
static int open_udp(uint16_t port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0x7f000000 | (getpid() & 0x3fffff) << 2 | 1),
		.sin_port = htons(port),
	};
	int fd;

	fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr*)&addr, sizeof(addr)), 0);
	return fd;
}

static void assert_port(int family, uint16_t port, enum cygnet_ike expected)
{
	struct cygnet_event event = {
		.flow.af = family,
		.flow.dport = port,
	};

	assert_int_equal(dataplane_ask(DATAPLANE_PORT, &event).result, expected);
}

static bool bypass(uint16_t port, int family)
{
	bool bypassed;
	int fd;

	fd = open_udp(port);
	bypassed = charon->kernel->bypass_socket(charon->kernel, fd, family);
	close(fd);
	return bypassed;
}

/* first the sockets of socket-default, then many as with socket-dynamic */
static void test_sockets(void **state)
{
	int i;

	assert_port(AF_INET, 4500, CYGNET_IKE_ENCAP);
	assert_true(bypass(1500, AF_INET));
	assert_true(bypass(5500, AF_INET));
	assert_true(charon->kernel->enable_udp_decap(charon->kernel, -1, AF_INET,
												 5500));
	assert_int_equal(log_lines, 0);
	assert_port(AF_INET, 1500, CYGNET_IKE_PLAIN);
	assert_port(AF_INET, 5500, CYGNET_IKE_ENCAP);
	assert_port(AF_INET6, 1500, CYGNET_IKE_NONE);
	assert_port(AF_INET, 4500, CYGNET_IKE_NONE);

	/* on port 500 IKE has no non-ESP marker */
	assert_false(charon->kernel->enable_udp_decap(charon->kernel, -1, AF_INET,
												  500));
	assert_int_equal(log_lines, 1);
	assert_non_null(strstr(log_text, "port 500"));
	assert_false(charon->kernel->bypass_socket(charon->kernel, -1, AF_INET));
	assert_int_equal(log_lines, 2);

	for (i = 2; i < CYGNET_IKE_PORTS; i++)
	{
		assert_true(bypass(6000 + i, AF_INET));
	}
	assert_int_equal(log_lines, 2);
	assert_false(bypass(7000, AF_INET));
	assert_int_equal(log_lines, 3);
	assert_non_null(strstr(log_text, "7000"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_policies),
		TEST(test_many_users),
		TEST(test_sockets),
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}

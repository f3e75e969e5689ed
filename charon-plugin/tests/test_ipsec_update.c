/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Updates of an outbound SA and its policy as by child_sa_t.update(): to
 * another address, another family, and another reqid.
 */

#include "charon.h"
#include "../kernel_cygnet_sa.h"

#include <errno.h>
#include <time.h>

#include <daemon.h>

/** Update the addresses of the SA, and of its id */
static void move_sa(char *src, char *dst, bool encap, uint32_t reqid)
{
	kernel_ipsec_update_sa_t update = {
		.new_encap = encap,
		.new_reqid = reqid,
	};

	update.new_src = host_create_from_string(src, 4500);
	update.new_dst = host_create_from_string(dst, 4501);
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 SUCCESS);
	sa.id.src->destroy(sa.id.src);
	sa.id.dst->destroy(sa.id.dst);
	sa.id.src = update.new_src;
	sa.id.dst = update.new_dst;
}

/** Add the policy, with the current addresses of the SA */
static void add_policy(void)
{
	policy.data.src->destroy(policy.data.src);
	policy.data.dst->destroy(policy.data.dst);
	policy.data.src = sa.id.src->clone(sa.id.src);
	policy.data.dst = sa.id.dst->clone(sa.id.dst);
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
}

static void del_policy(void)
{
	assert_int_equal(charon->kernel->del_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
}

/** Send a packet from MOON_NET to SUN_NET */
static dataplane_response_t send_packet(void)
{
	struct cygnet_event event;

	memset(&event, 0, sizeof(event));
	event.flow.af = AF_INET;
	event.flow.proto = IPPROTO_UDP;
	event.flow.has_ports = 1;
	event.flow.src.v4 = inet_addr("10.1.0.1");
	event.flow.dst.v4 = inet_addr("10.2.0.1");
	return dataplane_ask(DATAPLANE_SEND, &event);
}

/** Check that SA and policy have counted that number of packets */
static void expect_usage(int packets)
{
	kernel_ipsec_query_policy_t policy_query = {};
	uint64_t bytes = 0, count = 0;
	time_t use = 0;

	assert_int_equal(query_sa(&bytes, &count, &use), SUCCESS);
	assert_int_equal(bytes, 100 * packets);
	assert_int_equal(count, packets);
	assert_int_equal(use, 88);
	assert_int_equal(charon->kernel->query_policy(charon->kernel, &policy.id,
										&policy_query, &use), SUCCESS);
	assert_int_equal(use, 88);
}

/** Send a packet, and check that the SA encapsulates it with its current path
 * and the next sequence number */
static void expect_packet(int seq, bool encap)
{
	dataplane_response_t response = send_packet();
	struct cygnet_path path;

	assert_int_equal(response.result, 0);
	assert_int_equal(response.spi, sa.id.spi);
	assert_int_equal(response.seq, seq);
	assert_int_equal(response.policy_reqid, policy.sa.reqid);
	assert_int_equal(response.sa_reqid, policy.sa.reqid);
	kernel_cygnet_sa_path(sa.id.src, sa.id.dst, encap, &path);
	assert_memory_equal(&response.path, &path, sizeof(path));
	expect_usage(seq);
}

static void test_moves(void **state)
{
	static const struct {
		char *src, *dst;
		bool encap;
		uint32_t reqid;
	} moves[] = {
		{"192.0.2.7",	"192.0.2.8",	FALSE,	0	},
		{"2001:db8::7",	"2001:db8::8",	FALSE,	0	},
		{"2001:db8::7",	"2001:db8::8",	TRUE,	9	},
		{"192.0.2.7",	"192.0.2.8",	TRUE,	0	},
		{MOON,			SUN,			FALSE,	10	},
		{MOON,			SUN,			FALSE,	0	},
	};
	int i, seq = 1;

	sa.data.inbound = FALSE;
	assert_int_equal(add_sa(), SUCCESS);
	add_policy();
	expect_packet(seq++, FALSE);
	for (i = 0; i < countof(moves); i++)
	{
		del_policy();
		assert_int_equal(send_packet().result, -ENOENT);
		move_sa(moves[i].src, moves[i].dst, moves[i].encap, moves[i].reqid);
		policy.sa.reqid = moves[i].reqid ?: policy.sa.reqid;
		add_policy();
		expect_packet(seq++, moves[i].encap);
	}
	assert_int_equal(policy.sa.reqid, 10);
	assert_int_equal(log_lines, 0);
}

/** Update the SA without updating its policy, as with KERNEL_NO_POLICY_UPDATES:
 * the policy keeps its SA, and is deleted with its old parameters */
static void test_move_without_policy(void **state)
{
	dataplane_response_t response;

	sa.data.inbound = FALSE;
	assert_int_equal(add_sa(), SUCCESS);
	add_policy();
	expect_packet(1, FALSE);
	move_sa("2001:db8::7", "2001:db8::8", FALSE, 9);
	response = send_packet();
	assert_int_equal(response.result, 0);
	assert_int_equal(response.seq, 2);
	assert_int_equal(response.path.af, AF_INET6);
	assert_int_equal(response.sa_reqid, 9);
	assert_int_equal(response.policy_reqid, 7);
	del_policy();
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(send_packet().result, -ENOENT);
}

/** Try to move the SA, which must fail, and return the time it took, us */
static int64_t fail_to_move(char *src)
{
	kernel_ipsec_update_sa_t update = {};
	struct timespec before, after;

	update.new_src = host_create_from_string(src, 4500);
	update.new_dst = host_create_from_string(SUN, 4500);
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 NOT_SUPPORTED);
	clock_gettime(CLOCK_MONOTONIC, &after);
	update.new_src->destroy(update.new_src);
	update.new_dst->destroy(update.new_dst);
	return (after.tv_sec - before.tv_sec) * 1000000ll +
		   (after.tv_nsec - before.tv_nsec) / 1000;
}

/** The plugin waits once for a hung dataplane, not for each SA */
static void test_late_dataplane(void **state)
{
	int64_t first, least = INT64_MAX;
	int i;

	sa.data.inbound = FALSE;
	assert_int_equal(add_sa(), SUCCESS);
	dataplane_ask(DATAPLANE_STALL, NULL);
	move_sa("192.0.2.7", SUN, FALSE, 0);
	first = fail_to_move("192.0.2.9");
	for (i = 0; i < 3; i++)
	{
		least = min(least, fail_to_move("192.0.2.9"));
	}
	assert_true(least < first / 2);
	dataplane_ask(DATAPLANE_INFO, NULL);
	move_sa("192.0.2.9", SUN, FALSE, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_moves),
		TEST(test_move_without_policy),
		TEST(test_late_dataplane),
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Events of the dataplane.
 */

#include "charon.h"

#include <daemon.h>

/** Wait until all posted events have been processed: post an acquire behind
 * them, which always reaches the listeners */
static void await_processed(void)
{
	struct cygnet_event event;
	int acquires = raised.acquires;

	memset(&event, 0, sizeof(event));
	event.type = CYGNET_EVENT_ACQUIRE;
	event.reqid = 8;
	event.flow.af = AF_INET;
	dataplane_post(&event);
	assert_true(raised_wait(&raised.acquires, acquires + 1, LONG_WAIT));
	assert_int_equal(raised.reqid, event.reqid);
}

static void test_expire_event(void **state)
{
	struct cygnet_event event = sa_event(CYGNET_EVENT_EXPIRE);

	dataplane_post(&event);
	await_processed();
	assert_int_equal(raised.expires, 0);
	assert_int_equal(add_sa(), SUCCESS);
	dataplane_post(&event);
	assert_true(raised_wait(&raised.expires, 1, LONG_WAIT));
	assert_int_equal(raised.spi, sa.id.spi);
	assert_false(raised.hard);
	assert_string_equal(raised.text, SUN);
	event.hard = 1;
	dataplane_post(&event);
	assert_true(raised_wait(&raised.expires, 2, LONG_WAIT));
	assert_true(raised.hard);
}

static void test_mapping_event(void **state)
{
	struct cygnet_event event = sa_event(CYGNET_EVENT_MAPPING);

	event.new_addr.v4 = inet_addr("198.51.100.9");
	event.new_port = htons(40001);
	dataplane_post(&event);
	await_processed();
	assert_int_equal(raised.mappings, 0);
	assert_int_equal(add_sa(), SUCCESS);
	dataplane_post(&event);
	assert_true(raised_wait(&raised.mappings, 1, LONG_WAIT));
	assert_int_equal(raised.spi, sa.id.spi);
	assert_string_equal(raised.text, SUN " from 198.51.100.9[40001]");
}

static void test_acquire_event(void **state)
{
	struct cygnet_event event;

	memset(&event, 0, sizeof(event));
	event.type = CYGNET_EVENT_ACQUIRE;
	event.reqid = 9;
	event.flow.af = AF_INET;
	event.flow.proto = IPPROTO_TCP;
	event.flow.src.v4 = inet_addr("10.1.0.1");
	event.flow.dst.v4 = inet_addr("10.2.0.1");
	event.flow.sport = 40000;
	event.flow.dport = 80;
	event.flow.has_ports = 1;
	dataplane_post(&event);
	assert_true(raised_wait(&raised.acquires, 1, LONG_WAIT));
	assert_int_equal(raised.reqid, 9);
#if STRONGSWAN_RELEASE >= 60002
	assert_true(raised.cpu == CPU_ID_MAX);
#endif
	assert_string_equal(raised.text,
						"10.1.0.1/32[tcp/40000] === 10.2.0.1/32[tcp/http]");

	event.flow.proto = IPPROTO_ICMP;
	event.flow.sport = 8;
	event.flow.dport = 0;
	dataplane_post(&event);
	assert_true(raised_wait(&raised.acquires, 2, LONG_WAIT));
	assert_string_equal(raised.text,
						"10.1.0.1/32[icmp/8] === 10.2.0.1/32[icmp/8]");

	event.flow.proto = IPPROTO_UDP;
	event.flow.has_ports = 0;
	dataplane_post(&event);
	assert_true(raised_wait(&raised.acquires, 3, LONG_WAIT));
	assert_string_equal(raised.text, "10.1.0.1/32[udp] === 10.2.0.1/32[udp]");

	event.flow.af = AF_INET6;
	memcpy(event.flow.src.bytes, "\x20\x01\x0d\xb8", 4);
	memcpy(event.flow.dst.bytes, "\x20\x01\x0d\xb8", 4);
	event.flow.src.bytes[15] = 1;
	event.flow.dst.bytes[15] = 2;
	event.flow.sport = 4000;
	event.flow.dport = 4009;
	event.flow.has_ports = 1;
	dataplane_post(&event);
	assert_true(raised_wait(&raised.acquires, 4, LONG_WAIT));
	assert_string_equal(raised.text, "2001:db8::1/128[udp/4000] === "
						"2001:db8::2/128[udp/4009]");
}

/* events of a faulty dataplane are ignored */
static void test_bad_events(void **state)
{
	struct cygnet_event event;

	memset(&event, 0xff, sizeof(event));
	dataplane_post(&event);
	event.type = CYGNET_EVENT_ACQUIRE;
	dataplane_post(&event);
	event.type = CYGNET_EVENT_EXPIRE;
	dataplane_post(&event);
	event.type = CYGNET_EVENT_MAPPING;
	dataplane_post(&event);
	memset(&event, 0, sizeof(event));
	dataplane_post(&event);
	event.type = CYGNET_EVENT_ACQUIRE;
	event.flow.af = AF_INET;
	dataplane_post(&event);
	await_processed();
	assert_int_equal(raised.acquires, 1);
	assert_int_equal(raised.expires, 0);
	assert_int_equal(raised.mappings, 0);
	/* valid events are still raised */
	test_expire_event(state);
	/* one of each await_processed(), and none of the invalid ones */
	assert_int_equal(raised.acquires, 2);
}

#if STRONGSWAN_RELEASE >= 60002
/** charon hears which CPU an SA is to be for */
static void test_acquire_cpu(void **state)
{
	static const uint32_t cpus[] = {0, 1, CYGNET_CPU_MAX, CPU_ID_MAX};
	struct cygnet_event event;
	int i;

	memset(&event, 0, sizeof(event));
	event.type = CYGNET_EVENT_ACQUIRE;
	event.reqid = 9;
	event.flow.af = AF_INET;
	for (i = 0; i < countof(cpus); i++)
	{
		event.cpu = cpus[i] + 1;
		dataplane_post(&event);
		assert_true(raised_wait(&raised.acquires, i + 1, LONG_WAIT));
		assert_true(raised.cpu == cpus[i]);
	}
}

/** Reqid for an SA with that remote net; reqid is the trap's, 0: none */
static uint32_t alloc_reqid(char *net, uint32_t reqid)
{
	linked_list_t *local, *remote;
	mark_t none = {};

	local = linked_list_create_with_items(
			traffic_selector_create_from_cidr(MOON_NET, 0, 0, 65535), NULL);
	remote = linked_list_create_with_items(
			traffic_selector_create_from_cidr(net, 0, 0, 65535), NULL);
	assert_int_equal(charon->kernel->alloc_reqid(charon->kernel, local, remote,
							none, none, 0, 0, NULL, &reqid), SUCCESS);
	local->destroy_offset(local, offsetof(traffic_selector_t, destroy));
	remote->destroy_offset(remote, offsetof(traffic_selector_t, destroy));
	return reqid;
}

/**
 * SAs of one trap that the peer narrows have a reqid each, so that charon does
 * not take one for a duplicate of the other
 */
static void test_narrowed(void **state)
{
	uint32_t trap, first, second;

	trap = alloc_reqid("10.2.0.0/16", 0);
	first = alloc_reqid("10.2.1.0/28", trap);
	second = alloc_reqid("10.2.2.0/28", trap);
	assert_int_not_equal(first, trap);
	assert_int_not_equal(second, trap);
	assert_int_not_equal(second, first);
	/* what is not narrowed, and what is rekeyed, keeps its reqid */
	assert_int_equal(alloc_reqid("10.2.0.0/16", trap), trap);
	assert_int_equal(alloc_reqid("10.2.1.0/28", first), first);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if STRONGSWAN_RELEASE >= 60002
		TEST(test_narrowed),
		TEST(test_acquire_cpu),
#endif
		TEST(test_expire_event),
		TEST(test_mapping_event),
		TEST(test_acquire_event),
		TEST(test_bad_events),
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}

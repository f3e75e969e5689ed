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
	assert_true(raised.any_cpu);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_expire_event),
		TEST(test_mapping_event),
		TEST(test_acquire_event),
		TEST(test_bad_events),
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}

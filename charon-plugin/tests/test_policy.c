/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fixture.h"
#include "../kernel_cygnet_policy.h"

static fixture_policy_t policy;
static struct cygnet_policy_params params;
static const char *why;

static int setup(void **state)
{
	fixture_policy_init(&policy);
	return 0;
}

static int teardown(void **state)
{
	fixture_policy_deinit(&policy);
	return 0;
}

static void accept_policy(void)
{
	assert_int_equal(kernel_cygnet_policy_params(&policy.id, &policy.data,
												 &params, &why), SUCCESS);
}

static void refuse_policy(const char *what)
{
	assert_int_equal(kernel_cygnet_policy_params(&policy.id, &policy.data,
												 &params, &why), NOT_SUPPORTED);
	assert_non_null(strstr(why, what));
}

static uint32_t priority(char *src, char *dst, uint8_t proto, uint16_t from,
						 uint16_t to, policy_priority_t prio)
{
	fixture_policy_select(&policy, src, dst, proto, from, to);
	policy.data.prio = prio;
	accept_policy();
	return params.priority;
}

static void test_selector(void **state)
{
	accept_policy();
	assert_int_equal(params.sel.af, AF_INET);
	assert_int_equal(params.sel.proto, 0);
	assert_int_equal(params.sel.src_lo.v4, inet_addr("10.1.0.0"));
	assert_int_equal(params.sel.src_hi.v4, inet_addr("10.1.255.255"));
	assert_int_equal(params.sel.dst_lo.v4, inet_addr("10.2.0.0"));
	assert_int_equal(params.sel.dst_hi.v4, inet_addr("10.2.255.255"));
	assert_int_equal(params.sel.src_lo.words[1], 0);
	assert_int_equal(params.sel.sport_lo, 0);
	assert_int_equal(params.sel.sport_hi, 65535);
	assert_int_equal(params.sel.dport_lo, 0);
	assert_int_equal(params.sel.dport_hi, 65535);
	assert_int_equal(params.sel.interface, 0);
}

static void test_interface(void **state)
{
	policy.id.interface = "wan0";
	accept_policy();
	assert_int_equal(params.sel.interface, cygnet_interface("wan0"));
	assert_int_not_equal(params.sel.interface, cygnet_interface("wan1"));
}

static void test_ranges(void **state)
{
	policy.id.dst_ts->destroy(policy.id.dst_ts);
	policy.id.dst_ts = traffic_selector_create_from_string(IPPROTO_TCP,
				TS_IPV4_ADDR_RANGE, "10.2.0.5", 8000, "10.2.0.77", 8010);
	accept_policy();
	/* the exact range, not a subnet that contains it */
	assert_int_equal(params.sel.dst_lo.v4, inet_addr("10.2.0.5"));
	assert_int_equal(params.sel.dst_hi.v4, inet_addr("10.2.0.77"));
	assert_int_equal(params.sel.proto, IPPROTO_TCP);
	assert_int_equal(params.sel.sport_lo, 0);
	assert_int_equal(params.sel.sport_hi, 65535);
	assert_int_equal(params.sel.dport_lo, 8000);
	assert_int_equal(params.sel.dport_hi, 8010);
}

static void check_icmp(uint16_t from, uint16_t to, uint16_t type_lo,
					   uint16_t type_hi, uint16_t code_lo, uint16_t code_hi)
{
	fixture_policy_select(&policy, MOON_NET, SUN_NET, IPPROTO_ICMP, from, to);
	accept_policy();
	assert_int_equal(params.sel.sport_lo, type_lo);
	assert_int_equal(params.sel.sport_hi, type_hi);
	assert_int_equal(params.sel.dport_lo, code_lo);
	assert_int_equal(params.sel.dport_hi, code_hi);
}

static void test_icmp(void **state)
{
	traffic_selector_t *ts;

	check_icmp(0, 65535, 0, 65535, 0, 65535);
	check_icmp(0x0800, 0x0800, 8, 8, 0, 65535);
	check_icmp(0x0304, 0x0304, 3, 3, 4, 4);
	check_icmp(0x0301, 0x0304, 3, 3, 1, 4);
	check_icmp(0x0301, 0x03ff, 3, 3, 1, 255);
	check_icmp(0x0300, 0x03ff, 3, 3, 0, 65535);
	check_icmp(0x0300, 0x05ff, 3, 5, 0, 65535);
	check_icmp(0, 0, 0, 0, 0, 65535);

	/* type and code may be in either traffic selector */
	check_icmp(0x0304, 0x0304, 3, 3, 4, 4);
	ts = policy.id.src_ts;
	policy.id.src_ts = policy.id.dst_ts;
	policy.id.dst_ts = ts;
	accept_policy();
	assert_int_equal(params.sel.sport_lo, 3);
	assert_int_equal(params.sel.dport_lo, 4);

	fixture_policy_select(&policy, MOON_NET, SUN_NET, IPPROTO_ICMP, 0x0302,
						  0x0504);
	refuse_policy("ICMP");
}

static void test_sa(void **state)
{
	accept_policy();
	assert_int_equal(params.dir, CYGNET_OUT);
	assert_int_equal(params.action, CYGNET_PROTECT);
	assert_int_equal(params.proto, IPPROTO_ESP);
	assert_int_equal(params.mode, CYGNET_TUNNEL);
	assert_int_equal(params.reqid, 7);
	assert_int_equal(params.spi, htonl(0xc0000123));
	assert_int_equal(params.af, AF_INET);
	assert_int_equal(params.src.v4, inet_addr(MOON));
	assert_int_equal(params.dst.v4, inet_addr(SUN));

	policy.id.dir = POLICY_IN;
	accept_policy();
	assert_int_equal(params.dir, CYGNET_IN);
	policy.id.dir = POLICY_FWD;
	accept_policy();
	assert_int_equal(params.dir, CYGNET_FWD);
}

static void test_forward_without_reqid(void **state)
{
	policy.id.dir = POLICY_FWD;
	policy.sa.reqid = 0;
	accept_policy();
	assert_int_equal(params.action, CYGNET_BYPASS);
	assert_int_equal(params.spi, 0);
}

static void test_shunts(void **state)
{
	memset(&policy.sa, 0, sizeof(policy.sa));
	policy.data.type = POLICY_PASS;
	accept_policy();
	assert_int_equal(params.action, CYGNET_BYPASS);
	policy.data.type = POLICY_DROP;
	accept_policy();
	assert_int_equal(params.action, CYGNET_DISCARD);
	assert_int_equal(params.reqid, 0);
	assert_int_equal(params.spi, 0);
}

/* the values that "ip xfrm policy" prints with kernel-netlink */
static void test_priority(void **state)
{
	assert_int_equal(priority("10.1.0.0/24", "10.2.0.0/24", 0, 0, 65535,
							  POLICY_PRIORITY_DEFAULT), 375423);
	assert_int_equal(priority("10.1.0.0/16", "10.2.0.0/16", 0, 0, 65535,
							  POLICY_PRIORITY_DEFAULT), 383615);
	assert_int_equal(priority("10.1.0.0/16", "10.2.0.0/16", 0, 0, 65535,
							  POLICY_PRIORITY_ROUTED), 383616);
	assert_int_equal(priority("10.1.0.0/16", "10.2.0.0/16", 0, 0, 65535,
							  POLICY_PRIORITY_PASS), 183615);
	assert_int_equal(priority("10.1.0.0/16", "10.2.0.0/16", 0, 0, 65535,
							  POLICY_PRIORITY_FALLBACK), 583615);
	assert_int_equal(priority("0.0.0.0/0", "0.0.0.0/0", 0, 0, 65535,
							  POLICY_PRIORITY_DEFAULT), 399999);
	assert_int_equal(priority("10.1.0.1/32", "10.2.0.1/32", 0, 0, 65535,
							  POLICY_PRIORITY_DEFAULT), 367231);
	/* protocol, port, port range 8000-8015: 12 bits */
	assert_int_equal(priority("10.1.0.0/24", "10.2.0.0/24", IPPROTO_TCP, 0,
							  65535, POLICY_PRIORITY_DEFAULT), 375423 - 256);
	assert_int_equal(priority("10.1.0.0/24", "10.2.0.0/24", IPPROTO_TCP, 80,
							  80, POLICY_PRIORITY_DEFAULT), 375423 - 256 - 64);
	assert_int_equal(priority("10.1.0.0/24", "10.2.0.0/24", IPPROTO_TCP, 8000,
							  8015, POLICY_PRIORITY_DEFAULT),
					 375423 - 256 - 48);
	/* ICMP type 8, type 3 code 4 */
	assert_int_equal(priority("10.1.0.0/24", "10.2.0.0/24", IPPROTO_ICMP,
							  0x800, 0x800, POLICY_PRIORITY_DEFAULT),
					 375423 - 256 - 64);
	assert_int_equal(priority("10.1.0.0/24", "10.2.0.0/24", IPPROTO_ICMP,
							  0x304, 0x304, POLICY_PRIORITY_DEFAULT),
					 375423 - 256 - 128);
	/* an interface */
	params.sel.interface = 3;
	assert_int_equal(kernel_cygnet_policy_priority(&params.sel,
												   POLICY_PRIORITY_DEFAULT),
					 375423 - 256 - 128 - 2);
}

static void test_manual_priority(void **state)
{
	uint32_t rank;

	accept_policy();
	rank = params.rank;
	assert_int_equal(rank, params.priority);
	policy.data.manual_prio = 42;
	accept_policy();
	assert_int_equal(params.priority, 42);
	assert_int_equal(params.rank, rank);
	/* a trap of the same priority has a higher rank */
	policy.data.prio = POLICY_PRIORITY_ROUTED;
	accept_policy();
	assert_int_equal(params.priority, 42);
	assert_true(params.rank > rank);
	/* none has that of what holds everything */
	policy.data.manual_prio = UINT32_MAX;
	accept_policy();
	assert_int_equal(params.priority, CYGNET_PRIORITY_LAST - 1);
}

static void test_refusals(void **state)
{
	policy.id.mark.value = 1;
	refuse_policy("mark");
	policy.id.mark.value = 0;
	policy.id.if_id = 1;
	policy.id.interface = "wan";
	refuse_policy("interface ID");
	policy.id.interface = NULL;
	policy.sa.mode = MODE_TRANSPORT;
	refuse_policy("if_id");
	policy.id.if_id = 0;
	policy.sa.mode = MODE_BEET;
	refuse_policy("BEET");
	policy.sa.mode = MODE_TUNNEL;
	policy.sa.ah.use = TRUE;
	refuse_policy("ESP inside AH");
	policy.sa.esp.use = FALSE;
	policy.sa.ah.spi = htonl(0xc0000abc);
	accept_policy();
	assert_int_equal(params.proto, IPPROTO_AH);
	assert_int_equal(params.spi, htonl(0xc0000abc));
	policy.sa.ah.use = FALSE;
	policy.sa.esp.use = TRUE;
	policy.sa.ipcomp.transform = IPCOMP_DEFLATE;
	refuse_policy("IPComp");
	policy.sa.ipcomp.transform = IPCOMP_NONE;
	policy.data.src->destroy(policy.data.src);
	policy.data.src = host_create_from_string("2001:db8::1", 0);
	refuse_policy("endpoints of two address families");
	policy.data.dst->destroy(policy.data.dst);
	policy.data.dst = host_create_from_string("2001:db8::2", 0);
	policy.sa.mode = MODE_TRANSPORT;
	accept_policy();
}

#if STRONGSWAN_RELEASE >= 60002
static void test_one_cpu(void **state)
{
	accept_policy();
	assert_false(params.per_cpu);
	policy.data.pcpu_acquires = TRUE;
	accept_policy();
	assert_true(params.per_cpu);
}
#endif

#if STRONGSWAN_RELEASE >= 60005
static void test_forward_icmp(void **state)
{
	policy.data.forward_icmp = TRUE;
	refuse_policy("ICMP errors");
	policy.data.forward_icmp = FALSE;
	accept_policy();
}
#endif

static void test_refused_selectors(void **state)
{
	fixture_policy_select(&policy, MOON_NET, SUN_NET, IPPROTO_TCP, 65535, 0);
	refuse_policy("opaque");
	fixture_policy_select(&policy, MOON_NET, "2001:db8::/32", 0, 0, 65535);
	refuse_policy("traffic selectors of two address families");
}

static void test_ipv6(void **state)
{
	struct cygnet_addr lo = {}, hi;

	fixture_policy_select(&policy, "2001:db8:1::/48", "2001:db8::/32", 0, 0,
						  65535);
	policy.data.src->destroy(policy.data.src);
	policy.data.src = host_create_from_string("2001:db8::1", 0);
	policy.data.dst->destroy(policy.data.dst);
	policy.data.dst = host_create_from_string("2001:db8::2", 0);
	assert_int_equal(kernel_cygnet_policy_params(&policy.id, &policy.data,
												 &params, &why), SUCCESS);
	assert_int_equal(params.sel.af, AF_INET6);
	assert_int_equal(params.af, AF_INET6);
	memcpy(&lo, "\x20\x01\x0d\xb8", 4);
	memset(&hi, 0xff, sizeof(hi));
	memcpy(&hi, "\x20\x01\x0d\xb8", 4);
	assert_memory_equal(&params.sel.dst_lo, &lo, sizeof(lo));
	assert_memory_equal(&params.sel.dst_hi, &hi, sizeof(hi));
	assert_memory_equal(&params.dst,
						policy.data.dst->get_address(policy.data.dst).ptr, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_selector, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interface, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ranges, setup, teardown),
		cmocka_unit_test_setup_teardown(test_icmp, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sa, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forward_without_reqid, setup,
										teardown),
		cmocka_unit_test_setup_teardown(test_shunts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_priority, setup, teardown),
		cmocka_unit_test_setup_teardown(test_manual_priority, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ipv6, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
#if STRONGSWAN_RELEASE >= 60002
		cmocka_unit_test_setup_teardown(test_one_cpu, setup, teardown),
#endif
#if STRONGSWAN_RELEASE >= 60005
		cmocka_unit_test_setup_teardown(test_forward_icmp, setup, teardown),
#endif
		cmocka_unit_test_setup_teardown(test_refused_selectors, setup,
										teardown),
	};
	int failed;

	library_init("", "test-policy");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	library_deinit();
	return failed;
}

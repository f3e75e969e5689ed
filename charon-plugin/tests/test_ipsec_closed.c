/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Without a dataplane: no SA, and the kernel drops what policies protect. The rules
 * are in a network namespace of the test's own.
 */

/* for unshare() */
#define _GNU_SOURCE

#include "charon.h"
#include "../kernel_cygnet_db.h"
#include "../kernel_cygnet_rules.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include <nftables/libnftables.h>

#include <daemon.h>

/** Whether nftables refuses all commands; atomic */
static bool refuses;

/** In place of libnftables' */
int nft_run_cmd_from_buffer(struct nft_ctx *nft, const char *commands)
{
	static int (*run)(struct nft_ctx *nft, const char *commands);

	if (!run)
	{
		*(void**)&run = dlsym(RTLD_NEXT, "nft_run_cmd_from_buffer");
	}
	return __atomic_load_n(&refuses, __ATOMIC_RELAXED) ? -1 : run(nft, commands);
}

/** The rules as the kernel lists them, "" if there are none; to be freed */
static char *listed(void)
{
	struct nft_ctx *nft = nft_ctx_new(NFT_CTX_DEFAULT);
	char *text;

	nft_ctx_output_set_flags(nft, NFT_CTX_OUTPUT_NUMERIC_ALL |
							 NFT_CTX_OUTPUT_STATELESS);
	nft_ctx_buffer_output(nft);
	nft_ctx_buffer_error(nft);
	nft_run_cmd_from_buffer(nft, "list table inet " KERNEL_CYGNET_TABLE);
	text = strdup(nft_ctx_get_output_buffer(nft));
	nft_ctx_free(nft);
	return text;
}

/** As an administrator does who loads rules of his own */
static void flush_ruleset(void)
{
	struct nft_ctx *nft = nft_ctx_new(NFT_CTX_DEFAULT);

	assert_int_equal(nft_run_cmd_from_buffer(nft, "flush ruleset"), 0);
	nft_ctx_free(nft);
}

/** Whether the kernel lists a text, or does so before long */
static bool lists(const char *wanted, bool there)
{
	int waited;
	bool found = !there;
	char *text;

	for (waited = 0; found != there && waited < LONG_WAIT; waited += BIT)
	{
		text = listed();
		found = strstr(text, wanted) != NULL;
		free(text);
		if (found != there)
		{
			usleep(BIT * 1000);
		}
	}
	return found == there;
}

/** Add or delete a policy of the kernel interface */
static void add_policy(policy_dir_t dir, policy_type_t type, char *src, char *dst,
					   uint8_t proto, uint16_t from, uint16_t to)
{
	policy.id.dir = dir;
	policy.data.type = type;
	fixture_policy_select(&policy, src, dst, proto, from, to);
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
}

/** The rules of the policies that there are */
static char *rules(void)
{
	static char *text;

	assert_true(kernel_cygnet_rules(kernel_cygnet_db_get(), &text));
	return text;
}

/** Whether one text comes behind the other */
static bool in_order(const char *text, const char *a, const char *b)
{
	const char *first = strstr(text, a);

	return first && strstr(first, b);
}

static void test_rules(void **state)
{
	char *text = rules();

	assert_null(text);
	add_policy(POLICY_OUT, POLICY_IPSEC, MOON_NET, SUN_NET, 0, 0, 65535);
	add_policy(POLICY_IN, POLICY_IPSEC, SUN_NET, MOON_NET, 0, 0, 65535);
	add_policy(POLICY_FWD, POLICY_DROP, "fec0::/16", "::/0", IPPROTO_ICMPV6,
			   0, 65535);
	add_policy(POLICY_OUT, POLICY_PASS, "10.1.0.0/24", "10.2.0.1/32",
			   IPPROTO_TCP, 22, 22);
	add_policy(POLICY_OUT, POLICY_IPSEC, "192.0.2.1/32", "192.0.2.2/32",
			   IPPROTO_UDP, 53, 53);
	text = rules();
	assert_non_null(text);
	assert_true(in_order(text, "chain out_policies {",
		"meta nfproto ipv4 ip saddr 10.1.0.0-10.1.255.255 "
		"ip daddr 10.2.0.0-10.2.255.255 counter drop\n"));
	assert_true(in_order(text, "chain in_policies {",
		"meta nfproto ipv4 ip saddr 10.2.0.0-10.2.255.255 "
		"ip daddr 10.1.0.0-10.1.255.255 counter drop\n"));
	assert_true(in_order(text, "chain fwd_policies {",
		"meta nfproto ipv6 ip6 saddr fec0::-fec0:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
		" meta l4proto 58 counter drop\n"));
	assert_true(in_order(text, "meta l4proto 6 th dport 22-22 counter return\n",
		"ip daddr 10.2.0.0-10.2.255.255 counter drop\n"));
	assert_true(in_order(text, "ip saddr 192.0.2.1-192.0.2.1 "
		"ip daddr 192.0.2.2-192.0.2.2 ip frag-off & 0x1fff != 0 counter drop\n",
		"meta l4proto 17 th dport 53-53 counter drop\n"));
	free(text);
}

/* what nftables cannot select is dropped as a whole, and does not pass as a whole */
static void test_more(void **state)
{
	struct cygnet_policy_params params = {
		.sel = {
			.sport_hi = 65535,
			.dport_lo = 7,
			.dport_hi = 8,
			.af = AF_INET,
		},
		.dir = CYGNET_OUT,
		.action = CYGNET_BYPASS,
		.priority = 1,
	};
	struct cygnet_db *db = kernel_cygnet_db_get();
	char *text;

	memset(params.sel.src_hi.bytes, 0xff, 4);
	memset(params.sel.dst_hi.bytes, 0xff, 4);
	assert_int_equal(cygnet_policy_add(db, &params), 0);
	assert_null(rules());
	params.action = CYGNET_DISCARD;
	params.priority = 2;
	assert_int_equal(cygnet_policy_add(db, &params), 0);
	text = rules();
	assert_non_null(strstr(text, "chain out_policies {\n"
		"meta nfproto ipv4 ip frag-off & 0x1fff != 0 counter drop\n"
		"meta nfproto ipv4 counter drop\n}\n"));
	free(text);
	assert_int_equal(cygnet_policy_delete(db, &params), 0);
	params.action = CYGNET_BYPASS;
	params.priority = 1;
	assert_int_equal(cygnet_policy_delete(db, &params), 0);
}

/* each kind of rule is one that the kernel takes, and follows the policies */
static void test_kernel(void **state)
{
	add_policy(POLICY_OUT, POLICY_IPSEC, MOON_NET, SUN_NET, 0, 0, 65535);
	assert_true(lists("ip daddr 10.2.0.0-10.2.255.255 counter drop", TRUE));
	assert_true(lists("meta skuid 0 udp sport 4500 return", TRUE));
	add_policy(POLICY_FWD, POLICY_IPSEC, "fec0::/16", "::/0", IPPROTO_ICMPV6,
			   0x0100, 0x01ff);
	add_policy(POLICY_IN, POLICY_DROP, "fec0::/16", "::/0", IPPROTO_TCP, 1, 9);
	add_policy(POLICY_OUT, POLICY_PASS, "10.1.0.0/16", "10.2.0.1/32",
			   IPPROTO_SCTP, 22, 23);
	add_policy(POLICY_IN, POLICY_PASS, "10.1.0.0/16", "10.2.0.1/32",
			   IPPROTO_ICMP, 0x0800, 0x0800);
	assert_true(lists("10.2.0.1 sctp dport 22-23 counter return", TRUE));
	assert_true(lists("frag frag-off != 0 counter drop", TRUE));
	charon->kernel->flush_policies(charon->kernel);
	assert_true(lists("table", FALSE));
}

static void test_refused(void **state)
{
	uint32_t spi;

	assert_int_equal(add_sa(), FAILED);
	assert_non_null(strstr(log_text, "unable to add SAD entry: no cygnetd serves"));
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src, sa.id.dst,
											 IPPROTO_ESP, &spi), FAILED);
	assert_non_null(strstr(log_text, "unable to get SPI: no cygnetd serves"));
}

/** Whether something is logged before long */
static bool says(const char *text)
{
	int waited;

	for (waited = 0; waited < LONG_WAIT && !strstr(log_text, text); waited += BIT)
	{
		usleep(BIT * 1000);
	}
	return strstr(log_text, text) != NULL;
}

/* each kind of failure is logged, also after one of the other kind */
static void test_refusing(void **state)
{
	add_policy(POLICY_OUT, POLICY_IPSEC, MOON_NET, SUN_NET, 0, 0, 65535);
	assert_true(lists("counter drop", TRUE));
	__atomic_store_n(&refuses, TRUE, __ATOMIC_RELAXED);
	charon->kernel->flush_policies(charon->kernel);
	assert_true(says("unable to remove table inet " KERNEL_CYGNET_TABLE));
	add_policy(POLICY_OUT, POLICY_IPSEC, MOON_NET, SUN_NET, 0, 0, 65535);
	assert_true(says("unable to have the kernel drop the packets of policies"));
	__atomic_store_n(&refuses, FALSE, __ATOMIC_RELAXED);
	charon->kernel->flush_policies(charon->kernel);
	assert_true(lists("table", FALSE));
}

/* with a dataplane, and for the moments in which one comes back, SAs are installed. The last one. */
static void test_served(void **state)
{
	add_policy(POLICY_OUT, POLICY_IPSEC, MOON_NET, SUN_NET, 0, 0, 65535);
	assert_true(lists("counter drop", TRUE));
	flush_ruleset();
	assert_true(lists("counter drop", TRUE));
	/* it has the role until the next request */
	dataplane_ask(DATAPLANE_STALL, NULL);
	assert_int_equal(add_sa(), SUCCESS);
	assert_true(lists("table", FALSE));
	dataplane_ask(DATAPLANE_INFO, NULL);
}

/** As charon_test_teardown(), but without a request to the dataplane */
static int teardown(void **state)
{
	struct cygnet_db_info left;

	charon->kernel->flush_sas(charon->kernel);
	charon->kernel->flush_policies(charon->kernel);
	cygnet_db_info(kernel_cygnet_db_get(), &left);
	fixture_sa_deinit(&sa);
	fixture_policy_deinit(&policy);
	return left.sas || left.policies;
}

#define CLOSED_TEST(name) \
	cmocka_unit_test_setup_teardown(name, charon_test_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLOSED_TEST(test_rules),
		CLOSED_TEST(test_more),
		CLOSED_TEST(test_kernel),
		CLOSED_TEST(test_refused),
		CLOSED_TEST(test_refusing),
		CLOSED_TEST(test_served),
	};

	if (unshare(CLONE_NEWNET))
	{
		fprintf(stderr, "needs root, for a network namespace: skipped\n");
		return 77;
	}
	charon_closed = TRUE;
	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}

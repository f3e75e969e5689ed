/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fixture.h"
#include "../kernel_cygnet_sa.h"

static fixture_sa_t sa;
static struct cygnet_sa_params params;
static const char *why;

static int setup(void **state)
{
	fixture_sa_init(&sa);
	return 0;
}

static int teardown(void **state)
{
	fixture_sa_deinit(&sa);
	return 0;
}

static void accept_sa(void)
{
	assert_int_equal(kernel_cygnet_sa_params(&sa.id, &sa.data, &params, &why),
					 SUCCESS);
	assert_null(why);
}

static void refuse_sa(const char *what)
{
	struct cygnet_sa_params zero;

	memset(&zero, 0, sizeof(zero));
	assert_int_equal(kernel_cygnet_sa_params(&sa.id, &sa.data, &params, &why),
					 NOT_SUPPORTED);
	assert_non_null(why);
	assert_non_null(strstr(why, what));
	/* the parameters of a refused SA have no key */
	assert_memory_equal(&params, &zero, sizeof(zero));
}

static void test_names_and_limits(void **state)
{
	accept_sa();
	assert_int_equal(params.id.spi, htonl(0xc0000123));
	assert_int_equal(params.id.proto, IPPROTO_ESP);
	assert_int_equal(params.id.af, AF_INET);
	assert_int_equal(params.id.dst.v4, inet_addr(SUN));
	assert_int_equal(params.path.src.v4, inet_addr(MOON));
	assert_int_equal(params.path.dst.v4, inet_addr(SUN));
	assert_int_equal(params.id.dst.words[1], 0);
	assert_int_equal(params.reqid, 7);
	assert_int_equal(params.mode, CYGNET_TUNNEL);
	assert_int_equal(params.tfc, 0);
	assert_int_equal(params.lifetime.soft_seconds, 3300);
	assert_int_equal(params.lifetime.hard_seconds, 3960);
	assert_int_equal(params.lifetime.soft_bytes, 1000);
	assert_int_equal(params.lifetime.hard_bytes, 2000);
	assert_int_equal(params.lifetime.soft_packets, 10);
	assert_int_equal(params.lifetime.hard_packets, 20);
}

static void test_encap(void **state)
{
	accept_sa();
	assert_int_equal(params.path.encap, 0);
	assert_int_equal(params.path.sport, 0);
	assert_int_equal(params.path.dport, 0);

	sa.data.encap = TRUE;
	accept_sa();
	assert_int_equal(params.path.encap, 1);
	assert_int_equal(params.path.sport, htons(4500));
	assert_int_equal(params.path.dport, htons(1024));
}

static void test_flags(void **state)
{
	accept_sa();
	assert_int_equal(params.flags, 0);
	sa.data.inbound = TRUE;
	accept_sa();
	assert_int_equal(params.flags, CYGNET_SA_INBOUND);
	sa.data.inbound = FALSE;
	sa.data.esn = TRUE;
	accept_sa();
	assert_int_equal(params.flags, CYGNET_SA_ESN);
	sa.data.copy_df = sa.data.copy_ecn = TRUE;
	accept_sa();
	assert_int_equal(params.flags, CYGNET_SA_ESN | CYGNET_SA_COPY_DF |
								   CYGNET_SA_COPY_ECN);
}

static void test_dscp(void **state)
{
	static const struct {
		dscp_copy_t copy;
		uint8_t dscp;
	} cases[] = {
		{DSCP_COPY_OUT_ONLY,	CYGNET_DSCP_COPY_OUT						},
		{DSCP_COPY_IN_ONLY,		CYGNET_DSCP_COPY_IN							},
		{DSCP_COPY_YES,			CYGNET_DSCP_COPY_OUT | CYGNET_DSCP_COPY_IN	},
		{DSCP_COPY_NO,			0											},
	};
	int i;

	for (i = 0; i < countof(cases); i++)
	{
		sa.data.copy_dscp = cases[i].copy;
		accept_sa();
		assert_int_equal(params.dscp, cases[i].dscp);
	}
}

static void test_replay_window(void **state)
{
	sa.data.inbound = TRUE;
	accept_sa();
	assert_int_equal(params.replay_window, 32);
	sa.data.replay_window = 4096;
	accept_sa();
	assert_int_equal(params.replay_window, 4096);
	sa.data.replay_window = 0;
	accept_sa();
	assert_int_equal(params.replay_window, 0);
	sa.data.replay_window = 4097;
	refuse_sa("4096");

	sa.data.inbound = FALSE;
	sa.data.replay_window = 4096;
	accept_sa();
	assert_int_equal(params.replay_window, 0);
}

static void test_cbc_hmac(void **state)
{
	static const struct {
		uint16_t ike;
		size_t key;
		uint8_t auth, icv;
	} integ[] = {
		{AUTH_HMAC_SHA1_96,			20,	CYGNET_AUTH_HMAC_SHA1,		12	},
		{AUTH_HMAC_SHA2_256_128,	32,	CYGNET_AUTH_HMAC_SHA256,	16	},
		{AUTH_HMAC_SHA2_384_192,	48,	CYGNET_AUTH_HMAC_SHA384,	24	},
		{AUTH_HMAC_SHA2_512_256,	64,	CYGNET_AUTH_HMAC_SHA512,	32	},
		{AUTH_HMAC_SHA2_256_96,		32,	CYGNET_AUTH_HMAC_SHA256,	12	},
		{AUTH_HMAC_SHA1_160,		20,	CYGNET_AUTH_HMAC_SHA1,		20	},
		{AUTH_HMAC_MD5_128,			16,	CYGNET_AUTH_HMAC_MD5,		16	},
	};
	size_t bytes;
	int i;

	for (i = 0; i < countof(integ); i++)
	{
		for (bytes = 16; bytes <= 32; bytes += 8)
		{
			sa.data.enc_key.len = bytes;
			sa.data.int_alg = integ[i].ike;
			sa.data.int_key.len = integ[i].key;
			accept_sa();
			assert_int_equal(params.cipher, CYGNET_CIPHER_AES_CBC);
			assert_int_equal(params.cipher_key_len, bytes);
			assert_int_equal(params.salt_len, 0);
			assert_int_equal(params.auth, integ[i].auth);
			assert_int_equal(params.auth_key_len, integ[i].key);
			assert_int_equal(params.icv_len, integ[i].icv);
			assert_memory_equal(params.cipher_key, sa.enc_key, bytes);
			assert_memory_equal(params.auth_key, sa.int_key, integ[i].key);
		}
	}
}

static void test_gcm(void **state)
{
	size_t bytes;

	sa.data.enc_alg = ENCR_AES_GCM_ICV16;
	sa.data.int_alg = AUTH_UNDEFINED;
	sa.data.int_key = chunk_empty;
	for (bytes = 16; bytes <= 32; bytes += 8)
	{
		sa.data.enc_key.len = bytes + 4;
		accept_sa();
		assert_int_equal(params.cipher, CYGNET_CIPHER_AES_GCM);
		assert_int_equal(params.auth, CYGNET_AUTH_NONE);
		assert_int_equal(params.cipher_key_len, bytes);
		assert_int_equal(params.salt_len, 4);
		assert_int_equal(params.icv_len, 16);
		assert_int_equal(params.auth_key_len, 0);
		assert_memory_equal(params.cipher_key, sa.enc_key, bytes + 4);
	}
	sa.data.enc_key.len = 16;
	refuse_sa("length");
	sa.data.enc_key.len = 2;
	refuse_sa("length");
	sa.data.enc_key.len = 20;
	sa.data.int_alg = AUTH_HMAC_SHA1_96;
	refuse_sa("on top of an AEAD");
}

static void test_more_ciphers(void **state)
{
	static const struct {
		uint16_t ike;
		size_t key;
		uint8_t cipher, salt, icv;
	} encr[] = {
		{ENCR_NULL,					0,	CYGNET_CIPHER_NULL,				0,	0	},
		{ENCR_AES_CTR,				28,	CYGNET_CIPHER_AES_CTR,			4,	0	},
		{ENCR_3DES,					24,	CYGNET_CIPHER_3DES_CBC,			0,	0	},
		{ENCR_DES,					8,	CYGNET_CIPHER_DES_CBC,			0,	0	},
		{ENCR_AES_GCM_ICV8,			20,	CYGNET_CIPHER_AES_GCM,			4,	8	},
		{ENCR_AES_GCM_ICV12,		36,	CYGNET_CIPHER_AES_GCM,			4,	12	},
		{ENCR_AES_CCM_ICV8,			19,	CYGNET_CIPHER_AES_CCM,			3,	8	},
		{ENCR_AES_CCM_ICV12,		27,	CYGNET_CIPHER_AES_CCM,			3,	12	},
		{ENCR_AES_CCM_ICV16,		35,	CYGNET_CIPHER_AES_CCM,			3,	16	},
		{ENCR_NULL_AUTH_AES_GMAC,	20,	CYGNET_CIPHER_AES_GMAC,			4,	16	},
		{ENCR_CHACHA20_POLY1305,	36,	CYGNET_CIPHER_CHACHA20_POLY1305,4,	16	},
	};
	static const struct {
		uint16_t ike;
		uint8_t auth;
	} integ[] = {
		{AUTH_HMAC_MD5_96,	CYGNET_AUTH_HMAC_MD5	},
		{AUTH_AES_XCBC_96,	CYGNET_AUTH_AES_XCBC	},
		{AUTH_AES_CMAC_96,	CYGNET_AUTH_AES_CMAC	},
	};
	int i, j;

	for (i = 0; i < countof(encr); i++)
	{
		for (j = 0; j < countof(integ); j++)
		{
			sa.data.enc_alg = encr[i].ike;
			sa.data.enc_key.len = encr[i].key;
			sa.data.int_alg = encr[i].icv ? AUTH_UNDEFINED : integ[j].ike;
			sa.data.int_key.len = 16;
			accept_sa();
			assert_int_equal(params.cipher, encr[i].cipher);
			assert_int_equal(params.cipher_key_len, encr[i].key - encr[i].salt);
			assert_int_equal(params.salt_len, encr[i].salt);
			assert_int_equal(params.icv_len, encr[i].icv ?: 12);
			assert_int_equal(params.auth, encr[i].icv ? CYGNET_AUTH_NONE :
														integ[j].auth);
			assert_memory_equal(params.cipher_key, sa.enc_key, encr[i].key);
		}
	}
}

static void test_other_algorithms(void **state)
{
	sa.data.enc_key.len = 17;
	refuse_sa("length");
	sa.data.enc_key.len = 16;
	sa.data.int_key.len = 20;
	refuse_sa("length");
	sa.data.int_alg = 4711;
	refuse_sa("unknown integrity");
	sa.data.int_alg = AUTH_UNDEFINED;
	refuse_sa("without integrity");
	sa.data.enc_alg = ENCR_NULL;
	refuse_sa("length");
	sa.data.enc_key.len = 0;
	refuse_sa("without integrity");
	sa.data.enc_alg = ENCR_CAMELLIA_CBC;
	refuse_sa("CAMELLIA_CBC");
	sa.data.enc_alg = 4711;
	refuse_sa("unknown encryption");
}

/** An algorithm that kernel-netlink of 5.9.8 can install: supported, or refused
 * with strongSwan's name for it in the log, as docs/algorithms.md lists them */
typedef struct {
	/** identifier in IKE */
	uint16_t ike;
	/** bytes of key, with salt; 0: not supported (except ENCR_NULL) */
	size_t key;
} algorithm_t;

static const algorithm_t encryption[] = {
	{ENCR_NULL,					0	},
	{ENCR_DES,					8	},
	{ENCR_3DES,					24	},
	{ENCR_AES_CBC,				16	},
	{ENCR_AES_CTR,				20	},
	{ENCR_AES_CCM_ICV8,			19	},
	{ENCR_AES_CCM_ICV12,		19	},
	{ENCR_AES_CCM_ICV16,		19	},
	{ENCR_AES_GCM_ICV8,			20	},
	{ENCR_AES_GCM_ICV12,		20	},
	{ENCR_AES_GCM_ICV16,		20	},
	{ENCR_NULL_AUTH_AES_GMAC,	20	},
	{ENCR_CHACHA20_POLY1305,	36	},
	{ENCR_CAST,					0	},
	{ENCR_BLOWFISH,				0	},
	{ENCR_CAMELLIA_CBC,			0	},
	{ENCR_SERPENT_CBC,			0	},
	{ENCR_TWOFISH_CBC,			0	},
};

static const algorithm_t integrity[] = {
	{AUTH_HMAC_MD5_96,			16	},
	{AUTH_HMAC_MD5_128,			16	},
	{AUTH_HMAC_SHA1_96,			20	},
	{AUTH_HMAC_SHA1_160,		20	},
	{AUTH_HMAC_SHA2_256_96,		32	},
	{AUTH_HMAC_SHA2_256_128,	32	},
	{AUTH_HMAC_SHA2_384_192,	48	},
	{AUTH_HMAC_SHA2_512_256,	64	},
	{AUTH_AES_XCBC_96,			16	},
	{AUTH_AES_CMAC_96,			16	},
	{AUTH_HMAC_SHA2_256_256,	0	},
	{AUTH_HMAC_SHA2_384_384,	0	},
	{AUTH_HMAC_SHA2_512_512,	0	},
};

/** Key length of a supported algorithm, bytes; 0 if it is not supported */
static size_t key_of(const algorithm_t *algs, int count, uint16_t ike)
{
	int i;

	for (i = 0; i < count; i++)
	{
		if (algs[i].ike == ike)
		{
			return algs[i].key;
		}
	}
	return 0;
}

static void test_all_encryption(void **state)
{
	char *name;
	size_t key;
	int ike, esn, supported = 0;

	for (ike = 0; ike <= UINT16_MAX; ike++)
	{
		key = key_of(encryption, countof(encryption), ike);
		name = enum_to_name(encryption_algorithm_names, ike);
		sa.data.enc_alg = ike;
		sa.data.enc_key.len = key ?: ike == ENCR_NULL ? 0 : 16;
		sa.data.int_alg = encryption_algorithm_is_aead(ike) ?
									AUTH_UNDEFINED : AUTH_HMAC_SHA2_256_128;
		for (esn = 0; esn < 2; esn++)
		{
			sa.data.esn = esn;
			if (key || ike == ENCR_NULL)
			{
				accept_sa();
				supported++;
			}
			else
			{
				refuse_sa(name ?: "unknown encryption");
			}
		}
	}
	assert_int_equal(supported, 2 * 13);
}

static void test_all_integrity(void **state)
{
	char *name;
	size_t key;
	int ike, ah, supported = 0;

	for (ah = 0; ah < 2; ah++)
	{
		sa.id.proto = ah ? IPPROTO_AH : IPPROTO_ESP;
		sa.data.enc_alg = ah ? ENCR_UNDEFINED : ENCR_AES_CBC;
		for (ike = 0; ike <= UINT16_MAX; ike++)
		{
			key = key_of(integrity, countof(integrity), ike);
			name = enum_to_name(integrity_algorithm_names, ike);
			sa.data.int_alg = ike;
			sa.data.int_key.len = key ?: 32;
			if (key)
			{
				accept_sa();
				supported++;
			}
			else if (ike == AUTH_UNDEFINED)
			{
				refuse_sa("without integrity");
			}
			else
			{
				refuse_sa(name ?: "unknown integrity");
			}
		}
	}
	assert_int_equal(supported, 2 * 10);
}

static void test_mode(void **state)
{
	sa.data.mode = MODE_TRANSPORT;
	accept_sa();
	assert_int_equal(params.mode, CYGNET_TRANSPORT);
	sa.data.mode = MODE_BEET;
	refuse_sa("BEET");
#if STRONGSWAN_RELEASE >= 60002
	sa.data.mode = MODE_IPTFS;
	refuse_sa("IP-TFS");
#endif
	sa.data.mode = MODE_PASS;
	refuse_sa("mode");
	sa.data.mode = MODE_TUNNEL;
	sa.id.proto = IPPROTO_COMP;
	refuse_sa("this IPsec protocol");
}

static void test_ah(void **state)
{
	int i;

	sa.id.proto = IPPROTO_AH;
	refuse_sa("encryption in AH");
	sa.data.enc_alg = ENCR_UNDEFINED;
	sa.data.enc_key = chunk_empty;
	sa.data.tfc = 1000;
	for (i = 0; i < 2; i++)
	{
		sa.data.mode = i ? MODE_TRANSPORT : MODE_TUNNEL;
		accept_sa();
		assert_int_equal(params.id.proto, IPPROTO_AH);
		assert_int_equal(params.mode, i ? CYGNET_TRANSPORT : CYGNET_TUNNEL);
		assert_int_equal(params.cipher, CYGNET_CIPHER_NULL);
		assert_int_equal(params.cipher_key_len, 0);
		assert_int_equal(params.auth, CYGNET_AUTH_HMAC_SHA256);
		assert_int_equal(params.icv_len, 16);
		assert_memory_equal(params.auth_key, sa.int_key, 32);
		assert_int_equal(params.tfc, 0);
	}
	sa.data.esn = TRUE;
	accept_sa();
	assert_int_equal(params.flags, CYGNET_SA_ESN);
	/* charon derives no key for AES-GMAC in AH */
	sa.data.int_alg = AUTH_AES_128_GMAC;
	refuse_sa("AES_128_GMAC");
	sa.data.int_alg = AUTH_UNDEFINED;
	refuse_sa("without integrity");
	sa.data.int_alg = AUTH_HMAC_SHA2_256_128;
	sa.data.encap = TRUE;
	refuse_sa("AH in UDP");
}

static void test_options(void **state)
{
	sa.id.mark.value = 1;
	refuse_sa("mark_in");
	sa.id.mark.value = 0;
	sa.id.mark.mask = 1;
	refuse_sa("mark_in");
	sa.id.mark.mask = 0;
	sa.data.mark.value = 1;
	refuse_sa("set_mark");
	sa.data.mark.value = 0;
	sa.id.if_id = 42;
	accept_sa();
	assert_int_equal(params.if_id, 42);
	sa.data.mode = MODE_TRANSPORT;
	refuse_sa("if_id");
	sa.data.mode = MODE_TUNNEL;
	sa.id.if_id = 0;
	sa.data.interface = "eth0";
	accept_sa();
	sa.data.interface = NULL;
	sa.data.ipcomp = IPCOMP_DEFLATE;
	refuse_sa("IPComp");
	sa.data.ipcomp = IPCOMP_NONE;
	sa.data.tfc = 1000;
	accept_sa();
	assert_int_equal(params.tfc, 1000);
	sa.data.hw_offload = HW_OFFLOAD_AUTO;
	accept_sa();
	sa.data.hw_offload = 1;
	refuse_sa("offload");
}

#if STRONGSWAN_RELEASE >= 60002
static void test_one_cpu(void **state)
{
	uint32_t flags;

	accept_sa();
	flags = params.flags;
	assert_int_equal(flags >> CYGNET_SA_CPU_SHIFT, 0);
	sa.data.cpu = 0;
	accept_sa();
	assert_int_equal(params.flags, flags | cygnet_sa_cpu_flags(0));
	sa.data.cpu = CYGNET_CPU_MAX;
	accept_sa();
	assert_int_equal(params.flags, flags | cygnet_sa_cpu_flags(CYGNET_CPU_MAX));
	sa.data.cpu = CYGNET_CPU_MAX + 1;
	refuse_sa("CPU numbers above 65534 (per_cpu_sas)");
}
#endif

#if STRONGSWAN_RELEASE >= 60005
static void test_forward_icmp(void **state)
{
	sa.data.forward_icmp = TRUE;
	refuse_sa("ICMP errors");
	sa.data.forward_icmp = FALSE;
	accept_sa();
}
#endif

static void test_label(void **state)
{
	sa.data.label = sec_label_from_string("system_u:object_r:x_t:s0");
	assert_non_null(sa.data.label);
	refuse_sa("label");
	sa.data.label->destroy(sa.data.label);
}

static void test_ipv6(void **state)
{
	traffic_selector_t *ts;

	/* traffic selectors of both families in one SA */
	ts = traffic_selector_create_from_cidr("2001:db8::/32", 0, 0, 65535);
	sa.data.src_ts->insert_last(sa.data.src_ts, ts);
	assert_int_equal(kernel_cygnet_sa_params(&sa.id, &sa.data, &params, &why),
					 SUCCESS);
	assert_int_equal(params.id.af, AF_INET);

	sa.id.dst->destroy(sa.id.dst);
	sa.id.dst = host_create_from_string("2001:db8::1", 500);
	refuse_sa("endpoints of two address families");
	sa.id.src->destroy(sa.id.src);
	sa.id.src = host_create_from_string("2001:db8::2", 500);
	assert_int_equal(kernel_cygnet_sa_params(&sa.id, &sa.data, &params, &why),
					 SUCCESS);
	assert_int_equal(params.id.af, AF_INET6);
	assert_memory_equal(&params.id.dst, sa.id.dst->get_address(sa.id.dst).ptr,
						16);
	assert_memory_equal(&params.path.src,
						sa.id.src->get_address(sa.id.src).ptr, 16);

	sa.data.mode = MODE_TRANSPORT;
	accept_sa();
	assert_int_equal(params.mode, CYGNET_TRANSPORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names_and_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_encap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flags, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dscp, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replay_window, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cbc_hmac, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gcm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_more_ciphers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_algorithms, setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_encryption, setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_integrity, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mode, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ah, setup, teardown),
		cmocka_unit_test_setup_teardown(test_options, setup, teardown),
#if STRONGSWAN_RELEASE >= 60002
		cmocka_unit_test_setup_teardown(test_one_cpu, setup, teardown),
#endif
#if STRONGSWAN_RELEASE >= 60005
		cmocka_unit_test_setup_teardown(test_forward_icmp, setup, teardown),
#endif
		cmocka_unit_test_setup_teardown(test_label, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ipv6, setup, teardown),
	};
	int failed;

	library_init("", "test-sa");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	library_deinit();
	return failed;
}

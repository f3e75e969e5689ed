/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What testing/constant-time runs under valgrind: code that handles keys, texts and ICVs, all of them marked as
 * undefined. Memcheck then reports each branch and each address that depends on them (ctgrind's method). A verdict
 * is public, because it is seen on the wire.
 *
 * Cases: ICVs compared by the drivers; the kernels as plain C, each algorithm; MACs of intel-ipsec-mb that are
 * CBC-MACs; a packet's padding. The control is a comparison that stops early, which must be reported.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intel-ipsec-mb.h>
#include <netinet/in.h>
#include <rte_mbuf.h>
#include <valgrind/memcheck.h>

#include "drivers/ipsec-mb/icv.h"
#include "emu.h"
#include "esp/esp.h"
#include "esp/session.h"
#include "keys.h"

#define TEXT	96 /* bytes of a text */
#define MAX_MAC 64

#define SECRET(what) VALGRIND_MAKE_MEM_UNDEFINED(&(what), sizeof(what))
#define PUBLIC(what) VALGRIND_MAKE_MEM_DEFINED(&(what), sizeof(what))

static int failures;

static void check(bool good, const char *what)
{
	if (good)
		return;
	printf("wrong result: %s\n", what);
	failures++;
}

/* --- the control --- */

__attribute__((noinline)) static bool stops_early(const uint8_t *a, const uint8_t *b,
						  unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static void control(void)
{
	uint8_t a[16] = {1}, b[16] = {1};
	bool equal;

	SECRET(a);
	SECRET(b);
	equal = stops_early(a, b, sizeof(a));
	PUBLIC(equal);
	check(equal, "control");
}

/* --- comparison of ICVs --- */

static void icv(void)
{
	uint8_t a[32], b[32], inverse[32];
	bool equal;

	for (unsigned int len = 8; len <= sizeof(a); len++) {
		for (unsigned int other = 0; other <= len; other++) {
			memset(a, 7, sizeof(a));
			memset(b, 7, sizeof(b));
			if (other < len)
				b[other] = 8;
			SECRET(a);
			SECRET(b);
			equal = mb_icv_equal(a, b, len);
			PUBLIC(equal);
			check(equal == (other == len), "ICV");
			mb_icv_invert(inverse, b, len);
		}
	}
}

/* --- the kernels as plain C --- */

struct packet_of_kernel {
	struct ocl_record record;
	uint8_t text[TEXT], mac[MAX_MAC], aad[16];
};

struct algorithms {
	uint32_t cipher, auth, key_len, mac_key_len, mac_len;
};

static struct ocl_session session_of(const struct algorithms *a, uint32_t flags)
{
	struct ocl_session session = {
		.label = OCL_LABEL(a->cipher, a->auth, flags),
		.digest_len = a->mac_len,
		.verify = flags & OCL_DECRYPT,
		.nonce_len = a->cipher == OCL_CIPHER_AES_CCM ? 11 : 12,
	};
	uint8_t key[32] = {1}, mac_key[MAX_MAC] = {2};

	SECRET(key);
	SECRET(mac_key);
	if (a->cipher)
		check(!keys_set_cipher(&session, key, a->key_len), "key");
	if (a->auth)
		check(!keys_set_auth(&session, mac_key, a->mac_key_len), "key of the MAC");
	return session;
}

static uint32_t run_kernel(const struct ocl_session *session, struct packet_of_kernel *p,
			   uint32_t lanes)
{
	u8 *const areas[OCL_AREAS] = {[OCL_AREA_CHUNK] = (u8 *)p};
	uint32_t status = emu_packet(session, areas, 0, lanes);

	PUBLIC(status);
	return status;
}

static void kernel(const struct algorithms *a, uint32_t lanes)
{
	struct ocl_session session = session_of(a, 0);
	struct packet_of_kernel p = {0}, forged;

	p.record.cipher_off = offsetof(struct packet_of_kernel, text);
	p.record.cipher_len = a->cipher ? TEXT : 0;
	p.record.auth_off = ocl_is_aead(a->cipher) ? offsetof(struct packet_of_kernel, aad)
						   : p.record.cipher_off;
	p.record.auth_len = ocl_is_aead(a->cipher) ? sizeof(p.aad) : TEXT;
	p.record.digest_off = offsetof(struct packet_of_kernel, mac);
	SECRET(p.text);
	check(run_kernel(&session, &p, lanes) == OCL_STATUS_DONE, "encryption");
	session = session_of(a, OCL_DECRYPT | OCL_AUTH_FIRST);
	forged = p;
	forged.mac[a->mac_len - 1] ^= 1;
	check(run_kernel(&session, &forged, lanes) == OCL_STATUS_AUTH_FAILED, "a forged text");
	check(run_kernel(&session, &p, lanes) == OCL_STATUS_DONE, "decryption");
}

static void kernels(void)
{
	static const struct algorithms all[] = {
		{OCL_CIPHER_AES_CBC, OCL_AUTH_HMAC_SHA1, 16, 20, 12},
		{OCL_CIPHER_AES_CBC, OCL_AUTH_HMAC_SHA256, 32, 32, 16},
		{OCL_CIPHER_AES_CTR, OCL_AUTH_HMAC_SHA512, 24, 64, 32},
		{OCL_CIPHER_AES_CBC, OCL_AUTH_HMAC_SHA384, 16, 48, 24},
		{OCL_CIPHER_AES_CBC, OCL_AUTH_AES_XCBC, 16, 16, 12},
		{OCL_CIPHER_3DES_CBC, OCL_AUTH_HMAC_MD5, 24, 16, 12},
		{OCL_CIPHER_NONE, OCL_AUTH_AES_GMAC, 0, 16, 16},
		{OCL_CIPHER_AES_GCM, OCL_AUTH_NONE, 16, 0, 16},
		{OCL_CIPHER_AES_CCM, OCL_AUTH_NONE, 32, 0, 8},
		{OCL_CIPHER_CHACHA20_POLY1305, OCL_AUTH_NONE, 32, 0, 16},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (uint32_t lanes = 1; lanes <= OCL_MAX_LANES; lanes *= OCL_MAX_LANES)
			kernel(&all[i], lanes);
}

/* --- CBC-MACs of intel-ipsec-mb --- */

static void submit(IMB_MGR *mgr, const IMB_JOB *with)
{
	IMB_JOB *job = IMB_GET_NEXT_JOB(mgr), *done;

	*job = *with;
	done = IMB_SUBMIT_JOB(mgr);
	if (!done)
		done = IMB_FLUSH_JOB(mgr);
	check(done && done->status == IMB_STATUS_COMPLETED, "job of intel-ipsec-mb");
}

static void ccm(IMB_MGR *mgr, IMB_CIPHER_DIRECTION direction)
{
	static DECLARE_ALIGNED(uint32_t enc[15 * 4], 16);
	static DECLARE_ALIGNED(uint32_t dec[15 * 4], 16);
	uint8_t key[16] = {1}, text[TEXT] = {2}, aad[8] = {3}, nonce[11] = {4}, mac[16];
	IMB_JOB job = {
		.cipher_mode = IMB_CIPHER_CCM,
		.hash_alg = IMB_AUTH_AES_CCM,
		.cipher_direction = direction,
		.chain_order = direction == IMB_DIR_ENCRYPT ? IMB_ORDER_HASH_CIPHER
							    : IMB_ORDER_CIPHER_HASH,
		.enc_keys = enc,
		.dec_keys = dec,
		.key_len_in_bytes = sizeof(key),
		.src = text,
		.dst = text,
		.msg_len_to_cipher_in_bytes = TEXT,
		.msg_len_to_hash_in_bytes = TEXT,
		.iv = nonce,
		.iv_len_in_bytes = sizeof(nonce),
		.auth_tag_output = mac,
		.auth_tag_output_len_in_bytes = sizeof(mac),
		.u.CCM = {.aad = aad, .aad_len_in_bytes = sizeof(aad)},
	};

	SECRET(key);
	SECRET(text);
	IMB_AES_KEYEXP_128(mgr, key, enc, dec);
	submit(mgr, &job);
}

/*
 * intel-ipsec-mb 1.3 branches on the highest bits of AES(key, 0) when it makes the subkeys, once for each SA: two bits
 * of a block from which the key cannot be found, and not those of a packet. Only the crypto_aesni_mb of DPDK calls
 * that. So they are made before anything is secret.
 */
static void cmac(IMB_MGR *mgr)
{
	static DECLARE_ALIGNED(uint32_t enc[15 * 4], 16);
	static DECLARE_ALIGNED(uint32_t dec[15 * 4], 16);
	uint32_t k1[4], k2[4];
	uint8_t key[16] = {1}, text[TEXT] = {2}, mac[16];
	IMB_JOB job = {
		.cipher_mode = IMB_CIPHER_NULL,
		.hash_alg = IMB_AUTH_AES_CMAC,
		.cipher_direction = IMB_DIR_ENCRYPT,
		.chain_order = IMB_ORDER_HASH_CIPHER,
		.src = text,
		.msg_len_to_hash_in_bytes = TEXT,
		.auth_tag_output = mac,
		.auth_tag_output_len_in_bytes = sizeof(mac),
		.u.CMAC = {._key_expanded = enc, ._skey1 = k1, ._skey2 = k2},
	};

	IMB_AES_KEYEXP_128(mgr, key, enc, dec);
	IMB_AES_CMAC_SUBKEY_GEN_128(mgr, enc, k1, k2);
	SECRET(enc);
	SECRET(k1);
	SECRET(k2);
	SECRET(text);
	submit(mgr, &job);
}

static void xcbc(IMB_MGR *mgr)
{
	static DECLARE_ALIGNED(uint32_t k1[11 * 4], 16);
	uint8_t key[16] = {1}, text[TEXT] = {2}, k2[16], k3[16], mac[12];
	IMB_JOB job = {
		.cipher_mode = IMB_CIPHER_NULL,
		.hash_alg = IMB_AUTH_AES_XCBC,
		.cipher_direction = IMB_DIR_ENCRYPT,
		.chain_order = IMB_ORDER_HASH_CIPHER,
		.src = text,
		.msg_len_to_hash_in_bytes = TEXT,
		.auth_tag_output = mac,
		.auth_tag_output_len_in_bytes = sizeof(mac),
		.u.XCBC = {._k1_expanded = k1, ._k2 = k2, ._k3 = k3},
	};

	SECRET(key);
	SECRET(text);
	IMB_AES_XCBC_KEYEXP(mgr, key, k1, k2, k3);
	submit(mgr, &job);
}

static void library(void)
{
	IMB_MGR *mgr = alloc_mb_mgr(0);

	if (!mgr)
		abort();
	init_mb_mgr_auto(mgr, NULL);
	ccm(mgr, IMB_DIR_ENCRYPT);
	ccm(mgr, IMB_DIR_DECRYPT);
	cmac(mgr);
	xcbc(mgr);
	free_mb_mgr(mgr);
}

/* --- the trailer of a decrypted packet --- */

static void padding(void)
{
	static struct {
		struct rte_mbuf m;
		uint8_t room[RTE_PKTMBUF_HEADROOM + 256];
	} packet;
	struct session session = {.iv_len = 16, .icv_len = 16, .transport = true, .inbound = true};
	struct cygnet_sa sa = {0};
	uint8_t *ip = packet.room + RTE_PKTMBUF_HEADROOM, *text = ip + 20 + 8 + 16;

	for (unsigned int pad = 0; pad < 30; pad++) {
		memset(&packet, 0, sizeof(packet));
		packet.m.buf_addr = packet.room;
		packet.m.buf_len = sizeof(packet.room);
		packet.m.data_off = RTE_PKTMBUF_HEADROOM;
		packet.m.data_len = 20 + 8 + 16 + TEXT + 16;
		packet.m.pkt_len = packet.m.data_len;
		packet.m.nb_segs = 1;
		ip[0] = 0x45;
		for (unsigned int i = 0; i < pad; i++)
			text[TEXT - 2 - pad + i] = (uint8_t)(i + 1);
		text[TEXT - 2] = (uint8_t)pad;
		text[TEXT - 1] = IPPROTO_UDP;
		VALGRIND_MAKE_MEM_UNDEFINED(text, TEXT);
		esp_in_decapsulate(&packet.m, &sa, &session, 20, 0);
	}
}

/* --- */

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"icv", icv},
	{"kernels", kernels},
	{"library", library},
	{"padding", padding},
};

/* Run a case. @return number of reports */
static unsigned int reports(void (*run)(void))
{
	unsigned int before = VALGRIND_COUNT_ERRORS;

	run();
	return VALGRIND_COUNT_ERRORS - before;
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (!RUNNING_ON_VALGRIND) {
		puts("run it with testing/constant-time");
		return 2;
	}
	if (!reports(control)) {
		puts("the control is not reported: nothing would be");
		return 1;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned int found = reports(cases[i].run);

		printf("%s %s: %u reports\n", found ? "not ok" : "ok", cases[i].name, found);
		failures += found > 0;
	}
	return failures ? 1 : 0;
}

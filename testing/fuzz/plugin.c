/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What charon may ask of the plugin's kernel interface, and what the event
 * ring may contain: the plugin has no other input. Each step takes some bytes
 * of the input. The dataplane is a process that executes requests.
 */

#include "input.h"
#include "tests/charon.h"

#include <daemon.h>

#define STEPS 32

/* libcharon's threads are alive when LeakSanitizer looks */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static char *nets[] = {
	"10.1.0.0/16",	"10.2.0.0/16",	 "10.2.7.0/24",	    "0.0.0.0/0",
	"192.0.2.0/24", "2001:db8::/32", "2001:db8:7::/48", "::/0",
};

static uint16_t protos[] = {0, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_ICMPV6};

static void choose_sa(struct input *in)
{
	static encryption_algorithm_t encryption[] = {
		ENCR_AES_CBC,		ENCR_AES_GCM_ICV16,	 ENCR_AES_GCM_ICV8, ENCR_AES_CTR,
		ENCR_AES_CCM_ICV12,	ENCR_NULL_AUTH_AES_GMAC, ENCR_NULL,	    ENCR_3DES,
		ENCR_CHACHA20_POLY1305, ENCR_CAMELLIA_CBC,	 ENCR_UNDEFINED,
	};
	uint8_t choice = input_byte(in), more = input_byte(in);

	sa.id.spi = htonl(0xc0000100 + (choice & 7));
	sa.id.proto = choice & 8 ? IPPROTO_AH : IPPROTO_ESP;
	sa.data.inbound = (choice >> 4) & 1;
	sa.data.esn = (choice >> 5) & 1;
	sa.data.encap = (choice >> 6) & 1;
	sa.data.mode = choice & 0x80 ? MODE_TRANSPORT : MODE_TUNNEL;
	sa.data.reqid = more & 15;
	sa.data.ipcomp = more >> 4 == 15 ? IPCOMP_DEFLATE : IPCOMP_NONE;
	sa.data.mark.value = more >> 4 == 14;
	sa.id.if_id = more >> 4 == 13;
	sa.data.tfc = more >> 4 == 12 ? input_word(in) : 0;
	sa.data.replay_window = input_word(in);
	sa.data.enc_alg = encryption[input_byte(in) % countof(encryption)];
	sa.data.enc_key = chunk_create(sa.enc_key, input_byte(in) % (sizeof(sa.enc_key) + 1));
	sa.data.int_alg = input_byte(in) % 16;
	sa.data.int_key = chunk_create(sa.int_key, input_byte(in) % (sizeof(sa.int_key) + 1));
	sa.lifetime.bytes.life = input_word(in);
	sa.lifetime.packets.life = input_word(in);
}

static void choose_policy(struct input *in)
{
	uint8_t choice = input_byte(in), net = input_byte(in), proto = input_byte(in);
	uint16_t from = input_word(in), to = input_word(in);

	policy.id.dir = choice % 3;
	policy.data.type = 1 + (choice >> 2) % 3;
	policy.data.prio = choice >> 6;
	policy.sa.reqid = 1 + (net >> 6);
	policy.sa.esp.spi = htonl(0xc0000100 + (proto >> 5));
	policy.sa.mode = choice & 0x20 ? MODE_TRANSPORT : MODE_TUNNEL;
	policy.data.manual_prio = choice & 0x10 ? input_word(in) : 0;
	/* charon has both sides of one family */
	fixture_policy_select(&policy, nets[(net & 4 ? 5 : 0) + (net & 3) % 3],
			      nets[(net & 4 ? 5 : 0) + ((net >> 3) & 3) % 3], protos[proto & 3],
			      min(from, to), max(from, to));
}

static void post_event(struct input *in)
{
	struct cygnet_event event = sa_event(input_byte(in));

	input_bytes(in, (uint8_t *)&event + sizeof(event.type), sizeof(event) - sizeof(event.type));
	dataplane_ask(DATAPLANE_POST, &event);
}

static void step(struct input *in)
{
	kernel_ipsec_query_policy_t query = {};
	kernel_ipsec_update_sa_t update = {};
	uint64_t bytes, packets;
	uint32_t spi;
	time_t use;

	switch (input_byte(in) % 9) {
	case 0:
		choose_sa(in);
		add_sa();
		break;
	case 1:
		del_sa();
		break;
	case 2:
		query_sa(&bytes, &packets, &use);
		break;
	case 3:
		update.new_src = sa.id.dst;
		update.new_dst = sa.id.src;
		update.new_encap = input_byte(in) & 1;
		charon->kernel->update_sa(charon->kernel, &sa.id, &update);
		break;
	case 4:
		choose_policy(in);
		charon->kernel->add_policy(charon->kernel, &policy.id, &policy.data);
		break;
	case 5:
		charon->kernel->del_policy(charon->kernel, &policy.id, &policy.data);
		break;
	case 6:
		charon->kernel->query_policy(charon->kernel, &policy.id, &query, &use);
		break;
	case 7:
		charon->kernel->get_spi(charon->kernel, sa.id.src, sa.id.dst, IPPROTO_ESP, &spi);
		break;
	case 8:
		post_event(in);
		break;
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	setenv("CMOCKA_TEST_ABORT", "1", 1);
	return charon_setup(NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	int i;

	fuzz_ignore_clock();
	charon_test_setup(NULL);
	for (i = 0; i < STEPS && in.left; i++) {
		step(&in);
	}
	/* flushing leaves no SA and no policy */
	if (charon_test_teardown(NULL)) {
		abort();
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets built by OpenSSL are received, and the inner packet is the one that was sent. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/sadb.h"
#include "esp_fixture.h"

static void assert_packet(struct rte_mbuf *m, const uint8_t *inner, unsigned int len)
{
	assert_int_equal(rte_pktmbuf_data_len(m), len);
	assert_int_equal(rte_pktmbuf_pkt_len(m), len);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), inner, len);
}

/* --- every algorithm --- */

/* tfc: zeros between the inner packet and the trailer (RFC 4303, 2.7). */
static void take(const struct esp_sa *e, unsigned int len, unsigned int tfc, unsigned int pad,
		 uint64_t seq)
{
	uint8_t inner[PEER_TEXT_MAX], text[PEER_TEXT_MAX] = {0};
	struct rte_mbuf *m;

	peer_packet(inner, len, 0, true);
	memcpy(text, inner, len);
	m = esp_from_peer(e, seq, text, peer_trailer(text, len + tfc, pad, IPPROTO_IPIP));
	assert_int_equal(esp_unprotect(e, m), DROP_NONE);
	assert_packet(m, inner, len);
	rte_pktmbuf_free(m);
}

static void take_sizes(struct esp_sa *e)
{
	static const unsigned int usual[] = {576, 1280, 1400, 1499, 1500, 3900};
	const struct esp_algorithm *a = e->peer.algorithm;

	for (unsigned int len = 20; len < 20 + 40; len++)
		take(e, len, 0, peer_padding(a, len), len);
	for (unsigned int i = 0; i < RTE_DIM(usual); i++)
		take(e, usual[i], 0, peer_padding(a, usual[i]), 1);
}

static void every_algorithm(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, take_sizes);
}

static void take_padding(struct esp_sa *e)
{
	const struct esp_algorithm *a = e->peer.algorithm;

	for (unsigned int pad = peer_padding(a, 60); pad < 256; pad += a->block)
		take(e, 60, 0, pad, 1);
	for (unsigned int tfc = 1; tfc < 100; tfc++)
		take(e, 60, tfc, peer_padding(a, 60 + tfc), 1);
}

/* A peer may hide the length of packets (RFC 4303, 2.4 and 2.7). */
static void more_padding_than_needed(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, take_padding);
}

static void take_numbers(struct esp_sa *e)
{
	static const uint64_t seq[] = {1,
				       70,
				       0x7fffffff,
				       0x80000000,
				       UINT32_MAX,
				       UINT32_MAX + 1ull,
				       UINT32_MAX + 100ull,
				       0x180000000};

	for (unsigned int i = 0; i < RTE_DIM(seq); i++) {
		if (seq[i] > UINT32_MAX && !(e->options & ESP_ESN))
			break;
		take(e, 60, 0, peer_padding(e->peer.algorithm, 60), seq[i]);
		/* The next packet's high half can then be inferred. */
		assert_true(cygnet_replay_update(sadb, e->sa, seq[i]));
	}
}

static void sequence_numbers_of_32_and_64_bits(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, take_numbers);
}

/* The outer header may have options. */
static void take_options(struct esp_sa *e)
{
	uint8_t inner[60], text[128], wire[256], longer[256];
	unsigned int len;

	peer_packet(inner, sizeof(inner), 0, false);
	memcpy(text, inner, sizeof(inner));
	len = peer_trailer(text, sizeof(inner), peer_padding(e->peer.algorithm, sizeof(inner)),
			   IPPROTO_IPIP);
	len = esp_wire(e, 0, 5, text, len, wire);
	for (unsigned int options = 4; options <= 40; options += 4) {
		struct rte_mbuf *m;

		memcpy(longer, wire, 20);
		memset(longer + 20, 1, options);
		memcpy(longer + 20 + options, wire + 20, len - 20);
		m = esp_receive(e, longer, len + options);
		packet(m)->esp = (uint16_t)(packet(m)->esp + options);
		packet(m)->seq = 5;
		assert_int_equal(esp_unprotect(e, m), DROP_NONE);
		assert_packet(m, inner, sizeof(inner));
		rte_pktmbuf_free(m);
	}
}

static void options_in_the_outer_header(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, take_options);
}

/* --- DSCP and ECN --- */

enum { NOT_ECT, ECT_1, ECT_0, CE, DROP };

/* RFC 6040, figure 4. */
static const uint8_t ecn[4][4] = {
	/* outer:    Not-ECT  ECT(1)   ECT(0)   CE */
	[NOT_ECT] = {NOT_ECT, NOT_ECT, NOT_ECT, DROP},
	[ECT_1] = {ECT_1, ECT_1, ECT_1, CE},
	[ECT_0] = {ECT_0, ECT_1, ECT_0, CE},
	[CE] = {CE, CE, CE, CE},
};

/* The packet after the device: decrypted in place. */
static struct rte_mbuf *decrypted(const struct esp_sa *e, uint8_t outer_tos, const uint8_t *inner,
				  unsigned int len)
{
	unsigned int header = esp_offset(e) + 8u + e->peer.algorithm->iv_len;
	uint8_t data[256] = {0};
	struct rte_mbuf *m;

	memcpy(data + header, inner, len);
	len = peer_trailer(data + header, len, peer_padding(e->peer.algorithm, len), IPPROTO_IPIP);
	len += header + e->peer.algorithm->icv_len;
	peer_ip(data, outer_tos, (uint16_t)len, 1, 0, IPPROTO_ESP);
	m = esp_packet(data, len, 0, 0);
	packet(m)->esp = (uint16_t)esp_offset(e);
	return m;
}

static void check_tos(const struct esp_sa *e, uint8_t outer, uint8_t inner)
{
	uint8_t result = e->sa->flags & CYGNET_SA_COPY_ECN ? ecn[inner & 3][outer & 3] : inner & 3;
	uint8_t dscp = (e->sa->dscp & CYGNET_DSCP_COPY_IN ? outer : inner) & 0xfc;
	uint8_t packet_in[40], want[40];
	struct rte_mbuf *m;

	peer_packet(packet_in, sizeof(packet_in), inner, true);
	peer_packet(want, sizeof(want), (uint8_t)(dscp | (result & 3)), true);
	m = decrypted(e, outer, packet_in, sizeof(packet_in));
	if (result == DROP) {
		assert_int_equal(esp_in_finish(m, e->sa, e->session), DROP_ECN);
	} else {
		assert_int_equal(esp_in_finish(m, e->sa, e->session), DROP_NONE);
		assert_packet(m, want, sizeof(want)); /* with the right checksum */
	}
	rte_pktmbuf_free(m);
}

static void check_all_tos(unsigned int dscp, unsigned int flags)
{
	struct cygnet_sa_params params;
	struct esp_sa e = {.options = ESP_INBOUND};

	peer_init(&e.peer, &esp_algorithms[0], false, 1);
	params = esp_params(&e.peer, ESP_INBOUND);
	params.dscp = (uint8_t)dscp;
	params.flags |= flags;
	esp_sa_any_params(&e, &params);
	for (unsigned int outer = 0; outer < 256; outer++)
		for (unsigned int inner = 0; inner < 256; inner++)
			check_tos(&e, (uint8_t)outer, (uint8_t)inner);
	esp_sa_delete(&e);
}

static void tos(void **state)
{
	(void)state;
	check_all_tos(0, 0);
	check_all_tos(CYGNET_DSCP_COPY_OUT, CYGNET_SA_COPY_ECN);
	check_all_tos(CYGNET_DSCP_COPY_IN, 0);
	check_all_tos(CYGNET_DSCP_COPY_IN | CYGNET_DSCP_COPY_OUT, CYGNET_SA_COPY_ECN);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		ESP_TEST(every_algorithm),
		ESP_TEST(more_padding_than_needed),
		ESP_TEST(sequence_numbers_of_32_and_64_bits),
		ESP_TEST(options_in_the_outer_header),
		ESP_TEST(tos),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, esp_fixture_start, esp_fixture_stop);
}

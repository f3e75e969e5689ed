/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Outbound ESP packets, decrypted by OpenSSL and compared byte for byte. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "esp_fixture.h"

/* --- format on the wire --- */

/* The SAs of the same gateways differ in it. */
static uint16_t id_of(const struct cygnet_sa *sa, uint64_t seq)
{
	return (uint16_t)(seq + rte_be_to_cpu_32(sa->spi));
}

static void check_outer(const struct esp_sa *e, const uint8_t *wire, unsigned int total,
			uint64_t seq)
{
	bool encap = e->options & ESP_ENCAP;
	uint8_t ip[20];

	peer_ip(ip, 0, (uint16_t)total, id_of(e->sa, seq), 0, encap ? IPPROTO_UDP : IPPROTO_ESP);
	assert_memory_equal(wire, ip, sizeof(ip));
	if (encap) {
		const uint16_t udp[4] = {htons(ESP_SPORT), htons(ESP_DPORT),
					 htons((uint16_t)(total - 20)), 0};

		assert_memory_equal(wire + 20, udp, sizeof(udp));
	}
}

static void check_esp_header(const struct esp_sa *e, const uint8_t *esp, uint64_t seq)
{
	const uint32_t header[2] = {htonl(ESP_SPI), htonl((uint32_t)seq)};
	const uint32_t number[2] = {htonl((uint32_t)(seq >> 32)), htonl((uint32_t)seq)};
	uint8_t block[16] = {0}, iv[16];

	assert_memory_equal(esp, header, 8);
	memcpy(block, number, 8);
	if (e->peer.algorithm->digest) { /* the IV must be unpredictable, so it is not the
					  * sequence number itself */
		peer_block(&e->peer, block, iv);
		assert_memory_equal(esp + 8, iv, 16);
	} else {
		assert_memory_equal(esp + 8, number, 8);
	}
}

/* Inner packet, shortest padding 1, 2, 3 and so on, pad length, next header IPv4. */
static void check_text(const struct esp_sa *e, const uint8_t *text, int len, const uint8_t *inner,
		       unsigned int inner_len)
{
	uint8_t want[PEER_TEXT_MAX];
	unsigned int want_len;

	memcpy(want, inner, inner_len);
	want_len = peer_trailer(want, inner_len, peer_padding(e->peer.algorithm, inner_len),
				IPPROTO_IPIP);
	assert_int_equal(len, want_len);
	assert_memory_equal(text, want, want_len);
}

static void check_sent(const struct esp_sa *e, struct rte_mbuf *m, uint64_t seq,
		       const uint8_t *inner, unsigned int inner_len)
{
	unsigned int total = rte_pktmbuf_data_len(m), offset = esp_offset(e);
	const uint8_t *wire = rte_pktmbuf_mtod(m, const uint8_t *);
	uint8_t text[PEER_TEXT_MAX];
	int len;

	assert_int_equal(total, esp_out_size(e->session, cygnet_sa_path(e->sa), 0, inner_len));
	assert_int_equal(rte_pktmbuf_pkt_len(m), total);
	check_outer(e, wire, total, seq);
	check_esp_header(e, wire + offset, seq);
	len = peer_open(&e->peer, (uint32_t)(seq >> 32), wire + offset, total - offset, text);
	if (len < 0)
		fail_msg("%s: OpenSSL refuses it", e->peer.algorithm->name);
	check_text(e, text, len, inner, inner_len);
}

/* Headers and trailer, and temporarily four bytes for ESN. */
static unsigned int headroom_of(const struct esp_sa *e)
{
	return esp_offset(e) + 8u + e->peer.algorithm->iv_len;
}

static unsigned int tailroom_of(const struct esp_sa *e, unsigned int inner)
{
	const struct esp_algorithm *a = e->peer.algorithm;

	return peer_padding(a, inner) + 2u + a->icv_len + esp_hidden(e);
}

static void send_one(const struct esp_sa *e, unsigned int len, uint64_t seq)
{
	uint8_t inner[PEER_TEXT_MAX];
	struct rte_mbuf *m;

	peer_packet(inner, len, 0, false);
	m = esp_packet(inner, len, headroom_of(e), tailroom_of(e, len));
	assert_int_equal(esp_protect(e, m, seq), DROP_NONE);
	check_sent(e, m, seq, inner, len);
	rte_pktmbuf_free(m);
}

/* --- tests --- */

static void check_sizes(struct esp_sa *e)
{
	/* Two blocks and more, for all lengths of padding; then common lengths. */
	static const unsigned int usual[] = {128, 576, 1280, 1400, 1499, 1500, 4000};
	uint64_t seq;

	for (unsigned int len = 20; len < 20 + 40; len++) {
		assert_int_equal(cygnet_sa_reserve_seq(e->sa, 1, &seq), 1);
		assert_int_equal(seq, len - 19);
		send_one(e, len, seq);
	}
	for (unsigned int i = 0; i < RTE_DIM(usual); i++) {
		assert_int_equal(cygnet_sa_reserve_seq(e->sa, 1, &seq), 1);
		send_one(e, usual[i], seq);
	}
}

static void peer_reads_every_algorithm(void **state)
{
	(void)state;
	esp_each(0, check_sizes);
}

static void every_size_is_as_computed(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < esp_algorithm_count; i++) {
		struct esp_sa e;

		esp_sa_any(&e, &esp_algorithms[i], i & 1 ? ESP_ENCAP : 0);
		for (unsigned int len = 20; len <= 1500; len++)
			send_one(&e, len, len);
		esp_sa_delete(&e);
	}
}

/* The largest inner packet that fits, for every MTU. */
static void check_mtus(struct esp_sa *e)
{
	const struct cygnet_path *path = cygnet_sa_path(e->sa);
	const struct session *s = e->session;

	for (unsigned int mtu = 0; mtu <= 9001; mtu++) {
		unsigned int inner = esp_out_mtu(s, path, 0, mtu);

		assert_true(!inner || esp_out_size(s, path, 0, inner) <= mtu);
		assert_true(esp_out_size(s, path, 0, inner + 1) > mtu);
	}
}

static void mtu_is_the_largest_that_fits(void **state)
{
	(void)state;
	esp_each(0, check_mtus);
}

static void check_numbers(struct esp_sa *e)
{
	static const uint64_t low[] = {1, 0x7fffffff, 0x80000000, UINT32_MAX};
	static const uint64_t high[] = {UINT32_MAX + 1ull, UINT32_MAX + 2ull, 0x123456789abcdef0,
					UINT64_MAX};

	for (unsigned int i = 0; i < RTE_DIM(low); i++)
		send_one(e, 60, low[i]);
	for (unsigned int i = 0; i < RTE_DIM(high) && (e->options & ESP_ESN); i++)
		send_one(e, 60, high[i]);
}

static void sequence_numbers_of_32_and_64_bits(void **state)
{
	(void)state;
	esp_each(0, check_numbers);
}

/* Buffers of the documented size, and smaller ones: the packet is refused, and no other byte
 * changes. */
static void check_room(struct esp_sa *e)
{
	unsigned int head = headroom_of(e), tail = tailroom_of(e, 45);
	uint8_t inner[45];

	peer_packet(inner, sizeof(inner), 0, false);
	for (unsigned int i = 0; i <= head; i++) {
		struct rte_mbuf *m = esp_packet(inner, sizeof(inner), i, tail);

		assert_int_equal(esp_prepare(e, m, 1), i < head ? DROP_NO_BUFFER : DROP_NONE);
		rte_pktmbuf_free(m);
	}
	for (unsigned int i = 0; i <= tail; i++) {
		struct rte_mbuf *m = esp_packet(inner, sizeof(inner), head, i);

		assert_int_equal(esp_prepare(e, m, 1), i < tail ? DROP_NO_BUFFER : DROP_NONE);
		rte_pktmbuf_free(m);
	}
}

static void no_room(void **state)
{
	(void)state;
	esp_each(0, check_room);
}

static void larger_than_ip_allows(void **state)
{
	struct rte_mbuf *m;
	unsigned int largest;
	struct esp_sa e;

	(void)state;
	esp_sa_any(&e, &esp_algorithms[esp_algorithm_count - 1], 0);
	largest = esp_out_mtu(e.session, cygnet_sa_path(e.sa), 0, UINT16_MAX);
	m = esp_packet(NULL, largest, headroom_of(&e), tailroom_of(&e, largest));
	assert_int_equal(esp_prepare(&e, m, 1), DROP_NONE);
	assert_in_range(rte_pktmbuf_data_len(m), UINT16_MAX - 3, UINT16_MAX);
	rte_pktmbuf_free(m);
	for (unsigned int len = largest + 1; len <= UINT16_MAX; len++) {
		m = esp_packet(NULL, len, 0, 0);
		assert_int_equal(esp_prepare(&e, m, 1), DROP_TOO_BIG);
		rte_pktmbuf_free(m);
	}
	esp_sa_delete(&e);
}

/* --- the outer header --- */

static void check_header(const struct esp_sa *e, uint8_t tos, bool df)
{
	uint8_t inner[40], want[20], outer_tos = 0;
	const struct cygnet_sa *sa = e->sa;
	struct rte_mbuf *m;

	peer_packet(inner, sizeof(inner), tos, df);
	m = esp_packet(inner, sizeof(inner), headroom_of(e), tailroom_of(e, sizeof(inner)));
	assert_int_equal(esp_prepare(e, m, 1), DROP_NONE);
	if (sa->dscp & CYGNET_DSCP_COPY_OUT)
		outer_tos |= tos & 0xfc;
	if (sa->flags & CYGNET_SA_COPY_ECN)
		outer_tos |= tos & 0x03;
	peer_ip(want, outer_tos, rte_pktmbuf_data_len(m), id_of(sa, 1),
		df && (sa->flags & CYGNET_SA_COPY_DF) ? 0x4000 : 0, IPPROTO_ESP);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), want, sizeof(want));
	assert_memory_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, headroom_of(e)), inner,
			    sizeof(inner));
	rte_pktmbuf_free(m);
}

/* DSCP, ECN and DF are copied as the SA is configured (RFC 4301, 5.1.2.1; RFC 6040, 4.1). */
static void tos_and_df(void **state)
{
	(void)state;
	for (unsigned int bits = 0; bits < 16; bits++) {
		struct esp_sa e = {0};
		struct cygnet_sa_params params;

		peer_init(&e.peer, &esp_algorithms[0], false, 1);
		params = esp_params(&e.peer, 0);
		params.dscp = (uint8_t)(bits & 3);
		params.flags |= (bits & 4 ? CYGNET_SA_COPY_ECN : 0) |
				(bits & 8 ? CYGNET_SA_COPY_DF : 0);
		esp_sa_any_params(&e, &params);
		e.sa->seq = 0xfedc0000 + bits;
		for (unsigned int tos = 0; tos < 256; tos++) {
			check_header(&e, (uint8_t)tos, false);
			check_header(&e, (uint8_t)tos, true);
		}
		esp_sa_delete(&e);
	}
}

/* --- MOBIKE --- */

/* The new outer header contains the same ESP packet with the next number, of the computed
 * length. */
static void send_moved(const struct esp_sa *e, bool v6, uint64_t seq)
{
	unsigned int front = (v6 ? 40u : 20u) + (e->options & ESP_ENCAP ? 8u : 0), len;
	uint8_t inner[45], text[PEER_TEXT_MAX];
	const uint8_t *wire;
	struct rte_mbuf *m;
	uint32_t number;

	peer_packet(inner, sizeof(inner), 0, false);
	m = esp_packet(inner, sizeof(inner), RTE_PKTMBUF_HEADROOM, RTE_PKTMBUF_HEADROOM);
	assert_int_equal(esp_protect(e, m, seq), DROP_NONE);
	len = rte_pktmbuf_data_len(m);
	wire = rte_pktmbuf_mtod(m, const uint8_t *);
	assert_int_equal(len, esp_out_size(e->session, cygnet_sa_path(e->sa), 0, sizeof(inner)));
	assert_int_equal(wire[0] >> 4, v6 ? 6 : 4);
	if (v6) {
		assert_memory_equal(wire + 8, &esp_moved_src, 16);
		assert_memory_equal(wire + 24, &esp_moved_dst, 16);
		assert_int_equal(wire[4] << 8 | wire[5], len - 40);
	} else {
		assert_int_equal(peer_checksum(wire, 20), 0);
		assert_int_equal(wire[2] << 8 | wire[3], len);
	}
	memcpy(&number, wire + front + 4, sizeof(number));
	assert_int_equal(ntohl(number), seq);
	assert_int_equal(peer_open(&e->peer, 0, wire + front, len - front, text),
			 sizeof(inner) + 2 + peer_padding(e->peer.algorithm, sizeof(inner)));
	assert_memory_equal(text, inner, sizeof(inner));
	rte_pktmbuf_free(m);
}

/* From IPv4 to IPv6 and back (RFC 4555, 3.5), in one session. */
static void to_the_other_family(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < esp_algorithm_count; i++) {
		struct esp_sa e;

		esp_sa_any(&e, &esp_algorithms[i], (i & 1 ? ESP_ENCAP : 0) | (i & 2 ? ESP_ESN : 0));
		for (unsigned int move = 0; move < 5; move++) {
			if (move)
				esp_sa_move(&e, move & 1);
			send_moved(&e, move & 1, 2 * move + 1);
			send_moved(&e, move & 1, 2 * move + 2);
		}
		esp_sa_delete(&e);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		ESP_TEST(peer_reads_every_algorithm),
		ESP_TEST(every_size_is_as_computed),
		ESP_TEST(mtu_is_the_largest_that_fits),
		ESP_TEST(sequence_numbers_of_32_and_64_bits),
		ESP_TEST(no_room),
		ESP_TEST(larger_than_ip_allows),
		ESP_TEST(tos_and_df),
		ESP_TEST(to_the_other_family),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, esp_fixture_start, esp_fixture_stop);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that esp_in refuses: each fault has its own drop reason, and no byte outside the
 * packet is read or written. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "esp_fixture.h"

#define SEQ 0x11

static enum drop_reason receive(const struct esp_sa *e, const uint8_t *wire, unsigned int len)
{
	struct rte_mbuf *m = esp_receive(e, wire, len);
	enum drop_reason reason = esp_unprotect(e, m);

	rte_pktmbuf_free(m);
	return reason;
}

/* An authentic packet with any content. */
static enum drop_reason receive_text(const struct esp_sa *e, const uint8_t *text, unsigned int len)
{
	struct rte_mbuf *m = esp_from_peer(e, SEQ, text, len);
	enum drop_reason reason = esp_unprotect(e, m);

	rte_pktmbuf_free(m);
	return reason;
}

/* An inner packet of len bytes with the shortest padding. */
static unsigned int make_text(const struct esp_sa *e, unsigned int len, uint8_t *text)
{
	peer_packet(text, len, 0, false);
	return peer_trailer(text, len, peer_padding(e->peer.algorithm, len), IPPROTO_IPIP);
}

static unsigned int make_wire(const struct esp_sa *e, uint64_t seq, uint8_t *wire)
{
	uint8_t text[128];
	unsigned int len = make_text(e, 45, text);

	return esp_wire(e, 0, seq, text, len, wire);
}

/* --- not authentic --- */

static void flip_bits(struct esp_sa *e)
{
	uint8_t wire[256];
	unsigned int len = make_wire(e, SEQ, wire);

	assert_int_equal(receive(e, wire, len), DROP_NONE);
	for (unsigned int bit = esp_offset(e) * 8; bit < len * 8; bit++) {
		wire[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(receive(e, wire, len), DROP_AUTH_FAILED);
		wire[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_int_equal(receive(e, wire, len), DROP_NONE);
}

/* Each bit from the SPI to the end of the ICV. */
static void any_bit_flipped(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, flip_bits);
}

static void other_high_half(struct esp_sa *e)
{
	uint8_t wire[256];
	unsigned int len = make_wire(e, SEQ + (1ull << 32), wire);

	/* Without ESN the high half is not part of the packet. */
	assert_int_equal(receive(e, wire, len),
			 e->options & ESP_ESN ? DROP_AUTH_FAILED : DROP_NONE);
}

static void wrong_high_half(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, other_high_half);
}

static void other_keys(struct esp_sa *e)
{
	unsigned int key_len = e->peer.algorithm->key_len;
	uint8_t wire[256];

	if (e->peer.algorithm->digest)
		e->peer.auth_key[e->peer.algorithm->auth_key_len - 1] ^= 1;
	else
		e->peer.key[key_len] ^= 1; /* the salt */
	assert_int_equal(receive(e, wire, make_wire(e, SEQ, wire)), DROP_AUTH_FAILED);
}

static void wrong_keys(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, other_keys);
}

/* --- of the wrong length --- */

static enum drop_reason want_for_length(const struct esp_sa *e, unsigned int len)
{
	const struct esp_algorithm *a = e->peer.algorithm;
	unsigned int around = esp_offset(e) + 8u + a->iv_len + a->icv_len;

	if (len < around + a->block || (len - around) % a->block)
		return DROP_ESP_TRUNCATED;
	return DROP_AUTH_FAILED;
}

static void cut_and_extend(struct esp_sa *e)
{
	uint8_t wire[256] = {0};
	unsigned int full = make_wire(e, SEQ, wire);

	for (unsigned int len = 0; len < sizeof(wire); len++)
		assert_int_equal(receive(e, wire, len),
				 len == full ? DROP_NONE : want_for_length(e, len));
}

static void any_other_length(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, cut_and_extend);
}

static void without_tailroom(struct esp_sa *e)
{
	uint8_t wire[256];
	unsigned int len = make_wire(e, SEQ, wire), need = esp_hidden(e);

	for (unsigned int room = 0; room <= need; room++) {
		struct rte_mbuf *m = esp_packet(wire, len, 0, room);

		packet(m)->esp = (uint16_t)esp_offset(e);
		packet(m)->seq = SEQ;
		assert_int_equal(esp_unprotect(e, m), room < need ? DROP_NO_BUFFER : DROP_NONE);
		rte_pktmbuf_free(m);
	}
}

static void no_room(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, without_tailroom);
}

/* --- authentic, but with a trailer that violates RFC 4303, 2.4 --- */

static void every_next_header(struct esp_sa *e)
{
	uint8_t text[128];
	unsigned int len = make_text(e, 45, text);

	for (unsigned int next = 0; next < 256; next++) {
		enum drop_reason want = next == IPPROTO_IPIP   ? DROP_NONE
					: next == IPPROTO_NONE ? DROP_DUMMY
					: next == IPPROTO_IPV6
						? DROP_MALFORMED /* the inner packet is IPv4 */
						: DROP_ESP_PADDING;

		text[len - 1] = (uint8_t)next;
		assert_int_equal(receive_text(e, text, len), want);
	}
}

static void next_header(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, every_next_header);
}

static void every_pad_length(struct esp_sa *e)
{
	uint8_t text[128];
	unsigned int len = make_text(e, 45, text), right = text[len - 2];

	/* A packet without inner packet: zeros as in TFC padding follow it. */
	for (unsigned int pad = 0; pad < 256; pad++) {
		text[len - 2] = (uint8_t)pad;
		assert_int_equal(receive_text(e, text, len),
				 pad == right || !pad ? DROP_NONE : DROP_ESP_PADDING);
	}
}

static void pad_length(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, every_pad_length);
}

/* One block that contains only the trailer. The pad length reaches to its start, and one byte
 * beyond. */
static void only_a_trailer(struct esp_sa *e)
{
	unsigned int block = e->peer.algorithm->block;
	uint8_t text[32];

	assert_int_equal(peer_trailer(text, 0, block - 2, IPPROTO_NONE), block);
	assert_int_equal(receive_text(e, text, block), DROP_DUMMY);
	text[block - 1] = IPPROTO_IPIP;
	assert_int_equal(receive_text(e, text, block), DROP_MALFORMED);
	for (unsigned int pad = block - 1; pad < 256; pad++) {
		text[block - 2] = (uint8_t)pad;
		text[block - 1] = IPPROTO_IPIP;
		assert_int_equal(receive_text(e, text, block), DROP_ESP_PADDING);
		text[block - 1] = IPPROTO_NONE;
		assert_int_equal(receive_text(e, text, block), DROP_ESP_PADDING);
	}
}

static void pad_length_beyond_the_packet(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, only_a_trailer);
}

static void every_pad_byte(struct esp_sa *e)
{
	uint8_t text[PEER_TEXT_MAX];
	unsigned int first = 45, len, pad;

	peer_packet(text, first, 0, false);
	for (pad = peer_padding(e->peer.algorithm, first); pad + e->peer.algorithm->block < 256;)
		pad += e->peer.algorithm->block;
	len = peer_trailer(text, first, pad, IPPROTO_IPIP);
	for (unsigned int i = 0; i < pad; i++) {
		uint8_t flip = (uint8_t)(1u << i % 8);

		text[first + i] ^= flip;
		assert_int_equal(receive_text(e, text, len), DROP_ESP_PADDING);
		text[first + i] ^= flip;
	}
	assert_int_equal(receive_text(e, text, len), DROP_NONE);
}

static void pad_bytes(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, every_pad_byte);
}

/* --- authentic, but without a valid inner packet --- */

static void seal_inner(const struct esp_sa *e, const uint8_t *inner, unsigned int len,
		       enum drop_reason want)
{
	uint8_t text[128];

	memcpy(text, inner, len);
	len = peer_trailer(text, len, peer_padding(e->peer.algorithm, len), IPPROTO_IPIP);
	assert_int_equal(receive_text(e, text, len), want);
}

static void no_packet(struct esp_sa *e)
{
	uint8_t good[45], bad[45];

	peer_packet(good, sizeof(good), 0, false);
	for (unsigned int len = 0; len < sizeof(good); len++)
		seal_inner(e, good, len, DROP_MALFORMED);
	seal_inner(e, good, sizeof(good), DROP_NONE);
	/* The checksum covers each bit of the 20-byte header. */
	for (unsigned int bit = 0; bit < 20 * 8; bit++) {
		memcpy(bad, good, sizeof(bad));
		bad[bit / 8] ^= (uint8_t)(1u << bit % 8);
		seal_inner(e, bad, sizeof(bad), DROP_MALFORMED);
	}
}

static void no_packet_inside(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, no_packet);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		ESP_TEST(any_bit_flipped), ESP_TEST(wrong_high_half),
		ESP_TEST(wrong_keys),	   ESP_TEST(any_other_length),
		ESP_TEST(no_room),	   ESP_TEST(next_header),
		ESP_TEST(pad_length),	   ESP_TEST(pad_length_beyond_the_packet),
		ESP_TEST(pad_bytes),	   ESP_TEST(no_packet_inside),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, esp_fixture_start, esp_fixture_stop);
}

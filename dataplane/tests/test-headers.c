/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames by type, and IPv6 packets by their extension headers: which are accepted, also truncated at each
 * length, and what is read from them. */
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_ether.h>

#include "esp_fixture.h"
#include "ip/frame.h"
#include "ip/headers.h"

#define HEADER	  40u
#define EXTENSION 8u
#define MOST	  7u  /* extension headers in a test's packet */
#define TEXT	  12u /* behind the headers, bytes */
#define NONE	  IPPROTO_NONE

/* --- frames --- */

static enum drop_reason check_frame(uint16_t type, const uint8_t *text, unsigned int len,
				    uint64_t flags, bool *ip)
{
	uint8_t frame[64] = {0};
	enum drop_reason reason;
	struct rte_mbuf *m;

	frame[12] = (uint8_t)(type >> 8);
	frame[13] = (uint8_t)type;
	memcpy(frame + 14, text, len);
	m = esp_packet(frame, 14 + len, 0, 0);
	m->ol_flags |= flags;
	reason = frame_check(m, ip);
	rte_pktmbuf_free(m);
	return reason;
}

static void types(void **state)
{
	static const struct {
		uint16_t type;
		enum drop_reason reason;
		bool ip;
	} cases[] = {
		{0x0800, DROP_NONE, true},	 {0x86dd, DROP_NONE, true},
		{0x0806, DROP_NONE, false},	 {0x88cc, DROP_NONE, false},
		{0x8809, DROP_NONE, false},	 {0x888e, DROP_NONE, false},
		{0x8100, DROP_VLAN_TAG, false},	 {0x88a8, DROP_VLAN_TAG, false},
		{0x9100, DROP_VLAN_TAG, false},	 {0x0801, DROP_ETHERTYPE, false},
		{0x8847, DROP_ETHERTYPE, false}, {0x05dd, DROP_ETHERTYPE, false},
		{0xffff, DROP_ETHERTYPE, false},
	};
	const uint8_t text[] = {0x42, 0x42, 3};
	bool ip;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		assert_int_equal(check_frame(cases[i].type, text, sizeof(text), 0, &ip),
				 cases[i].reason);
		assert_int_equal(ip, cases[i].ip);
		/* The tag that the device has taken off counts as well. */
		assert_int_equal(check_frame(cases[i].type, text, sizeof(text),
					     RTE_MBUF_F_RX_VLAN_STRIPPED, &ip),
				 DROP_VLAN_TAG);
	}
}

/* Behind a length, both LSAPs have to be those of spanning tree or of IS-IS. */
static void llc(void **state)
{
	bool ip;

	(void)state;
	for (unsigned int a = 0; a < 256; a++) {
		for (unsigned int b = 0; b < 256; b++) {
			const uint8_t text[] = {(uint8_t)a, (uint8_t)b};
			bool good = a == b && (a == 0x42 || a == 0xfe);

			assert_int_equal(check_frame(1500, text, 2, 0, &ip),
					 good ? DROP_NONE : DROP_ETHERTYPE);
			assert_false(ip);
		}
	}
	assert_int_equal(check_frame(2, (const uint8_t[]){0x42, 0x42}, 1, 0, &ip), DROP_ETHERTYPE);
	assert_int_equal(check_frame(0, (const uint8_t[]){0x42, 0x42}, 0, 0, &ip), DROP_ETHERTYPE);
}

/* --- IPv6 --- */

/* Write a packet with these extension headers of 8 bytes each; NONE ends the list. @return length */
static unsigned int write_v6(uint8_t *ip, const uint8_t *chain, uint8_t last)
{
	unsigned int len = HEADER;
	uint8_t *proto = ip + 6;

	memset(ip, 0, HEADER + MOST * EXTENSION + TEXT);
	ip[0] = 0x60;
	ip[7] = 64;
	for (unsigned int i = 0; i < 32; i++)
		ip[8 + i] = (uint8_t)(0x20 + i);
	for (; *chain != NONE; chain++) {
		*proto = *chain;
		proto = ip + len;
		len += EXTENSION;
	}
	*proto = last;
	for (unsigned int i = 0; i < TEXT; i++)
		ip[len + i] = (uint8_t)(7 * i + 1);
	len += TEXT;
	ip[5] = (uint8_t)(len - HEADER);
	return len;
}

static enum drop_reason check_v6(const uint8_t *ip, unsigned int len)
{
	struct rte_mbuf *m = esp_packet(ip, len, 0, 0);
	enum drop_reason reason = headers_check(m, true);

	rte_pktmbuf_free(m);
	return reason;
}

static struct headers read_v6(const uint8_t *ip, unsigned int len)
{
	struct rte_mbuf *m = esp_packet(ip, len, 0, 0);
	struct headers h;

	assert_int_equal(headers_check(m, true), DROP_NONE);
	h = headers_read(m);
	assert_int_equal(packet_hides_protocol(m), h.later);
	rte_pktmbuf_free(m);
	return h;
}

#define HOP IPPROTO_HOPOPTS
#define DST IPPROTO_DSTOPTS
#define RTG IPPROTO_ROUTING
#define FRG IPPROTO_FRAGMENT

static const uint8_t good[][MOST + 1] = {
	{NONE},
	{HOP, NONE},
	{DST, NONE},
	{DST, DST, NONE},
	{RTG, NONE},
	{FRG, NONE},
	{HOP, DST, RTG, FRG, DST, NONE},
	{HOP, FRG, DST, DST, NONE},
};

static void orders(void **state)
{
	static const uint8_t bad[][MOST + 1] = {
		{HOP, HOP, NONE},
		{DST, HOP, NONE},
		{FRG, HOP, NONE},
		{RTG, RTG, NONE},
		{FRG, FRG, NONE},
		{DST, DST, DST, NONE},
		{DST, RTG, RTG, NONE},
		{HOP, DST, RTG, FRG, DST, DST, NONE},
		{HOP, DST, RTG, FRG, DST, RTG, FRG, NONE},
	};
	uint8_t ip[128];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(good); i++) {
		unsigned int len = write_v6(ip, good[i], IPPROTO_UDP);
		struct headers h = read_v6(ip, len);

		assert_int_equal(h.len, len - TEXT);
		assert_int_equal(h.proto, IPPROTO_UDP);
		assert_int_equal(ip[h.proto_at], IPPROTO_UDP);
		assert_int_equal(h.fragment_at != 0, memchr(good[i], FRG, MOST + 1) != NULL);
		assert_false(h.fragment || h.later);
	}
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		assert_int_equal(check_v6(ip, write_v6(ip, bad[i], IPPROTO_UDP)),
				 DROP_IPV6_HEADERS);
}

/* Fewer bytes than the header says are malformed; a packet that ends inside its extension headers has invalid
 * ones. The buffer ends where the packet does. */
static void truncated(void **state)
{
	uint8_t ip[128];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(good); i++) {
		unsigned int whole = write_v6(ip, good[i], IPPROTO_UDP);

		for (unsigned int len = 0; len < whole; len++)
			assert_int_equal(check_v6(ip, len), DROP_MALFORMED);
		for (unsigned int len = HEADER; len <= whole; len++) {
			ip[5] = (uint8_t)(len - HEADER);
			assert_int_equal(check_v6(ip, len),
					 len < whole - TEXT ? DROP_IPV6_HEADERS : DROP_NONE);
		}
	}
}

static void padding(void **state)
{
	static const uint8_t plain[] = {NONE};
	uint8_t ip[128];
	unsigned int len;
	struct rte_mbuf *m;

	(void)state;
	len = write_v6(ip, plain, IPPROTO_UDP);
	m = esp_packet(ip, len + 9, 0, 0);
	assert_int_equal(headers_check(m, true), DROP_NONE);
	assert_int_equal(rte_pktmbuf_pkt_len(m), len);
	rte_pktmbuf_free(m);
}

/* Each length that an extension header can claim. */
static void claimed_lengths(void **state)
{
	static const uint8_t chains[][2] = {{HOP, NONE}, {DST, NONE}, {RTG, NONE}};
	uint8_t ip[128];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(chains); i++) {
		unsigned int len = write_v6(ip, chains[i], IPPROTO_UDP);

		for (unsigned int units = 0; units < 256; units++) {
			ip[HEADER + 1] = (uint8_t)units;
			assert_int_equal(check_v6(ip, len), (units + 1) * EXTENSION <= len - HEADER
								    ? DROP_NONE
								    : DROP_IPV6_HEADERS);
		}
	}
}

static void source_routes(void **state)
{
	static const uint8_t chain[] = {RTG, NONE};
	uint8_t ip[128];
	unsigned int len;

	(void)state;
	len = write_v6(ip, chain, IPPROTO_UDP);
	for (unsigned int left = 0; left < 256; left++) {
		ip[HEADER + 3] = (uint8_t)left;
		assert_int_equal(check_v6(ip, len), left ? DROP_IPV6_HEADERS : DROP_NONE);
	}
}

/* Each value of offset and M. Extension headers behind the fragment header may be in another fragment. */
static void fragments(void **state)
{
	static const uint8_t chain[] = {HOP, FRG, NONE};
	static const uint8_t hidden[] = {FRG, DST, NONE};
	uint8_t ip[128];
	struct headers h;
	unsigned int len;

	(void)state;
	for (unsigned int field = 0; field < 65536; field += field < 64 ? 1 : 61) {
		len = write_v6(ip, chain, IPPROTO_UDP);
		ip[HEADER + EXTENSION + 2] = (uint8_t)(field >> 8);
		ip[HEADER + EXTENSION + 3] = (uint8_t)field;
		h = read_v6(ip, len);
		assert_int_equal(h.fragment_at, HEADER + EXTENSION);
		assert_int_equal(h.later, field >= 8);
		assert_int_equal(h.fragment, field >= 8 || field & 1);
		len = write_v6(ip, hidden, IPPROTO_UDP);
		ip[HEADER + 2] = (uint8_t)(field >> 8);
		ip[HEADER + 3] = (uint8_t)field;
		assert_int_equal(check_v6(ip, len),
				 field >= 8 || field & 1 ? DROP_IPV6_HEADERS : DROP_NONE);
	}
}

/* RFC 4303, 3.1.1: which headers stay in front of ESP and AH. */
static void fronts(void **state)
{
	static const struct {
		uint8_t chain[MOST + 1];
		unsigned int front; /* number of extension headers */
	} cases[] = {
		{{NONE}, 0},
		{{HOP, NONE}, 1},
		{{DST, NONE}, 0},
		{{HOP, DST, NONE}, 1},
		{{RTG, NONE}, 1},
		{{DST, RTG, NONE}, 2},
		{{DST, DST, NONE}, 0},
		{{RTG, DST, NONE}, 1},
		{{HOP, DST, RTG, DST, NONE}, 3},
		{{HOP, DST, FRG, NONE}, 3},
	};
	uint8_t ip[128];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		unsigned int len = write_v6(ip, cases[i].chain, IPPROTO_UDP);
		struct rte_mbuf *m = esp_packet(ip, len, 0, 0);
		struct headers front = headers_front(m);
		uint8_t behind = cases[i].chain[cases[i].front];

		assert_int_equal(front.len, HEADER + cases[i].front * EXTENSION);
		assert_int_equal(front.proto_at, cases[i].front ? front.len - EXTENSION : 6);
		assert_int_equal(front.proto, behind == NONE ? IPPROTO_UDP : behind);
		rte_pktmbuf_free(m);
	}
}

static void front_v4(void **state)
{
	uint8_t ip[64];
	struct headers front;
	struct rte_mbuf *m;

	(void)state;
	peer_ip(ip, 0, sizeof(ip), 1, 0, IPPROTO_TCP);
	ip[0] = 0x47;
	m = esp_packet(ip, sizeof(ip), 0, 0);
	front = headers_front(m);
	assert_int_equal(front.len, 28);
	assert_int_equal(front.proto_at, 9);
	assert_int_equal(front.proto, IPPROTO_TCP);
	rte_pktmbuf_free(m);
}

/* Computed over the pseudo-header of RFC 8200, 8.1. */
static void checksums(void **state)
{
	static const uint8_t chain[] = {HOP, DST, NONE};
	uint8_t ip[128], pseudo[40 + TEXT] = {0};
	unsigned int len;
	struct rte_mbuf *m;
	struct headers h;

	(void)state;
	len = write_v6(ip, chain, IPPROTO_UDP);
	memcpy(pseudo, ip + 8, 32);
	pseudo[35] = TEXT;
	pseudo[39] = IPPROTO_UDP;
	memcpy(pseudo + 40, ip + len - TEXT, TEXT);
	m = esp_packet(ip, len, 0, 0);
	h = headers_read(m);
	assert_int_equal(headers_checksum6(m, &h), peer_checksum(pseudo, sizeof(pseudo)));
	rte_pktmbuf_free(m);
}

/* --- link control --- */

static bool is_control(const uint8_t *chain, uint8_t proto, uint8_t type, uint8_t hops, uint8_t dst)
{
	uint8_t ip[128];
	unsigned int len = write_v6(ip, chain, proto);
	struct rte_mbuf *m;
	struct headers h;
	bool control;

	ip[7] = hops;
	ip[24] = dst;
	ip[len - TEXT] = type;
	m = esp_packet(ip, len, 0, 0);
	h = headers_read(m);
	control = headers_link_control(m, &h);
	rte_pktmbuf_free(m);
	return control;
}

/* Each type of ICMPv6, from the link and from elsewhere. */
static void control(void **state)
{
	static const uint8_t plain[] = {NONE}, alert[] = {HOP, NONE}, options[] = {DST, NONE};
	static const uint8_t fragment[] = {FRG, NONE}, late[] = {HOP, FRG, NONE};

	(void)state;
	for (unsigned int type = 0; type < 256; type++) {
		bool nd = type >= 133 && type <= 137,
		     mld = (type >= 130 && type <= 132) || type == 143;
		uint8_t t = (uint8_t)type;

		assert_int_equal(headers_icmp6_of_the_link(t), nd || mld);
		assert_int_equal(is_control(plain, IPPROTO_ICMPV6, t, 255, 0x20), nd);
		assert_false(is_control(plain, IPPROTO_ICMPV6, t, 254, 0x20));
		assert_false(is_control(plain, IPPROTO_UDP, t, 255, 0x20));
		assert_int_equal(is_control(alert, IPPROTO_ICMPV6, t, 1, 0xff), mld);
		assert_false(is_control(alert, IPPROTO_ICMPV6, t, 2, 0xff));
		assert_false(is_control(alert, IPPROTO_ICMPV6, t, 1, 0xfe));
		assert_false(is_control(alert, IPPROTO_ICMPV6, t, 255, 0x20));
		assert_false(is_control(options, IPPROTO_ICMPV6, t, 1, 0xff));
		assert_false(is_control(fragment, IPPROTO_ICMPV6, t, 255, 0x20));
		assert_false(is_control(late, IPPROTO_ICMPV6, t, 1, 0xff));
	}
	assert_false(headers_icmp6_of_the_link(256 + 133));
}

/* Of a message without a byte there is no type; of IPv4 there is no link control. */
static void no_control(void **state)
{
	static const uint8_t plain[] = {NONE};
	uint8_t ip[128];
	struct rte_mbuf *m;
	struct headers h;

	(void)state;
	write_v6(ip, plain, IPPROTO_ICMPV6);
	ip[7] = 255;
	ip[HEADER] = ND_NEIGHBOR_SOLICIT;
	ip[5] = 0;
	m = esp_packet(ip, HEADER, 0, 0);
	h = headers_read(m);
	assert_false(headers_link_control(m, &h));
	rte_pktmbuf_free(m);
	peer_ip(ip, 0, 64, 1, 0, IPPROTO_ICMPV6);
	m = esp_packet(ip, 64, 0, 0);
	h = headers_read(m);
	assert_false(headers_link_control(m, &h));
	rte_pktmbuf_free(m);
}

/* --- a packet in another buffer --- */

static void moved(void **state)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("moved", 1, 0, PACKET_PRIVATE, 512,
							   SOCKET_ID_ANY);
	uint8_t ip[64];
	struct rte_mbuf *m, *to;

	(void)state;
	assert_non_null(pool);
	peer_packet(ip, sizeof(ip), 0, false);
	m = esp_packet(ip, sizeof(ip), 0, 0);
	packet(m)->seq = 77;
	to = packet_move(m, pool);
	assert_non_null(to);
	assert_ptr_equal(to->pool, pool);
	assert_int_equal(packet(to)->seq, 77);
	assert_int_equal(rte_pktmbuf_data_len(to), sizeof(ip));
	assert_memory_equal(rte_pktmbuf_mtod(to, void *), ip, sizeof(ip));
	/* Without a buffer the packet stays where it is. */
	m = esp_packet(ip, sizeof(ip), 0, 0);
	assert_null(packet_move(m, pool));
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), ip, sizeof(ip));
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(to);
	rte_mempool_free(pool);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		ESP_TEST(types),	 ESP_TEST(llc),	      ESP_TEST(orders),
		ESP_TEST(truncated),	 ESP_TEST(padding),   ESP_TEST(claimed_lengths),
		ESP_TEST(source_routes), ESP_TEST(fragments), ESP_TEST(fronts),
		ESP_TEST(front_v4),	 ESP_TEST(checksums), ESP_TEST(control),
		ESP_TEST(no_control),	 ESP_TEST(moved),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, esp_fixture_start, esp_fixture_stop);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decrypted packets of transport mode: header, length and, behind a NAT, the checksum of TCP and UDP. */
#include <netinet/in.h>
#include <string.h>

#include "esp/esp_transport.h"
#include "esp_fixture.h"

#define REMOVED	     24u /* UDP, ESP header and IV, bytes */
#define L4	     20u
#define CHECKSUM_TCP 16u
#define CHECKSUM_UDP 6u
#define WRONG	     0x1234

/* A packet after the device, L4 with a wrong checksum. @param options  bytes of an IPv4 header's options */
static struct rte_mbuf *decrypted(bool v6, unsigned int options, const uint8_t *l4,
				  unsigned int len, bool udp)
{
	unsigned int front = v6 ? 40 : 20 + options;
	uint8_t data[160] = {0};
	struct rte_mbuf *m;

	data[0] = (uint8_t)(v6 ? 0x60 : 0x45 + options / 4);
	data[v6 ? 5 : 3] = (uint8_t)(v6 ? REMOVED + len : front + REMOVED + len);
	data[v6 ? 6 : 9] = IPPROTO_UDP;
	data[v6 ? 7 : 8] = 64;
	for (unsigned int i = 0; i < (v6 ? 32u : 8u); i++)
		data[(v6 ? 8 : 12) + i] = (uint8_t)(0x20 + 3 * i);
	memset(data + front, 0xee, REMOVED);
	memcpy(data + front + REMOVED, l4, len);
	m = esp_packet(data, front + REMOVED + len, 0, 0);
	memset(packet(m), 0, sizeof(struct packet));
	packet(m)->udp = udp;
	return m;
}

/* Close a packet and check its header. @return its L4 header */
static const uint8_t *close_one(struct rte_mbuf *m, unsigned int len, uint8_t proto)
{
	bool v6 = packet_family(m) == AF_INET6;
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned int front = v6 ? 40 : (ip[0] & 15u) * 4;

	assert_int_equal(esp_transport_close(m, front + REMOVED, proto), DROP_NONE);
	ip = rte_pktmbuf_mtod(m, const uint8_t *);
	assert_int_equal(rte_pktmbuf_data_len(m), front + len);
	assert_int_equal(ip[v6 ? 5 : 3], v6 ? len : front + len);
	assert_int_equal(ip[v6 ? 6 : 9], proto);
	assert_true(v6 || peer_checksum(ip, front) == 0);
	return ip + front;
}

/* The checksum over the pseudo-header; 0: it is right. */
static uint16_t sum_of(struct rte_mbuf *m, const uint8_t *l4, unsigned int len, uint8_t proto)
{
	bool v6 = packet_family(m) == AF_INET6;
	unsigned int addrs = v6 ? 32 : 8;
	uint8_t pseudo[40 + L4] = {0};

	memcpy(pseudo, rte_pktmbuf_mtod_offset(m, uint8_t *, v6 ? 8 : 12), addrs);
	pseudo[35] = (uint8_t)len;
	pseudo[39] = proto;
	memcpy(pseudo + 40, l4, len);
	return peer_checksum(pseudo, 40 + (len + 1) / 2 * 2);
}

static void write_l4(uint8_t l4[L4], unsigned int len, unsigned int checksum_at, uint16_t checksum)
{
	for (unsigned int i = 0; i < L4; i++)
		l4[i] = (uint8_t)(5 * i + 1);
	l4[4] = 0; /* UDP's length */
	l4[5] = (uint8_t)len;
	memcpy(l4 + checksum_at, &checksum, sizeof(checksum));
}

/* RFC 3948, 3.1.2: behind a NAT the checksum is computed anew, in both families, also behind options. */
static void fixed(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		bool v6 = i % 3 == 2, tcp = i < 3;
		uint8_t proto = tcp ? IPPROTO_TCP : IPPROTO_UDP, l4[L4];
		struct rte_mbuf *m;
		const uint8_t *got;

		write_l4(l4, L4, tcp ? CHECKSUM_TCP : CHECKSUM_UDP, WRONG);
		m = decrypted(v6, i % 3 == 1 ? 8 : 0, l4, L4, true);
		got = close_one(m, L4, proto);
		assert_int_equal(sum_of(m, got, L4, proto), 0);
		assert_memory_equal(got, l4, tcp ? CHECKSUM_TCP : CHECKSUM_UDP);
		rte_pktmbuf_free(m);
	}
}

/* Without UDP encapsulation, of other protocols, and of UDP whose sender computed none, nothing is changed. */
static void kept(void **state)
{
	static const struct {
		uint8_t proto;
		bool udp;
		uint16_t checksum; /* at UDP's place */
	} cases[] = {
		{IPPROTO_TCP, false, WRONG}, {IPPROTO_UDP, false, WRONG}, {IPPROTO_UDP, true, 0},
		{IPPROTO_ICMP, true, WRONG}, {IPPROTO_GRE, true, WRONG},
	};

	(void)state;
	for (unsigned int i = 0; i < 2 * RTE_DIM(cases); i++) {
		uint8_t l4[L4];
		struct rte_mbuf *m;

		write_l4(l4, L4, CHECKSUM_UDP, cases[i / 2].checksum);
		m = decrypted(i & 1, 0, l4, L4, cases[i / 2].udp);
		assert_memory_equal(close_one(m, L4, cases[i / 2].proto), l4, L4);
		rte_pktmbuf_free(m);
	}
}

/* Truncated at each length: what has no whole header stays as it is. The buffer ends where the packet does. */
static void truncated(void **state)
{
	(void)state;
	for (unsigned int len = 0; len < L4; len++) {
		for (unsigned int i = 0; i < 4; i++) {
			uint8_t proto = i & 1 ? IPPROTO_TCP : IPPROTO_UDP, l4[L4];
			struct rte_mbuf *m;
			const uint8_t *got;

			write_l4(l4, len, CHECKSUM_UDP, WRONG);
			m = decrypted(i & 2, 0, l4, len, true);
			got = close_one(m, len, proto);
			if (proto == IPPROTO_TCP || len < 8)
				assert_memory_equal(got, l4, len);
			else
				assert_int_equal(sum_of(m, got, len, proto), 0);
			rte_pktmbuf_free(m);
		}
	}
}

/* Extension headers inside ESP are checked like those in front of it. */
static void inner_headers(void **state)
{
	uint8_t l4[L4] = {IPPROTO_UDP};
	struct rte_mbuf *m;

	(void)state;
	for (unsigned int units = 0; units < 256; units++) {
		l4[1] = (uint8_t)units;
		m = decrypted(true, 0, l4, L4, false);
		assert_int_equal(esp_transport_close(m, 40 + REMOVED, IPPROTO_DSTOPTS),
				 (units + 1) * 8 <= L4 ? DROP_NONE : DROP_IPV6_HEADERS);
		rte_pktmbuf_free(m);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		ESP_TEST(fixed),
		ESP_TEST(kept),
		ESP_TEST(truncated),
		ESP_TEST(inner_headers),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, esp_fixture_start, esp_fixture_stop);
}

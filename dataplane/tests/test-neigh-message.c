/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of ARP and of neighbour discovery, also if it is cut off at any byte. */
#include <netinet/in.h>
#include <string.h>

#include <rte_ether.h>

#include "esp_fixture.h"
#include "ip/neigh_message.h"

#define ARP	28u
#define SOLICIT 24u /* without options */

static bool read_arp(const uint8_t *frame, unsigned int len, struct neigh_message *said)
{
	struct rte_mbuf *m = esp_packet(frame, len, 0, 0);
	bool is = neigh_message_arp(m, said);

	rte_pktmbuf_free(m);
	return is;
}

/* A frame in which 192.0.2.1 asks for 192.0.2.2. */
static void arp_request(uint8_t *frame)
{
	static const uint8_t type[] = {8, 6}, fixed[] = {0, 1, 8, 0, 6, 4, 0, 1};
	static const uint8_t from[] = {192, 0, 2, 1}, to[] = {192, 0, 2, 2};

	memset(frame, 0xee, RTE_ETHER_HDR_LEN + ARP);
	memcpy(frame + 12, type, sizeof(type));
	memcpy(frame + 14, fixed, sizeof(fixed));
	memcpy(frame + 28, from, sizeof(from));
	memcpy(frame + 38, to, sizeof(to));
}

static void arp(void **state)
{
	uint8_t frame[RTE_ETHER_HDR_LEN + ARP];
	struct neigh_message said;

	(void)state;
	arp_request(frame);
	assert_true(read_arp(frame, sizeof(frame), &said));
	assert_int_equal(said.af, AF_INET);
	assert_true(said.asks);
	assert_int_equal(said.sender.v4, htonl(0xc0000201));
	assert_int_equal(said.target.v4, htonl(0xc0000202));
	frame[21] = 2; /* a reply */
	assert_true(read_arp(frame, sizeof(frame), &said));
	assert_false(said.asks);
	for (unsigned int len = RTE_ETHER_HDR_LEN; len < sizeof(frame); len++)
		assert_false(read_arp(frame, len, &said));
}

/* Another protocol, hardware, or length of addresses: each byte that says so. */
static void no_arp(void **state)
{
	uint8_t frame[RTE_ETHER_HDR_LEN + ARP];
	struct neigh_message said;

	(void)state;
	for (unsigned int at = 12; at < 20; at++) {
		arp_request(frame);
		frame[at] ^= 1;
		assert_false(read_arp(frame, sizeof(frame), &said));
	}
}

/* An ICMPv6 message from fe80::1 about fe80::2. */
static unsigned int icmp6(uint8_t *ip, uint8_t type)
{
	static const uint8_t from[16] = {0xfe, 0x80, [15] = 1}, about[16] = {0xfe, 0x80, [15] = 2};

	memset(ip, 0, 40 + SOLICIT);
	ip[0] = 0x60;
	ip[5] = SOLICIT;
	ip[6] = IPPROTO_ICMPV6;
	memcpy(ip + 8, from, sizeof(from));
	memcpy(ip + 24, about, sizeof(about));
	ip[40] = type;
	memcpy(ip + 48, about, sizeof(about));
	return 40 + SOLICIT;
}

static struct neigh_message read_icmp6(const uint8_t *ip, unsigned int len)
{
	const struct headers h = {.len = 40};
	struct rte_mbuf *m = esp_packet(ip, len, 0, 0);
	struct neigh_message said;

	neigh_message_icmp6(m, &h, &said);
	rte_pktmbuf_free(m);
	assert_int_equal(said.af, AF_INET6);
	return said;
}

static void expect(const struct cygnet_addr *addr, const uint8_t *bytes)
{
	assert_memory_equal(addr, bytes, sizeof(*addr));
}

static void discovery(void **state)
{
	uint8_t ip[40 + SOLICIT];
	unsigned int len = icmp6(ip, 135);
	struct neigh_message said;

	(void)state;
	said = read_icmp6(ip, len);
	assert_true(said.asks);
	expect(&said.sender, ip + 8);
	expect(&said.target, ip + 48);
	/* An advertisement is about the address that it advertises, other messages about who sends them. */
	icmp6(ip, 136);
	said = read_icmp6(ip, len);
	assert_false(said.asks);
	expect(&said.sender, ip + 48);
	icmp6(ip, 133);
	said = read_icmp6(ip, len);
	assert_false(said.asks);
	expect(&said.sender, ip + 8);
	/* One that is cut off says nothing else than who sends it. */
	icmp6(ip, 135);
	for (len = 41; len < sizeof(ip); len++) {
		said = read_icmp6(ip, len);
		assert_false(said.asks);
		expect(&said.sender, ip + 8);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		ESP_TEST(arp),
		ESP_TEST(no_arp),
		ESP_TEST(discovery),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, esp_fixture_start, esp_fixture_stop);
}

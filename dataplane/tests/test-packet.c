/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv4 headers: what is one, its selectors, its TTL. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_random.h>

#include "esp_fixture.h"
#include "ip/headers.h"
#include "ip/l4.h"
#include "path/fast/flow.h"

static void fix_checksum(uint8_t *ip)
{
	uint16_t checksum;

	memset(ip + 10, 0, 2);
	checksum = peer_checksum(ip, (ip[0] & 0xfu) * 4);
	memcpy(ip + 10, &checksum, 2);
}

static bool check(const uint8_t *data, unsigned int len, bool verify, unsigned int *left)
{
	struct rte_mbuf *m = esp_packet(data, len, 0, 0);
	bool good = packet_check_ip(m, verify);

	*left = rte_pktmbuf_pkt_len(m);
	assert_int_equal(rte_pktmbuf_data_len(m), *left);
	rte_pktmbuf_free(m);
	return good;
}

/* Each length of header and packet in a frame of 64 bytes. */
static void lengths(void **state)
{
	uint8_t frame[64];
	unsigned int left;

	(void)state;
	for (unsigned int ihl = 0; ihl < 16; ihl++) {
		for (unsigned int total = 0; total <= sizeof(frame) + 2; total++) {
			bool good = ihl >= 5 && ihl * 4 <= total && total <= sizeof(frame);

			peer_packet(frame, sizeof(frame), 0, false);
			frame[0] = (uint8_t)(0x40 | ihl);
			frame[2] = 0;
			frame[3] = (uint8_t)total;
			fix_checksum(frame);
			assert_int_equal(check(frame, sizeof(frame), true, &left), good);
			/* Ethernet padding is trimmed only behind a complete packet. */
			assert_int_equal(left, good ? total : sizeof(frame));
		}
	}
}

static void versions(void **state)
{
	uint8_t frame[40];
	unsigned int left;

	(void)state;
	peer_packet(frame, sizeof(frame), 0, false);
	for (unsigned int version = 0; version < 16; version++) {
		frame[0] = (uint8_t)(version << 4 | 5);
		fix_checksum(frame);
		assert_int_equal(check(frame, sizeof(frame), true, &left), version == 4);
		assert_int_equal(check(frame, sizeof(frame), false, &left), version == 4);
	}
}

static void cut(void **state)
{
	uint8_t frame[60];
	unsigned int left;

	(void)state;
	peer_packet(frame, sizeof(frame), 0, false);
	for (unsigned int len = 0; len < sizeof(frame); len++) {
		assert_false(check(frame, len, true, &left));
		assert_false(check(frame, len, false, &left));
	}
	assert_true(check(frame, sizeof(frame), true, &left));
}

/* Options are part of the checksum, which is verified only if asked for. */
static void checksums(void **state)
{
	uint8_t frame[60];
	unsigned int left;

	(void)state;
	peer_packet(frame, sizeof(frame), 0, false);
	frame[0] = 0x4a;
	fix_checksum(frame);
	for (unsigned int bit = 32; bit < 40 * 8; bit++) {
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(check(frame, sizeof(frame), true, &left));
		assert_true(check(frame, sizeof(frame), false, &left));
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_true(check(frame, sizeof(frame), true, &left));
}

static void check_ttl(uint8_t from, uint16_t id)
{
	struct rte_ipv4_hdr ip, want;

	peer_ip((uint8_t *)&ip, 0, 20, id, 0, IPPROTO_UDP);
	ip.time_to_live = from;
	fix_checksum((uint8_t *)&ip);
	want = ip;
	if (from > 1) {
		want.time_to_live--;
		fix_checksum((uint8_t *)&want);
	}
	assert_int_equal(packet_decrement_ttl(&ip), from > 1);
	assert_memory_equal(&ip, &want, sizeof(ip));
}

/* The result equals a newly written header, for each TTL and each checksum (varied by the
 * identification; RFC 1624 is about one of them). */
static void ttl(void **state)
{
	static const uint8_t some[] = {1, 2, 64, 255};

	(void)state;
	for (unsigned int i = 0; i < 256; i++)
		check_ttl((uint8_t)i, 1);
	for (unsigned int i = 0; i < RTE_DIM(some) * 65536; i++)
		check_ttl(some[i / 65536], (uint16_t)i);
}

/* --- selectors --- */

static struct cygnet_flow selectors_of(uint8_t proto, uint16_t fragment, unsigned int options,
				       unsigned int payload)
{
	uint8_t data[128] = {0};
	struct cygnet_flow flow;
	struct rte_mbuf *m;

	peer_ip(data, 0, (uint16_t)(20 + options + payload), 1, fragment, proto);
	data[0] = (uint8_t)(0x45 + options / 4);
	memcpy(data + 20 + options, (uint8_t[]){0x12, 0x34, 0x56, 0x78}, 4);
	fix_checksum(data);
	m = esp_packet(data, 20 + options + payload, 0, 0);
	packet_flow(m, &flow);
	rte_pktmbuf_free(m);
	assert_int_equal(flow.src.v4, inet_addr("192.0.2.2"));
	assert_int_equal(flow.dst.v4, inet_addr("192.0.2.1"));
	assert_int_equal(flow.interface, 0);
	assert_int_equal(flow.af, AF_INET);
	assert_int_equal(flow.proto, proto);
	return flow;
}

static void assert_ports(struct cygnet_flow flow, bool has, uint16_t sport, uint16_t dport)
{
	assert_int_equal(flow.has_ports, has);
	assert_int_equal(flow.sport, sport);
	assert_int_equal(flow.dport, dport);
}

static void ports_of_every_protocol(void **state)
{
	(void)state;
	for (unsigned int proto = 0; proto < 256; proto++) {
		bool ports = proto == IPPROTO_TCP || proto == IPPROTO_UDP ||
			     proto == IPPROTO_SCTP || proto == IPPROTO_DCCP ||
			     proto == IPPROTO_UDPLITE;
		struct cygnet_flow flow = selectors_of((uint8_t)proto, 0, 0, 8);

		if (proto == IPPROTO_ICMP)
			assert_ports(flow, true, 0x12, 0x34);
		else
			assert_ports(flow, ports, ports ? 0x1234 : 0, ports ? 0x5678 : 0);
	}
	assert_ports(selectors_of(IPPROTO_UDP, 0, 40, 8), true, 0x1234, 0x5678);
}

/* No byte beyond the packet is read: it ends where its buffer does. */
static void ports_cut_off(void **state)
{
	(void)state;
	for (unsigned int payload = 0; payload < 6; payload++) {
		struct cygnet_flow udp = selectors_of(IPPROTO_UDP, 0, 0, payload);
		struct cygnet_flow icmp = selectors_of(IPPROTO_ICMP, 0, 0, payload);
		struct cygnet_flow gre = selectors_of(IPPROTO_GRE, 0, 0, payload);

		assert_int_equal(packet_hides_ports(&udp), payload < 4);
		assert_int_equal(packet_hides_ports(&icmp), payload < 2);
		assert_false(packet_hides_ports(&gre));
		assert_int_equal(selectors_of(IPPROTO_TCP, 0, 0, payload).has_ports, payload >= 4);
		assert_int_equal(selectors_of(IPPROTO_ICMP, 0, 0, payload).has_ports, payload >= 2);
	}
}

static void ports_of_fragments(void **state)
{
	(void)state;
	/* The first fragment has the ports. DF and the reserved bit do not matter. */
	assert_ports(selectors_of(IPPROTO_UDP, 0x2000, 0, 8), true, 0x1234, 0x5678);
	assert_ports(selectors_of(IPPROTO_UDP, 0xc000, 0, 8), true, 0x1234, 0x5678);
	for (unsigned int offset = 1; offset < 0x2000; offset++) {
		assert_ports(selectors_of(IPPROTO_UDP, (uint16_t)offset, 0, 8), false, 0, 0);
		assert_ports(selectors_of(IPPROTO_ICMP, (uint16_t)(0x2000 | offset), 0, 8), false,
			     0, 0);
	}
}

/* --- flow keys --- */

/* @return whether the packet has a flow */
static bool both_of(const uint8_t *data, unsigned int len, struct flow_key *key,
		    struct cygnet_flow *flow)
{
	struct rte_mbuf *m = esp_packet(data, len, 0, 0);
	bool has = headers_check(m, false) == DROP_NONE &&
		   flow_of(rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m),
			   PACKET_FROM_INTERFACE(0), key);

	if (has)
		packet_flow(m, flow);
	rte_pktmbuf_free(m);
	return has;
}

/* Any packet of that protocol, with 8 bytes behind its IP header. @return bytes */
static unsigned int any_packet(bool v6, uint8_t proto, uint8_t *data)
{
	unsigned int header = v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);

	for (unsigned int i = 0; i < header + 8; i++)
		data[i] = (uint8_t)rte_rand();
	data[0] = v6 ? 0x60 : 0x45;
	data[v6 ? 4 : 2] = 0;
	data[v6 ? 5 : 3] = (uint8_t)(v6 ? 8 : header + 8);
	data[v6 ? 6 : 9] = proto;
	if (!v6)
		data[6] = data[7] = 0;
	return header + 8;
}

#define FLOW_BYTES (offsetof(struct cygnet_flow, fragment) + 1)
_Static_assert(FLOW_BYTES == 2 * sizeof(struct cygnet_addr) + 2 * 2 + 4 + 4, "no padding in it");

/* Invert one bit. @return number of these packets that have the same flow */
static unsigned int check_relatives(uint8_t *data, unsigned int len)
{
	struct flow_key key, other_key;
	struct cygnet_flow flow, other;
	unsigned int same = 0;

	if (!both_of(data, len, &key, &flow))
		return 0;
	for (unsigned int bit = 0; bit < len * 8; bit++) {
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (both_of(data, len, &other_key, &other) && flow_same(&key, &other_key)) {
			assert_memory_equal(&flow, &other, FLOW_BYTES);
			same++;
		}
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	return same;
}

/* A decision about a packet holds for its whole flow, because no policy distinguishes its
 * packets. The few bits of each header that are not part of the key (TTL, checksums) show that
 * some packets share a flow. */
static void one_flow_has_one_policy(void **state)
{
	uint8_t data[64];

	(void)state;
	for (unsigned int proto = 0; proto < 256; proto++) {
		for (int v6 = 0; v6 <= 1; v6++) {
			unsigned int len = any_packet(v6, (uint8_t)proto, data);

			assert_true(check_relatives(data, len) > 8 ||
				    (v6 && l4_is_extension((uint8_t)proto)));
		}
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		ESP_TEST(lengths),
		ESP_TEST(versions),
		ESP_TEST(cut),
		ESP_TEST(checksums),
		ESP_TEST(ttl),
		ESP_TEST(ports_of_every_protocol),
		ESP_TEST(ports_cut_off),
		ESP_TEST(ports_of_fragments),
		ESP_TEST(one_flow_has_one_policy),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, esp_fixture_start, esp_fixture_stop);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets to this host: ESP and AH of SAs and of unknown SPIs, ESP in UDP, keepalives, IKE, link control and
 * policies, also truncated at each length. */
#include <netinet/in.h>
#include <string.h>

#include "base/sadb.h"
#include "gateway_fixture.h"
#include "host/interface.h"
#include "worker_fixture.h"

#define TEXT 40u /* bytes behind the UDP header */
#define NATT 4500

static struct worker *w = &workers[0];

static int setup(void **state)
{
	(void)state;
	gateway_open(w, 16);
	return 0;
}

static int teardown(void **state)
{
	unsigned int idle;

	(void)state;
	gateway_close(w);
	idle = rte_mempool_in_use_count(esp_packets);
	assert_int_equal(idle, 0);
	return 0;
}

/* Write an IP packet from the peer to this host. @return length */
static unsigned int write_ip(uint8_t *ip, bool v6, uint8_t proto, const uint8_t *text,
			     unsigned int len)
{
	static const uint8_t net6[] = {0x20, 0x01, 0x0d, 0xb8}, peer4[] = {192, 0, 2, 2};
	static const uint8_t own4[] = {192, 0, 2, 1};
	unsigned int front = v6 ? 40 : 20;
	uint16_t sum;

	memset(ip, 0, front);
	ip[0] = v6 ? 0x60 : 0x45;
	ip[v6 ? 5 : 3] = (uint8_t)(v6 ? len : front + len);
	ip[v6 ? 6 : 9] = proto;
	ip[v6 ? 7 : 8] = 64;
	if (v6) {
		memcpy(ip + 8, net6, sizeof(net6));
		memcpy(ip + 24, net6, sizeof(net6));
		ip[23] = 2;
		ip[39] = 1;
	} else {
		memcpy(ip + 12, peer4, sizeof(peer4));
		memcpy(ip + 16, own4, sizeof(own4));
		sum = peer_checksum(ip, front);
		memcpy(ip + 10, &sum, sizeof(sum));
	}
	memcpy(ip + front, text, len);
	return front + len;
}

static void receive(bool v6, uint8_t proto, const uint8_t *text, unsigned int len)
{
	uint8_t ip[256];
	struct rte_mbuf *m;

	len = write_ip(ip, v6, proto, text, len);
	m = gateway_frame_in(ip, len, GATEWAY_WAN, 0, 0);
	worker_receive(w, &m, 1, GATEWAY_WAN);
	esp_worker_finish(w);
}

static void datagram(bool v6, uint16_t port, const uint8_t *data, unsigned int len)
{
	uint8_t text[128] = {port >> 8, (uint8_t)port,	   port >> 8, (uint8_t)port,
			     0,		(uint8_t)(8 + len)};

	memcpy(text + 8, data, len);
	receive(v6, IPPROTO_UDP, text, 8 + len);
}

/* An IKE_SA_INIT request of TEXT bytes behind a non-ESP marker. */
static void write_ike(uint8_t data[4 + TEXT])
{
	memset(data, 0, 4 + TEXT);
	memset(data + 4, 1, 8);
	data[4 + 17] = 0x20;
	data[4 + 27] = TEXT;
}

static uint64_t dropped(enum drop_reason reason)
{
	return w->stats->drop[reason];
}

/* Without an SA: at each length too short for SPI and sequence number, then of an unknown SPI. */
static void protected(void **state)
{
	uint8_t text[32];

	(void)state;
	memset(text, 0x77, sizeof(text));
	for (unsigned int v6 = 0; v6 < 2; v6++) {
		for (unsigned int len = 0; len < sizeof(text); len++) {
			enum drop_reason esp = len < 8 ? DROP_ESP_TRUNCATED : DROP_BAD_SPI;
			enum drop_reason ah = len < 12 ? DROP_AH_TRUNCATED : DROP_BAD_SPI;
			uint64_t before = dropped(esp);

			receive(v6, IPPROTO_ESP, text, len);
			assert_int_equal(dropped(esp), before + 1);
			before = dropped(ah);
			receive(v6, IPPROTO_AH, text, len);
			assert_int_equal(dropped(ah), before + 1);
		}
	}
	assert_int_equal(w->tap[GATEWAY_WAN].n, 0);
}

/* At charon's port for NAT-T, at each length. */
static void natt(void **state)
{
	uint8_t data[TEXT];

	(void)state;
	memset(data, 0x77, sizeof(data));
	for (unsigned int v6 = 0; v6 < 2; v6++) {
		for (unsigned int len = 0; len <= TEXT; len++) {
			enum drop_reason reason = len < 8 ? DROP_ESP_TRUNCATED : DROP_BAD_SPI;
			uint64_t before = dropped(reason);

			datagram(v6, NATT, data, len);
			assert_int_equal(dropped(reason), before + 1);
		}
	}
	assert_int_equal(w->stats->keepalives, 0);
	assert_int_equal(w->tap[GATEWAY_WAN].n, 0);
}

/* Each single byte: only 0xff is a keepalive (RFC 3948, 2.3). */
static void keepalives(void **state)
{
	(void)state;
	for (unsigned int byte = 0; byte < 256; byte++) {
		const uint8_t data[] = {(uint8_t)byte};

		datagram(byte & 1, NATT, data, 1);
	}
	assert_int_equal(w->stats->keepalives, 1);
	assert_int_equal(dropped(DROP_ESP_TRUNCATED), 255);
	assert_int_equal(w->tap[GATEWAY_WAN].n, 0);
}

/* The length in the UDP header has to be that of the packet. */
static void udp_lengths(void **state)
{
	uint8_t text[8 + TEXT] = {NATT >> 8, NATT & 255, NATT >> 8, NATT & 255};

	(void)state;
	memset(text + 8, 0x77, TEXT);
	for (unsigned int len = 0; len < 256; len++) {
		text[5] = (uint8_t)len;
		receive(false, IPPROTO_UDP, text, sizeof(text));
	}
	assert_int_equal(dropped(DROP_MALFORMED), 255);
	assert_int_equal(dropped(DROP_BAD_SPI), 1);
}

static void discard_all(bool v6)
{
	struct cygnet_policy_params policy = {
		.sel = {.sport_hi = UINT16_MAX,
			.dport_hi = UINT16_MAX,
			.af = v6 ? AF_INET6 : AF_INET},
		.dir = CYGNET_IN,
		.action = CYGNET_DISCARD,
		.af = v6 ? AF_INET6 : AF_INET,
	};

	memset(&policy.sel.src_hi, 0xff, v6 ? 16 : 4);
	memset(&policy.sel.dst_hi, 0xff, v6 ? 16 : 4);
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
}

/* Policies do not apply to IKE, at whichever port, and apply to what is not IKE there. */
static void ike(void **state)
{
	uint8_t data[4 + TEXT];
	unsigned int passed = 0, discarded = 0;

	(void)state;
	for (unsigned int v6 = 0; v6 < 2; v6++) {
		discard_all(v6);
		write_ike(data);
		datagram(v6, NATT, data, 4 + TEXT);
		assert_int_equal(w->tap[GATEWAY_WAN].n, ++passed);
		datagram(v6, 500, data + 4, TEXT);
		assert_int_equal(w->tap[GATEWAY_WAN].n, ++passed);
		datagram(v6, 501, data + 4, TEXT);
		assert_int_equal(dropped(DROP_POLICY_DISCARD), ++discarded);
		data[4 + 17] = 0x30; /* no version of IKE */
		datagram(v6, NATT, data, 4 + TEXT);
		datagram(v6, 500, data + 4, TEXT);
		discarded += 2;
		assert_int_equal(dropped(DROP_POLICY_DISCARD), discarded);
	}
	assert_int_equal(w->tap[GATEWAY_WAN].n, passed);
}

/* IKE to port 500, its datagram truncated at each length: policies apply to all of it but a whole message. */
static void ike_truncated(void **state)
{
	uint8_t data[4 + TEXT];

	(void)state;
	discard_all(false);
	write_ike(data);
	for (unsigned int len = 0; len < TEXT; len++)
		datagram(false, 500, data + 4, len);
	assert_int_equal(dropped(DROP_POLICY_DISCARD), TEXT);
	assert_int_equal(w->tap[GATEWAY_WAN].n, 0);
}

/* Policies do not apply to neighbour discovery of the link, but to other ICMPv6. */
static void link_control(void **state)
{
	const uint8_t text[8] = {135};
	struct rte_mbuf *m;
	uint8_t ip[128];

	(void)state;
	discard_all(true);
	for (unsigned int hops = 254; hops < 256; hops++) {
		unsigned int len = write_ip(ip, true, IPPROTO_ICMPV6, text, sizeof(text));

		ip[7] = (uint8_t)hops;
		m = gateway_frame_in(ip, len, GATEWAY_WAN, 0, 0);
		worker_receive(w, &m, 1, GATEWAY_WAN);
		assert_int_equal(w->tap[GATEWAY_WAN].n, hops == 255);
	}
	assert_int_equal(dropped(DROP_POLICY_DISCARD), 1);
}

/* What no policy matches goes to the kernel as it came, in the frame that it came in. */
static void plaintext(void **state)
{
	const uint8_t text[8] = {8, 0, 1, 2, 3, 4, 5, 6};
	uint8_t ip[64];
	unsigned int len;
	struct rte_mbuf *m;

	(void)state;
	receive(false, IPPROTO_ICMP, text, sizeof(text));
	assert_int_equal(w->tap[GATEWAY_WAN].n, 1);
	m = w->tap[GATEWAY_WAN].m[0];
	len = write_ip(ip, false, IPPROTO_ICMP, text, sizeof(text));
	assert_int_equal(rte_pktmbuf_data_len(m), 14 + len);
	assert_memory_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, 14), ip, len);
	discard_all(false);
	receive(false, IPPROTO_ICMP, text, sizeof(text));
	assert_int_equal(w->tap[GATEWAY_WAN].n, 1);
	assert_int_equal(dropped(DROP_POLICY_DISCARD), 1);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(protected), TEST(natt),	      TEST(keepalives),	  TEST(udp_lengths),
		TEST(ike),	 TEST(ike_truncated), TEST(link_control), TEST(plaintext),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, gateway_start, gateway_stop);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Path MTU of an SA reported by routers: how long and how often it is accepted, and how much of
 * the packet a router has to quote. */
#include <arpa/inet.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <string.h>

#include "base/changes.h"
#include "base/clock.h"
#include "base/sadb.h"
#include "esp/path_mtu.h"
#include "esp_fixture.h"
#include "ip/headers.h"
#include "path/too_big.h"
#include "path/worker/worker.h"

#define LINK   1500u
#define SENT   1450u /* the packet that was too big, bytes */
#define AROUND (sizeof(struct rte_ipv4_hdr) + sizeof(struct icmphdr))
#define NEEDED (sizeof(struct rte_ipv4_hdr) + 2 * sizeof(uint32_t))
#define LAST   (1u << 23) /* number that the SA has sent */

static struct worker *w = &workers[0];
static struct esp_sa e;
static uint32_t number; /* of the packet that is quoted */

static int start(void **state)
{
	if (esp_fixture_start(state))
		return -1;
	*w = (struct worker){.workers = 1, .packets = esp_packets, .stats = &stats[0]};
	return 0;
}

static int setup(void **state)
{
	(void)state;
	clock_now += 10000;
	memset(w->stats, 0, sizeof(*w->stats));
	esp_sa_any(&e, &esp_algorithms[0], 0);
	e.sa->seq = number = LAST;
	return 0;
}

static int clean(void **state)
{
	return esp_fixture_clean(state);
}

/* The error about a packet of the SA that quotes so many bytes of it. */
static struct rte_mbuf *too_big(uint16_t mtu, unsigned int quoted)
{
	const struct cygnet_path *path = cygnet_sa_path(e.sa);
	uint8_t bytes[AROUND + sizeof(struct rte_ipv4_hdr) + 8] = {0};
	struct rte_ipv4_hdr ip = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = htons((uint16_t)(AROUND + quoted)),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_ICMP,
		.dst_addr = path->src.v4,
	};
	const struct rte_ipv4_hdr sent = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = htons(SENT),
		.time_to_live = 1,
		.next_proto_id = IPPROTO_ESP,
		.src_addr = path->src.v4,
		.dst_addr = path->dst.v4,
	};
	struct icmphdr icmp = {.type = ICMP_DEST_UNREACH, .code = ICMP_FRAG_NEEDED};
	const uint32_t seq = htonl(number);
	uint8_t *quote = bytes + AROUND;

	memcpy(bytes, &ip, sizeof(ip));
	memcpy(quote, &sent, sizeof(sent));
	memcpy(quote + sizeof(sent), &e.sa->spi, sizeof(e.sa->spi));
	memcpy(quote + sizeof(sent) + sizeof(e.sa->spi), &seq, sizeof(seq));
	icmp.un.frag.mtu = htons(mtu);
	memcpy(bytes + sizeof(ip), &icmp, sizeof(icmp));
	icmp.checksum = (uint16_t)~rte_raw_cksum(bytes + sizeof(ip), sizeof(icmp) + quoted);
	memcpy(bytes + sizeof(ip), &icmp, sizeof(icmp));
	return esp_packet(bytes, (unsigned int)AROUND + quoted, 0, 0);
}

static void hear(uint16_t mtu, unsigned int quoted)
{
	struct rte_mbuf *m = too_big(mtu, quoted);
	struct headers h = headers_read(m);

	too_big_learn(w, m, &h);
	rte_pktmbuf_free(m);
}

static void forgotten(void **state)
{
	(void)state;
	assert_int_equal(path_mtu(e.sa, LINK), LINK);
	hear(1400, NEEDED);
	assert_int_equal(path_mtu(e.sa, LINK), 1400);
	clock_now += PATH_MTU_FORGET - 1;
	assert_int_equal(path_mtu(e.sa, LINK), 1400);
	clock_now++;
	assert_int_equal(path_mtu(e.sa, LINK), LINK);
	/* The path MTU may have grown meanwhile. */
	hear(1420, NEEDED);
	assert_int_equal(path_mtu(e.sa, LINK), 1420);
	/* A time in the future is ignored. */
	clock_now -= 5;
	assert_int_equal(path_mtu(e.sa, LINK), LINK);
}

static void only_down(void **state)
{
	(void)state;
	hear(1400, NEEDED);
	clock_now += PATH_MTU_FORGET - 1;
	hear(1420, NEEDED);
	assert_int_equal(path_mtu(e.sa, LINK), 1400);
	hear(1400, NEEDED); /* repeated: holds for the full time again */
	clock_now += PATH_MTU_FORGET - 1;
	assert_int_equal(path_mtu(e.sa, LINK), 1400);
	hear(576, NEEDED);
	assert_int_equal(path_mtu(e.sa, LINK), 576);
	/* The link now has the smallest MTU. */
	assert_int_equal(path_mtu(e.sa, 570), 570);
	assert_int_equal(w->stats->too_big_ignored, 0);
}

/* @return whether an error about the packet with that number is believed */
static bool is_believed(uint32_t quoted)
{
	uint64_t before = w->stats->too_big_learned;

	number = quoted;
	hear(1400, NEEDED);
	return w->stats->too_big_learned > before;
}

/* The number is among those that the SA has sent in the last second or so. */
static void numbers(void **state)
{
	(void)state;
	assert_true(is_believed(LAST));
	assert_false(is_believed(LAST + 1));
	assert_true(is_believed(LAST / 2 + 1));
	assert_false(is_believed(LAST / 2));
	e.sa->seq = 5;
	assert_true(is_believed(1));
	assert_false(is_believed(0));
	assert_false(is_believed(UINT32_MAX));
	e.sa->seq = 0;
	assert_false(is_believed(0));
	/* ESN: the low half has begun anew. */
	e.sa->seq = (1ull << 32) + 5;
	assert_true(is_believed(0));
	assert_true(is_believed(UINT32_MAX));
}

/* Flows of all workers are invalidated only if the path MTU changes. */
static void noted(void **state)
{
	uint64_t seen = changes_seen();

	(void)state;
	hear(1400, NEEDED);
	assert_int_equal(changes_seen(), seen + 1);
	clock_now += PATH_MTU_FORGET - 1;
	hear(1400, NEEDED);
	hear(1420, NEEDED);
	assert_int_equal(changes_seen(), seen + 1);
	hear(1300, NEEDED);
	assert_int_equal(changes_seen(), seen + 2);
	clock_now += PATH_MTU_FORGET;
	hear(1300, NEEDED); /* the path MTU had been aged out */
	assert_int_equal(changes_seen(), seen + 3);
}

static void implausible(void **state)
{
	static const uint16_t mtus[] = {0, 1, 68, 575, SENT, SENT + 1, UINT16_MAX};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(mtus); i++)
		hear(mtus[i], NEEDED);
	assert_int_equal(w->stats->too_big_ignored, RTE_DIM(mtus));
	assert_int_equal(e.sa->path_mtu, 0);
	hear(SENT - 1, NEEDED);
	assert_int_equal(path_mtu(e.sa, LINK), SENT - 1);
	/* Implausible values that another process wrote into the file are ignored. */
	e.sa->path_mtu = 100ull << PATH_MTU_SHIFT | clock_now;
	assert_int_equal(path_mtu(e.sa, LINK), LINK);
	e.sa->path_mtu = 9000ull << PATH_MTU_SHIFT | clock_now;
	assert_int_equal(path_mtu(e.sa, LINK), LINK);
}

static void each_length(void **state)
{
	(void)state;
	for (unsigned int quoted = 0; quoted < NEEDED; quoted++) {
		hear(1400, quoted);
		assert_int_equal(w->stats->too_big_ignored, quoted + 1);
	}
	assert_int_equal(e.sa->path_mtu, 0);
	hear(1400, NEEDED);
	assert_int_equal(w->stats->too_big_learned, 1);
}

static void limited(void **state)
{
	(void)state;
	/* What is not believed leaves the rate as it is. */
	for (unsigned int i = 0; i < 300; i++)
		hear(1, NEEDED);
	assert_int_equal(w->stats->too_big_ignored, 300);
	for (unsigned int i = 0; i < 100; i++)
		hear(1400, NEEDED);
	assert_int_equal(w->stats->too_big_learned, 100);
	hear(1300, NEEDED);
	assert_int_equal(w->stats->too_big_ignored, 301);
	assert_int_equal(path_mtu(e.sa, LINK), 1400);
	clock_now++;
	hear(1300, NEEDED);
	assert_int_equal(path_mtu(e.sa, LINK), 1300);
}

/* --- the quoted packet --- */

#define AROUND6	 (sizeof(struct rte_ipv6_hdr) + sizeof(struct icmphdr))
#define IDENT_AH 4u /* offset of the SPI in AH, bytes */

/* What is quoted, and what is said about it. */
struct quote {
	uint8_t proto; /* behind IP header and fragment header */
	bool v6, fragment, wrong_sum;
	uint8_t type, code; /* 0: too big */
	uint16_t offset;    /* IPv6: offset and M of the fragment header; IPv4: of the header */
	uint16_t sport, dport;
	uint8_t src;	  /* added to the last byte of the source */
	unsigned int len; /* quoted bytes; 0: all */
};

/* Replace the SA of the test by one of this path. @param proto  IPPROTO_ESP or IPPROTO_AH */
static void replace_sa(bool v6, bool encap, uint8_t proto)
{
	struct cygnet_sa_params params;
	struct esp_peer peer = e.peer;

	assert_int_equal(esp_fixture_clean(NULL), 0);
	params = esp_params(&peer, encap ? ESP_ENCAP : 0);
	if (v6) {
		params.path.af = params.id.af = AF_INET6;
		params.path.src = esp_moved_src;
		params.path.dst = params.id.dst = esp_moved_dst;
	}
	params.id.proto = proto;
	assert_int_equal(cygnet_sa_add(sadb, &params), 0);
	e.sa = cygnet_sad_lookup_out(sadb, params.id.spi, proto, params.path.af, &params.path.dst);
	assert_non_null(e.sa);
	e.sa->seq = LAST;
}

/* Write the quoted packet. @return the bytes of it that are needed. A router quotes far more of IPv6 (RFC 4443,
 * 2.4), and room for a fragment header is always read. */
static unsigned int write_quote(uint8_t *ip, const struct quote *q)
{
	const struct cygnet_path *path = cygnet_sa_path(e.sa);
	unsigned int len = q->v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	const uint16_t udp[] = {q->sport, q->dport, 0, 0};
	uint16_t field = htons(q->v6 ? SENT - 40 : SENT);
	const uint32_t seq = htonl(LAST);

	memset(ip, 0, 96);
	ip[0] = q->v6 ? 0x60 : 0x45;
	memcpy(ip + (q->v6 ? 4 : 2), &field, sizeof(field));
	ip[q->v6 ? 6 : 9] = q->fragment && q->v6 ? IPPROTO_FRAGMENT : q->proto;
	memcpy(ip + (q->v6 ? 8 : 12), &path->src, q->v6 ? 16 : 4);
	ip[q->v6 ? 23 : 15] = (uint8_t)(ip[q->v6 ? 23 : 15] + q->src);
	memcpy(ip + (q->v6 ? 24 : 16), &path->dst, q->v6 ? 16 : 4);
	field = htons(q->offset);
	if (q->v6 && q->fragment) {
		ip[len] = q->proto;
		memcpy(ip + len + 2, &field, sizeof(field));
		len += sizeof(struct rte_ipv6_fragment_ext);
	} else if (!q->v6) {
		memcpy(ip + 6, &field, sizeof(field));
	}
	if (q->proto == IPPROTO_UDP) {
		memcpy(ip + len, udp, sizeof(udp));
		len += sizeof(udp);
	} else if (q->proto == IPPROTO_AH) {
		len += IDENT_AH;
	}
	memcpy(ip + len, &e.sa->spi, sizeof(e.sa->spi));
	len += sizeof(e.sa->spi);
	memcpy(ip + len, &seq, sizeof(seq));
	/* Eight bytes of AH (RFC 792) have no number. */
	if (q->proto != IPPROTO_AH)
		len += sizeof(seq);
	return q->v6 ? RTE_MAX(len, 48u) : len;
}

/* An ICMP error to the SA's source with that quote is received. @return bytes of the quote that are needed */
static unsigned int hear_about(const struct quote *q)
{
	const struct cygnet_path *path = cygnet_sa_path(e.sa);
	unsigned int front = q->v6 ? 40 : 20, whole, len;
	uint8_t bytes[AROUND6 + 96] = {0}, pseudo[40 + 8 + 96] = {0};
	uint8_t *icmp = bytes + front;
	struct rte_mbuf *m;
	struct headers h;
	uint16_t sum;

	whole = write_quote(icmp + 8, q);
	len = 8 + (q->len ? q->len : whole);
	bytes[0] = q->v6 ? 0x60 : 0x45;
	bytes[q->v6 ? 5 : 3] = (uint8_t)(q->v6 ? len : front + len);
	bytes[q->v6 ? 6 : 9] = q->v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	memcpy(bytes + (q->v6 ? 24 : 16), &path->src, q->v6 ? 16 : 4);
	icmp[0] = q->type ? q->type : q->v6 ? ICMP6_PACKET_TOO_BIG : ICMP_DEST_UNREACH;
	icmp[1] = q->code ? q->code : q->v6 ? 0 : ICMP_FRAG_NEEDED;
	icmp[6] = 1400 >> 8;
	icmp[7] = 1400 & 0xff;
	memcpy(pseudo, bytes + 8, 32);
	pseudo[35] = (uint8_t)len;
	pseudo[39] = IPPROTO_ICMPV6;
	memcpy(pseudo + 40, icmp, len);
	sum = q->v6 ? peer_checksum(pseudo, 40 + len) : peer_checksum(icmp, len);
	sum = (uint16_t)(sum ^ q->wrong_sum);
	memcpy(icmp + 2, &sum, sizeof(sum));
	m = esp_packet(bytes, front + len, 0, 0);
	h = headers_read(m);
	too_big_learn(w, m, &h);
	rte_pktmbuf_free(m);
	return whole;
}

/* Each path of an SA: a whole quote is learned from, and no shorter one. */
static void each_quote(void **state)
{
	static const struct quote quotes[] = {
		{.proto = IPPROTO_ESP},
		{.proto = IPPROTO_AH},
		{.proto = IPPROTO_UDP},
		{.proto = IPPROTO_ESP, .v6 = true},
		{.proto = IPPROTO_AH, .v6 = true},
		{.proto = IPPROTO_UDP, .v6 = true},
		{.proto = IPPROTO_ESP, .v6 = true, .fragment = true, .offset = 1},
		{.proto = IPPROTO_UDP, .v6 = true, .fragment = true, .offset = 1},
		{.proto = IPPROTO_ESP, .offset = 0x2000},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(quotes); i++) {
		struct quote q = quotes[i];
		bool udp = q.proto == IPPROTO_UDP;
		unsigned int whole;

		memset(w->stats, 0, sizeof(*w->stats));
		replace_sa(q.v6, udp, udp ? IPPROTO_ESP : q.proto);
		q.sport = udp ? htons(ESP_SPORT) : 0;
		q.dport = udp ? htons(ESP_DPORT) : 0;
		q.len = 1;
		whole = hear_about(&q);
		for (q.len = 2; q.len < whole; q.len++)
			hear_about(&q);
		assert_int_equal(w->stats->too_big_ignored, whole - 1);
		assert_int_equal(path_mtu(e.sa, LINK), LINK);
		hear_about(&q);
		assert_int_equal(w->stats->too_big_learned, 1);
		assert_int_equal(path_mtu(e.sa, LINK), 1400);
		clock_now += PATH_MTU_FORGET;
	}
}

/* What differs from the packets of the SA, or is no first fragment, is not learned from. */
static void foreign_quotes(void **state)
{
	static const struct quote quotes[] = {
		{.proto = IPPROTO_ESP, .src = 1},
		{.proto = IPPROTO_TCP},
		{.proto = IPPROTO_AH},
		{.proto = IPPROTO_UDP}, /* the SA has no encapsulation */
		{.proto = IPPROTO_ESP, .offset = 1},
		{.proto = IPPROTO_ESP, .wrong_sum = true},
		{.proto = IPPROTO_ESP, .v6 = true, .src = 1},
		{.proto = IPPROTO_TCP, .v6 = true},
		{.proto = IPPROTO_ESP, .v6 = true, .fragment = true, .offset = 8},
		{.proto = IPPROTO_ESP, .v6 = true, .wrong_sum = true},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(quotes); i++) {
		replace_sa(quotes[i].v6, false, IPPROTO_ESP);
		hear_about(&quotes[i]);
		assert_int_equal(w->stats->too_big_ignored, i + 1);
		assert_int_equal(e.sa->path_mtu, 0);
	}
	assert_int_equal(w->stats->too_big_learned, 0);
}

/* Both UDP ports have to be those of the SA. */
static void foreign_ports(void **state)
{
	struct quote q = {.proto = IPPROTO_UDP,
			  .sport = htons(ESP_SPORT),
			  .dport = htons(ESP_DPORT + 1)};

	(void)state;
	replace_sa(false, true, IPPROTO_ESP);
	hear_about(&q);
	q.dport = htons(ESP_DPORT);
	q.sport = htons(ESP_SPORT + 1);
	hear_about(&q);
	q.proto = IPPROTO_ESP;
	hear_about(&q);
	assert_int_equal(w->stats->too_big_ignored, 3);
	assert_int_equal(e.sa->path_mtu, 0);
}

/* Other ICMP messages are neither learned from nor counted. */
static void other_messages(void **state)
{
	(void)state;
	for (unsigned int v6 = 0; v6 < 2; v6++) {
		replace_sa(v6, false, IPPROTO_ESP);
		for (unsigned int type = 1; type < 256; type++) {
			struct quote q = {.proto = IPPROTO_ESP, .v6 = v6, .type = (uint8_t)type};

			/* Of the right type only another code. */
			if (type == (v6 ? ICMP6_PACKET_TOO_BIG : ICMP_DEST_UNREACH))
				q.code = 7;
			hear_about(&q);
		}
	}
	assert_int_equal(w->stats->too_big_ignored + w->stats->too_big_learned, 0);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, clean)
	const struct CMUnitTest tests[] = {
		TEST(forgotten),      TEST(only_down),	   TEST(noted),		 TEST(numbers),
		TEST(implausible),    TEST(each_length),   TEST(limited),	 TEST(each_quote),
		TEST(foreign_quotes), TEST(foreign_ports), TEST(other_messages),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests_name("path-mtu", tests, start, esp_fixture_stop);
}

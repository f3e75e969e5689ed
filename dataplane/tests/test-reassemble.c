/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reassembled packets on each of their paths: to this host, through SAs, forwarded. */
#include <netinet/in.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_jhash.h>

#include "base/clock.h"
#include "base/sadb.h"
#include "crypto/device/pool.h"
#include "esp/path_mtu.h"
#include "gateway_fixture.h"
#include "host/interface.h"
#include "path/reassemble.h"
#include "path/sa_wait.h"
#include "path/too_big.h"
#include "worker_fixture.h"

#define PACKETS	      128u
#define ROOM	      2304u
#define LARGE_PACKETS 8u
#define JUMBO_PACKETS 32u
#define JUMBO_ROOM    9472u
#define LEN	      1200u
#define CUT	      640u /* bytes of the L4 header and payload in the first fragment */
#define TEXT	      0x5a
#define LONG	      60000u
#define IKE_PORT      rte_cpu_to_be_16(500)
#define PATIENT_MS    3600000u /* longer than any test, however slow the machine is */

static struct worker *w = &workers[0];
static const struct esp_algorithm *gcm;
static struct rte_mempool *usual;

static int start(void **state)
{
	if (gateway_start(state))
		return -1;
	gcm = &esp_algorithms[esp_algorithm_count - 1];
	packet_pool_large = rte_pktmbuf_pool_create("large", LARGE_PACKETS, 0, PACKET_PRIVATE,
						    UINT16_MAX, SOCKET_ID_ANY);
	usual = rte_pktmbuf_pool_create("usual", PACKETS, 0, PACKET_PRIVATE, ROOM, SOCKET_ID_ANY);
	return packet_pool_large && usual ? 0 : -1;
}

static int finish(void **state)
{
	rte_mempool_free(packet_pool_large);
	packet_pool_large = NULL;
	rte_mempool_free(usual);
	return gateway_stop(state);
}

static int setup(void **state)
{
	(void)state;
	gateway_open(w, 16);
	w->packets = usual;
	w->reassembly = reassembly_create(PATIENT_MS, &w->stats->drop[DROP_REASSEMBLY]);
	return w->reassembly ? 0 : -1;
}

/* No leaks: all buffers are back in their mempools. */
static int teardown(void **state)
{
	(void)state;
	for (unsigned int p = 0; p < ninterfaces; p++) {
		rte_pktmbuf_free_bulk(w->tap[p].m, w->tap[p].n);
		w->tap[p].n = 0;
	}
	reassembly_free(w->reassembly);
	w->reassembly = NULL;
	gateway_close(w);
	assert_int_equal(rte_mempool_avail_count(packet_pool_large), LARGE_PACKETS);
	assert_int_equal(rte_mempool_avail_count(usual), PACKETS);
	return 0;
}

/* --- to this host --- */

static void addresses(uint8_t *ip, bool v6)
{
	static const uint8_t peer4[] = {192, 0, 2, 2}, own4[] = {192, 0, 2, 1};
	static const uint8_t net6[] = {0x20, 0x01, 0x0d, 0xb8};

	if (!v6) {
		memcpy(ip + 12, peer4, sizeof(peer4));
		memcpy(ip + 16, own4, sizeof(own4));
		return;
	}
	memset(ip + 8, 0, 32);
	memcpy(ip + 8, net6, sizeof(net6));
	memcpy(ip + 24, net6, sizeof(net6));
	ip[23] = 2;
	ip[39] = 1;
}

/* A fragment of a datagram with text[offset .. offset + len]. @return length */
static unsigned int cut(uint8_t *ip, bool v6, const uint8_t *text, unsigned int offset,
			unsigned int len, bool more)
{
	const uint8_t front4[] = {0x45,
				  0,
				  0,
				  0,
				  0,
				  7,
				  (uint8_t)(more << 5 | offset >> 11),
				  (uint8_t)(offset >> 3),
				  64,
				  IPPROTO_UDP};
	const uint8_t front6[] = {0x60, 0, 0, 0, 0, 0, IPPROTO_FRAGMENT, 64};
	const uint8_t fragment[] =
		{IPPROTO_UDP, 0, (uint8_t)(offset >> 8), (uint8_t)(offset | more), 0, 0, 0, 7};
	unsigned int front = v6 ? 48 : 20;
	uint16_t total = rte_cpu_to_be_16((uint16_t)(v6 ? len + 8 : len + front)), sum;

	memset(ip, 0, front);
	memcpy(ip, v6 ? front6 : front4, v6 ? sizeof(front6) : sizeof(front4));
	memcpy(ip + (v6 ? 4 : 2), &total, sizeof(total));
	addresses(ip, v6);
	if (v6) {
		memcpy(ip + 40, fragment, sizeof(fragment));
	} else {
		sum = peer_checksum(ip, 20);
		memcpy(ip + 10, &sum, sizeof(sum));
	}
	memcpy(ip + front, text + offset, len);
	return front + len;
}

static void ike(uint8_t text[LEN])
{
	const uint16_t header[] = {IKE_PORT, IKE_PORT, rte_cpu_to_be_16(LEN), 0};

	memset(text, TEXT, LEN);
	memcpy(text, header, sizeof(header));
}

static void receive(const uint8_t *ip, unsigned int len, unsigned int tailroom)
{
	struct rte_mbuf *m = gateway_frame_in(ip, len, GATEWAY_WAN, RTE_PKTMBUF_HEADROOM, tailroom);

	worker_receive(w, &m, 1, GATEWAY_WAN);
}

/* Check a frame for the kernel: of this port, of that type, with the whole payload. */
static void check_kernels(bool v6, const uint8_t *text)
{
	struct rte_ether_addr own = interface_mac(&interfaces[GATEWAY_WAN]);
	uint16_t type = rte_cpu_to_be_16(v6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
	unsigned int front = sizeof(struct rte_ether_hdr) + (v6 ? 40u : 20u);
	const uint8_t *frame;
	struct rte_mbuf *m;

	assert_int_equal(w->tap[GATEWAY_WAN].n, 1);
	m = w->tap[GATEWAY_WAN].m[0];
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	assert_int_equal(rte_pktmbuf_data_len(m), front + LEN);
	assert_memory_equal(frame, &own, sizeof(own));
	assert_memory_equal(frame + 12, &type, sizeof(type));
	assert_int_equal(frame[14] >> 4, v6 ? 6 : 4);
	assert_int_equal(frame[v6 ? 20 : 23], IPPROTO_UDP);
	assert_memory_equal(frame + front, text, LEN);
	rte_pktmbuf_free(m);
	w->tap[GATEWAY_WAN].n = 0;
}

/* The kernel gets the datagram as if it had not been fragmented, in whichever mempool it was
 * reassembled. */
static void to_the_kernel(void **state)
{
	uint8_t ip[GATEWAY_FRAME], text[LEN];

	(void)state;
	ike(text);
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int tailroom = i & 2 ? GATEWAY_FRAME : 0;
		bool v6 = i & 1;

		receive(ip, cut(ip, v6, text, 0, CUT, true), tailroom);
		assert_int_equal(w->tap[GATEWAY_WAN].n, 0);
		receive(ip, cut(ip, v6, text, CUT, LEN - CUT, false), tailroom);
		check_kernels(v6, text);
	}
}

/* Where ports have few buffers no fragment waits in them. When the buffers for fragments are
 * used up, further fragments are lost. */
static void elsewhere(void **state)
{
	unsigned int idle = rte_mempool_avail_count(esp_packets);
	uint8_t ip[GATEWAY_FRAME], text[LEN];

	(void)state;
	ike(text);
	packet_pool_parts = rte_pktmbuf_pool_create("parts", 1, 0, PACKET_PRIVATE, ROOM,
						    SOCKET_ID_ANY);
	assert_non_null(packet_pool_parts);
	receive(ip, cut(ip, true, text, 0, CUT, true), 0);
	assert_int_equal(rte_mempool_avail_count(esp_packets), idle);
	assert_int_equal(rte_mempool_avail_count(packet_pool_parts), 0);
	receive(ip, cut(ip, true, text, CUT, LEN - CUT, false), 0);
	assert_int_equal(w->stats->drop[DROP_NO_BUFFER], 1);
	assert_int_equal(rte_mempool_avail_count(esp_packets), idle);
	reassembly_free(w->reassembly);
	w->reassembly = NULL;
	assert_int_equal(rte_mempool_avail_count(packet_pool_parts), 1);
	rte_mempool_free(packet_pool_parts);
	packet_pool_parts = NULL;
}

/* The packet is complete in whichever mempool its fragments waited. */
static void whole_elsewhere(void **state)
{
	packet_pool_parts = rte_pktmbuf_pool_create("parts", 2, 0, PACKET_PRIVATE, ROOM,
						    SOCKET_ID_ANY);
	assert_non_null(packet_pool_parts);
	to_the_kernel(state);
	assert_int_equal(rte_mempool_avail_count(packet_pool_parts), 2);
	rte_mempool_free(packet_pool_parts);
	packet_pool_parts = NULL;
}

/* An incomplete packet is dropped after half a second and not before. Each check is between two
 * clock readings, as its fragment was. */
static void given_up_in_time(void **state)
{
	uint64_t half = rte_get_tsc_hz() / 2, add[2], look[2];
	uint8_t ip[GATEWAY_FRAME], text[LEN];

	(void)state;
	reassembly_free(w->reassembly);
	w->reassembly = reassembly_create(REASSEMBLY_WAIT_MS, &w->stats->drop[DROP_REASSEMBLY]);
	assert_non_null(w->reassembly);
	ike(text);
	add[0] = rte_rdtsc();
	receive(ip, cut(ip, false, text, 0, CUT, true), 0);
	add[1] = rte_rdtsc();
	for (;;) {
		look[0] = rte_rdtsc();
		reassembly_expire(w);
		look[1] = rte_rdtsc();
		if (w->stats->drop[DROP_REASSEMBLY])
			break;
		/* It rounds. */
		assert_true(look[0] - add[1] <= half + half / 100);
	}
	assert_int_equal(w->stats->drop[DROP_REASSEMBLY], 1);
	assert_true(look[1] - add[0] >= half - half / 100);
}

/* --- what is no packet --- */

/* Receive a changed fragment. @param tos  of its header */
static void receive_as(bool v6, const uint8_t *text, unsigned int offset, unsigned int len,
		       bool more, uint8_t tos)
{
	uint8_t ip[GATEWAY_FRAME];
	unsigned int total = cut(ip, v6, text, offset, len, more);
	uint16_t sum;

	if (v6) {
		ip[0] |= (uint8_t)(tos >> 4);
		ip[1] = (uint8_t)(tos << 4);
	} else {
		ip[1] = tos;
		memset(ip + 10, 0, 2);
		sum = peer_checksum(ip, 20);
		memcpy(ip + 10, &sum, sizeof(sum));
	}
	receive(ip, total, GATEWAY_FRAME);
}

/* A part in the middle that is no multiple of 8 bytes, and one that ends beyond 64 KiB. */
static void malformed(void **state)
{
	uint8_t text[UINT16_MAX + 1] = {0};

	(void)state;
	for (unsigned int v6 = 0; v6 < 2; v6++) {
		receive_as(v6, text, 0, 13, true, 0);
		receive_as(v6, text, 65504, 32, false, 0);
	}
	assert_int_equal(w->stats->drop[DROP_MALFORMED], 4);
}

/* RFC 3168, 5.3. */
static void ecn(void **state)
{
	static const struct {
		uint8_t first, second;
		int whole; /* -1: none */
	} cases[] = {{0, 0, 0}, {2, 2, 2}, {2, 3, 3}, {3, 1, 3}, {0, 3, -1}, {2, 0, -1}};
	uint8_t text[LEN];
	uint64_t dropped = 0;

	(void)state;
	ike(text);
	for (unsigned int i = 0; i < 2 * RTE_DIM(cases); i++) {
		unsigned int c = i / 2, v6 = i & 1, tos;
		const uint8_t *ip;

		receive_as(v6, text, 0, CUT, true, cases[c].first);
		receive_as(v6, text, CUT, LEN - CUT, false, cases[c].second);
		dropped += cases[c].whole < 0;
		assert_int_equal(w->stats->drop[DROP_REASSEMBLY], dropped);
		assert_int_equal(w->tap[GATEWAY_WAN].n, cases[c].whole >= 0);
		if (cases[c].whole < 0)
			continue;
		ip = rte_pktmbuf_mtod_offset(w->tap[GATEWAY_WAN].m[0], const uint8_t *, 14);
		tos = v6 ? ip[0] << 4 | ip[1] >> 4 : ip[1];
		assert_int_equal(tos & 3, cases[c].whole);
		check_kernels(v6, text);
	}
}

/* Two fragment headers, one behind the other, and an extension header in front. */
static void headers6(void **state)
{
	uint8_t ip[GATEWAY_FRAME], text[LEN] = {IPPROTO_UDP, 0, 0, 0};
	unsigned int len;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		len = cut(ip, true, text, i * CUT, i ? LEN - CUT : CUT, !i);
		ip[40] = IPPROTO_FRAGMENT;
		receive(ip, len, GATEWAY_FRAME);
	}
	assert_int_equal(w->stats->drop[DROP_IPV6_HEADERS], 2);
	len = cut(ip, true, text, 0, CUT, true);
	memmove(ip + 48, ip + 40, len - 40);
	memset(ip + 40, 0, 8);
	ip[6] = IPPROTO_DSTOPTS;
	ip[40] = IPPROTO_FRAGMENT;
	ip[42] = 1;
	ip[43] = 4;
	ip[4] = (uint8_t)((len - 32) >> 8);
	ip[5] = (uint8_t)(len - 32);
	receive(ip, len + 8, GATEWAY_FRAME);
	assert_int_equal(w->stats->drop[DROP_IPV6_HEADERS], 3);
}

/* There is no buffer for the whole packet. */
static void no_large_buffer(void **state)
{
	struct rte_mbuf *m[LARGE_PACKETS];
	uint8_t ip[GATEWAY_FRAME], text[LEN];

	(void)state;
	ike(text);
	assert_int_equal(rte_pktmbuf_alloc_bulk(packet_pool_large, m, LARGE_PACKETS), 0);
	receive(ip, cut(ip, false, text, 0, CUT, true), 0);
	receive(ip, cut(ip, false, text, CUT, LEN - CUT, false), 0);
	assert_int_equal(w->stats->drop[DROP_NO_BUFFER], 1);
	rte_pktmbuf_free_bulk(m, LARGE_PACKETS);
}

/* Each part ends below 64 KiB, but with the first one's options the packet does not. */
static void too_long(void **state)
{
	static uint8_t ip[UINT16_MAX];
	const unsigned int half = 32768, fronts[] = {60, 20}, lens[] = {half, half - 21 - 20};

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct rte_mbuf *m;
		struct headers h;
		uint16_t field = rte_cpu_to_be_16((uint16_t)(i ? half / 8 : RTE_IPV4_HDR_MF_FLAG));

		memset(ip, 0, sizeof(ip));
		cut(ip, false, ip, 0, 8, false);
		ip[0] = (uint8_t)(0x40 | fronts[i] / 4);
		memset(ip + 20, 1, fronts[i] - 20);
		memcpy(ip + 6, &field, sizeof(field));
		field = rte_cpu_to_be_16((uint16_t)(fronts[i] + lens[i]));
		memcpy(ip + 2, &field, sizeof(field));
		m = esp_packet(ip, fronts[i] + lens[i], 0, 0);
		memset(packet(m), 0, sizeof(struct packet));
		h = headers_read(m);
		assert_null(reassemble(w, m, &h, STAGE_LOCAL));
	}
	assert_int_equal(w->stats->drop[DROP_MALFORMED], 2);
}

/* A datagram belongs to one worker, to which others hand its fragments off. */
static void of_other_workers(void **state)
{
	uint8_t ip[GATEWAY_FRAME], text[LEN];
	unsigned int handed = 0;

	(void)state;
	ike(text);
	w->workers = 2;
	for (unsigned int id = 1; id <= 16; id++) {
		struct rte_mbuf *m;
		struct headers h;

		cut(ip, false, text, 0, CUT, true);
		ip[5] = (uint8_t)id;
		m = esp_packet(ip, 20 + CUT, RTE_PKTMBUF_HEADROOM, 0);
		memset(packet(m), 0, sizeof(struct packet));
		packet(m)->interface = GATEWAY_WAN;
		h = headers_read(m);
		assert_null(reassemble(w, m, &h, STAGE_LOCAL));
		if (w->handoff[1].n == handed)
			continue;
		handed++;
		assert_ptr_equal(w->handoff[1].m[handed - 1], m);
		assert_int_equal(packet(m)->stage, STAGE_REASSEMBLE);
		/* As the other worker does. */
		stage_add(&w->stages, STAGE_REASSEMBLE, m);
	}
	assert_in_range(handed, 1, 15);
	w->handoff[1].n = 0;
	w->workers = 1;
	dispatch_stages(w);
	cut(ip, false, text, CUT, LEN - CUT, false);
	for (unsigned int id = 1; id <= 16; id++) {
		ip[5] = (uint8_t)id;
		memset(ip + 10, 0, 2);
		memcpy(ip + 10, &(uint16_t){peer_checksum(ip, 20)}, 2);
		receive(ip, 20 + LEN - CUT, 0);
		check_kernels(false, text);
	}
}

/* --- fragments of different origin --- */

/* A fragment of plaintext for a tunnel, from one of two sides. */
static void plain(const struct tunnel *t, unsigned int interface, enum stage then, bool first)
{
	uint8_t whole[LEN], ip[LEN];
	unsigned int offset = first ? 0 : CUT, len = first ? CUT : LEN - 20 - CUT;
	struct headers h;
	struct rte_mbuf *m;
	uint16_t field;

	gateway_inner(whole, t, false, true, LEN, 3, 64);
	memcpy(ip, whole, 20);
	memcpy(ip + 20, whole + 20 + offset, len);
	field = rte_cpu_to_be_16((uint16_t)(offset / 8 | (first ? RTE_IPV4_HDR_MF_FLAG : 0)));
	memcpy(ip + 6, &field, sizeof(field));
	field = rte_cpu_to_be_16((uint16_t)(20 + len));
	memcpy(ip + 2, &field, sizeof(field));
	m = esp_packet(ip, 20 + len, RTE_PKTMBUF_HEADROOM, GATEWAY_FRAME);
	memset(packet(m), 0, sizeof(struct packet));
	packet(m)->interface = (uint8_t)interface;
	packet(m)->from_kernel = then == STAGE_OUTBOUND;
	h = headers_read(m);
	m = reassemble(w, m, &h, then);
	if (m)
		stage_add(&w->stages, then, m);
	dispatch_stages(w);
	esp_worker_finish(w);
}

/* Fragments from the kernel and from the wire are not combined, because different policies apply
 * to them. */
static void sides_do_not_mix(void **state)
{
	struct tunnel t;

	(void)state;
	gateway_tunnel(&t, gcm, 2, false, false);
	plain(&t, GATEWAY_LAN, STAGE_OUTBOUND, true);
	plain(&t, GATEWAY_LAN, STAGE_FORWARD, false);
	assert_int_equal(w->stats->encapsulated, 0);
	plain(&t, GATEWAY_LAN, STAGE_FORWARD, true);
	assert_int_equal(w->stats->encapsulated, 1);
	plain(&t, GATEWAY_LAN, STAGE_OUTBOUND, false);
	assert_int_equal(w->stats->encapsulated, 2);
}

#define COMPUTED 60u /* fewer than a worker hands off at once */

/* No sender can compute which worker puts a packet together, as it could with Jenkins' hash: the fragments here would
 * all be for the first of two. */
static void worker_is_not_computable(void **state)
{
	uint8_t ip[GATEWAY_FRAME], text[LEN];
	unsigned int sent = 0;

	(void)state;
	ike(text);
	cut(ip, false, text, 0, CUT, true);
	w->workers = 2;
	for (uint16_t id = 0; sent < COMPUTED; id++) {
		struct rte_ipv4_hdr *header = (struct rte_ipv4_hdr *)(void *)ip;
		struct headers h;
		struct rte_mbuf *m;

		if (rte_jhash_3words(header->src_addr, header->dst_addr, id, 0) % 2)
			continue;
		header->packet_id = id;
		m = esp_packet(ip, 20 + CUT, RTE_PKTMBUF_HEADROOM, GATEWAY_FRAME);
		memset(packet(m), 0, sizeof(struct packet));
		h = headers_read(m);
		assert_null(reassemble(w, m, &h, STAGE_LOCAL));
		sent++;
	}
	assert_in_range(w->handoff[1].n, 1, COMPUTED - 1);
	rte_pktmbuf_free_bulk(w->handoff[1].m, w->handoff[1].n);
	w->handoff[1].n = 0;
	w->workers = 1;
}

static void bind_policies(bool bound)
{
	struct cygnet_policy_params policy = {
		.sel = {.sport_hi = UINT16_MAX,
			.dport_hi = UINT16_MAX,
			.af = AF_INET,
			.interface = 77},
		.dir = CYGNET_FWD,
		.action = CYGNET_DISCARD,
		.af = AF_INET,
	};

	assert_int_equal((bound ? cygnet_policy_add : cygnet_policy_delete)(sadb, &policy), 0);
}

/* Where policies select by interface, all fragments of a packet have to arrive at one interface. */
static void interfaces_do_not_mix(void **state)
{
	struct tunnel t;

	(void)state;
	gateway_tunnel(&t, gcm, 2, false, false);
	plain(&t, GATEWAY_LAN, STAGE_OUTBOUND, true);
	plain(&t, GATEWAY_WAN, STAGE_OUTBOUND, false);
	assert_int_equal(w->stats->encapsulated, 1);
	bind_policies(true);
	plain(&t, GATEWAY_LAN, STAGE_OUTBOUND, true);
	plain(&t, GATEWAY_WAN, STAGE_OUTBOUND, false);
	assert_int_equal(w->stats->encapsulated, 1);
	plain(&t, GATEWAY_LAN, STAGE_OUTBOUND, false);
	assert_int_equal(w->stats->encapsulated, 2);
	bind_policies(false);
}

/* --- longer than the ports' packets --- */

static bool shows_text(struct rte_mbuf *m)
{
	unsigned int run = 0;

	for (; m; m = m->next) {
		const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);

		for (unsigned int i = 0; i < rte_pktmbuf_data_len(m); i++) {
			run = data[i] == TEXT ? run + 1 : 0;
			if (run == 32)
				return true;
		}
	}
	return false;
}

/* A reassembled packet of LONG bytes for the SA. */
static struct rte_mbuf *long_packet(const struct tunnel *t, bool transport)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(packet_pool_large);
	uint8_t head[28];

	assert_non_null(m);
	gateway_inner(head, t, false, true, sizeof(head), 3, 64);
	memset(rte_pktmbuf_append(m, LONG), TEXT, LONG);
	memcpy(rte_pktmbuf_mtod(m, void *), head, sizeof(head));
	packet_ip(m)->total_length = rte_cpu_to_be_16(LONG);
	if (transport) {
		packet_ip(m)->src_addr = cygnet_sa_path(t->out)->src.v4;
		packet_ip(m)->dst_addr = cygnet_sa_path(t->out)->dst.v4;
	}
	memset(packet(m), 0, sizeof(struct packet));
	packet(m)->stage = STAGE_FIT;
	packet(m)->whole = 1400;
	packet(m)->sa = cygnet_sa_index(sadb, t->out);
	packet(m)->generation = t->out->generation;
	return m;
}

/* Packets waiting for an SA leave buffers for others. */
static void wait_for_an_sa(void **state)
{
	struct cygnet_policy *policy;
	struct cygnet_flow flow;
	struct rte_mbuf *m;
	struct tunnel t;

	(void)state;
	gateway_tunnel(&t, gcm, 2, false, false);
	for (unsigned int i = 0; i < LARGE_PACKETS; i++) {
		m = long_packet(&t, false);
		packet_flow(m, &flow);
		policy = cygnet_spd_lookup(sadb, CYGNET_OUT, &flow);
		assert_non_null(policy);
		sa_wait_add(w, m, policy, &flow);
	}
	assert_int_equal(w->stats->waited_for_sa, LARGE_PACKETS / 2);
	assert_int_equal(w->stats->drop[DROP_NO_SA], LARGE_PACKETS / 2);
	assert_int_equal(rte_mempool_avail_count(packet_pool_large), LARGE_PACKETS / 2);
	sa_wait_drop(w);
}

static void protect_long(bool transport)
{
	struct tunnel t;

	gateway_tunnel(&t, gcm, 2 + transport, false, false);
	t.out->tfc = 1400;
	t.out->mode = transport ? CYGNET_TRANSPORT : CYGNET_TUNNEL;
	worker_pass(w, long_packet(&t, transport));
	esp_worker_finish(w);
	for (unsigned int i = 0; i < w->tx[GATEWAY_WAN].n; i++)
		assert_false(shows_text(w->tx[GATEWAY_WAN].m[i]));
	assert_in_range(w->tx[GATEWAY_WAN].n, LONG / GATEWAY_MTU, 2 * LONG / GATEWAY_MTU);
	gateway_forget(w);
}

/* Longer than the buffers of jumbo ports, through SAs with TFC padding: the whole packet is
 * protected. */
static void longer_than_jumbo(void **state)
{
	(void)state;
	packet_pool_jumbo = rte_pktmbuf_pool_create("jumbo", JUMBO_PACKETS, 0, PACKET_PRIVATE,
						    JUMBO_ROOM, SOCKET_ID_ANY);
	assert_non_null(packet_pool_jumbo);
	protect_long(true);
	protect_long(false);
	assert_int_equal(rte_mempool_avail_count(packet_pool_jumbo), JUMBO_PACKETS);
	rte_mempool_free(packet_pool_jumbo);
	packet_pool_jumbo = NULL;
}

/* What an SA has protected is cut to a path MTU that has been reported since, unless it must not be. */
static void cut_to_the_path(void **state)
{
	static const struct {
		unsigned int len, parts;
		uint8_t flags;
	} cases[] = {{1400, 2, 0}, {1000, 1, 0}, {1400, 1, RTE_IPV4_HDR_DF_FLAG >> 8}};
	struct tunnel t;
	uint8_t ip[GATEWAY_FRAME];

	(void)state;
	gateway_tunnel(&t, gcm, 2, false, false);
	t.out->path_mtu = 1000ull << PATH_MTU_SHIFT | clock_seconds();
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct rte_mbuf *m;

		gateway_packet(ip, 1, 2, false, cases[i].len, 1, 64);
		ip[6] = cases[i].flags;
		m = esp_packet(ip, cases[i].len, RTE_PKTMBUF_HEADROOM, 0);
		memset(packet(m), 0, sizeof(struct packet));
		packet(m)->own = 1;
		too_big_route(w, m, t.out);
		dispatch_stages(w);
		assert_int_equal(w->tx[GATEWAY_WAN].n, cases[i].parts);
		gateway_forget(w);
	}
}

/* A packet fragmented by its source may be fragmented again, also protected over IPv4. */
static void long_v6_over_v4(void **state)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(packet_pool_large);
	struct tunnel t;
	uint8_t head[48];

	(void)state;
	assert_non_null(m);
	gateway_tunnel(&t, gcm, 2, false, false);
	t.out->flags |= CYGNET_SA_COPY_DF;
	gateway_inner(head, &t, true, true, sizeof(head), 3, 64);
	memset(rte_pktmbuf_append(m, LONG), TEXT, LONG);
	memcpy(rte_pktmbuf_mtod(m, void *), head, sizeof(head));
	packet_ip6(m)->payload_len = rte_cpu_to_be_16(LONG - 40);
	memset(packet(m), 0, sizeof(struct packet));
	packet(m)->stage = STAGE_FIT;
	packet(m)->whole = 1400;
	packet(m)->sa = cygnet_sa_index(sadb, t.out);
	packet(m)->generation = t.out->generation;
	worker_pass(w, m);
	esp_worker_finish(w);
	assert_int_equal(w->stats->drop[DROP_TOO_BIG], 0);
	assert_in_range(w->tx[GATEWAY_WAN].n, LONG / GATEWAY_MTU, 2 * LONG / GATEWAY_MTU);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(to_the_kernel),
		TEST(elsewhere),
		TEST(given_up_in_time),
		TEST(whole_elsewhere),
		TEST(sides_do_not_mix),
		TEST(longer_than_jumbo),
		TEST(wait_for_an_sa),
		TEST(long_v6_over_v4),
		TEST(interfaces_do_not_mix),
		TEST(malformed),
		TEST(ecn),
		TEST(headers6),
		TEST(no_large_buffer),
		TEST(too_long),
		TEST(of_other_workers),
		TEST(cut_to_the_path),
		TEST(worker_is_not_computable),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, finish);
}

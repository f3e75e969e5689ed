/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bursts in which some packets are invalid, or in the middle of which something changes. The
 * other packets of the burst are processed as usual, and no byte outside the buffers is
 * accessed. */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_cryptodev.h>

#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "gateway_fixture.h"
#include "path/worker/neigh_wait.h"
#include "worker_fixture.h"

#define N      32u
#define LEN(i) (48u + (i)*131 % 1200)

static const struct esp_algorithm *const both[] = {&esp_gcm, &esp_cbc};

static struct worker *w = &workers[0];
static struct tunnel a, b;

/* --- a CPU device that can be made to fail calls --- */

static enum fault { GOOD, REFUSES_ALL, REFUSES_ODD, SAYS_NOTHING } fault;
static unsigned int calls;
static uint32_t (*process)(uint8_t, void *, union rte_crypto_sym_ofs, struct rte_crypto_sym_vec *);

/* Replaces DPDK's function. */
uint32_t rte_cryptodev_sym_cpu_crypto_process(uint8_t dev_id, void *sess,
					      union rte_crypto_sym_ofs ofs,
					      struct rte_crypto_sym_vec *vec)
{
	calls++;
	if (fault == SAYS_NOTHING)
		return 0;
	process(dev_id, sess, ofs, vec);
	for (uint32_t i = 0; i < vec->num && fault != GOOD; i++)
		if (fault == REFUSES_ALL || i % 2)
			vec->status[i] = EINVAL;
	return 0;
}

static int start(void **state)
{
	void *next = dlsym(RTLD_NEXT, "rte_cryptodev_sym_cpu_crypto_process");

	memcpy(&process, &next, sizeof(process));
	return !process || gateway_start(state);
}

static int teardown(void **state)
{
	(void)state;
	fault = GOOD;
	gateway_close(w);
	return 0;
}

static void open_with(const struct esp_algorithm *algorithm, bool esn)
{
	gateway_open(w, 8);
	gateway_tunnel(&a, algorithm, 2, esn, false);
	calls = 0;
}

/* --- packets --- */

static struct rte_mbuf *plain(const struct tunnel *t, unsigned int i)
{
	uint8_t ip[GATEWAY_FRAME];

	gateway_inner(ip, t, false, true, LEN(i), i, 64);
	return gateway_frame(ip, LEN(i), GATEWAY_LAN);
}

static struct rte_mbuf *sealed(const struct tunnel *t, unsigned int i, uint64_t seq)
{
	uint8_t ip[GATEWAY_FRAME];

	return gateway_frame(ip, gateway_sealed(ip, t, false, LEN(i), i, seq), GATEWAY_WAN);
}

/* Packets that a test has encrypted itself. */
static struct rte_mbuf *sealed_text(const struct tunnel *t, uint64_t seq, const uint8_t *text,
				    unsigned int len)
{
	uint8_t ip[GATEWAY_FRAME];

	return gateway_frame(ip, gateway_seal(ip, t, seq, text, len), GATEWAY_WAN);
}

static void learn_out(const struct tunnel *t)
{
	struct rte_mbuf *m = plain(t, 0);

	worker_receive(w, &m, 1, GATEWAY_LAN);
	esp_worker_finish(w);
	assert_int_equal(w->tx[GATEWAY_WAN].n, 1);
	gateway_forget(w);
}

static void learn_in(const struct tunnel *t)
{
	struct rte_mbuf *m = sealed(t, 0, t->in->seq + 1);

	worker_receive(w, &m, 1, GATEWAY_WAN);
	esp_worker_finish(w);
	assert_int_equal(w->tx[GATEWAY_LAN].n, 1);
	gateway_forget(w);
}

/* Check that n packets with these ids came out of the tunnel, in this order. */
static void expect_in(const unsigned int *id, unsigned int n)
{
	assert_int_equal(w->tx[GATEWAY_LAN].n, n);
	for (unsigned int i = 0; i < n; i++)
		gateway_check_in(w->tx[GATEWAY_LAN].m[i], &a, false, LEN(id[i]), id[i]);
	gateway_forget(w);
}

static uint64_t dropped(void)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < DROP_REASON_COUNT; i++)
		n += w->stats->drop[i];
	return n;
}

static void expect_drops(enum drop_reason reason, uint64_t n)
{
	assert_int_equal(w->stats->drop[reason], n);
	assert_int_equal(dropped(), n);
}

/* --- one invalid packet among many --- */

static void twice(void **state)
{
	unsigned int id[N], n = 0;
	struct rte_mbuf *m[N];

	(void)state;
	open_with(&esp_gcm, false);
	learn_in(&a);
	for (unsigned int i = 0; i < N; i++) {
		m[i] = sealed(&a, i, 10 + (i == 20 ? 5 : i));
		if (i != 20)
			id[n++] = i;
	}
	worker_receive(w, m, N, GATEWAY_WAN);
	expect_in(id, n);
	expect_drops(DROP_REPLAY, 1);
	assert_int_equal(a.in->replay_drops, 1);
}

/* Packets have mixed lengths. They leave in order, whatever order the device processes them in. */
static void forged_one(const struct esp_algorithm *algorithm, bool esn, unsigned int which,
		       unsigned int from_end)
{
	unsigned int id[N], n = 0;
	struct rte_mbuf *m[N];

	open_with(algorithm, esn);
	learn_in(&a);
	for (unsigned int i = 0; i < N; i++) {
		m[i] = sealed(&a, i, 10 + i);
		if (i == which)
			*rte_pktmbuf_mtod_offset(m[i], uint8_t *,
						 rte_pktmbuf_data_len(m[i]) - from_end) ^= 4;
		else
			id[n++] = i;
	}
	worker_receive(w, m, N, GATEWAY_WAN);
	expect_in(id, n);
	expect_drops(DROP_AUTH_FAILED, 1);
	assert_int_equal(a.in->auth_drops, 1);
	/* The replay window still accepts its sequence number. */
	m[0] = sealed(&a, which, 10 + which);
	worker_receive(w, m, 1, GATEWAY_WAN);
	expect_in(&which, 1);
	gateway_close(w);
}

static void forged(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		forged_one(both[i & 1], i & 2, 5 + 3 * i, i & 4 ? 1 : 30);
	gateway_open(w, 8);
}

/* Packets truncated at each length, and packets one byte longer than a multiple of the block. */
static void truncated(void **state)
{
	const unsigned int id[] = {0, 1};
	uint8_t ip[GATEWAY_FRAME];
	struct rte_mbuf *m[3];

	(void)state;
	for (unsigned int s = 0; s < 2; s++) {
		unsigned int least = 8u + both[s]->iv_len + both[s]->block + both[s]->icv_len;
		unsigned int n = 0;
		uint64_t seq = 10;

		open_with(both[s], true);
		learn_in(&a);
		for (unsigned int len = 8; len < least + both[s]->block; len++) {
			if (len == least)
				continue;
			memset(ip, 0, sizeof(ip));
			gateway_seal(ip, &a, 1000 + len, ip + 1000, 1024);
			ip[2] = (uint8_t)((20 + len) >> 8);
			ip[3] = (uint8_t)(20 + len);
			memset(ip + 10, 0, 2);
			memcpy(ip + 10, &(uint16_t){peer_checksum(ip, 20)}, 2);
			m[0] = sealed(&a, 0, seq++);
			m[1] = gateway_frame_in(ip, 20 + len, GATEWAY_WAN, RTE_PKTMBUF_HEADROOM,
						54);
			m[2] = sealed(&a, 1, seq++);
			worker_receive(w, m, 3, GATEWAY_WAN);
			expect_in(id, 2);
			expect_drops(DROP_ESP_TRUNCATED, ++n);
		}
		gateway_close(w);
	}
	gateway_open(w, 8);
}

/* Dummy packets, invalid padding, and a pad length beyond the packet. */
static void trailers(void **state)
{
	const unsigned int id[] = {0, 1, 2};
	uint8_t text[64] = {0};
	struct rte_mbuf *m[6];

	(void)state;
	for (unsigned int s = 0; s < 2; s++) {
		open_with(both[s], false);
		learn_in(&a);
		m[0] = sealed(&a, 0, 10);
		text[62] = 0;
		text[63] = IPPROTO_NONE;
		m[1] = sealed_text(&a, 11, text, 64);
		text[63] = IPPROTO_IPIP;
		text[62] = 9;
		m[2] = sealed_text(&a, 12, text, 64);
		m[3] = sealed(&a, 1, 13);
		text[62] = 63;
		m[4] = sealed_text(&a, 14, text, 64);
		m[5] = sealed(&a, 2, 15);
		worker_receive(w, m, 6, GATEWAY_WAN);
		expect_in(id, 3);
		expect_drops(DROP_ESP_PADDING, 2);
		assert_int_equal(w->stats->dummies, 1);
		gateway_close(w);
	}
	gateway_open(w, 8);
}

/* --- ESP that no SA is for --- */

/* @param ipv6  in an IPv6 header, without the tunnel's text */
static struct rte_mbuf *unknown(bool ipv6, unsigned int text)
{
	uint8_t ip[GATEWAY_FRAME];
	unsigned int header = ipv6 ? 40 : 20;

	gateway_sealed(ip, ipv6 ? &b : &a, false, LEN(0), 0, 1);
	ip[header] ^= 0x40;
	if (ipv6) {
		ip[4] = 0;
		ip[5] = (uint8_t)text;
	} else {
		ip[2] = 0;
		ip[3] = (uint8_t)(header + text);
		memset(ip + 10, 0, 2);
		memcpy(ip + 10, &(uint16_t){peer_checksum(ip, 20)}, 2);
	}
	return gateway_frame(ip, header + text, GATEWAY_WAN);
}

/* In UDP. @param port  that it comes to */
static struct rte_mbuf *unknown_in_udp(uint32_t spi, uint16_t port, uint16_t udp_len)
{
	const uint16_t udp[] = {htons(1), htons(port), htons(udp_len), 0};
	struct rte_mbuf *m = unknown(false, 24);
	uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, RTE_ETHER_HDR_LEN);

	ip[9] = IPPROTO_UDP;
	memset(ip + 10, 0, 2);
	memcpy(ip + 10, &(uint16_t){peer_checksum(ip, 20)}, 2);
	memcpy(ip + 20, udp, sizeof(udp));
	memcpy(ip + 28, &spi, sizeof(spi));
	return m;
}

/* @return whether all of a burst is done without the stages */
static bool ends_early(struct rte_mbuf **m, unsigned int n)
{
	struct fast_burst burst;

	refresh_turn(w);
	fast_lookup(w, &burst, m, n, GATEWAY_WAN);
	return fast_receive(w, &burst) && !w->stages.waiting;
}

/* Among packets of a known flow, which keep their order. It costs the stages nothing. */
static void no_sa(void **state)
{
	unsigned int id[N], n = 0;
	struct rte_mbuf *m[N];
	uint64_t received, known;

	(void)state;
	open_with(&esp_gcm, false);
	gateway_tunnel(&b, &esp_gcm, 3, false, true);
	learn_in(&a);
	received = w->stats->interface[GATEWAY_WAN].rx_packets;
	known = w->stats->shortcut;
	for (unsigned int i = 0; i < N; i++) {
		m[i] = i % 4 != 1   ? sealed(&a, i, 10 + i)
		       : i % 16 > 8 ? unknown_in_udp(i, 4500, 24)
				    : unknown(i % 8 == 1, 8 + i);
		if (i % 4 != 1)
			id[n++] = i;
	}
	assert_true(ends_early(m, N));
	expect_drops(DROP_BAD_SPI, N - n);
	assert_int_equal(w->stats->interface[GATEWAY_WAN].rx_packets, received + N);
	assert_int_equal(w->stats->shortcut, known + n);
	dispatch(w);
	expect_in(id, n);
}

/* What only the stages can tell passes them: ESP that is cut off, to another host, or in a frame that claims to have been
 * decrypted; in UDP what has no SPI, another length, or comes to another port. */
static void no_sa_yet(void **state)
{
	static const uint8_t decrypted[] = {0x02, 'C', 'Y', 'G', 'N', 'T'};
	uint8_t ip[GATEWAY_FRAME];
	struct rte_mbuf *m[7];

	(void)state;
	open_with(&esp_gcm, false);
	gateway_tunnel(&b, &esp_gcm, 3, false, true);
	m[0] = unknown(false, 7);
	m[1] = unknown(true, 7);
	gateway_packet(ip, 2, 1, false, 64, 1, 64);
	ip[9] = IPPROTO_ESP;
	memset(ip + 10, 0, 2);
	memcpy(ip + 10, &(uint16_t){peer_checksum(ip, 20)}, 2);
	m[2] = gateway_frame(ip, 64, GATEWAY_WAN);
	m[3] = unknown(false, 64);
	memcpy(rte_pktmbuf_mtod_offset(m[3], uint8_t *, 6), decrypted, sizeof(decrypted));
	m[4] = unknown_in_udp(0, 4500, 24);
	m[5] = unknown_in_udp(1, 4500, 23);
	m[6] = unknown_in_udp(1, 4501, 24);
	assert_false(ends_early(m, RTE_DIM(m)));
	assert_int_equal(dropped(), 0);
	assert_int_equal(w->stages.queue[STAGE_FROM_WIRE].n, RTE_DIM(m));
	dispatch(w);
	assert_int_equal(w->stats->drop[DROP_ESP_TRUNCATED], 2);
	assert_int_equal(w->stats->drop[DROP_FORGED_SOURCE], 1);
	assert_int_equal(w->stats->drop[DROP_BAD_SPI], 0);
	gateway_forget(w);
}

/* --- limits --- */

static void limited_out(struct cygnet_lifetime limit, unsigned int most)
{
	struct rte_mbuf *m[N];

	open_with(&esp_gcm, false);
	a.out->lifetime = limit;
	learn_out(&a);
	for (unsigned int i = 0; i < N; i++)
		m[i] = plain(&a, 0);
	worker_receive(w, m, N, GATEWAY_LAN);
	esp_worker_finish(w);
	assert_int_equal(w->tx[GATEWAY_WAN].n, most - 1);
	assert_int_equal(a.out->packets, most);
	expect_drops(DROP_SA_EXPIRED, N + 1 - most);
	gateway_close(w);
}

static void limited_in(struct cygnet_lifetime limit, unsigned int most)
{
	struct rte_mbuf *m[N];

	open_with(&esp_gcm, false);
	a.in->lifetime = limit;
	learn_in(&a);
	for (unsigned int i = 0; i < N; i++)
		m[i] = sealed(&a, 0, 10 + i);
	worker_receive(w, m, N, GATEWAY_WAN);
	esp_worker_finish(w);
	assert_int_equal(w->tx[GATEWAY_LAN].n, most - 1);
	assert_int_equal(a.in->packets, most);
	expect_drops(DROP_SA_EXPIRED, N + 1 - most);
	gateway_close(w);
}

/* The packet before used up the limit. */
static void limits(void **state)
{
	(void)state;
	limited_out((struct cygnet_lifetime){.hard_packets = 20}, 20);
	limited_out((struct cygnet_lifetime){.hard_bytes = 20 * LEN(0) - 1}, 20);
	limited_out((struct cygnet_lifetime){.hard_packets = 20, .soft_packets = 10}, 20);
	limited_in((struct cygnet_lifetime){.hard_packets = 20}, 20);
	limited_in((struct cygnet_lifetime){.hard_bytes = 20 * LEN(0) - 1}, 20);
	limited_in((struct cygnet_lifetime){.hard_packets = 20, .soft_packets = 10}, 20);
	gateway_open(w, 8);
}

static void numbers_used_up(void **state)
{
	struct rte_mbuf *m[N];

	(void)state;
	open_with(&esp_gcm, false);
	learn_out(&a);
	a.out->seq = UINT32_MAX - 3;
	for (unsigned int i = 0; i < N; i++)
		m[i] = plain(&a, i);
	worker_receive(w, m, N, GATEWAY_LAN);
	esp_worker_finish(w);
	assert_int_equal(w->tx[GATEWAY_WAN].n, 3);
	for (unsigned int i = 0; i < 3; i++)
		gateway_check_out(w->tx[GATEWAY_WAN].m[i], &a, false, LEN(i), i,
				  UINT32_MAX - 2 + i);
	expect_drops(DROP_SEQ_EXHAUSTED, N - 3);
}

/* --- packets that are not forwarded through the tunnel --- */

/* Another worker sends packets by its queue, so all state has to be in struct packet. */
static void others_queue(void **state)
{
	struct handoff *to = &w->handoff[1];
	struct rte_mbuf *m[N];

	(void)state;
	open_with(&esp_gcm, false);
	learn_out(&a);
	w->tx_owner[GATEWAY_WAN] = 1;
	w->out[GATEWAY_WAN] = NULL;
	for (unsigned int i = 0; i < N; i++)
		m[i] = plain(&a, i);
	worker_receive(w, m, N, GATEWAY_LAN);
	assert_int_equal(to->n, N);
	for (unsigned int i = 0; i < N; i++) {
		assert_int_equal(packet(to->m[i])->stage, STAGE_TX);
		assert_int_equal(packet(to->m[i])->interface, GATEWAY_WAN);
		gateway_check_out(to->m[i], &a, false, LEN(i), i, 2 + i);
	}
	rte_pktmbuf_free_bulk(to->m, to->n);
	to->n = 0;
}

/* Of the decrypted packets one has an expired TTL, one is for a host without a neighbour entry,
 * and one is malformed. */
static void out_of_the_ordinary(void **state)
{
	const unsigned int id[] = {0, 4};
	uint8_t text[GATEWAY_FRAME];
	struct rte_mbuf *m[5];

	(void)state;
	open_with(&esp_gcm, false);
	learn_in(&a);
	m[0] = sealed(&a, 0, 10);
	gateway_inner(text, &a, false, false, 64, 1, 1);
	m[1] = sealed_text(&a, 11, text, peer_trailer(text, 64, 2, IPPROTO_IPIP));
	m[2] = gateway_frame_for_missing(&a, 12);
	gateway_inner(text, &a, false, false, 64, 3, 64);
	text[10] ^= 1;
	m[3] = sealed_text(&a, 13, text, peer_trailer(text, 64, 2, IPPROTO_IPIP));
	m[4] = sealed(&a, 4, 14);
	worker_receive(w, m, 5, GATEWAY_WAN);
	assert_int_equal(w->neigh_wait.n, 1);
	assert_int_equal(packet(w->neigh_wait.of[0].head)->interface, GATEWAY_WAN);
	assert_int_equal(w->stats->drop[DROP_TTL], 1);
	assert_int_equal(w->stats->drop[DROP_MALFORMED], 1);
	assert_int_equal(dropped(), 2);
	expect_in(id, 2);
	neigh_wait_drop(w);
}

/* --- several SAs --- */

static void interleaved(void **state)
{
	uint64_t seq[2] = {1, 1};
	struct rte_mbuf *m[N];

	(void)state;
	open_with(&esp_gcm, false);
	gateway_tunnel(&b, &esp_cbc, 3, true, true);
	learn_out(&a);
	learn_out(&b);
	for (unsigned int i = 0; i < N; i++)
		m[i] = plain(i % 3 ? &a : &b, i);
	worker_receive(w, m, N, GATEWAY_LAN);
	assert_int_equal(w->stats->shortcut, N);
	assert_int_equal(w->tx[GATEWAY_WAN].n, N);
	for (unsigned int i = 0; i < N; i++)
		gateway_check_out(w->tx[GATEWAY_WAN].m[i], i % 3 ? &a : &b, false, LEN(i), i,
				  ++seq[i % 3 != 0]);
}

/* --- room around a frame --- */

/* Packets with too little room in their buffers take the slow path or are dropped. */
static void room_of(const struct esp_algorithm *algorithm, unsigned int headroom,
		    unsigned int tailroom)
{
	uint64_t lost = w->stats->drop[DROP_NO_BUFFER];
	struct mbuf_batch *sent = &w->tx[GATEWAY_WAN];
	uint8_t ip[GATEWAY_FRAME];
	struct rte_mbuf *m;

	gateway_inner(ip, &a, false, true, LEN(0), 0, 64);
	m = gateway_frame_in(ip, LEN(0), GATEWAY_LAN, headroom, tailroom);
	worker_receive(w, &m, 1, GATEWAY_LAN);
	esp_worker_finish(w);
	assert_int_equal(sent->n + w->stats->drop[DROP_NO_BUFFER], lost + 1);
	/* The outer header template has the Ethernet header already. */
	if (headroom >= 28u + algorithm->iv_len && tailroom >= 2u + 15 + 4 + algorithm->icv_len)
		assert_int_equal(sent->n, 1);
	if (sent->n)
		gateway_check_out(sent->m[0], &a, false, LEN(0), 0, a.out->seq);
	gateway_forget(w);
}

static void room(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		open_with(both[i & 1], i & 2);
		learn_out(&a);
		for (unsigned int n = 0; n < 90; n++) {
			room_of(both[i & 1], n, RTE_PKTMBUF_HEADROOM);
			room_of(both[i & 1], RTE_PKTMBUF_HEADROOM, n);
			room_of(both[i & 1], n, n);
		}
		gateway_close(w);
	}
	gateway_open(w, 8);
}

/* Removing the outer header needs no headroom. The hidden half of the sequence number needs a
 * few bytes of tailroom. */
static void room_in(void **state)
{
	const unsigned int id = 1;
	uint8_t ip[GATEWAY_FRAME];
	struct rte_mbuf *m;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		open_with(both[i & 1], i & 2);
		learn_in(&a);
		for (unsigned int n = 0; n < 60; n++) {
			unsigned int len = gateway_sealed(ip, &a, false, LEN(id), id, 10 + n);

			m = gateway_frame_in(ip, len, GATEWAY_WAN, n & 1 ? RTE_PKTMBUF_HEADROOM : n,
					     4 + n);
			worker_receive(w, &m, 1, GATEWAY_WAN);
			esp_worker_finish(w);
			expect_in(&id, 1);
		}
		gateway_close(w);
	}
	gateway_open(w, 8);
}

/* --- devices that fail --- */

/* A packet that a device fails to encrypt is lost. Later packets are encrypted by the device's
 * queue. */
static void failing(enum fault how, unsigned int survive)
{
	struct rte_mbuf *m[N];

	open_with(&esp_gcm, false);
	learn_out(&a);
	fault = how;
	for (unsigned int i = 0; i < N; i++)
		m[i] = plain(&a, i);
	worker_receive(w, m, N, GATEWAY_LAN);
	assert_int_equal(w->tx[GATEWAY_WAN].n, survive);
	expect_drops(DROP_ENGINE_FAILED, N - survive);
	assert_int_equal(w->stats->device[0].failed, N - survive);
	gateway_forget(w);
	for (unsigned int i = 0; i < N; i++)
		m[i] = plain(&a, i);
	worker_receive(w, m, N, GATEWAY_LAN);
	esp_worker_finish(w);
	/* The queue of that device gets no packets either. */
	assert_int_equal(w->stats->device[esp_device_after(0, a.out)].encrypted, N);
	assert_int_equal(w->tx[GATEWAY_WAN].n, N);
	for (unsigned int i = 0; i < N; i++)
		gateway_check_out(w->tx[GATEWAY_WAN].m[i], &a, false, LEN(i), i, 2 + N + i);
	fault = GOOD;
	gateway_close(w);
}

static void device_fails(void **state)
{
	(void)state;
	failing(REFUSES_ALL, 0);
	failing(REFUSES_ODD, N / 2);
	failing(SAYS_NOTHING, 0);
	gateway_open(w, 8);
}

/* A device that other workers have taken out is not used by this worker either. The SA goes to a
 * device that works by its queue only. */
static void device_changes(void **state)
{
	struct rte_mbuf *m[N];
	struct session *s;
	unsigned int second;

	(void)state;
	open_with(&esp_gcm, false);
	learn_out(&a);
	second = esp_device_after(0, a.out);
	engine_device[second].at_once = false;
	engines_lost = 1;
	assert_int_equal(session_get(w->sessions, a.out, cygnet_sa_index(sadb, a.out), true, &s),
			 DROP_NONE);
	assert_int_equal(s->device, second);
	calls = 0;
	for (unsigned int i = 0; i < N; i++)
		m[i] = plain(&a, i);
	worker_receive(w, m, N, GATEWAY_LAN);
	esp_worker_finish(w);
	engines_lost = 0;
	engine_device[second].at_once = true;
	assert_int_equal(calls, 0);
	assert_int_equal(dropped(), 0);
	assert_int_equal(w->tx[GATEWAY_WAN].n, N);
}

/* --- described in the middle --- */

/* A packet with too little room in its buffer has a struct packet in the crypto batch, between
 * packets without one. All leave in the order of arrival. */
static void described_between(void **state)
{
	static const unsigned int id[] = {0, 1, 2, 3};
	struct rte_mbuf *m[RTE_DIM(id)];
	uint8_t ip[GATEWAY_FRAME];

	(void)state;
	open_with(&esp_gcm, false);
	learn_in(&a);
	for (unsigned int i = 0; i < RTE_DIM(id); i++)
		m[i] = sealed(&a, i, 10 + i);
	rte_pktmbuf_free(m[2]);
	m[2] = gateway_frame_in(ip, gateway_sealed(ip, &a, false, LEN(2), 2, 12), GATEWAY_WAN,
				RTE_PKTMBUF_HEADROOM, 8);
	worker_receive(w, m, RTE_DIM(id), GATEWAY_WAN);
	esp_worker_finish(w);
	expect_in(id, RTE_DIM(id));
	assert_int_equal(dropped(), 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

/* @return how a process ends whose stage sends a packet to another one */
static int end_of(enum stage from, enum stage to)
{
	static struct stages stages;
	pid_t child = fork();
	int status;

	if (!child) {
		stages.running = from + 1;
		stage_add(&stages, to, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

#ifdef RTE_ENABLE_ASSERT
#define ASSERTS true
#else
#define ASSERTS false
#endif

static void stages_are_asserted(void **state)
{
	(void)state;
	assert_int_equal(end_of(STAGE_PROTECT, STAGE_FIND_SA), 0);
	assert_int_equal(WIFSIGNALED(end_of(STAGE_PROTECT, STAGE_OUTBOUND)), ASSERTS);
	assert_int_equal(WIFSIGNALED(end_of(STAGE_TO_KERNEL, STAGE_ROUTE)), ASSERTS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(twice),
		TEST(forged),
		TEST(truncated),
		TEST(trailers),
		TEST(no_sa),
		TEST(no_sa_yet),
		TEST(limits),
		TEST(numbers_used_up),
		TEST(others_queue),
		TEST(out_of_the_ordinary),
		TEST(interleaved),
		TEST(room),
		TEST(room_in),
		TEST(device_fails),
		TEST(device_changes),
		TEST(described_between),
		cmocka_unit_test(stages_are_asserted),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, gateway_stop);
}

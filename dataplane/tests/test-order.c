/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of an SA keep their order when some of them take the slow path, are reassembled, or
 * wait for a device, and others do not. The payload of each packet has its id. */
#include <netinet/in.h>
#include <string.h>

#include <rte_ring.h>

#include "base/sadb.h"
#include "crypto/crypto.h"
#include "gateway_fixture.h"
#include "host/interface.h"
#include "path/inbox.h"
#include "path/reassemble.h"
#include "worker_fixture.h"

#define LEN	   100u
#define LONG_LEN   1200u
#define CUT	   640u /* bytes behind the IPv4 header in the first fragment */
#define WINDOW	   32u	/* strongSwan's default */
#define BEHIND	   40u	/* packets behind a fragmented one: more than the window */
#define LEARNING   200u /* id of packets that only make a flow known */
#define IP4	   20u
#define PATIENT_MS 3600000u /* longer than any test, however slow the machine is */

static struct worker *w = &workers[0];
static const struct esp_algorithm *gcm;
static struct tunnel tunnel;

static int setup(void **state)
{
	(void)state;
	gcm = &esp_algorithms[esp_algorithm_count - 1];
	gateway_open(w, 16);
	w->reassembly = reassembly_create(PATIENT_MS, &w->stats->drop[DROP_REASSEMBLY]);
	gateway_tunnel(&tunnel, gcm, 2, false, false);
	tunnel.in->replay_window = WINDOW;
	return w->reassembly ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	reassembly_free(w->reassembly);
	w->reassembly = NULL;
	gateway_close(w);
	return 0;
}

/* --- packets --- */

static void put16(uint8_t *to, unsigned int value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

/* The fragment of an IPv4 packet with len bytes of its payload, from offset on. @return length */
static unsigned int cut(uint8_t *out, const uint8_t *ip, unsigned int offset, unsigned int len,
			bool more)
{
	uint16_t sum;

	memcpy(out, ip, IP4);
	memcpy(out + IP4, ip + IP4 + offset, len);
	put16(out + 2, IP4 + len);
	put16(out + 6, (more ? 0x2000u : 0) | offset / 8);
	put16(out + 10, 0);
	sum = peer_checksum(out, IP4);
	memcpy(out + 10, &sum, sizeof(sum));
	return IP4 + len;
}

/* The two fragments of a packet of len bytes, as frames to a port. @return 2 */
static unsigned int fragments(struct rte_mbuf **m, const uint8_t *ip, unsigned int len,
			      unsigned int interface)
{
	uint8_t part[GATEWAY_FRAME];

	for (unsigned int k = 0; k < 2; k++) {
		unsigned int n = cut(part, ip, k * CUT, k ? len - IP4 - CUT : CUT, !k);

		m[k] = gateway_frame_in(part, n, interface, RTE_PKTMBUF_HEADROOM, GATEWAY_FRAME);
	}
	return 2;
}

static struct rte_mbuf *sealed(unsigned int id, uint64_t seq)
{
	uint8_t ip[GATEWAY_FRAME];

	return gateway_frame(ip, gateway_sealed(ip, &tunnel, false, LEN, id, seq), GATEWAY_WAN);
}

static void learn_in(uint64_t seq)
{
	struct rte_mbuf *m = sealed(LEARNING, seq);

	worker_receive(w, &m, 1, GATEWAY_WAN);
	esp_worker_finish(w);
	gateway_forget(w);
}

static void learn_out(void)
{
	uint8_t ip[GATEWAY_FRAME];
	struct rte_mbuf *m;

	gateway_inner(ip, &tunnel, false, true, LEN, LEARNING, 64);
	m = gateway_frame(ip, LEN, GATEWAY_LAN);
	worker_receive(w, &m, 1, GATEWAY_LAN);
	esp_worker_finish(w);
	gateway_forget(w);
}

/* The id of an inner packet or of a fragment of one. gateway_packet() writes it into each byte
 * behind the ports, depending on the byte's offset in the packet. */
static unsigned int id_of(const uint8_t *ip)
{
	unsigned int offset = (unsigned int)((ip[6] << 8 | ip[7]) & 0x1fff) * 8, byte = 60;

	return (uint8_t)(ip[byte] - 7 * (byte + offset));
}

/* Check that n frames were transmitted by the LAN port, with ascending ids from the first one
 * on. */
static void expect_in(unsigned int n, unsigned int first)
{
	assert_int_equal(w->stats->drop[DROP_REPLAY], 0);
	assert_int_equal(w->tx[GATEWAY_LAN].n, n);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(id_of(rte_pktmbuf_mtod_offset(w->tx[GATEWAY_LAN].m[i], uint8_t *,
							       14)),
				 first + i);
	gateway_forget(w);
}

/* --- ESP in fragments --- */

/* Both fragments of the ESP packet with the lowest sequence number, and whole packets. */
static void esp_in_fragments(bool known)
{
	struct rte_mbuf *m[BURST];
	uint8_t ip[GATEWAY_FRAME];
	uint64_t seq = 1;
	unsigned int n;

	if (known)
		learn_in(seq++);
	n = gateway_sealed(ip, &tunnel, false, LONG_LEN, 0, seq++);
	n = fragments(m, ip, n, GATEWAY_WAN);
	for (unsigned int i = 1; i <= BEHIND; i++)
		m[n++] = sealed(i, seq++);
	worker_receive(w, m, n, GATEWAY_WAN);
	esp_worker_finish(w);
	expect_in(1 + BEHIND, 0);
}

static void esp_in_fragments_of_a_new_flow(void **state)
{
	(void)state;
	esp_in_fragments(false);
}

static void esp_in_fragments_of_a_known_flow(void **state)
{
	(void)state;
	esp_in_fragments(true);
}

/* As the worker that received a packet hands it off. */
static struct rte_mbuf *handed(struct rte_mbuf *m, enum stage stage, uint64_t seq)
{
	struct packet *p = packet(m);

	packet_received(w, m, GATEWAY_WAN);
	rte_pktmbuf_adj(m, 14);
	p->handed = 1;
	p->seen = 0;
	p->stage = (uint8_t)stage;
	p->resume = STAGE_LOCAL;
	p->sa = cygnet_sa_index(sadb, tunnel.in);
	p->generation = tunnel.in->generation;
	p->seq = seq;
	p->esp = IP4;
	p->src = packet_src(m);
	return m;
}

/* The same packets handed off by another worker, so that this one reassembles them. */
static void esp_in_fragments_handed_off(void **state)
{
	struct rte_mbuf *m[BURST];
	uint8_t ip[GATEWAY_FRAME];
	uint64_t seq = 1;
	unsigned int n;

	(void)state;
	w->inbox = rte_ring_create("inbox", BURST, SOCKET_ID_ANY, RING_F_SC_DEQ | RING_F_EXACT_SZ);
	assert_non_null(w->inbox);
	learn_in(seq++);
	/* A handed-off packet makes the route of its SA known. */
	assert_int_equal(rte_ring_enqueue(w->inbox,
					  handed(sealed(LEARNING, seq), STAGE_UNPROTECT, seq)),
			 0);
	seq++;
	assert_int_equal(inbox_poll(w), 1);
	esp_worker_finish(w);
	gateway_forget(w);
	n = gateway_sealed(ip, &tunnel, false, LONG_LEN, 0, seq++);
	n = fragments(m, ip, n, GATEWAY_WAN);
	for (unsigned int i = 0; i < n; i++)
		handed(m[i], STAGE_REASSEMBLE, 0);
	for (unsigned int i = 1; i <= BEHIND; i++, seq++)
		m[n++] = handed(sealed(i, seq), STAGE_UNPROTECT, seq);
	assert_int_equal(rte_ring_enqueue_bulk(w->inbox, (void **)m, n, NULL), n);
	assert_int_equal(inbox_poll(w), n);
	esp_worker_finish(w);
	expect_in(1 + BEHIND, 0);
	rte_ring_free(w->inbox);
	w->inbox = NULL;
}

/* --- fragmented datagrams, which have no flow --- */

/* Out of a tunnel: the second of eight packets of a known flow is in two fragments, each of them
 * encrypted. */
static void fragments_out_of_a_tunnel(void **state)
{
	static const unsigned int ids[] = {1, 2, 2, 3, 4, 5, 6, 7, 8};
	struct mbuf_batch *out = &w->tx[GATEWAY_LAN];
	uint8_t inner[GATEWAY_FRAME], part[GATEWAY_FRAME], ip[GATEWAY_FRAME];
	struct rte_mbuf *m[BURST];
	unsigned int n = 0, len;
	uint64_t seq = 1;

	(void)state;
	learn_in(seq++);
	m[n++] = sealed(1, seq++);
	gateway_inner(inner, &tunnel, false, false, LONG_LEN, 2, 64);
	for (unsigned int k = 0; k < 2; k++) {
		len = cut(part, inner, k * CUT, k ? LONG_LEN - IP4 - CUT : CUT, !k);
		len = peer_trailer(part, len, peer_padding(gcm, len), IPPROTO_IPIP);
		m[n++] = gateway_frame(ip, gateway_seal(ip, &tunnel, seq++, part, len),
				       GATEWAY_WAN);
	}
	for (unsigned int id = 3; id <= 8; id++)
		m[n++] = sealed(id, seq++);
	worker_receive(w, m, n, GATEWAY_WAN);
	esp_worker_finish(w);
	assert_int_equal(out->n, RTE_DIM(ids));
	for (unsigned int i = 0; i < out->n; i++)
		assert_int_equal(id_of(rte_pktmbuf_mtod_offset(out->m[i], uint8_t *, 14)), ids[i]);
}

/* The sequence number of a frame transmitted by the WAN port. */
static uint32_t number_of(struct rte_mbuf *m)
{
	uint32_t number;

	memcpy(&number, rte_pktmbuf_mtod_offset(m, uint8_t *, 14 + IP4 + 4), sizeof(number));
	return rte_be_to_cpu_32(number);
}

/* The id of the inner packet of such a frame, after a check of its sequence number. */
static unsigned int inner_id(struct rte_mbuf *m, uint64_t seq)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, 14);
	uint8_t text[PEER_TEXT_MAX];

	assert_int_equal(number_of(m), seq);
	assert_true(peer_open(&tunnel.peer, 0, ip + IP4, rte_pktmbuf_data_len(m) - 14 - IP4, text) >
		    0);
	return id_of(text);
}

/* Into a tunnel: sequence numbers are in the order of arrival. */
static void fragments_into_a_tunnel(void **state)
{
	static const unsigned int ids[] = {1, 2, 2, 3, 4, 5, 6, 7, 8};
	struct mbuf_batch *out = &w->tx[GATEWAY_WAN];
	struct rte_mbuf *m[BURST];
	uint8_t ip[GATEWAY_FRAME];
	unsigned int n = 0;
	uint64_t first;

	(void)state;
	learn_out();
	first = tunnel.out->seq + 1;
	for (unsigned int id = 1; id <= 8; id++) {
		gateway_inner(ip, &tunnel, false, true, id == 2 ? LONG_LEN : LEN, id, 64);
		if (id == 2)
			n += fragments(m + n, ip, LONG_LEN, GATEWAY_LAN);
		else
			m[n++] = gateway_frame(ip, LEN, GATEWAY_LAN);
	}
	worker_receive(w, m, n, GATEWAY_LAN);
	esp_worker_finish(w);
	assert_int_equal(out->n, RTE_DIM(ids));
	for (unsigned int i = 0; i < out->n; i++)
		assert_int_equal(inner_id(out->m[i], first + i), ids[i]);
}

/* --- the batch --- */

/* Packets in the crypto batch leave by the port whose Ethernet header they have, even if the
 * route of their SA changes meanwhile. */
static void route_changes_while_in_the_batch(void **state)
{
	struct fast_burst burst;
	struct rte_mbuf *m[BURST];
	uint8_t ip[GATEWAY_FRAME];

	(void)state;
	learn_out();
	for (unsigned int i = 0; i < 8; i++) {
		gateway_inner(ip, &tunnel, false, true, LEN, i, 64);
		m[i] = gateway_frame(ip, LEN, GATEWAY_LAN);
	}
	refresh_turn(w);
	fast_lookup(w, &burst, m, 8, GATEWAY_LAN);
	assert_true(fast_receive(w, &burst));
	assert_int_equal(w->crypto.batch.without_job, 8);
	w->crypto.batch.s[0]->route.interface = GATEWAY_LAN;
	dispatch(w);
	assert_int_equal(w->tx[GATEWAY_WAN].n, 8);
	assert_int_equal(w->tx[GATEWAY_LAN].n, 0);
}

/* Plaintext from the LAN, or ESP of the first tunnel whose inner packet is for the other tunnel. */
static void send_to(const struct tunnel *other, bool by_tunnel, unsigned int id, uint64_t seq)
{
	uint8_t ip[GATEWAY_FRAME], text[GATEWAY_FRAME];
	unsigned int len = LEN;
	struct rte_mbuf *m;

	gateway_packet(ip, by_tunnel ? tunnel.number : 1, other->number, false, LEN, id, 64);
	if (by_tunnel) {
		memcpy(text, ip, LEN);
		len = peer_trailer(text, LEN, peer_padding(gcm, LEN), IPPROTO_IPIP);
		len = gateway_seal(ip, &tunnel, seq, text, len);
	}
	m = gateway_frame(ip, len, by_tunnel ? GATEWAY_WAN : GATEWAY_LAN);
	worker_receive(w, &m, 1, by_tunnel ? GATEWAY_WAN : GATEWAY_LAN);
}

/* Enable or disable queueing of all packets of an SA, as after a device failed one. */
static void by_queue(const struct cygnet_sa *sa, bool yes)
{
	struct session *s = session_peek(w->sessions, cygnet_sa_index(sadb, sa), sa->generation);

	assert_non_null(s);
	s->by_queue = yes;
}

/* More packets than a stage accepts at once are completed by a device's queue, the last one
 * encrypted for another tunnel. Packets that were decrypted and continue into that tunnel do not
 * overtake it. */
static void decrypted_behind_protected(void **state)
{
	struct mbuf_batch *out = &w->tx[GATEWAY_WAN];
	struct crypto_poll poll = {0};
	uint64_t first, seq = 1;
	struct tunnel other;

	(void)state;
	gateway_tunnel(&other, gcm, 3, false, false);
	gateway_hub(&tunnel, &other);
	tunnel.in->replay_window = 128;
	for (unsigned int i = 0; i < 2; i++) {
		send_to(&other, i, LEARNING, seq);
		esp_worker_finish(w);
	}
	gateway_forget(w);
	first = other.out->seq + 1;
	by_queue(tunnel.in, true);
	by_queue(other.out, true);
	for (unsigned int i = 0; i < BURST + 1; i++)
		send_to(&other, true, 1 + i, ++seq);
	send_to(&other, false, 0, 0);
	for (unsigned int i = 0; i < 100; i++, poll = (struct crypto_poll){0})
		while (crypto_poll(&w->crypto, &poll))
			;
	assert_int_equal(w->crypto.in_flight, 0);
	assert_int_equal(out->n, 0);
	by_queue(other.out, false);
	dispatch(w);
	esp_worker_finish(w);
	assert_int_equal(out->n, BURST + 2);
	for (unsigned int i = 0; i < out->n; i++)
		assert_int_equal(number_of(out->m[i]), first + i);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(esp_in_fragments_of_a_new_flow), TEST(esp_in_fragments_of_a_known_flow),
		TEST(esp_in_fragments_handed_off),    TEST(fragments_out_of_a_tunnel),
		TEST(fragments_into_a_tunnel),	      TEST(route_changes_while_in_the_batch),
		TEST(decrypted_behind_protected),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, gateway_start, gateway_stop);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of more SAs than there are crypto sessions. */
#include <netinet/in.h>
#include <string.h>

#include "base/clock.h"
#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "gateway_fixture.h"
#include "worker_fixture.h"

static struct worker *w = &workers[0];
static struct tunnel a, b;

static int teardown(void **state)
{
	(void)state;
	gateway_close(w);
	return 0;
}

static uint64_t dropped(void)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < DROP_REASON_COUNT; i++)
		n += w->stats->drop[i];
	return n;
}

/* --- from one tunnel into others --- */

static struct tunnel hub[4];

static void open_hub(unsigned int sessions)
{
	gateway_open(w, sessions);
	for (unsigned int i = 0; i < RTE_DIM(hub); i++)
		gateway_tunnel(&hub[i], &esp_gcm, 2 + i, false, false);
	for (unsigned int i = 1; i < RTE_DIM(hub); i++)
		gateway_hub(&hub[0], &hub[i]);
}

static struct rte_mbuf *through(unsigned int to, uint64_t seq)
{
	uint8_t text[128], ip[GATEWAY_FRAME];
	unsigned int len = 64; /* and four bytes of trailer */

	gateway_packet(text, hub[0].number, hub[to].number, false, len, to, 64);
	len = peer_trailer(text, len, peer_padding(&esp_gcm, len), IPPROTO_IPIP);
	len = gateway_seal(ip, &hub[0], seq, text, len);
	return gateway_frame(ip, len, GATEWAY_WAN);
}

/* Check that a frame is an ESP packet of the SA to that network. */
static void expect_protected(struct rte_mbuf *m, unsigned int to)
{
	const uint8_t *esp = rte_pktmbuf_mtod_offset(m, const uint8_t *, 14 + 20);
	uint8_t text[PEER_TEXT_MAX];

	assert_memory_equal(esp, &hub[to].out->spi, 4);
	assert_int_equal(peer_open(&hub[to].peer, 0, esp, rte_pktmbuf_data_len(m) - 14 - 20, text),
			 68);
}

/* The third SA gets no session while those of the others have packets in the crypto batch. Its
 * packet waits until the batch has been run. */
static void no_session(void **state)
{
	static const unsigned int to[] = {1, 2, 3, 1};
	struct rte_mbuf *m[RTE_DIM(to)];

	(void)state;
	open_hub(2);
	m[0] = through(1, 1);
	worker_receive(w, m, 1, GATEWAY_WAN);
	esp_worker_finish(w);
	for (unsigned int i = 0; i < RTE_DIM(to); i++)
		m[i] = through(to[i], 2 + i);
	worker_receive(w, m, RTE_DIM(to), GATEWAY_WAN);
	esp_worker_finish(w);
	assert_int_equal(dropped(), 0);
	assert_int_equal(w->tx[GATEWAY_WAN].n, 5);
	assert_int_equal(w->stats->encapsulated, 5);
}

/* The crypto batch has room for fewer packets than arrive. The waiting packets keep the session
 * of their SA. */
static void session_evicted(void **state)
{
	struct rte_mbuf *m[BURST];

	(void)state;
	open_hub(2);
	m[0] = through(1, 1);
	worker_receive(w, m, 1, GATEWAY_WAN);
	esp_worker_finish(w);
	gateway_forget(w);
	for (unsigned int i = 0; i < BURST; i++)
		m[i] = through(i < BURST - 7 ? 1 : 2, 2 + i);
	worker_receive(w, m, BURST, GATEWAY_WAN);
	for (unsigned int i = 0; i < 60; i++)
		m[i] = through(1, 2 + BURST + i);
	worker_receive(w, m, 60, GATEWAY_WAN);
	esp_worker_finish(w);
	assert_int_equal(dropped(), 0);
	assert_int_equal(w->tx[GATEWAY_LAN].n, 0);
	assert_int_equal(w->tx[GATEWAY_WAN].n, BURST + 60);
	for (unsigned int i = 0; i < BURST + 60; i++)
		expect_protected(w->tx[GATEWAY_WAN].m[i], i < BURST - 7 || i >= BURST ? 1 : 2);
	assert_int_equal(w->stats->encapsulated, 1 + BURST + 60);
}

/* --- forged packets --- */

static struct rte_mbuf *sealed(const struct tunnel *t, uint64_t seq)
{
	uint8_t ip[GATEWAY_FRAME];

	return gateway_frame(ip, gateway_sealed(ip, t, false, 100, 1, seq), GATEWAY_WAN);
}

static void receive(struct rte_mbuf *m)
{
	worker_receive(w, &m, 1, GATEWAY_WAN);
	esp_worker_finish(w);
}

static struct rte_mbuf *forged_of(const struct tunnel *t, uint64_t seq)
{
	struct rte_mbuf *m = sealed(t, seq);

	rte_pktmbuf_mtod(m, uint8_t *)[rte_pktmbuf_data_len(m) - 1] ^= 1;
	return m;
}

static bool has_session(const struct cygnet_sa *sa)
{
	return session_peek(w->sessions, cygnet_sa_index(sadb, sa), sa->generation);
}

/* Forged packets of more SAs than there are sessions take none from an SA whose packets are authentic. */
static void forged_for_many(void **state)
{
	struct tunnel c;

	(void)state;
	gateway_open(w, 2);
	gateway_tunnel(&a, &esp_gcm, 2, false, false);
	gateway_tunnel(&b, &esp_gcm, 3, false, false);
	gateway_tunnel(&c, &esp_gcm, 4, false, false);
	receive(sealed(&a, 1));
	assert_int_equal(w->tx[GATEWAY_LAN].n, 1);
	for (uint64_t i = 0; i < 6; i++) {
		receive(forged_of(i % 2 ? &c : &b, 2 + i));
		clock_now++;
		assert_true(has_session(a.in));
	}
	assert_int_equal(w->stats->drop[DROP_AUTH_FAILED], 6);
	/* Authentic packets of more SAs than there are sessions do: the one that has been idle for longest. */
	receive(sealed(&b, 1));
	receive(sealed(&c, 1));
	assert_false(has_session(a.in));
	assert_true(has_session(b.in) && has_session(c.in));
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(no_session),
		TEST(session_evicted),
		TEST(forged_for_many),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, gateway_start, gateway_stop);
}

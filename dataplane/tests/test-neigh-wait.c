/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that wait for a neighbour: they hold up no others, leave once it is known, and are decided about again if a policy has come
 * meanwhile. */
#include <netinet/in.h>
#include <string.h>

#include "base/changes.h"
#include "base/sadb.h"
#include "gateway_fixture.h"
#include "host/interface.h"
#include "host/neigh.h"
#include "host/side.h"
#include "path/sa_wait.h"
#include "path/worker/neigh_wait.h"
#include "worker_fixture.h"

#define LEN 48u

static struct worker *w = &workers[0];
static struct tunnel a;

static int teardown(void **state)
{
	(void)state;
	gateway_close(w);
	return 0;
}

static struct rte_mbuf *sealed(uint64_t seq)
{
	uint8_t ip[GATEWAY_FRAME];

	return gateway_frame(ip, gateway_sealed(ip, &a, false, LEN, 0, seq), GATEWAY_WAN);
}

/* A tunnel whose inbound flow is known. */
static void open_tunnel(void)
{
	struct rte_mbuf *m;

	gateway_open(w, 8);
	gateway_tunnel(&a, &esp_gcm, 2, false, false);
	m = sealed(1);
	worker_receive(w, &m, 1, GATEWAY_WAN);
	esp_worker_finish(w);
	assert_int_equal(w->tx[GATEWAY_LAN].n, 1);
	gateway_forget(w);
}

static const struct rte_ether_addr missing_mac = {{2, 0, 0, 0, 0, GATEWAY_MISSING}};

static struct neigh missing(void)
{
	const uint8_t addr[] = {10, 1, 0, GATEWAY_MISSING};
	struct neigh neigh = {.af = AF_INET, .interface = GATEWAY_LAN};

	memcpy(&neigh.addr, addr, sizeof(addr));
	return neigh;
}

/* The packets have left for the neighbour that was missing, and no packet waits any more. */
static void expect_found(const struct neigh *host, const uint8_t *seq, unsigned int n)
{
	assert_int_equal(w->neigh_wait.n, 0);
	assert_int_equal(w->tx[GATEWAY_LAN].n, n);
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(w->tx[GATEWAY_LAN].m[i], uint8_t *);

		assert_memory_equal(frame, &missing_mac, sizeof(missing_mac));
		assert_int_equal(frame[RTE_ETHER_HDR_LEN + 63], (uint8_t)(7 * 63 + seq[i]));
	}
	gateway_forget(w);
	neigh_forget(host);
}

/* Packets for a host without a neighbour entry do not delay packets for other hosts. They leave
 * before later packets of that host once its neighbour is known. */
static void waiting(void **state)
{
	const struct neigh host = missing();
	const uint8_t seq[] = {10, 12};
	struct rte_mbuf *m;
	uint64_t before;

	(void)state;
	open_tunnel();
	m = gateway_frame_for_missing(&a, 10);
	worker_receive(w, &m, 1, GATEWAY_WAN);
	assert_int_equal(w->neigh_wait.n, 1);
	before = w->stats->shortcut;
	m = sealed(11);
	worker_receive(w, &m, 1, GATEWAY_WAN);
	assert_int_equal(w->stats->shortcut, before + 2); /* its ESP flow and its inner flow */
	assert_int_equal(w->tx[GATEWAY_LAN].n, 1);
	gateway_check_in(w->tx[GATEWAY_LAN].m[0], &a, false, LEN, 0);
	gateway_forget(w);
	neigh_set(&host, &missing_mac, false);
	m = gateway_frame_for_missing(&a, 12);
	worker_receive(w, &m, 1, GATEWAY_WAN);
	esp_worker_finish(w);
	expect_found(&host, seq, 2);
}

/* Packets waiting for a neighbour leave in the iteration after it is known, with or without other
 * packets. */
static void found(void **state)
{
	const struct neigh host = missing();
	const uint8_t seq[] = {10};
	struct rte_mbuf *m;

	(void)state;
	open_tunnel();
	m = gateway_frame_for_missing(&a, 10);
	worker_receive(w, &m, 1, GATEWAY_WAN);
	for (unsigned int i = 0; i < 2; i++) {
		refresh_turn(w);
		neigh_wait_expire(w);
		assert_int_equal(w->neigh_wait.n, 1);
		changes_note(); /* an unrelated change */
	}
	neigh_set(&host, &missing_mac, false);
	refresh_turn(w);
	expect_found(&host, seq, 1);
}

/* @param action  about everything that leaves */
static void add_policy_for_all(uint8_t action)
{
	const struct cygnet_policy_params policy = {
		.sel = {.src_hi.v4 = UINT32_MAX,
			.dst_hi.v4 = UINT32_MAX,
			.sport_hi = UINT16_MAX,
			.dport_hi = UINT16_MAX,
			.af = AF_INET},
		.reqid = 99,
		.dir = CYGNET_OUT,
		.action = action,
		.proto = IPPROTO_ESP,
		.mode = CYGNET_TUNNEL,
		.af = AF_INET,
	};

	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
}

/* A plaintext packet waited for a neighbour, then a policy was added, then the neighbour is found. */
static void found_after(uint8_t action)
{
	const struct neigh host = missing();
	struct rte_mbuf *m;

	open_tunnel();
	m = gateway_frame_for_missing(&a, 10);
	worker_receive(w, &m, 1, GATEWAY_WAN);
	assert_int_equal(w->neigh_wait.n, 1);
	add_policy_for_all(action);
	neigh_set(&host, &missing_mac, false);
	refresh_turn(w);
	dispatch(w);
	assert_int_equal(w->neigh_wait.n, 0);
	neigh_forget(&host);
}

static void protect_while_waiting(void **state)
{
	(void)state;
	found_after(CYGNET_PROTECT);
	assert_int_equal(w->tx[GATEWAY_LAN].n, 0);
	assert_int_equal(w->sa_wait.n, 1); /* until there is an SA */
	sa_wait_drop(w);
}

static void discard_while_waiting(void **state)
{
	uint64_t before = w->stats->drop[DROP_POLICY_DISCARD];

	(void)state;
	found_after(CYGNET_DISCARD);
	assert_int_equal(w->tx[GATEWAY_LAN].n, 0);
	assert_int_equal(w->stats->drop[DROP_POLICY_DISCARD], before + 1);
}

static void bypass_while_waiting(void **state)
{
	(void)state;
	found_after(CYGNET_BYPASS);
	assert_int_equal(w->tx[GATEWAY_LAN].n, 1);
	gateway_forget(w);
}

/* The port that a decrypted packet is to leave by becomes an outside one while it waits. */
static void outside_while_waiting(void **state)
{
	const struct neigh host = missing();
	uint64_t before = w->stats->drop[DROP_OUTSIDE];
	struct rte_mbuf *m;

	(void)state;
	open_tunnel();
	m = gateway_frame_for_missing(&a, 10);
	worker_receive(w, &m, 1, GATEWAY_WAN);
	assert_int_equal(w->neigh_wait.n, 1);
	interfaces[GATEWAY_LAN].side = SIDE_OUTSIDE;
	changes_note();
	neigh_set(&host, &missing_mac, false);
	refresh_turn(w);
	assert_int_equal(w->neigh_wait.n, 0);
	assert_int_equal(w->tx[GATEWAY_LAN].n, 0);
	assert_int_equal(w->stats->drop[DROP_OUTSIDE], before + 1);
	interfaces[GATEWAY_LAN].side = SIDE_UNKNOWN;
	changes_note();
	neigh_forget(&host);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(waiting),
		TEST(found),
		TEST(protect_while_waiting),
		TEST(discard_while_waiting),
		TEST(bypass_while_waiting),
		TEST(outside_while_waiting),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, gateway_start, gateway_stop);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a change of policies, SAs, neighbours, routes and path MTUs makes void: decisions about known flows that depend
 * on it hold no longer for the next packet, and those about other flows stay. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/changes.h"
#include "base/clock.h"
#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "esp/path_mtu.h"
#include "gateway_fixture.h"
#include "host/neigh.h"
#include "host/route.h"
#include "path/sa_session.h"
#include "path/sa_wait.h"
#include "path/fast/flow.h"
#include "worker_fixture.h"

#define LEN	100u
#define ETHER	14u
#define SEQ_AT	(ETHER + 20u + 4u) /* of ESP's sequence number in a frame */
#define NEW_SPI 0x7000u

static struct worker *w = &workers[0];
static struct tunnel a, b;

static int setup(void **state)
{
	(void)state;
	gateway_open(w, 8);
	gateway_tunnel(&a, &esp_gcm, 2, false, false);
	gateway_tunnel(&b, &esp_gcm, 3, false, false);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sa_wait_drop(w);
	gateway_close(w);
	return 0;
}

/* --- packets of the flows --- */

/* What became of a packet that a port has received. */
struct fate {
	bool known;	   /* its flow was known */
	unsigned int sent; /* frames that left */
	uint8_t frame[ETHER + 24];
};

static struct fate receive(struct rte_mbuf *m, unsigned int in, unsigned int out)
{
	uint64_t known = w->stats->shortcut;
	struct fate fate = {0};

	worker_receive(w, &m, 1, in);
	esp_worker_finish(w);
	fate.known = w->stats->shortcut > known;
	fate.sent = w->tx[out].n;
	if (fate.sent)
		memcpy(fate.frame, rte_pktmbuf_mtod(w->tx[out].m[0], uint8_t *),
		       sizeof(fate.frame));
	gateway_forget(w);
	return fate;
}

/* A packet to network n, which leaves protected if n is that of a tunnel. */
static struct fate send_long_to(unsigned int n, unsigned int len)
{
	uint8_t ip[GATEWAY_FRAME];
	uint16_t sum;

	gateway_packet(ip, 1, n, false, len, 0, 64);
	ip[6] = 0x40; /* DF */
	ip[10] = ip[11] = 0;
	sum = peer_checksum(ip, 20);
	memcpy(ip + 10, &sum, sizeof(sum));
	return receive(gateway_frame(ip, len, GATEWAY_LAN), GATEWAY_LAN, GATEWAY_WAN);
}

static struct fate send_to(unsigned int n)
{
	return send_long_to(n, LEN);
}

static struct fate unseal_from(const struct tunnel *t)
{
	static uint64_t seq;
	uint8_t ip[GATEWAY_FRAME];
	unsigned int len = gateway_sealed(ip, t, false, LEN, 0, ++seq);

	return receive(gateway_frame(ip, len, GATEWAY_WAN), GATEWAY_WAN, GATEWAY_LAN);
}

static uint32_t spi_of(const struct fate *fate)
{
	uint32_t spi;

	memcpy(&spi, fate->frame + SEQ_AT - sizeof(spi), sizeof(spi));
	return spi;
}

static bool stays_known(struct fate fate)
{
	return fate.known && fate.sent == 1;
}

static void learn(unsigned int n)
{
	assert_int_equal(send_to(n).sent, 1);
	assert_true(stays_known(send_to(n)));
}

static void learn_from(const struct tunnel *t)
{
	assert_int_equal(unseal_from(t).sent, 1);
	assert_true(stays_known(unseal_from(t)));
}

/* --- changes --- */

static struct cygnet_policy_params policy_to(unsigned int n, enum cygnet_dir dir, uint8_t action)
{
	struct cygnet_addr own = {.bytes = {10, 1}}, own_end = {.bytes = {10, 1, 255, 255}};
	struct cygnet_addr far = {.bytes = {10, (uint8_t)n}},
			   far_end = {.bytes = {10, (uint8_t)n, 255, 255}};
	bool out = dir == CYGNET_OUT;

	return (struct cygnet_policy_params){
		.sel = {.src_lo = out ? own : far,
			.src_hi = out ? own_end : far_end,
			.dst_lo = out ? far : own,
			.dst_hi = out ? far_end : own_end,
			.sport_hi = UINT16_MAX,
			.dport_hi = UINT16_MAX,
			.af = AF_INET},
		.reqid = 100,
		.dir = (uint8_t)dir,
		.action = action,
		.proto = IPPROTO_ESP,
		.mode = CYGNET_TUNNEL,
		.af = AF_INET,
	};
}

static struct cygnet_sa_id id_of(const struct cygnet_sa *sa)
{
	return (struct cygnet_sa_id){sa->spi, sa->proto, AF_INET, cygnet_sa_path(sa)->dst};
}

/* Install another outbound SA, and its policy. @return the policy */
static struct cygnet_policy_params install(const struct tunnel *t, uint32_t spi, uint32_t flags,
					   bool per_cpu)
{
	struct cygnet_policy_params policy = policy_to(t->number, CYGNET_OUT, CYGNET_PROTECT);
	struct cygnet_sa_params sa = esp_params(&t->peer, 0);

	sa.path = *cygnet_sa_path(t->out);
	sa.id.dst = policy.dst = sa.path.dst;
	sa.id.spi = policy.spi = htonl(spi);
	sa.reqid = policy.reqid = t->out->reqid;
	sa.flags |= flags;
	policy.per_cpu = per_cpu;
	assert_int_equal(cygnet_sa_add(sadb, &sa), 0);
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	return policy;
}

static void rekey(const struct tunnel *t)
{
	install(t, NEW_SPI, 0, false);
}

static struct neigh neighbour(uint8_t last)
{
	return (struct neigh){.addr.bytes = {192, 0, 2, last},
			      .af = AF_INET,
			      .interface = GATEWAY_WAN};
}

static void set_neighbour(uint8_t last, uint8_t mac, bool stale)
{
	const struct neigh n = neighbour(last);

	neigh_set(&n, &(struct rte_ether_addr){{2, 0, 0, 0, 1, mac}}, stale);
}

/* --- tests --- */

static void rekeyed(void **state)
{
	struct cygnet_sa_id old = id_of(a.out);
	struct fate fate;

	(void)state;
	learn(2);
	learn(3);
	rekey(&a);
	fate = send_to(2);
	assert_false(fate.known);
	assert_int_equal(fate.sent, 1);
	assert_int_equal(spi_of(&fate), htonl(NEW_SPI));
	assert_true(stays_known(send_to(3)));
	assert_true(stays_known(send_to(2)));
	/* The old SA goes: nobody uses it. */
	assert_int_equal(cygnet_sa_delete(sadb, &old), 0);
	assert_true(stays_known(send_to(2)));
	assert_true(stays_known(send_to(3)));
}

/* The flow is void, and its packet leaves with an SA. */
static void is_sent_with(uint32_t spi)
{
	struct fate fate = send_to(2);

	assert_false(fate.known);
	assert_int_equal(fate.sent, 1);
	assert_int_equal(spi_of(&fate), htonl(spi));
	assert_true(stays_known(send_to(2)));
	assert_true(stays_known(send_to(3)));
}

/* Known flows go over to the worker's own SA when it comes, and leave it when it goes, also where another SA's policy is the
 * one that lookups find. */
static void own_sa(void **state)
{
	struct cygnet_policy_params own;

	(void)state;
	install(&a, NEW_SPI, 0, true);
	learn(2);
	learn(3);
	own = install(&a, NEW_SPI + 1, cygnet_sa_cpu_flags(0), true);
	is_sent_with(NEW_SPI + 1);
	install(&a, NEW_SPI + 2, 0, true);
	is_sent_with(NEW_SPI + 1);
	assert_int_equal(cygnet_policy_delete(sadb, &own), 0);
	is_sent_with(NEW_SPI + 2);
	assert_int_equal(cygnet_policy_add(sadb, &own), 0);
	is_sent_with(NEW_SPI + 1);
}

/* The SA of a flow is deleted. Its policy remains, so the packet must not leave in any way. */
static void sa_deleted(void **state)
{
	struct cygnet_sa_id out = id_of(a.out), in = id_of(a.in);

	(void)state;
	learn(2);
	learn(3);
	learn_from(&a);
	learn_from(&b);
	assert_int_equal(cygnet_sa_delete(sadb, &out), 0);
	assert_int_equal(send_to(2).sent, 0);
	assert_true(stays_known(send_to(3)));
	assert_true(stays_known(unseal_from(&a)));
	assert_int_equal(cygnet_sa_delete(sadb, &in), 0);
	assert_int_equal(unseal_from(&a).sent, 0);
	assert_int_equal(w->stats->drop[DROP_BAD_SPI], 1);
	assert_true(stays_known(unseal_from(&b)));
}

/* Packets that come out of an SA are known by its slot: not if another SA has the slot, and not if the SA's
 * end has moved, which its policy names. */
static void sa_moved(void **state)
{
	struct cygnet_policy_params named = policy_to(2, CYGNET_FWD, CYGNET_PROTECT);
	struct cygnet_path there = *cygnet_sa_path(a.in);
	struct cygnet_sa_id in = id_of(a.in);

	(void)state;
	named.reqid = a.in->reqid;
	named.src = there.src;
	assert_int_equal(cygnet_policy_add(sadb, &named), 0);
	learn_from(&a);
	learn_from(&b);
	there.src.bytes[3]++;
	cygnet_reader_quiescent(sadb, 0);
	assert_int_equal(cygnet_sa_update(sadb, &in, &there, 0), 0);
	assert_int_equal(unseal_from(&a).sent, 0);
	assert_int_equal(w->stats->drop[DROP_POLICY_INBOUND], 1);
	assert_true(stays_known(unseal_from(&b)));
}

/* No packet leaves in plaintext after a policy that says otherwise was added. */
static void policy_added(void **state)
{
	struct cygnet_policy_params protect = policy_to(4, CYGNET_OUT, CYGNET_PROTECT);
	struct cygnet_policy_params wide = protect;

	(void)state;
	learn(4);
	learn(5);
	learn(2);
	assert_int_equal(cygnet_policy_add(sadb, &protect), 0);
	assert_int_equal(send_to(4).sent, 0);
	assert_true(stays_known(send_to(5)));
	assert_true(stays_known(send_to(2)));
	assert_int_equal(cygnet_policy_delete(sadb, &protect), 0);
	assert_int_equal(send_to(4).sent, 1);
	assert_true(stays_known(send_to(4)));
	/* One that is for all addresses. */
	memset(&wide.sel.src_lo, 0, sizeof(wide.sel.src_lo));
	memset(&wide.sel.dst_lo, 0, sizeof(wide.sel.dst_lo));
	memset(&wide.sel.src_hi, 255, 4);
	memset(&wide.sel.dst_hi, 255, 4);
	assert_int_equal(cygnet_policy_add(sadb, &wide), 0);
	assert_int_equal(send_to(4).sent, 0);
	assert_int_equal(send_to(5).sent, 0);
}

/* An inbound policy for what comes as plaintext. */
static void forward_policy_added(void **state)
{
	struct cygnet_policy_params in = policy_to(1, CYGNET_FWD, CYGNET_PROTECT);

	(void)state;
	in.sel.src_lo.bytes[1] = in.sel.src_hi.bytes[1] = 1;
	in.sel.dst_lo.bytes[1] = in.sel.dst_hi.bytes[1] = 4;
	learn(4);
	assert_int_equal(cygnet_policy_add(sadb, &in), 0);
	assert_int_equal(send_to(4).sent, 0);
	assert_int_equal(w->stats->drop[DROP_POLICY_PLAINTEXT], 1);
}

/* Whoever is on the segment. */
static void other_neighbour(void **state)
{
	uint64_t seen;

	(void)state;
	learn(2);
	learn(4);
	learn_from(&a);
	for (uint8_t i = 0; i < 10; i++) {
		set_neighbour(77, i & 1, false);
		assert_true(stays_known(send_to(2)));
		assert_true(stays_known(send_to(4)));
		assert_true(stays_known(unseal_from(&a)));
	}
	/* The kernel wants it confirmed, or finds it again. */
	seen = changes_seen();
	set_neighbour(77, 1, true);
	set_neighbour(77, 1, false);
	neighs_mark();
	set_neighbour(77, 1, false);
	assert_int_equal(changes_seen(), seen);
	set_neighbour(77, 2, false);
	assert_int_equal(changes_seen(), seen + 1);
}

/* The next hop of both: the next packet has its new address. That of an SA is found anew without its flows. */
static void own_neighbour(void **state)
{
	struct fate fate;

	(void)state;
	learn(2);
	learn(4);
	set_neighbour(2, 99, false);
	fate = send_to(2);
	assert_true(stays_known(fate));
	assert_int_equal(fate.frame[5], 99);
	fate = send_to(4);
	assert_false(fate.known);
	assert_int_equal(fate.sent, 1);
	assert_int_equal(fate.frame[5], 99);
	set_neighbour(2, 2, false);
	fate = send_to(2);
	assert_true(stays_known(fate));
	assert_int_equal(fate.frame[5], 2);
}

static void route_changed(void **state)
{
	struct route route = {.dst.bytes = {10, 4},
			      .af = AF_INET,
			      .bits = 16,
			      .table = 254,
			      .hop = {.kind = ROUTE_BLACKHOLE}};

	(void)state;
	learn(4);
	learn(2);
	assert_int_equal(route_add(&route, ROUTE_APPEND), 0);
	assert_true(routes_commit());
	assert_int_equal(send_to(4).sent, 0);
	assert_int_equal(send_to(2).sent, 1);
	assert_int_equal(route_delete(&route), 0);
	assert_true(routes_commit());
	assert_int_equal(send_to(4).sent, 1);
}

/* The path MTU of one SA: its next packet that is too long does not leave whole. */
static void path_mtu_lowered(void **state)
{
	struct fate fate;
	uint64_t reported = (uint64_t)1000 << PATH_MTU_SHIFT | (clock_seconds() & PATH_MTU_SECOND);

	(void)state;
	learn(2);
	learn(3);
	assert_true(stays_known(send_long_to(2, 1200)));
	__atomic_store_n(&a.out->path_mtu, reported, __ATOMIC_RELAXED);
	changes_note_one();
	fate = send_long_to(2, 1200);
	assert_false(fate.known);
	assert_int_equal(w->stats->drop[DROP_TOO_BIG], 1);
	assert_true(stays_known(send_to(2)));
	assert_true(stays_known(send_long_to(3, 1200)));
}

/* A session is given to another SA. */
static void released(void **state)
{
	struct cygnet_sa_id out = id_of(a.out);

	(void)state;
	learn(2);
	learn(3);
	assert_int_equal(cygnet_sa_delete(sadb, &out), 0);
	for (unsigned int i = 0; i < 64; i++)
		sessions_sweep(w->sessions);
	assert_int_equal(send_to(2).sent, 0);
	assert_true(stays_known(send_to(3)));
}

/* The deletion of its SA has made void what depended on it: no flow is looked at once more. */
static void released_later(void **state)
{
	struct cygnet_sa_id out = id_of(a.out);
	uint32_t epoch;

	(void)state;
	learn(2);
	learn(3);
	assert_int_equal(cygnet_sa_delete(sadb, &out), 0);
	assert_int_equal(send_to(2).sent, 0);
	epoch = w->fast->flows.epoch;
	for (unsigned int i = 0; i < 64; i++)
		sessions_sweep(w->sessions);
	assert_int_equal(w->fast->flows.epoch, epoch);
	assert_true(stays_known(send_to(3)));
}

/* With one session for two SAs, the flow of one does not use that of the other. */
static void session_evicted(void **state)
{
	struct fate fate;

	(void)state;
	sessions_free(w->sessions);
	w->sessions = sessions_create(esp_sas, 1, &sa_session_events, w);
	assert_non_null(w->sessions);
	for (unsigned int i = 0; i < 4; i++) {
		const struct tunnel *t = i & 1 ? &b : &a;

		learn(t->number);
		fate = send_to(t->number);
		assert_true(stays_known(fate));
		assert_int_equal(spi_of(&fate), t->out->spi);
	}
}

/* A decision that a change came after is not remembered, even if no flow depended on what changed. */
static void changed_meanwhile(void **state)
{
	struct cygnet_policy_params protect = policy_to(4, CYGNET_OUT, CYGNET_PROTECT);
	struct flow_key key;
	uint8_t ip[LEN];
	struct rte_mbuf *m;
	uint32_t epoch;

	(void)state;
	send_to(2);
	gateway_packet(ip, 1, 4, false, LEN, 0, 64);
	m = gateway_frame(ip, LEN, GATEWAY_LAN);
	packet_begin(m, GATEWAY_LAN, w->seen);
	assert_int_equal(cygnet_policy_add(sadb, &protect), 0);
	epoch = w->fast->flows.epoch;
	refresh_turn(w);
	assert_int_equal(w->fast->flows.epoch, epoch); /* no flow is void */
	assert_int_equal(cygnet_policy_delete(sadb, &protect), 0);
	rte_pktmbuf_adj(m, ETHER);
	assert_true(flow_of(ip, LEN, PACKET_FROM_INTERFACE(GATEWAY_LAN), &key));
	packet(m)->stage = STAGE_OUTBOUND;
	worker_pass(w, m);
	assert_null(flow_find(&w->fast->flows, &key, flow_place(&w->fast->flows, &key)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(rekeyed),	       TEST(own_sa),
		TEST(sa_deleted),      TEST(sa_moved),
		TEST(policy_added),    TEST(forward_policy_added),
		TEST(other_neighbour), TEST(own_neighbour),
		TEST(route_changed),   TEST(path_mtu_lowered),
		TEST(released),	       TEST(released_later),
		TEST(session_evicted), TEST(changed_meanwhile),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, gateway_start, gateway_stop);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets waiting until charon has negotiated an SA: how long they wait, and the acquires that
 * charon gets. There are no routes, so a protected packet is dropped for that reason. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>

#include "base/acquire.h"
#include "base/clock.h"
#include "base/event.h"
#include "base/sadb.h"
#include "host/route.h"
#include "path/sa_wait.h"
#include "path/worker/policy.h"
#include "path/worker/worker.h"
#include "sa_wait_fixture.h"
#include "worker_fixture.h"

static struct worker *w = &workers[0];

static void trap6(void)
{
	struct cygnet_policy_params policy = waiting_policy(NULL);

	policy.sel.af = AF_INET6;
	memset(&policy.sel.src_hi, 0xff, sizeof(policy.sel.src_hi));
	memset(&policy.sel.dst_hi, 0xff, sizeof(policy.sel.dst_hi));
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
}

static void pass_second(void)
{
	clock_now++;
	sa_wait_retry(w);
	dispatch_stages(w);
}

/* What was sent is over, and charon may be asked about the same again. */
static void forget_packets(void)
{
	sa_wait_drop(w);
	clock_now += 2;
}

/* @return number of acquires for a reqid; there are no others */
static unsigned int asked_reqid(uint32_t reqid)
{
	struct cygnet_event event;
	unsigned int n = 0;

	events_post();
	for (; cygnet_event_wait(sadb, &event, 0) == 0; n++)
		assert_int_equal(event.reqid, reqid);
	return n;
}

static void waits_so_long(void **state)
{
	(void)state;
	waiting_trap();
	waiting_send_one();
	for (unsigned int i = 1; i < SA_WAIT_SECONDS; i++)
		pass_second();
	assert_int_equal(w->sa_wait.n, 1);
	waiting_send_one();
	pass_second();
	assert_int_equal(w->sa_wait.n, 1);
	assert_int_equal(w->stats->drop[DROP_NO_SA_IN_TIME], 1);
	assert_int_equal(w->stats->waited_for_sa, 2);
}

/* Charon was killed, and its successor holds the policies: neither waiting packets nor later ones leave,
 * and charon is not asked. */
static void not_for_held_policies(void **state)
{
	(void)state;
	waiting_trap();
	waiting_send_one();
	assert_int_equal(waiting_acquires(), 1);
	assert_int_equal(cygnet_db_hold(sadb), 0);
	pass_second();
	assert_int_equal(w->sa_wait.n, 0);
	assert_int_equal(w->stats->drop[DROP_POLICY_HELD], 1);
	waiting_send_one();
	assert_int_equal(w->stats->drop[DROP_POLICY_HELD], 2);
	assert_int_equal(w->sa_wait.n, 0);
	assert_int_equal(waiting_acquires(), 0);
	/* The new charon's policy has an SA at once. */
	waiting_trap();
	waiting_send_one();
	assert_int_equal(w->sa_wait.n, 1);
	assert_int_equal(waiting_acquires(), 1);
}

static void asked_once_a_second(void **state)
{
	(void)state;
	waiting_trap();
	for (unsigned int i = 0; i < 10; i++)
		waiting_send_one();
	assert_int_equal(waiting_acquires(), 1);
	/* As long as a packet waits, whether others come or not. */
	for (unsigned int i = 1; i < SA_WAIT_SECONDS; i++) {
		pass_second();
		sa_wait_retry(w);
		assert_int_equal(waiting_acquires(), 1);
	}
	pass_second();
	assert_int_equal(waiting_acquires(), 0);
	assert_int_equal(w->stats->drop[DROP_NO_SA_IN_TIME], 10);
	waiting_send_one();
	waiting_send_one();
	assert_int_equal(waiting_acquires(), 1);
}

/* An acquire has the selectors of its packet, of each protocol. For a protocol without ports it
 * says so. */
static void asked_for_that_packet(void **state)
{
	static const struct {
		uint8_t proto, start[4], has_ports;
		uint16_t sport, dport;
	} cases[] = {
		{IPPROTO_UDP, {0x0f, 0xa0, 0x00, 0x09}, 1, 4000, 9},
		{IPPROTO_TCP, {0x9c, 0x40, 0x00, 0x50}, 1, 40000, 80},
		{IPPROTO_ICMP, {8, 0, 0, 0}, 1, 8, 0},
		{IPPROTO_ICMP, {13, 3, 0, 0}, 1, 13, 3},
		{IPPROTO_GRE, {0x0f, 0xa0, 0x00, 0x09}, 0, 0, 0},
	};

	(void)state;
	waiting_trap();
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cygnet_flow wanted = waiting_sent;
		uint8_t inner[40] = {0};

		wanted.proto = cases[i].proto;
		wanted.has_ports = cases[i].has_ports;
		wanted.sport = cases[i].sport;
		wanted.dport = cases[i].dport;
		peer_ip(inner, 0, sizeof(inner), (uint16_t)i, 0, cases[i].proto);
		memcpy(inner + 20, cases[i].start, sizeof(cases[i].start));
		waiting_send(inner, sizeof(inner));
		assert_int_equal(waiting_acquires_of(&wanted), 1);
		forget_packets();
	}
}

/* The same for IPv6: whole addresses, and the L4 header behind extension headers. */
static void asked_for_that_packet6(void **state)
{
	static const struct {
		uint8_t next, behind[16], proto, has_ports;
		uint16_t sport, dport;
	} cases[] = {
		{IPPROTO_UDP, {0x0f, 0xa0, 0x00, 0x09}, IPPROTO_UDP, 1, 4000, 9},
		{IPPROTO_TCP, {0x9c, 0x40, 0x00, 0x50}, IPPROTO_TCP, 1, 40000, 80},
		{IPPROTO_ICMPV6, {128, 0, 0, 0}, IPPROTO_ICMPV6, 1, 128, 0},
		{IPPROTO_ICMPV6, {1, 4, 0, 0}, IPPROTO_ICMPV6, 1, 1, 4},
		{IPPROTO_GRE, {0x0f, 0xa0, 0x00, 0x09}, IPPROTO_GRE, 0, 0, 0},
		{IPPROTO_ICMP, {8, 1, 0, 0}, IPPROTO_ICMP, 0, 0, 0},
		{IPPROTO_DSTOPTS,
		 {IPPROTO_UDP, 0, 1, 4, 0, 0, 0, 0, 0x0f, 0xa0, 0x00, 0x09},
		 IPPROTO_UDP,
		 1,
		 4000,
		 9},
	};

	(void)state;
	trap6();
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t inner[40 + 16] = {0x60, [5] = 16, [6] = cases[i].next, [7] = 64};
		struct cygnet_flow wanted = {
			.sport = cases[i].sport,
			.dport = cases[i].dport,
			.af = AF_INET6,
			.proto = cases[i].proto,
			.has_ports = cases[i].has_ports,
		};

		assert_int_equal(inet_pton(AF_INET6, "2001:db8:1::1234:5678", &wanted.src), 1);
		assert_int_equal(inet_pton(AF_INET6, "2001:db8:2::9abc:def0", &wanted.dst), 1);
		memcpy(inner + 8, &wanted.src, 16);
		memcpy(inner + 24, &wanted.dst, 16);
		memcpy(inner + 40, cases[i].behind, sizeof(cases[i].behind));
		waiting_send(inner, sizeof(inner));
		assert_int_equal(waiting_acquires_of(&wanted), 1);
		forget_packets();
	}
}

/* The event queue is full, because charon is busy. */
static void asked_again(void **state)
{
	const struct cygnet_event another = {
		.type = CYGNET_EVENT_ACQUIRE,
		.reqid = WAITING_REQID,
		.flow = waiting_sent,
	};
	unsigned int full = 0;

	(void)state;
	while (event_raise(&another))
		full++;
	waiting_trap();
	/* A waiting packet that should have caused an acquire is replaced by another one. */
	for (unsigned int i = 0; i < SA_WAIT_PER_PAIR + 1; i++)
		waiting_send_one();
	pass_second();
	assert_int_equal(waiting_acquires(), full);
	pass_second();
	assert_int_equal(waiting_acquires(), 1);
	sa_wait_retry(w);
	assert_int_equal(waiting_acquires(), 0);
	assert_int_equal(w->sa_wait.n, SA_WAIT_PER_PAIR);
}

/* The policy was used within this second, with an SA: that is no reason not to ask. */
static void sa_just_gone(void **state)
{
	struct cygnet_policy_params policy;
	struct esp_sa e;

	(void)state;
	esp_sa_any(&e, &esp_algorithms[0], 0);
	policy = waiting_policy(e.sa);
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	waiting_send_one();
	esp_worker_finish(w);
	assert_int_equal(w->stats->drop[DROP_NO_ROUTE], 1);
	esp_sa_delete(&e);
	waiting_send_one();
	assert_int_equal(w->sa_wait.n, 1);
	assert_int_equal(waiting_acquires(), 1);
}

/* A policy with an SA is installed beside the trap: waiting packets leave before later ones. */
static void sa_comes(void **state)
{
	struct cygnet_policy_params policy;
	struct esp_sa e;

	(void)state;
	waiting_trap();
	for (unsigned int i = 0; i < 5; i++)
		waiting_send_one();
	esp_sa_any(&e, &esp_algorithms[0], 0);
	sa_wait_retry(w);
	assert_int_equal(w->sa_wait.n, 5);
	policy = waiting_policy(e.sa);
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	waiting_send_one();
	esp_worker_finish(w);
	assert_int_equal(w->sa_wait.n, 0);
	assert_int_equal(w->stats->encapsulated, 6);
	assert_int_equal(w->stats->waited_for_sa, 5);
	esp_sa_delete(&e);
}

static void policy_goes(void **state)
{
	struct cygnet_policy_params policy;

	(void)state;
	policy = waiting_trap();
	waiting_send_one();
	assert_int_equal(cygnet_policy_delete(sadb, &policy), 0);
	sa_wait_retry(w);
	assert_int_equal(w->sa_wait.n, 0);
	assert_int_equal(w->stats->drop[DROP_POLICY_GONE], 1);
	/* Another policy of the same trap replaces it: charon was asked already. */
	policy = waiting_trap();
	waiting_send_one();
	assert_int_equal(waiting_acquires(), 1);
	assert_int_equal(cygnet_policy_delete(sadb, &policy), 0);
	policy.priority++;
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	sa_wait_retry(w);
	assert_int_equal(w->sa_wait.n, 1);
	assert_int_equal(waiting_acquires(), 0);
	pass_second();
	assert_int_equal(waiting_acquires(), 1);
	assert_int_equal(cygnet_policy_delete(sadb, &policy), 0);
	policy.reqid++;
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	sa_wait_retry(w);
	assert_int_equal(asked_reqid(WAITING_REQID + 1), 1);
}

/* --- many pairs of addresses --- */

#define NET(a, b) ((uint32_t)10 << 24 | (uint32_t)(a) << 16 | (b))

/* A packet of UDP between two hosts. */
static void send_from(uint32_t src, uint32_t dst, uint16_t port)
{
	uint8_t inner[40] = {0};

	peer_ip(inner, 0, sizeof(inner), 1, 0, IPPROTO_UDP);
	src = htonl(src);
	dst = htonl(dst);
	port = htons(port);
	memcpy(inner + 12, &src, 4);
	memcpy(inner + 16, &dst, 4);
	memcpy(inner + 22, &port, 2);
	waiting_send(inner, sizeof(inner));
}

/* A policy in transport mode whose peer is whoever a packet is for. */
static struct cygnet_policy_params trap_any(uint32_t lo, uint32_t hi, uint32_t reqid)
{
	struct cygnet_policy_params policy = waiting_policy(NULL);

	policy.mode = CYGNET_TRANSPORT;
	policy.reqid = reqid;
	policy.sel.dst_lo = cygnet_addr4(htonl(lo));
	policy.sel.dst_hi = cygnet_addr4(htonl(hi));
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	return policy;
}

/* The same for one protected pair. */
static struct cygnet_policy_params secure(const struct esp_sa *e, uint32_t dst)
{
	struct cygnet_policy_params policy = waiting_policy(e->sa);

	policy.priority = 0;
	policy.sel.dst_lo = policy.sel.dst_hi = cygnet_addr4(htonl(dst));
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	return policy;
}

/* @return number of acquires for packets to a host, or those of a source; 0: any. Others are in
 *         *others. */
static unsigned int acquires_between(uint32_t src, uint32_t dst, unsigned int *others)
{
	struct cygnet_event event;
	unsigned int n = 0;

	*others = 0;
	events_post();
	while (cygnet_event_wait(sadb, &event, 0) == 0) {
		bool is_one = (!src || event.flow.src.v4 == htonl(src)) &&
			      (!dst || event.flow.dst.v4 == htonl(dst));

		n += is_one;
		*others += !is_one;
		events_post();
	}
	return n;
}

static unsigned int waiting_for(uint32_t src, uint32_t dst)
{
	struct sa_wait_pair *pair;
	unsigned int n = 0;

	TAILQ_FOREACH(pair, &w->sa_wait.lru, lru)
	if ((!src || pair->key.flow.src.v4 == htonl(src)) &&
	    (!dst || pair->key.flow.dst.v4 == htonl(dst)))
		n += pair->n;
	return n;
}

/* A peer that does not answer takes nothing from the others. */
static void silent_peer(void **state)
{
	const uint32_t us = NET(0, 1), silent = NET(1, 1), other = NET(1, 2);
	struct cygnet_policy_params policy;
	unsigned int others;
	struct esp_sa e;

	(void)state;
	trap_any(NET(1, 0), NET(1, 255), WAITING_REQID);
	for (unsigned int second = 0; second < 3; second++) {
		for (unsigned int i = 0; i < 100; i++)
			send_from(us, silent, 9);
		assert_int_equal(acquires_between(0, silent, &others), 1);
		assert_int_equal(others, 0);
		pass_second();
	}
	assert_int_equal(acquires_between(0, silent, &others), 1);
	send_from(us, other, 9);
	assert_int_equal(acquires_between(0, other, &others), 1);
	assert_int_equal(others, 0);
	for (unsigned int i = 0; i < 100; i++)
		send_from(us, silent, 9);
	assert_int_equal(waiting_for(0, silent), SA_WAIT_PER_PAIR);
	assert_int_equal(waiting_for(0, other), 1);
	esp_sa_any(&e, &esp_algorithms[0], 0);
	policy = secure(&e, other);
	sa_wait_retry(w);
	esp_worker_finish(w);
	assert_int_equal(w->stats->encapsulated, 1);
	assert_int_equal(waiting_for(0, other), 0);
	assert_int_equal(waiting_for(0, silent), SA_WAIT_PER_PAIR);
	assert_int_equal(cygnet_policy_delete(sadb, &policy), 0);
	esp_sa_delete(&e);
}

/* Charon hears of each in the same second, and none of their packets is lost. */
static void thousand_peers(void **state)
{
	unsigned int others;

	(void)state;
	trap_any(NET(1, 0), NET(9, 255), WAITING_REQID);
	for (unsigned int i = 0; i < 1000; i++)
		send_from(NET(0, 1), NET(1, i), 9);
	for (unsigned int i = 0; i < 1000; i += 333) {
		assert_int_equal(waiting_for(0, NET(1, i)), 1);
	}
	assert_int_equal(w->sa_wait.n, 1000);
	assert_int_equal(w->stats->drop[DROP_NO_SA], 0);
	assert_int_equal(acquires_between(NET(0, 1), 0, &others), 1000);
	/* A pass takes several turns. Repeated acquires leave half of the limit to first ones. */
	clock_now++;
	while (w->sa_wait.next || w->sa_wait.second != clock_now)
		sa_wait_retry(w);
	assert_true(acquires_between(NET(0, 1), 0, &others) <= ACQUIRES_PER_SECOND);
	send_from(NET(0, 1), NET(9, 1), 9);
	assert_int_equal(acquires_between(NET(0, 1), NET(9, 1), &others), 1);
}

/* With one peer for all packets one negotiation is for all of them. Each pair has its turn, as the
 * peer may narrow what it agrees to. */
static void one_peer_for_all(void **state)
{
	unsigned int others;

	(void)state;
	waiting_trap();
	for (unsigned int i = 0; i < 8; i++)
		send_from(NET(0, i), NET(1, 1), 9);
	assert_int_equal(acquires_between(NET(0, 0), 0, &others), 1);
	assert_int_equal(others, 0);
	for (unsigned int second = 0; second < 8; second++) {
		clock_now++;
		/* A new pair is no reason to pass over one that waits. */
		send_from(NET(2, second), NET(1, 1), 9);
		sa_wait_retry(w);
		assert_int_equal(acquires_between(NET(0, second), 0, &others), 1);
		assert_int_equal(others, 0);
	}
}

/* A pair that sends before each turn has its turns as well as one that hardly sends. */
static void busy_pair(void **state)
{
	unsigned int busy = 0, others, idle = 0;

	(void)state;
	waiting_trap();
	for (unsigned int second = 0; second < 20; second++) {
		if (second % 2 == 0)
			send_from(NET(0, 2), NET(1, 1), 9);
		clock_now++;
		send_from(NET(0, 1), NET(1, 1), 9);
		sa_wait_retry(w);
		busy += acquires_between(NET(0, 1), 0, &others);
		idle += others;
	}
	assert_in_range(busy, 7, 13);
	assert_in_range(idle, 7, 13);
}

/* Ports make pairs where a policy selects by them. */
static void pairs_of_ports(void **state)
{
	struct cygnet_policy_params policy = waiting_policy(NULL);
	unsigned int others;

	(void)state;
	policy.mode = CYGNET_TRANSPORT;
	policy.sel.proto = IPPROTO_UDP;
	policy.sel.dport_lo = 80;
	policy.sel.dport_hi = 90;
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	for (unsigned int i = 0; i < 20; i++)
		send_from(NET(0, 1), NET(1, 1), 80);
	send_from(NET(0, 1), NET(1, 1), 81);
	assert_int_equal(w->sa_wait.n, SA_WAIT_PER_PAIR + 1);
	assert_int_equal(acquires_between(NET(0, 1), NET(1, 1), &others), 2);
}

/* A host with many ports towards another one replaces its own packets to it. They are few, as all of them are
 * looked up when another one comes. */
static void many_ports(void **state)
{
	struct cygnet_policy_params policy = waiting_policy(NULL);
	const struct sa_wait_pair *pair;
	struct esp_sa e;

	(void)state;
	policy.sel.proto = IPPROTO_UDP;
	policy.sel.dport_lo = 1;
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	send_from(NET(0, 1), NET(1, 2), 1);
	for (uint16_t port = 1; port <= 1000; port++)
		send_from(NET(0, 1), NET(1, 1), port);
	assert_int_equal(waiting_for(NET(0, 1), NET(1, 1)), SA_WAIT_PER_ADDRESSES);
	assert_int_equal(waiting_for(NET(0, 1), NET(1, 2)), 1);
	assert_int_equal(w->stats->drop[DROP_NO_SA], 1000 - SA_WAIT_PER_ADDRESSES);
	/* The newest ones stay. */
	TAILQ_FOREACH(pair, &w->sa_wait.lru, lru)
	assert_true(pair->key.flow.dst.v4 == htonl(NET(1, 2)) ||
		    pair->key.flow.dport > 1000 - SA_WAIT_PER_ADDRESSES);
	esp_sa_any(&e, &esp_algorithms[0], 0);
	policy = secure(&e, NET(1, 1));
	send_from(NET(0, 1), NET(1, 1), 1);
	esp_worker_finish(w);
	assert_int_equal(w->stats->encapsulated, SA_WAIT_PER_ADDRESSES + 1);
	assert_int_equal(w->sa_wait.n, 1);
	assert_int_equal(cygnet_policy_delete(sadb, &policy), 0);
	esp_sa_delete(&e);
}

/* A host that scans what is behind a trap replaces its own packets, and is limited in what it has
 * charon asked for; so are all that scan. */
static void scan(void **state)
{
	const uint32_t scanner = NET(0, 1), neighbour = NET(0, 2);
	unsigned int others, most = ACQUIRES_AT_ONCE / 2;

	(void)state;
	trap_any(NET(1, 0), NET(200, 0), WAITING_REQID);
	trap_any(NET(201, 0), NET(202, 0), WAITING_REQID + 1);
	send_from(neighbour, NET(1, 0), 9);
	send_from(scanner, NET(201, 0), 9);
	events_post();
	for (unsigned int i = 0; i < 5 * SA_WAIT_PACKETS; i++) {
		send_from(scanner, NET(1, i), 9);
		events_post();
	}
	assert_int_equal(w->sa_wait.n, SA_WAIT_PACKETS);
	assert_int_equal(waiting_for(neighbour, NET(1, 0)), 1);
	assert_int_equal(waiting_for(scanner, NET(201, 0)), 1);
	assert_int_equal(w->stats->drop[DROP_NO_SA], 4 * SA_WAIT_PACKETS + 2);
	assert_int_equal(acquires_between(neighbour, 0, &others), 1);
	assert_int_equal(others, most + 1);
	/* Others come after it, and are served. */
	send_from(neighbour, NET(1, 2), 9);
	send_from(scanner, NET(201, 1), 9);
	assert_int_equal(waiting_for(neighbour, 0), 2);
	assert_int_equal(waiting_for(scanner, NET(201, 1)), 1);
	assert_int_equal(acquires_between(neighbour, NET(1, 2), &others), 1);
	assert_int_equal(others, 1);
	/* What is over in a second. */
	clock_now++;
	for (unsigned int i = 0; i < SA_WAIT_PACKETS; i++)
		send_from(scanner, NET(100, i), 9);
	assert_int_equal(acquires_between(scanner, 0, &others), ACQUIRES_PER_SECOND / 2);
}

/* Many sources: no more in all than charon takes. */
static void scan_from_everywhere(void **state)
{
	unsigned int others;

	(void)state;
	trap_any(NET(1, 0), NET(200, 0), WAITING_REQID);
	for (unsigned int i = 0; i < 2 * ACQUIRES_AT_ONCE; i++) {
		send_from(NET(201, i), NET(1, 1), 9);
		events_post();
	}
	assert_int_equal(acquires_between(0, 0, &others), ACQUIRES_AT_ONCE);
	assert_int_equal(w->sa_wait.n, SA_WAIT_PACKETS);
	clock_now++;
	for (unsigned int i = 0; i < 2 * ACQUIRES_AT_ONCE; i++)
		send_from(NET(202, i), NET(1, 1), 9);
	assert_int_equal(acquires_between(0, 0, &others), ACQUIRES_PER_SECOND);
}

/* The packets of a pair have the ports from 0 on. */
static void assert_ports(const struct sa_wait_pair *pair, uint16_t n)
{
	struct rte_mbuf *m = pair->head;

	assert_int_equal(pair->n, n);
	for (uint16_t i = 0; i < n; i++, m = packet(m)->next) {
		const uint8_t *port = rte_pktmbuf_mtod_offset(m, const uint8_t *, 22);

		assert_int_equal(port[0] << 8 | port[1], i);
	}
	assert_null(m);
}

/* What waited under one policy goes before what comes under the next one. */
static void order_of_a_pair(void **state)
{
	struct cygnet_policy_params policy;
	struct esp_sa e;

	(void)state;
	trap_any(NET(1, 0), NET(1, 255), WAITING_REQID);
	for (uint16_t i = 0; i < 5; i++)
		send_from(NET(0, 1), NET(1, 1), i);
	policy = trap_any(NET(1, 1), NET(1, 1), WAITING_REQID + 1);
	for (uint16_t i = 5; i < 8; i++)
		send_from(NET(0, 1), NET(1, 1), i);
	assert_int_equal(w->sa_wait.n, 8);
	assert_ports(sa_wait_first(&w->sa_wait, &TAILQ_FIRST(&w->sa_wait.lru)->key.flow), 8);
	assert_int_equal(cygnet_policy_delete(sadb, &policy), 0);
	esp_sa_any(&e, &esp_algorithms[0], 0);
	policy = secure(&e, NET(1, 1));
	send_from(NET(0, 1), NET(1, 1), 8);
	esp_worker_finish(w);
	assert_int_equal(w->sa_wait.n, 0);
	assert_int_equal(w->stats->encapsulated, 9);
	assert_int_equal(w->stats->waited_for_sa, 8);
	assert_int_equal(cygnet_policy_delete(sadb, &policy), 0);
	esp_sa_delete(&e);
}

/* A packet whose policy has an SA waits for earlier ones of its pair. Charon is not asked for another SA. */
static void not_asked_with_sa(void **state)
{
	struct cygnet_policy_params all, port = waiting_policy(NULL);
	unsigned int others;
	struct esp_sa e;

	(void)state;
	esp_sa_any(&e, &esp_algorithms[0], 0);
	all = waiting_policy(e.sa);
	all.reqid = WAITING_REQID + 1;
	all.priority = port.priority + 1;
	assert_int_equal(cygnet_policy_add(sadb, &all), 0);
	port.sel.proto = IPPROTO_UDP;
	port.sel.dport_lo = port.sel.dport_hi = 80;
	assert_int_equal(cygnet_policy_add(sadb, &port), 0);
	esp_sa_delete(&e);
	send_from(NET(0, 1), NET(1, 1), 80);
	send_from(NET(0, 1), NET(1, 1), 9);
	assert_int_equal(w->sa_wait.n, 2);
	/* The first pair joins the second one, which has an SA again. */
	esp_sa_any(&e, &esp_algorithms[0], 0);
	assert_int_equal(cygnet_policy_add(sadb, &all), 0);
	assert_int_equal(cygnet_policy_delete(sadb, &port), 0);
	clock_now++;
	acquires_between(0, 0, &others);
	sa_wait_retry(w);
	esp_worker_finish(w);
	assert_int_equal(w->stats->encapsulated, 2);
	assert_int_equal(acquires_between(0, 0, &others), 0);
	esp_sa_delete(&e);
}

#define NEGOTIATIONS 200u
#define LCORES	     4u

static void *acquire_all(void *policy)
{
	struct cygnet_flow flow = waiting_sent;

	for (unsigned int i = 0; i < 20 * NEGOTIATIONS; i++) {
		flow.dst = cygnet_addr4(htonl(NET(1, i % NEGOTIATIONS)));
		acquire_raise(policy, &flow, 1);
	}
	return NULL;
}

/* One of several workers raises the acquire. */
static void asked_by_one(void **state)
{
	const struct cygnet_flow flow = {.dst = cygnet_addr4(htonl(NET(1, 1))), .af = AF_INET};
	struct cygnet_policy *policy;
	pthread_t lcore[LCORES];
	unsigned int others;

	(void)state;
	trap_any(NET(1, 0), NET(1, 255), WAITING_REQID);
	policy = cygnet_spd_lookup(sadb, CYGNET_OUT, &flow);
	assert_non_null(policy);
	for (unsigned int i = 0; i < LCORES; i++)
		assert_int_equal(pthread_create(&lcore[i], NULL, acquire_all, policy), 0);
	for (unsigned int i = 0; i < LCORES; i++)
		assert_int_equal(pthread_join(lcore[i], NULL), 0);
	assert_int_equal(acquires_between(0, 0, &others), NEGOTIATIONS);
}

static void dropped_at_the_end(void **state)
{
	(void)state;
	waiting_trap();
	for (unsigned int i = 0; i < 3; i++)
		waiting_send_one();
	sa_wait_drop(w);
	assert_int_equal(w->sa_wait.n, 0);
	assert_int_equal(w->stats->drop[DROP_NO_SA], 3);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_teardown(name, waiting_clean)
	const struct CMUnitTest tests[] = {
		TEST(waits_so_long),
		TEST(not_for_held_policies),
		TEST(asked_once_a_second),
		TEST(asked_for_that_packet),
		TEST(asked_for_that_packet6),
		TEST(asked_again),
		TEST(sa_just_gone),
		TEST(sa_comes),
		TEST(policy_goes),
		TEST(silent_peer),
		TEST(thousand_peers),
		TEST(one_peer_for_all),
		TEST(busy_pair),
		TEST(pairs_of_ports),
		TEST(many_ports),
		TEST(scan),
		TEST(scan_from_everywhere),
		TEST(order_of_a_pair),
		TEST(not_asked_with_sa),
		TEST(asked_by_one),
		TEST(dropped_at_the_end),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	clock_now = 1000;
	return cmocka_run_group_tests_name("sa-wait", tests, waiting_start, waiting_stop);
}

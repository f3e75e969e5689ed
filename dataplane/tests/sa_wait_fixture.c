/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <netinet/in.h>
#include <string.h>

#include "base/acquire.h"
#include "base/clock.h"
#include "base/event.h"
#include "base/sadb.h"
#include "host/route.h"
#include "path/sa_wait.h"
#include "sa_wait_fixture.h"
#include "worker_fixture.h"

static struct worker *w = &workers[0];

const struct cygnet_flow waiting_sent = {
	.src = {.bytes = {192, 0, 2, 2}},
	.dst = {.bytes = {192, 0, 2, 1}},
	.sport = 0xb4bb,
	.dport = 0xc2c9,
	.af = AF_INET,
	.proto = IPPROTO_UDP,
	.has_ports = 1,
};

int waiting_start(void **state)
{
	if (esp_fixture_start(state) || routes_init(1, 64) || events_init() || acquires_init())
		return -1;
	esp_worker(w);
	return 0;
}

int waiting_stop(void **state)
{
	routes_free();
	events_free();
	return esp_fixture_stop(state);
}

int waiting_clean(void **state)
{
	struct cygnet_event event;

	sa_wait_drop(w);
	clock_now += 100;
	memset(w->stats, 0, sizeof(*w->stats));
	events_post();
	while (cygnet_event_wait(sadb, &event, 0) == 0)
		events_post();
	return esp_fixture_clean(state);
}

struct cygnet_policy_params waiting_policy(const struct cygnet_sa *sa)
{
	struct cygnet_policy_params policy = {
		.sel = {.sport_hi = UINT16_MAX, .dport_hi = UINT16_MAX, .af = AF_INET},
		.reqid = WAITING_REQID,
		.spi = sa ? sa->spi : 0,
		.dir = CYGNET_OUT,
		.action = CYGNET_PROTECT,
		.proto = IPPROTO_ESP,
		.mode = CYGNET_TUNNEL,
		.af = AF_INET,
	};

	if (sa)
		policy.dst = cygnet_sa_path(sa)->dst;
	policy.sel.src_hi.v4 = UINT32_MAX;
	policy.sel.dst_hi.v4 = UINT32_MAX;
	return policy;
}

struct cygnet_policy_params waiting_trap(void)
{
	struct cygnet_policy_params policy = waiting_policy(NULL);

	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	return policy;
}

void waiting_send(const uint8_t *inner, unsigned int len)
{
	struct rte_mbuf *m = esp_packet(inner, len, RTE_PKTMBUF_HEADROOM, RTE_PKTMBUF_HEADROOM);

	packet(m)->from_kernel = 1;
	packet(m)->stage = STAGE_OUTBOUND;
	worker_pass(w, m);
}

void waiting_send_one(void)
{
	uint8_t inner[40];

	peer_packet(inner, sizeof(inner), 0, false);
	waiting_send(inner, sizeof(inner));
}

void waiting_assert_flow(const struct cygnet_flow *flow, const struct cygnet_flow *wanted)
{
	assert_int_equal(flow->af, wanted->af);
	assert_memory_equal(&flow->src, &wanted->src, sizeof(flow->src));
	assert_memory_equal(&flow->dst, &wanted->dst, sizeof(flow->dst));
	assert_int_equal(flow->proto, wanted->proto);
	assert_int_equal(flow->has_ports, wanted->has_ports);
	assert_int_equal(flow->sport, wanted->sport);
	assert_int_equal(flow->dport, wanted->dport);
}

unsigned int waiting_acquires_of(const struct cygnet_flow *wanted)
{
	struct cygnet_event event;
	unsigned int n = 0;

	events_post();
	while (cygnet_event_wait(sadb, &event, 0) == 0) {
		assert_int_equal(event.type, CYGNET_EVENT_ACQUIRE);
		assert_int_equal(event.reqid, WAITING_REQID);
		assert_int_equal(event.cpu, 0);
		waiting_assert_flow(&event.flow, wanted);
		n++;
		events_post();
	}
	return n;
}

unsigned int waiting_acquires(void)
{
	return waiting_acquires_of(&waiting_sent);
}

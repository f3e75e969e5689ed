/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SAs of a worker: replay windows, limits, deleted SAs. There are no routes and no policies,
 * so an accepted packet is dropped for that reason. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "esp/lifetime.h"
#include "esp_fixture.h"
#include "host/route.h"
#include "path/sa_wait.h"
#include "path/worker/worker.h"
#include "worker_fixture.h"

#define IN  DROP_POLICY_INBOUND
#define OUT DROP_NO_ROUTE

static struct worker *w = &workers[0];

static int start(void **state)
{
	if (esp_fixture_start(state) || routes_init(1, 64) || events_init())
		return -1;
	esp_worker(w);
	return 0;
}

static int finish(void **state)
{
	routes_free();
	events_free();
	return esp_fixture_stop(state);
}

/* --- one packet and its drop reason --- */

static int last_reason(const uint64_t before[DROP_REASON_COUNT])
{
	int reason = -1;

	for (int i = 0; i < DROP_REASON_COUNT; i++) {
		if (w->stats->drop[i] == before[i])
			continue;
		assert_int_equal(reason, -1);
		assert_int_equal(w->stats->drop[i], before[i] + 1);
		reason = i;
	}
	return reason;
}

/* @return drop reason; -1: not dropped */
static int pass(struct rte_mbuf *m)
{
	uint64_t before[DROP_REASON_COUNT];

	memcpy(before, w->stats->drop, sizeof(before));
	worker_pass(w, m);
	esp_worker_finish(w);
	return last_reason(before);
}

static int from_peer(const struct esp_sa *e, uint64_t seq)
{
	return pass(esp_sealed(e, seq, IPPROTO_IPIP));
}

static int forged(const struct esp_sa *e, uint64_t seq)
{
	struct rte_mbuf *m = esp_sealed(e, seq, IPPROTO_IPIP);

	*rte_pktmbuf_mtod_offset(m, uint8_t *, rte_pktmbuf_data_len(m) - 1) ^= 1;
	return pass(m);
}

/* --- replay --- */

static bool add_window(struct esp_sa *e, unsigned int options, uint32_t window)
{
	const struct esp_algorithm *gcm = &esp_algorithms[esp_algorithm_count - 1];
	struct cygnet_sa_params params;

	*e = (struct esp_sa){.options = options | ESP_INBOUND};
	peer_init(&e->peer, gcm, options & ESP_ESN, (uint8_t)window);
	params = esp_params(&e->peer, e->options);
	params.replay_window = window;
	for (unsigned int d = 0; d < esp_devices; d++)
		if (esp_sa_add_params(e, &params, d))
			return true;
	return false;
}

/* With ESN a number left of the window is taken as one 2^32 higher, so such a packet is not
 * authentic (RFC 4303, A2.2). */
static int want_number(const struct esp_sa *e, bool seen, bool in_window)
{
	if (!in_window)
		return e->options & ESP_ESN ? DROP_AUTH_FAILED : DROP_REPLAY;
	return seen ? DROP_REPLAY : IN;
}

/* Numbers in disorder, compared with a table of accepted numbers. */
static void disorder(const struct esp_sa *e, uint32_t window, uint64_t first)
{
	uint64_t top = 0, replays = 0, decrypted = w->stats->device[0].decrypted;
	static bool seen[20000];

	memset(seen, 0, sizeof(seen));
	for (unsigned int i = 0; i < 4000; i++) {
		uint64_t n = 1 + i + (uint64_t)random() % (2 * window);
		int want = want_number(e, seen[n], n + window > top);

		assert_int_equal(from_peer(e, first + n), want);
		if (want == IN) {
			seen[n] = true;
			top = n > top ? n : top;
		}
		/* A replay is dropped without decryption. */
		decrypted += want == IN;
		replays += want == DROP_REPLAY;
		assert_int_equal(w->stats->device[0].decrypted, decrypted);
		assert_int_equal(e->sa->replay_drops, replays);
	}
	assert_int_equal(e->sa->seq, first + top);
	assert_true(replays > 50);
}

static void replayed(void **state)
{
	static const uint32_t windows[] = {32, 64, 192, 1024, 4096};
	struct esp_sa e;

	(void)state;
	srandom(11);
	for (unsigned int i = 0; i < RTE_DIM(windows); i++) {
		assert_true(add_window(&e, 0, windows[i]));
		disorder(&e, windows[i], 0);
		esp_sa_delete(&e);
		/* Across the wrap of the low half. */
		assert_true(add_window(&e, ESP_ESN, windows[i]));
		e.sa->seq = UINT32_MAX - 2000;
		disorder(&e, windows[i], UINT32_MAX - 2000);
		esp_sa_delete(&e);
	}
}

static void without_a_window(void **state)
{
	struct esp_sa e;

	(void)state;
	assert_true(add_window(&e, 0, 0));
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(from_peer(&e, 5), IN);
	esp_sa_delete(&e);
}

/* A forged packet does not move the window. */
static void forged_numbers(struct esp_sa *e)
{
	uint64_t drops = e->sa->auth_drops;

	assert_int_equal(from_peer(e, 10), IN);
	assert_int_equal(forged(e, 100000), DROP_AUTH_FAILED);
	assert_int_equal(forged(e, 11), DROP_AUTH_FAILED);
	assert_int_equal(e->sa->auth_drops, drops + 2);
	assert_int_equal(e->sa->seq, 10);
	assert_int_equal(from_peer(e, 11), IN);
	assert_int_equal(from_peer(e, 9), IN);
	assert_int_equal(e->sa->packets, 3);
	assert_int_equal(e->sa->bytes, 3 * 40);
}

static void forgery(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, forged_numbers);
}

static void both_at_the_device(struct esp_sa *e)
{
	uint64_t in = w->stats->drop[IN], replay = w->stats->drop[DROP_REPLAY];

	worker_pass(w, esp_sealed(e, 3, IPPROTO_IPIP));
	worker_pass(w, esp_sealed(e, 3, IPPROTO_IPIP));
	esp_worker_finish(w);
	assert_int_equal(w->stats->drop[IN], in + 1);
	assert_int_equal(w->stats->drop[DROP_REPLAY], replay + 1);
}

static void replay_in_flight(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, both_at_the_device);
}

/* --- other drop reasons --- */

static void other_encapsulation(struct esp_sa *e)
{
	struct rte_mbuf *m = esp_sealed(e, 1, IPPROTO_IPIP);

	packet(m)->udp = !packet(m)->udp;
	assert_int_equal(pass(m), DROP_ESP_ENCAP);
	assert_int_equal(from_peer(e, 1), IN);
}

static void encapsulation(void **state)
{
	(void)state;
	esp_each(ESP_INBOUND, other_encapsulation);
}

static void dummies(void **state)
{
	uint64_t before = w->stats->dummies;
	struct esp_sa e;

	(void)state;
	assert_true(add_window(&e, 0, 64));
	assert_int_equal(pass(esp_sealed(&e, 1, IPPROTO_NONE)), -1);
	assert_int_equal(w->stats->dummies, before + 1);
	assert_int_equal(pass(esp_sealed(&e, 1, IPPROTO_NONE)), DROP_REPLAY);
	esp_sa_delete(&e);
}

static void sa_gone(void **state)
{
	uint64_t before = w->stats->drop[DROP_SA_GONE];
	struct rte_mbuf *m;
	struct esp_sa e;

	(void)state;
	assert_true(add_window(&e, 0, 64));
	m = esp_sealed(&e, 2, IPPROTO_IPIP);
	worker_pass(w, esp_sealed(&e, 1, IPPROTO_IPIP));
	assert_int_equal(e.session->in_flight, 1);
	esp_sa_delete(&e);
	/* The session stays as long as a packet uses it. */
	assert_int_equal(e.session->in_flight, 1);
	esp_worker_finish(w);
	assert_int_equal(w->stats->drop[DROP_SA_GONE], before + 1);
	assert_int_equal(pass(m), DROP_SA_GONE);
}

/* Packets protected before the end of the lifetime are sent, later ones are not. */
static void sa_gone_outbound(void **state)
{
	uint64_t sent = w->stats->encapsulated;

	(void)state;
	for (unsigned int i = 0; i < esp_algorithm_count; i++) {
		uint64_t out = w->stats->drop[OUT];
		struct rte_mbuf *late;
		struct esp_sa e;

		esp_sa_any(&e, &esp_algorithms[i], i % 2 ? ESP_ESN : 0);
		late = esp_plain(e.sa, 40);
		worker_pass(w, esp_plain(e.sa, 40));
		assert_int_equal(e.session->in_flight, 1);
		esp_sa_delete(&e);
		esp_worker_finish(w);
		assert_int_equal(w->stats->drop[OUT], out + 1);
		assert_int_equal(w->stats->encapsulated, sent + i + 1);
		assert_int_equal(pass(late), DROP_SA_GONE);
	}
}

/* A policy for all packets with that SA. */
static struct cygnet_policy_params all_out(const struct cygnet_sa_params *sa)
{
	struct cygnet_policy_params policy = {
		.sel = {.sport_hi = UINT16_MAX, .dport_hi = UINT16_MAX, .af = AF_INET},
		.reqid = sa->reqid,
		.spi = sa->id.spi,
		.dir = CYGNET_OUT,
		.action = CYGNET_PROTECT,
		.proto = IPPROTO_ESP,
		.mode = CYGNET_TUNNEL,
		.af = AF_INET,
		.src = sa->path.src,
		.dst = sa->path.dst,
	};

	policy.sel.src_hi.v4 = UINT32_MAX;
	policy.sel.dst_hi.v4 = UINT32_MAX;
	return policy;
}

/* The SA of a packet is rekeyed between the policy decision and protection. */
static void sa_replaced(void **state)
{
	struct cygnet_policy_params policy;
	struct cygnet_sa_params params;
	struct esp_sa old, new;
	struct rte_mbuf *m, *late;

	(void)state;
	esp_sa_any(&old, &esp_algorithms[0], 0);
	m = esp_plain(old.sa, 40);
	late = esp_plain(old.sa, 40);
	new = old;
	params = esp_params(&new.peer, 0);
	params.id.spi = htonl(ESP_SPI + 1);
	esp_sa_any_params(&new, &params);
	policy = all_out(&params);
	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
	esp_sa_delete(&old);
	assert_int_equal(pass(m), OUT);
	assert_int_equal(new.sa->packets, 1);
	/* Now there is no SA: the packet waits. */
	esp_sa_delete(&new);
	assert_int_equal(pass(late), -1);
	assert_int_equal(w->sa_wait.n, 1);
	assert_int_equal(cygnet_policy_delete(sadb, &policy), 0);
	sa_wait_retry(w);
	assert_int_equal(w->sa_wait.n, 0);
}

/* A packet in a device's queue needs a crypto operation. */
static void no_operations(void **state)
{
	struct engine_device *device;
	struct rte_crypto_op *op[128];
	bool at_once;
	struct esp_sa e;
	unsigned int n;

	(void)state;
	assert_true(add_window(&e, 0, 64));
	device = &engine_device[e.session->device];
	at_once = device->at_once;
	device->at_once = false;
	for (n = 0; n < RTE_DIM(op); n++) {
		op[n] = rte_crypto_op_alloc(esp_ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
		if (!op[n])
			break;
	}
	assert_int_equal(from_peer(&e, 1), DROP_NO_BUFFER);
	while (n--)
		rte_crypto_op_free(op[n]);
	assert_int_equal(from_peer(&e, 1), IN);
	device->at_once = at_once;
	esp_sa_delete(&e);
}

/* --- outbound --- */

static void count_out(struct esp_sa *e)
{
	uint64_t sent = w->stats->encapsulated;

	for (unsigned int i = 1; i <= 3; i++) {
		assert_int_equal(pass(esp_plain(e->sa, 40)), OUT);
		assert_int_equal(e->sa->seq, i);
		assert_int_equal(e->sa->packets, i);
		assert_int_equal(e->sa->bytes, i * 40);
		assert_int_equal(w->stats->encapsulated, sent + i);
	}
	e->sa->seq = UINT32_MAX - 1;
	assert_int_equal(pass(esp_plain(e->sa, 40)), OUT);
	assert_int_equal(pass(esp_plain(e->sa, 40)),
			 e->options & ESP_ESN ? OUT : DROP_SEQ_EXHAUSTED);
	assert_int_equal(e->sa->seq, UINT32_MAX + (e->options & ESP_ESN ? 1ull : 0));
	e->sa->seq = UINT64_MAX;
	assert_int_equal(pass(esp_plain(e->sa, 40)), DROP_SEQ_EXHAUSTED);
}

/* --- events --- */

/* @return limit of the next event: CYGNET_EXPIRE_SOFT or _HARD; 0: no event */
static int next_expiry(const struct esp_sa *e)
{
	struct cygnet_event event;

	events_post();
	if (cygnet_event_wait(sadb, &event, 0))
		return 0;
	assert_int_equal(event.type, CYGNET_EVENT_EXPIRE);
	assert_int_equal(event.reqid, e->sa->reqid);
	assert_int_equal(event.id.spi, e->sa->spi);
	return event.hard ? CYGNET_EXPIRE_HARD : CYGNET_EXPIRE_SOFT;
}

static void hear_nothing_of_before(void)
{
	struct cygnet_event event;

	events_post();
	while (cygnet_event_wait(sadb, &event, 0) == 0)
		;
}

/* At seven eighths of the sequence numbers charon is told once to rekey; at the end it is told
 * that the SA has expired. */
static void numbers_run_out(struct esp_sa *e)
{
	uint64_t last = e->options & ESP_ESN ? UINT64_MAX : UINT32_MAX;

	hear_nothing_of_before();
	e->sa->seq = last - last / 8 - 2;
	assert_int_equal(pass(esp_plain(e->sa, 40)), OUT);
	assert_int_equal(next_expiry(e), 0);
	assert_int_equal(pass(esp_plain(e->sa, 40)), OUT);
	assert_int_equal(next_expiry(e), CYGNET_EXPIRE_SOFT);
	assert_int_equal(pass(esp_plain(e->sa, 40)), OUT);
	assert_int_equal(next_expiry(e), 0);
	e->sa->seq = last;
	assert_int_equal(pass(esp_plain(e->sa, 40)), DROP_SEQ_EXHAUSTED);
	assert_int_equal(next_expiry(e), CYGNET_EXPIRE_HARD);
	assert_int_equal(next_expiry(e), 0);
}

static void sequence_warning(void **state)
{
	(void)state;
	esp_each(0, numbers_run_out);
}

static void time_limit(void **state)
{
	struct esp_sa e;

	(void)state;
	assert_true(add_window(&e, 0, 64));
	e.sa->lifetime.hard_seconds = 10;
	clock_now = e.sa->install_time + 9;
	assert_int_equal(from_peer(&e, 1), IN);
	clock_now++;
	assert_int_equal(from_peer(&e, 2), DROP_SA_EXPIRED);
	/* A clock that seems to run backwards expires nothing. */
	clock_now = e.sa->install_time - 1;
	assert_int_equal(from_peer(&e, 2), IN);
	clock_now = 0;
	esp_sa_delete(&e);
}

/* Events for one charon process are not delivered to the next. */
static void another_charon(void **state)
{
	const struct cygnet_event event = {.type = CYGNET_EVENT_ACQUIRE, .reqid = 77};
	struct cygnet_event got;

	(void)state;
	hear_nothing_of_before();
	assert_true(event_raise(&event));
	events_post();
	assert_int_equal(cygnet_event_wait(sadb, &got, 0), 0);
	assert_true(event_raise(&event));
	assert_int_equal(cygnet_role_take(sadb, CYGNET_ROLE_CHARON), 0);
	events_post();
	assert_int_equal(cygnet_event_wait(sadb, &got, 0), -ETIMEDOUT);
	assert_true(event_raise(&event));
	events_post();
	assert_int_equal(cygnet_event_wait(sadb, &got, 0), 0);
	assert_int_equal(got.reqid, 77);
}

static void sequence_numbers(void **state)
{
	(void)state;
	esp_each(0, count_out);
}

static void limit(struct cygnet_sa_params *params, bool inbound)
{
	struct esp_sa e = {.options = inbound ? ESP_INBOUND : 0};

	peer_init(&e.peer, &esp_algorithms[0], false, 9);
	esp_sa_any_params(&e, params);
	hear_nothing_of_before();
	for (unsigned int i = 1; i <= 2; i++)
		assert_int_equal(inbound ? from_peer(&e, i) : pass(esp_plain(e.sa, 40)),
				 inbound ? IN : OUT);
	assert_int_equal(inbound ? from_peer(&e, 3) : pass(esp_plain(e.sa, 40)), DROP_SA_EXPIRED);
	assert_int_equal(next_expiry(&e), CYGNET_EXPIRE_HARD);
	assert_int_equal(e.sa->packets, 2);
	assert_int_equal(e.sa->seq, 2);
	esp_sa_delete(&e);
}

static void hard_limits(void **state)
{
	(void)state;
	for (unsigned int inbound = 0; inbound < 2; inbound++) {
		struct cygnet_sa_params params;
		struct esp_peer peer;

		peer_init(&peer, &esp_algorithms[0], false, 9);
		params = esp_params(&peer, inbound ? ESP_INBOUND : 0);
		params.lifetime.hard_packets = 2;
		limit(&params, inbound);
		params.lifetime = (struct cygnet_lifetime){.hard_bytes = 2 * 40};
		limit(&params, inbound);
	}
}

/* Charon does not read events: the shared ring, the event in flight and cygnetd's queue are
 * full. */
static unsigned int fill_queues(void)
{
	const struct cygnet_event other = {.type = CYGNET_EVENT_ACQUIRE, .reqid = 7777};
	unsigned int n = 0;

	for (unsigned int full = 0; full < 2; n++) {
		if (event_raise(&other)) {
			full = 0;
			continue;
		}
		events_post();
		full++;
		n--;
	}
	return n;
}

/* Events in the order of posting. @return number of events about the SA's limit */
static unsigned int drain_queues(const struct esp_sa *e, uint32_t which, unsigned int others)
{
	struct cygnet_event event;
	unsigned int told = 0;

	for (events_post(); !cygnet_event_wait(sadb, &event, 0); events_post()) {
		if (event.type == CYGNET_EVENT_ACQUIRE) {
			others--;
			continue;
		}
		assert_int_equal(event.type, CYGNET_EVENT_EXPIRE);
		assert_int_equal(event.hard, which == CYGNET_EXPIRE_HARD);
		assert_int_equal(event.id.spi, e->sa->spi);
		told++;
	}
	assert_int_equal(others, 0);
	return told;
}

/* An SA on the device that supports it. No event of an earlier SA is pending. */
static void limited_sa(struct esp_sa *e, const struct cygnet_lifetime *lifetime)
{
	struct cygnet_sa_params params;

	peer_init(&e->peer, &esp_algorithms[esp_algorithm_count - 1], false, 9);
	params = esp_params(&e->peer, e->options);
	params.lifetime = *lifetime;
	esp_sa_any_params(e, &params);
	hear_nothing_of_before();
}

/* A report that found the queue full is repeated once with the next packet for which there is
 * room. */
static void expires_while_full(const struct cygnet_lifetime *lifetime, uint32_t which, bool inbound)
{
	struct esp_sa e = {.options = inbound ? ESP_INBOUND : 0};
	unsigned int others, seq = 1;
	int want = which == CYGNET_EXPIRE_HARD ? (int)DROP_SA_EXPIRED : inbound ? IN : OUT;

	limited_sa(&e, lifetime);
	others = fill_queues();
	assert_in_range(others, 2 * 4095, 2 * 4097);
	for (unsigned int i = 0; i < 2; i++, seq++)
		assert_int_equal(inbound ? from_peer(&e, seq) : pass(esp_plain(e.sa, 40)),
				 inbound ? IN : OUT);
	for (unsigned int i = 0; i < 3; i++, seq++)
		assert_int_equal(inbound ? from_peer(&e, seq) : pass(esp_plain(e.sa, 40)), want);
	assert_int_equal(e.sa->expired, 0);
	assert_int_equal(drain_queues(&e, which, others), 0);
	for (unsigned int i = 0; i < 3; i++, seq++)
		assert_int_equal(inbound ? from_peer(&e, seq) : pass(esp_plain(e.sa, 40)), want);
	assert_int_equal(e.sa->expired, which);
	assert_int_equal(drain_queues(&e, which, 0), 1);
	esp_sa_delete(&e);
}

/* Each limit that packets can reach, in both directions. */
static void each_limit(void (*check)(const struct cygnet_lifetime *, uint32_t, bool))
{
	static const struct {
		struct cygnet_lifetime lifetime;
		uint32_t which;
	} limits[] = {
		{{.soft_packets = 2}, CYGNET_EXPIRE_SOFT},
		{{.hard_packets = 2}, CYGNET_EXPIRE_HARD},
		{{.soft_bytes = 2 * 40}, CYGNET_EXPIRE_SOFT},
		{{.hard_bytes = 2 * 40}, CYGNET_EXPIRE_HARD},
	};

	for (unsigned int i = 0; i < RTE_DIM(limits); i++) {
		check(&limits[i].lifetime, limits[i].which, false);
		check(&limits[i].lifetime, limits[i].which, true);
	}
}

static void limits_while_full(void **state)
{
	(void)state;
	each_limit(expires_while_full);
}

/* No further packet arrives: the control thread reports the limit once, after the calls that a
 * scan of the SAD takes. */
static void silent_while_full(const struct cygnet_lifetime *lifetime, uint32_t which, bool inbound)
{
	struct esp_sa e = {.options = inbound ? ESP_INBOUND : 0};
	unsigned int others;

	limited_sa(&e, lifetime);
	others = fill_queues();
	for (unsigned int seq = 1; seq <= 3; seq++)
		inbound ? from_peer(&e, seq) : pass(esp_plain(e.sa, 40));
	for (unsigned int turn = 0; turn < 10; turn++)
		lifetime_tell_again();
	assert_int_equal(e.sa->expired, 0);
	assert_int_equal(drain_queues(&e, which, others), 0);
	for (unsigned int turn = 0; turn < 10; turn++)
		lifetime_tell_again();
	assert_int_equal(e.sa->expired, which);
	assert_int_equal(drain_queues(&e, which, 0), 1);
	esp_sa_delete(&e);
}

static void limits_of_the_silent(void **state)
{
	(void)state;
	each_limit(silent_while_full);
}

/* The same for sequence numbers. Those of an inbound SA are the peer's. */
static void numbers_of_the_silent(void **state)
{
	static const struct {
		uint64_t seq;
		uint32_t which;
	} cases[] = {
		{UINT32_MAX / 8ull * 7 + 2000, CYGNET_EXPIRE_SOFT},
		{UINT32_MAX, CYGNET_EXPIRE_SOFT | CYGNET_EXPIRE_HARD},
	};

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		const uint32_t options = i & 1 ? ESP_INBOUND : 0;
		unsigned int others;
		struct esp_sa e;

		esp_sa_any(&e, &esp_algorithms[0], options);
		hear_nothing_of_before();
		others = fill_queues();
		e.sa->lifetime.soft_packets = 1;
		options ? from_peer(&e, 1) : pass(esp_plain(e.sa, 40));
		options ? from_peer(&e, 2) : pass(esp_plain(e.sa, 40));
		e.sa->lifetime.soft_packets = 0;
		e.sa->seq = cases[i / 2].seq;
		drain_queues(&e, 0, others);
		for (unsigned int turn = 0; turn < 10; turn++)
			lifetime_tell_again();
		assert_int_equal(e.sa->expired, options ? 0 : cases[i / 2].which);
		hear_nothing_of_before();
		esp_sa_delete(&e);
	}
}

/* --- a peer behind NAT --- */

/* A packet of the peer from an address and port of the NAT. */
static struct rte_mbuf *mapped(const struct esp_sa *e, uint64_t seq, uint32_t addr, uint16_t port)
{
	struct rte_mbuf *m = esp_sealed(e, seq, IPPROTO_IPIP);

	packet(m)->src = cygnet_addr4(htonl(addr));
	packet(m)->sport = htons(port);
	return m;
}

static bool heard_mapping(const struct esp_sa *e, uint32_t addr, uint16_t port)
{
	struct cygnet_event event;

	events_post();
	if (cygnet_event_wait(sadb, &event, 0))
		return false;
	assert_int_equal(event.type, CYGNET_EVENT_MAPPING);
	assert_int_equal(event.reqid, e->sa->reqid);
	assert_int_equal(event.id.spi, e->sa->spi);
	assert_int_equal(event.new_addr.v4, htonl(addr));
	assert_int_equal(event.new_port, htons(port));
	assert_int_not_equal(cygnet_event_wait(sadb, &event, 0), 0);
	return true;
}

/* @return bit mask of the types of events, each of which is there once */
static unsigned int heard_types(void)
{
	struct cygnet_event event;
	unsigned int types = 0;

	events_post();
	while (cygnet_event_wait(sadb, &event, 0) == 0) {
		assert_false(types & 1u << event.type);
		types |= 1u << event.type;
	}
	return types;
}

/* An authentic packet from another source is reported with that source, at most once a second.
 * Forged and replayed packets are not. */
static void mappings(void **state)
{
	const uint32_t old = 0xc0000202, new = 0xcb007107;
	struct rte_mbuf *m;
	struct esp_sa e;

	(void)state;
	clock_now++;
	assert_true(add_window(&e, ESP_ENCAP, 64));
	hear_nothing_of_before();
	assert_int_equal(pass(mapped(&e, 1, old, ESP_SPORT)), IN);
	assert_false(heard_mapping(&e, old, ESP_SPORT));
	m = mapped(&e, 2, new, 4444);
	*rte_pktmbuf_mtod_offset(m, uint8_t *, rte_pktmbuf_data_len(m) - 1) ^= 1;
	assert_int_equal(pass(m), DROP_AUTH_FAILED);
	assert_int_equal(pass(mapped(&e, 1, new, 4444)), DROP_REPLAY);
	assert_false(heard_mapping(&e, new, 4444));
	/* Within the second of a packet from the old source. */
	assert_int_equal(pass(mapped(&e, 2, new, 4444)), IN);
	assert_true(heard_mapping(&e, new, 4444));
	assert_int_equal(pass(mapped(&e, 3, new, 4444)), IN);
	assert_false(heard_mapping(&e, new, 4444));
	clock_now++;
	assert_int_equal(pass(mapped(&e, 4, old, 4445)), IN);
	assert_true(heard_mapping(&e, old, 4445));
	esp_sa_delete(&e);
}

/* A peer that has SAs per CPU may send from any port. Nothing is reported of it, and its packets come in. */
static void mapping_of_any_port(void **state)
{
	const uint32_t old = 0xc0000202, new = 0xcb007107;
	struct esp_sa e;

	(void)state;
	assert_true(add_window(&e, ESP_ENCAP, 64));
	e.sa->path[e.sa->path_index & 1].sport = 0;
	hear_nothing_of_before();
	for (unsigned int i = 1; i <= 4; i++) {
		clock_now++;
		assert_int_equal(pass(mapped(&e, i, i < 3 ? old : new, (uint16_t)(0xc000 + i % 2))),
				 IN);
		assert_int_equal(heard_types(), 0);
	}
	esp_sa_delete(&e);
}

/* The same for IPv6: whole addresses are compared and reported. */
static void mappings6(void **state)
{
	struct cygnet_event event;
	struct cygnet_addr src[3];
	struct esp_sa e;

	(void)state;
	clock_now++;
	assert_true(add_window(&e, ESP_ENCAP, 64));
	esp_sa_move(&e, true);
	hear_nothing_of_before();
	src[0] = src[1] = src[2] = cygnet_sa_path(e.sa)->src;
	src[1].bytes[15] ^= 1;
	src[2].bytes[4] ^= 0x80;
	for (unsigned int i = 0; i < RTE_DIM(src); i++) {
		struct rte_mbuf *m = esp_sealed(&e, i + 1, IPPROTO_IPIP);

		clock_now++;
		packet(m)->src = src[i];
		packet(m)->sport = cygnet_sa_path(e.sa)->sport;
		assert_int_equal(pass(m), IN);
		events_post();
		assert_int_equal(cygnet_event_wait(sadb, &event, 0) == 0, i > 0);
		if (!i)
			continue;
		assert_int_equal(event.type, CYGNET_EVENT_MAPPING);
		assert_int_equal(event.id.af, AF_INET6);
		assert_memory_equal(&event.new_addr, &src[i], sizeof(src[i]));
		assert_int_equal(event.new_port, cygnet_sa_path(e.sa)->sport);
	}
	esp_sa_delete(&e);
}

/* The event queue is full, because charon is busy. The SA's next packet repeats the report once. */
static void told_when_there_is_room(void **state)
{
	const struct cygnet_event another = {.type = CYGNET_EVENT_ACQUIRE, .reqid = 77};
	const uint32_t new = 0xcb007107;
	struct esp_sa e;

	(void)state;
	clock_now++;
	assert_true(add_window(&e, ESP_ENCAP, 64));
	e.sa->lifetime.soft_packets = 1;
	hear_nothing_of_before();
	while (event_raise(&another))
		;
	assert_int_equal(pass(mapped(&e, 1, new, 4444)), IN);
	assert_int_equal(pass(mapped(&e, 2, new, 4444)), IN);
	hear_nothing_of_before();
	assert_int_equal(heard_types(), 0);
	assert_int_equal(pass(mapped(&e, 3, new, 4444)), IN);
	assert_int_equal(heard_types(), 1u << CYGNET_EVENT_EXPIRE | 1u << CYGNET_EVENT_MAPPING);
	assert_int_equal(pass(mapped(&e, 4, new, 4444)), IN);
	assert_int_equal(heard_types(), 0);
	esp_sa_delete(&e);
}

static void sweep(void)
{
	for (unsigned int i = 0; i < 128; i++)
		sessions_sweep(w->sessions);
}

/* When the worker sweeps its sessions it repeats a report that found the queue full, with the
 * latest source. */
static void moved_and_silent(void **state)
{
	const struct cygnet_event another = {.type = CYGNET_EVENT_ACQUIRE, .reqid = 77};
	const uint32_t old = 0xc0000202, new = 0xcb007107;
	struct esp_sa e;

	(void)state;
	for (unsigned int back = 0; back < 2; back++) {
		clock_now++;
		assert_true(add_window(&e, ESP_ENCAP, 64));
		hear_nothing_of_before();
		while (event_raise(&another))
			;
		assert_int_equal(pass(mapped(&e, 1, new, 4444)), IN);
		assert_int_equal(pass(mapped(&e, 2, back ? old : new, back ? ESP_SPORT : 4445)),
				 IN);
		sweep();
		hear_nothing_of_before();
		sweep();
		assert_int_equal(heard_mapping(&e, new, 4445), !back);
		sweep();
		assert_false(heard_mapping(&e, new, 4445));
		esp_sa_delete(&e);
	}
}

/* No other packet has several segments. If one had, no part of it would be taken for protected. */
static void segments(void **state)
{
	static const unsigned int ways[] = {0, ESP_INBOUND};
	struct esp_sa e;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(ways); i++) {
		struct rte_mbuf *m;

		esp_sa_any(&e, &esp_algorithms[0], ways[i]);
		m = ways[i] ? esp_sealed(&e, 1, IPPROTO_IPIP) : esp_plain(e.sa, 40);
		assert_int_equal(rte_pktmbuf_chain(m, esp_plain(e.sa, 40)), 0);
		assert_int_equal(pass(m), DROP_NO_BUFFER);
		esp_sa_delete(&e);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		ESP_TEST(replayed),
		ESP_TEST(without_a_window),
		ESP_TEST(forgery),
		ESP_TEST(replay_in_flight),
		ESP_TEST(encapsulation),
		ESP_TEST(dummies),
		ESP_TEST(sa_gone),
		ESP_TEST(sa_gone_outbound),
		ESP_TEST(sa_replaced),
		ESP_TEST(no_operations),
		ESP_TEST(sequence_numbers),
		ESP_TEST(hard_limits),
		ESP_TEST(sequence_warning),
		ESP_TEST(time_limit),
		ESP_TEST(another_charon),
		ESP_TEST(mappings),
		ESP_TEST(mapping_of_any_port),
		ESP_TEST(mappings6),
		ESP_TEST(told_when_there_is_room),
		ESP_TEST(limits_while_full),
		ESP_TEST(limits_of_the_silent),
		ESP_TEST(numbers_of_the_silent),
		ESP_TEST(moved_and_silent),
		ESP_TEST(segments),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, finish);
}

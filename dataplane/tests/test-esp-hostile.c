/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random SAs in shared memory and random packets: a worker survives them, and each packet is
 * accounted for. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/sadb.h"
#include "esp_fixture.h"
#include "host/route.h"
#include "path/worker/worker.h"
#include "worker_fixture.h"

#define ROUNDS 15000u
#define FLIPS  300000000u

static struct worker *w = &workers[0];

static int start(void **state)
{
	if (esp_fixture_start(state) || routes_init(1, 64))
		return -1;
	esp_worker(w);
	return 0;
}

static int finish(void **state)
{
	routes_free();
	return esp_fixture_stop(state);
}

static uint8_t byte(void)
{
	return (uint8_t)(random() >> 7);
}

static void fill(void *to, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		((uint8_t *)to)[i] = byte();
}

static uint64_t dropped(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < DROP_REASON_COUNT; i++)
		sum += w->stats->drop[i];
	return sum;
}

/* Without a route and a policy the packet ends as a drop or as a dummy. */
static void pass(struct rte_mbuf *m)
{
	uint64_t before = dropped() + w->stats->dummies;

	worker_pass(w, m);
	esp_worker_finish(w);
	assert_int_equal(dropped() + w->stats->dummies, before + 1);
	assert_int_equal(rte_mempool_in_use_count(esp_packets), 0);
	assert_int_equal(rte_mempool_in_use_count(esp_ops), 0);
}

/* Change all fields but those by which the library finds the SA. */
static void spoil_all(struct cygnet_sa *sa)
{
	fill(&sa->flags, offsetof(struct cygnet_sa, reserved0) - offsetof(struct cygnet_sa, flags));
	fill(sa->path, sizeof(sa->path));
	fill(sa->cipher_key, sizeof(sa->cipher_key) + sizeof(sa->auth_key));
	fill(&sa->seq, sizeof(sa->seq) + sizeof(sa->replay));
	fill(&sa->bytes, sizeof(sa->bytes) + sizeof(sa->packets));
	fill(&sa->lifetime, sizeof(sa->lifetime));
}

/* Change one or two fields. The remaining valid fields let the packet get further. */
static void spoil_some(struct cygnet_sa *sa)
{
	uint8_t *field[] = {
		&sa->proto,
		&sa->path[0].af,
		&sa->mode,
		&sa->cipher,
		&sa->auth,
		&sa->dscp,
		&sa->icv_len,
		&sa->cipher_key_len,
		&sa->salt_len,
		&sa->auth_key_len,
		&sa->path[0].encap,
		(uint8_t *)&sa->flags,
		(uint8_t *)&sa->path_index,
		(uint8_t *)&sa->replay_block,
		(uint8_t *)&sa->replay_window,
		(uint8_t *)&sa->seq,
		(uint8_t *)&sa->tfc,
		(uint8_t *)&sa->lifetime.hard_packets,
		(uint8_t *)&sa->seq + 3,
	};

	for (unsigned int n = 1 + !(byte() % 4); n; n--) {
		uint8_t *changed = field[(unsigned int)random() % RTE_DIM(field)];

		*changed = byte() & 1 ? byte() : byte() % 80;
	}
}

static struct rte_mbuf *any_packet(const struct esp_sa *e, bool in)
{
	unsigned int len = in ? (unsigned int)random() % 200 : 20 + (unsigned int)random() % 200;
	uint8_t data[220];
	struct packet *p;
	struct rte_mbuf *m;

	fill(data, sizeof(data));
	if (!in)
		peer_packet(data, len, byte(), false);
	m = esp_packet(data, len, byte() & 1 ? 128 : byte() % 64, byte() & 1 ? 128 : byte() % 64);
	p = packet(m);
	p->stage = in ? STAGE_UNPROTECT : STAGE_FIT;
	p->sa = cygnet_sa_index(sadb, e->sa);
	p->generation = e->sa->generation;
	p->seq = (uint32_t)random();
	/* receive.c guarantees an outer header and the ESP header behind it. */
	p->esp = (uint16_t)(20 + byte() % 12 * 4);
	p->udp = byte() & 1;
	return m;
}

static void spoil(const struct esp_algorithm *algorithm, unsigned int options)
{
	struct cygnet_sa before;
	struct esp_sa e;

	esp_sa_any(&e, algorithm, options);
	before = *e.sa;
	/* All events have been posted to charon. */
	before.expired = CYGNET_EXPIRE_HARD | CYGNET_EXPIRE_SOFT;
	before.packets = 40;
	engine_devices = esp_devices;
	for (unsigned int i = 0; i < ROUNDS / esp_algorithm_count; i++) {
		before.generation++;
		*e.sa = before;
		if (byte() % 8)
			spoil_some(e.sa);
		else
			spoil_all(e.sa);
		for (unsigned int k = byte() % 4; k; k--)
			pass(any_packet(&e, byte() & 1));
	}
	*e.sa = before;
	esp_sa_delete(&e);
}

/* The random input has reached all these results. */
static void any_sa(void **state)
{
	static const enum drop_reason met[] = {
		DROP_NO_ROUTE,	  DROP_ESP_TRUNCATED, DROP_ESP_ENCAP,	DROP_REPLAY,
		DROP_AUTH_FAILED, DROP_SA_EXPIRED,    DROP_UNSUPPORTED, DROP_NO_BUFFER,
	};

	(void)state;
	srandom(23);
	for (unsigned int i = 0; i < esp_algorithm_count; i++)
		spoil(&esp_algorithms[i], (i & 1 ? ESP_INBOUND : 0) | (i & 2 ? ESP_ESN : 0));
	for (unsigned int i = 0; i < RTE_DIM(met); i++)
		assert_true(w->stats->drop[met[i]] > 20);
}

struct flips {
	struct cygnet_sa *sa;
	bool end;
};

static void *flip_length(void *arg)
{
	struct flips *flips = arg;
	const uint8_t icv_len = flips->sa->icv_len;

	for (unsigned int i = 0; i < FLIPS; i++)
		__atomic_store_n(&flips->sa->icv_len, i & 1 ? icv_len : UINT8_MAX,
				 __ATOMIC_RELAXED);
	__atomic_store_n(&flips->end, true, __ATOMIC_RELAXED);
	return NULL;
}

/* Another process changes an SA while it is checked: what was checked is what is used. */
static void length_changes_meanwhile(void **state)
{
	struct flips flips = {0};
	pthread_t thread;
	struct esp_sa e;

	(void)state;
	esp_sa_any(&e, &esp_algorithms[0], 0);
	flips.sa = e.sa;
	assert_int_equal(pthread_create(&thread, NULL, flip_length, &flips), 0);
	while (!__atomic_load_n(&flips.end, __ATOMIC_RELAXED)) {
		struct session s;

		if (session_describe(&s, e.sa))
			assert_in_range(s.icv_len, 8, ESP_ICV_MAX);
	}
	pthread_join(thread, NULL);
	esp_sa_delete(&e);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		ESP_TEST(any_sa),
		ESP_TEST(length_changes_meanwhile),
	};

	(void)argc;
	if (esp_fixture_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, finish);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>

#include <rte_ring.h>

#include "base/sadb.h"
#include "crypto/core.h"
#include "crypto/device/pool.h"
#include "gateway.h"
#include "host/interface.h"
#include "path/inbox.h"
#include "path/reassemble.h"
#include "path/sa_wait.h"
#include "path/worker/handoff.h"
#include "path/worker/neigh_wait.h"
#include "path/worker/move.h"
#include "path/worker/owner.h"
#include "worker_fixture.h"

#define ETHER	      14u
#define WAIT_MS	      3600000u /* for fragments: longer than any run of one input */
#define LARGE_PACKETS 8u
#define INBOX	      256u
#define TURNS	      12u /* in which a worker gets rid of all packets, and an SA moves */

FUZZ_WITH_EAL

__attribute__((weak)) unsigned int fuzz_workers = 1, fuzz_crypto_cores = 0;
struct worker *fuzz_worker = &workers[0];
struct tunnel fuzz_gcm, fuzz_cbc;

struct cygnet_sa *fuzz_sa(uint32_t spi)
{
	for (uint32_t i = 0;; i++) {
		struct cygnet_sa *sa = cygnet_sa_at(sadb, i);

		if (!sa)
			abort();
		if (sa->spi == htonl(spi) && sa->state == CYGNET_SLOT_LIVE)
			return sa;
	}
}

static void network(unsigned int n, struct cygnet_addr *lo, struct cygnet_addr *hi)
{
	*lo = cygnet_addr4(htonl(10u << 24 | n << 16));
	*hi = cygnet_addr4(htonl(10u << 24 | n << 16 | 0xffff));
}

static void add_policy(enum cygnet_dir dir, unsigned int src, unsigned int dst,
		       const struct cygnet_sa *sa)
{
	struct cygnet_policy_params policy = {
		.sel = {.sport_hi = UINT16_MAX, .dport_hi = UINT16_MAX, .af = AF_INET},
		.reqid = sa ? sa->reqid : 77,
		.spi = sa ? sa->spi : 0,
		.dir = (uint8_t)dir,
		.action = CYGNET_PROTECT,
		.proto = sa ? sa->proto : IPPROTO_ESP,
		.mode = CYGNET_TUNNEL,
		.af = sa ? cygnet_sa_path(sa)->af : AF_INET,
	};

	if (sa)
		policy.dst = cygnet_sa_path(sa)->dst;
	network(src, &policy.sel.src_lo, &policy.sel.src_hi);
	network(dst, &policy.sel.dst_lo, &policy.sel.dst_hi);
	if (cygnet_policy_add(sadb, &policy))
		abort();
}

void fuzz_policies(unsigned int n, const struct cygnet_sa *in, const struct cygnet_sa *out)
{
	add_policy(CYGNET_OUT, 1, n, out);
	add_policy(CYGNET_FWD, n, 1, in);
}

/* With a policy for ports, packets are reassembled before the policy lookup. */
static void add_ports(enum cygnet_dir dir, uint8_t af)
{
	const struct cygnet_addr every = af == AF_INET ? cygnet_addr4(UINT32_MAX)
						       : (struct cygnet_addr){
								 .words = {UINT64_MAX, UINT64_MAX}};
	const struct cygnet_policy_params policy = {
		.sel = {.src_hi = every,
			.dst_hi = every,
			.sport_hi = UINT16_MAX,
			.dport_lo = 7,
			.dport_hi = 7,
			.af = af,
			.proto = IPPROTO_UDP},
		.dir = (uint8_t)dir,
		.action = CYGNET_DISCARD,
		.af = af,
	};

	if (cygnet_policy_add(sadb, &policy))
		abort();
}

static void open_reassembly(struct worker *w)
{
	w->reassembly = reassembly_create(WAIT_MS, &w->stats->drop[DROP_REASSEMBLY]);
	if (!w->reassembly)
		abort();
}

static void open_worker(unsigned int id)
{
	struct worker *w = &workers[id];
	char name[16];

	gateway_open(w, 16);
	w->id = w->crypto.id = id;
	w->workers = fuzz_workers;
	w->stats = w->crypto.stats = &stats[id];
	memset(w->stats, 0, sizeof(*w->stats));
	snprintf(name, sizeof(name), "inbox%u", id);
	w->inbox = rte_ring_create(name, INBOX, SOCKET_ID_ANY, RING_F_SC_DEQ);
	open_reassembly(w);
	if (!w->inbox || crypto_lane_init(&w->crypto))
		abort();
}

static void open_workers(void)
{
	struct conf conf;

	conf_defaults(&conf);
	conf.workers = fuzz_workers;
	conf.ncrypto_cores = fuzz_crypto_cores;
	if (crypto_cores_init(&conf))
		abort();
	for (unsigned int i = 0; i < fuzz_workers; i++)
		open_worker(i);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	cpu_set_t cpus;

	(void)argc;
	/* A failed assertion of the fixtures must be a crash. */
	setenv("CMOCKA_TEST_ABORT", "1", 1);
	/* The devices have a queue pair for each further worker, too. */
	esp_crypto_cores = fuzz_workers - 1 + fuzz_crypto_cores;
	/* EAL pins this thread to one CPU, on which all targets would run. */
	if (sched_getaffinity(0, sizeof(cpus), &cpus) || esp_fixture_eal((*argv)[0]) ||
	    gateway_start(NULL) || sched_setaffinity(0, sizeof(cpus), &cpus))
		abort();
	packet_pool_large = rte_pktmbuf_pool_create("large", LARGE_PACKETS, 0, PACKET_PRIVATE,
						    UINT16_MAX, SOCKET_ID_ANY);
	if (!packet_pool_large)
		abort();
	open_workers();
	gateway_tunnel(&fuzz_gcm, &esp_gcm, FUZZ_GCM, false, false);
	gateway_tunnel(&fuzz_cbc, &esp_cbc, FUZZ_CBC, true, true);
	add_policy(CYGNET_OUT, 1, FUZZ_TRAP, NULL);
	for (enum cygnet_dir dir = CYGNET_IN; dir <= CYGNET_FWD; dir++) {
		add_ports(dir, AF_INET);
		add_ports(dir, AF_INET6);
	}
	fuzz_set_up();
	return 0;
}

static void receive(struct rte_mbuf *m, unsigned int interface)
{
	cygnet_reader_quiescent(sadb, 0);
	worker_receive(fuzz_worker, &m, 1, interface);
	esp_worker_finish(fuzz_worker);
}

void fuzz_packet(const uint8_t *ip, unsigned int len, unsigned int interface)
{
	receive(gateway_frame(ip, len, interface), interface);
}

void fuzz_frame(const uint8_t *frame, unsigned int len, unsigned int interface)
{
	struct rte_mbuf *m = esp_packet(frame, len, RTE_PKTMBUF_HEADROOM, RTE_PKTMBUF_HEADROOM);

	memset(packet(m), 0xa5, sizeof(struct packet));
	receive(m, interface);
}

/* @return number of the network of an address; 0: none of the tests' networks */
static unsigned int network_of(const uint8_t *addr, bool v6)
{
	if (v6)
		return addr[0] == 0xfd && !addr[1] && !addr[2] ? addr[3] : 0;
	return addr[0] == 10 ? addr[1] : 0;
}

static bool is_protected(unsigned int n, bool v6)
{
	return n == FUZZ_GCM || n == FUZZ_CBC || (n == FUZZ_TRAP && !v6);
}

/* The number of a packet that an outbound SA has protected is behind that of the packet before. */
static void check_order(const uint8_t *ip, bool v6)
{
	static uint32_t last[FUZZ_AH + 1];
	const uint8_t *esp = ip + (v6 ? 40 : 20);
	const struct tunnel *t = v6 ? &fuzz_cbc : &fuzz_gcm;
	uint32_t words[2];

	if (ip[v6 ? 6 : 9] != IPPROTO_ESP)
		return;
	memcpy(words, esp, sizeof(words));
	if (words[0] != t->out->spi)
		return;
	if (ntohl(words[1]) <= last[t->number])
		abort();
	last[t->number] = ntohl(words[1]);
}

static void check(struct rte_mbuf *m, unsigned int interface, unsigned int sealed)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, ETHER);
	bool v6 = rte_pktmbuf_mtod(m, const uint8_t *)[12] == 0x86;
	unsigned int src, dst;

	if (m->nb_segs != 1 || m->pkt_len != m->data_len || m->data_len < ETHER + (v6 ? 40u : 20u))
		abort();
	src = network_of(ip + (v6 ? 8 : 12), v6);
	dst = network_of(ip + (v6 ? 24 : 16), v6);
	if (interface == GATEWAY_WAN && src == 1 && is_protected(dst, v6))
		abort(); /* plaintext that a policy protects */
	if (interface == GATEWAY_LAN && dst == 1 && (src == FUZZ_GCM || src == FUZZ_CBC) &&
	    src != sealed && sealed != FUZZ_ALL)
		abort(); /* it came by the SA of another network, or by none */
	if (interface == GATEWAY_WAN)
		check_order(ip, v6);
}

void fuzz_begin_turn(struct worker *w, bool inbox)
{
	move_turn(w);
	refresh_turn(w);
	w->stats->turns++;
	if (inbox)
		inbox_poll(w);
}

void fuzz_end_turn(struct worker *w)
{
	worker_poll(w);
	handoff_flush(w);
}

void fuzz_turn(struct worker *w)
{
	fuzz_begin_turn(w, true);
	fuzz_end_turn(w);
}

/* Until no packet is under way between workers and cores. */
static void finish_workers(void)
{
	if (fuzz_workers + fuzz_crypto_cores == 1)
		return;
	for (unsigned int i = 0; i < TURNS * fuzz_workers; i++) {
		while (fuzz_crypto_cores && crypto_core_turn(0))
			;
		fuzz_turn(&workers[i % fuzz_workers]);
	}
	for (unsigned int i = 0; i < fuzz_workers; i++)
		if (workers[i].crypto.in_flight || rte_ring_count(workers[i].inbox))
			abort();
	if (move_is_under_way())
		abort();
}

static bool is_lost(void)
{
	return rte_mempool_in_use_count(esp_packets) || rte_mempool_in_use_count(esp_ops) ||
	       rte_mempool_in_use_count(packet_pool_large);
}

static void settle(struct worker *w, unsigned int sealed)
{
	for (unsigned int p = 0; p < ninterfaces; p++) {
		for (unsigned int i = 0; i < w->tx[p].n; i++)
			check(w->tx[p].m[i], p, sealed);
		rte_pktmbuf_free_bulk(w->tap[p].m, w->tap[p].n);
		w->tap[p].n = 0;
	}
	gateway_forget(w);
	neigh_wait_drop(w);
	sa_wait_drop(w);
	flows_changed(&w->fast->flows, CYGNET_SCOPE_ALL);
}

void fuzz_settle(unsigned int sealed)
{
	for (unsigned int i = 0; i < fuzz_workers; i++)
		esp_worker_finish(&workers[i]);
	finish_workers();
	for (unsigned int i = 0; i < fuzz_workers; i++)
		settle(&workers[i], sealed);
	for (unsigned int i = 0; i < fuzz_workers && is_lost(); i++) {
		reassembly_free(workers[i].reassembly);
		open_reassembly(&workers[i]);
	}
	if (is_lost())
		abort();
}

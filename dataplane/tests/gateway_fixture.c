/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>

#include <rte_ring.h>

#include "base/event.h"
#include "base/sadb.h"
#include "crypto/device/sessions.h"
#include "gateway_fixture.h"
#include "host/interface.h"
#include "host/neigh.h"
#include "host/route.h"
#include "path/fast/fast.h"
#include "path/sa_session.h"
#include "path/worker/owner.h"
#include "path/worker/tx.h"

#define TABLE_MAIN  254
#define TABLE_LOCAL 255
#define ETHER	    14u
#define OUT_SPI(t)  (0x1000u + (t)->number)
#define IN_SPI(t)   (0x2000u + (t)->number)
#define WINDOW	    128

static const struct rte_ether_addr macs[] = {
	[GATEWAY_LAN] = {{2, 0, 0, 0, 0, 1}},
	[GATEWAY_WAN] = {{2, 0, 0, 0, 0, 2}},
};
static const struct rte_ether_addr hosts[] = {
	[GATEWAY_LAN] = {{2, 0, 0, 0, 1, 1}},
	[GATEWAY_WAN] = {{2, 0, 0, 0, 1, 2}},
};

unsigned int gateway_flows = 4096;

/* In place of the C library's, also for libcygnet: the same seeds of hashes in each run. With random ones flows,
 * neighbours or policies collide in one run of some hundred, and a test sees a change of one as that of another. */
__attribute__((visibility("default"))) ssize_t getrandom(void *to, size_t size, unsigned int flags)
{
	static uint64_t state = 1;
	uint8_t *bytes = to;

	(void)flags;
	for (size_t i = 0; i < size; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (uint8_t)(state >> 56);
	}
	return (ssize_t)size;
}

static struct cygnet_addr addr(const char *text)
{
	struct cygnet_addr a = {0};

	assert_int_equal(inet_pton(strchr(text, ':') ? AF_INET6 : AF_INET, text, &a), 1);
	return a;
}

static uint8_t family(bool v6)
{
	return v6 ? AF_INET6 : AF_INET;
}

static void add_route(const char *dst, unsigned int bits, const struct next_hop *hop)
{
	struct route route = {
		.dst = addr(dst),
		.af = family(strchr(dst, ':')),
		.bits = (uint8_t)bits,
		.table = hop->kind == ROUTE_LOCAL ? TABLE_LOCAL : TABLE_MAIN,
		.hop = *hop,
	};

	assert_int_equal(route_add(&route, ROUTE_APPEND), 0);
}

static void add_neighbour(const char *who, unsigned int interface)
{
	struct neigh n = {
		.addr = addr(who),
		.af = family(strchr(who, ':')),
		.interface = (uint8_t)interface,
	};

	neigh_set(&n, &hosts[interface], false);
}

static void add_network(void)
{
	const struct next_hop own = {.kind = ROUTE_LOCAL};
	const struct next_hop lan = {.kind = ROUTE_FORWARD, .interface = GATEWAY_LAN};
	const struct next_hop wan = {.kind = ROUTE_FORWARD, .interface = GATEWAY_WAN};

	add_route("192.0.2.1", 32, &own);
	add_route("2001:db8::1", 128, &own);
	add_route("192.0.2.0", 24, &wan);
	add_route("2001:db8::", 64, &wan);
	add_route("10.1.0.0", 16, &lan);
	add_route("fd00:1::", 32, &lan);
	add_route("10.0.0.0", 8,
		  &(struct next_hop){.kind = ROUTE_FORWARD,
				     .interface = GATEWAY_WAN,
				     .gateway = addr("192.0.2.2")});
	add_route("fd00::", 16,
		  &(struct next_hop){.kind = ROUTE_FORWARD,
				     .interface = GATEWAY_WAN,
				     .gateway = addr("2001:db8::2")});
	assert_true(routes_commit());
	add_neighbour("192.0.2.2", GATEWAY_WAN);
	add_neighbour("2001:db8::2", GATEWAY_WAN);
	add_neighbour("10.1.0.1", GATEWAY_LAN);
	add_neighbour("fd00:1::1", GATEWAY_LAN);
}

int gateway_start(void **state)
{
	ninterfaces = 2;
	for (unsigned int p = 0; p < ninterfaces; p++) {
		interfaces[p].mtu = GATEWAY_MTU;
		interfaces[p].device = (uint8_t)p;
		devices[p] = (struct device){.queues = 1, .interface = (uint8_t)p};
		interfaces[p].forwards = true;
		interface_set_mac(&interfaces[p], &macs[p]);
	}
	interfaces_forward6 = true;
	if (esp_fixture_start(state) || routes_init(1, 64) || neighs_init() || events_init())
		return -1;
	add_network();
	return 0;
}

int gateway_stop(void **state)
{
	events_free();
	neighs_free();
	routes_free();
	return esp_fixture_stop(state);
}

void gateway_open(struct worker *w, unsigned int sessions)
{
	esp_worker(w);
	tx_init(w);
	memset(w->stats, 0, sizeof(*w->stats));
	assert_int_equal(fast_create(w, gateway_flows), 0);
	/* Flows and cached routes hold for an hour and more, however slow the machine is. */
	w->fast->flows.usual *= 3600;
	w->fast->flows.holds = w->fast->flows.usual;
	w->sessions = sessions_create(esp_sas, sessions, &sa_session_events, w);
	assert_non_null(w->sessions);
	w->sas_most = sessions;
	owners_reset(esp_sas);
}

void gateway_open_one(unsigned int id, unsigned int of, unsigned int sessions)
{
	struct worker *w = &workers[id];
	char name[16];

	gateway_open(w, sessions);
	memset(&stats[id], 0, sizeof(stats[id]));
	w->id = id;
	w->workers = of;
	w->stats = w->crypto.stats = &stats[id];
	snprintf(name, sizeof(name), "inbox%u", id);
	w->inbox = rte_ring_create(name, 1024, SOCKET_ID_ANY, RING_F_SC_DEQ);
	assert_non_null(w->inbox);
}

void gateway_open_thread(unsigned int id, unsigned int of, unsigned int sessions)
{
	struct worker *w = &workers[id];
	char name[16];

	gateway_open_one(id, of, sessions);
	w->crypto.id = id;
	snprintf(name, sizeof(name), "ops%u", id);
	w->crypto.ops = rte_crypto_op_pool_create(name, RTE_CRYPTO_OP_TYPE_SYMMETRIC, 512, 0,
						  sizeof(struct esp_job), SOCKET_ID_ANY);
	assert_non_null(w->crypto.ops);
	if (id)
		assert_int_equal(cygnet_reader_online(sadb, id), 0);
}

void gateway_forget(struct worker *w)
{
	for (unsigned int p = 0; p < ninterfaces; p++) {
		rte_pktmbuf_free_bulk(w->tx[p].m, w->tx[p].n);
		w->tx[p].n = 0;
		rte_pktmbuf_free_bulk(w->tap[p].m, w->tap[p].n);
		w->tap[p].n = 0;
	}
}

void gateway_close(struct worker *w)
{
	esp_worker_finish(w);
	gateway_forget(w);
	sessions_free(w->sessions);
	fast_free(w);
	assert_int_equal(esp_fixture_clean(NULL), 0);
}

/* --- SAs and policies --- */

static struct cygnet_sa *find(uint32_t spi)
{
	struct cygnet_sa *sa = NULL;

	for (uint32_t i = 0; !sa; i++) {
		sa = cygnet_sa_at(sadb, i);
		assert_non_null(sa);
		if (sa->spi != htonl(spi) || sa->state != CYGNET_SLOT_LIVE)
			sa = NULL;
	}
	return sa;
}

static struct cygnet_sa *add_sa(const struct tunnel *t, bool in)
{
	struct cygnet_addr us = addr(t->v6 ? "2001:db8::1" : "192.0.2.1");
	struct cygnet_addr them = addr(t->v6 ? "2001:db8::2" : "192.0.2.2");
	struct cygnet_sa_params params = esp_params(&t->peer, (in ? ESP_INBOUND : 0) |
								      (t->peer.esn ? ESP_ESN : 0));

	params.path.src = in ? them : us;
	params.path.dst = in ? us : them;
	params.path.af = family(t->v6);
	params.id.spi = htonl(in ? IN_SPI(t) : OUT_SPI(t));
	params.id.dst = params.path.dst;
	params.id.af = family(t->v6);
	params.reqid = 1 + t->number;
	params.replay_window = in ? WINDOW : 0;
	assert_int_equal(cygnet_sa_add(sadb, &params), 0);
	return find(in ? IN_SPI(t) : OUT_SPI(t));
}

/* Network n of an address family, and its last address. */
static struct cygnet_addr network(unsigned int n, bool v6, bool last)
{
	struct cygnet_addr a = {0};
	uint8_t *bytes = (uint8_t *)&a;

	memset(bytes, last ? 0xff : 0, v6 ? 16 : 4);
	bytes[0] = v6 ? 0xfd : 10;
	bytes[1] = v6 ? 0 : (uint8_t)n;
	if (v6) {
		bytes[2] = 0;
		bytes[3] = (uint8_t)n;
	}
	return a;
}

static void add_policy(const struct tunnel *t, enum cygnet_dir dir, unsigned int src,
		       unsigned int dst, bool v6)
{
	const struct cygnet_sa *sa = dir == CYGNET_OUT ? t->out : t->in;
	struct cygnet_policy_params policy = {
		.sel = {.src_lo = network(src, v6, false),
			.src_hi = network(src, v6, true),
			.dst_lo = network(dst, v6, false),
			.dst_hi = network(dst, v6, true),
			.sport_hi = UINT16_MAX,
			.dport_hi = UINT16_MAX,
			.af = family(v6)},
		.reqid = 1 + t->number,
		.spi = sa->spi,
		.dst = cygnet_sa_path(sa)->dst,
		.dir = (uint8_t)dir,
		.action = CYGNET_PROTECT,
		.proto = IPPROTO_ESP,
		.mode = CYGNET_TUNNEL,
		.af = family(t->v6),
	};

	assert_int_equal(cygnet_policy_add(sadb, &policy), 0);
}

void gateway_tunnel(struct tunnel *t, const struct esp_algorithm *algorithm, unsigned int number,
		    bool esn, bool v6)
{
	*t = (struct tunnel){.number = number, .v6 = v6};
	peer_init(&t->peer, algorithm, esn, (uint8_t)(17 * number));
	t->out = add_sa(t, false);
	t->in = add_sa(t, true);
	for (unsigned int inner = 0; inner < 2; inner++) {
		add_policy(t, CYGNET_OUT, 1, number, inner);
		add_policy(t, CYGNET_FWD, number, 1, inner);
	}
}

void gateway_hub(const struct tunnel *from, const struct tunnel *to)
{
	for (unsigned int inner = 0; inner < 2; inner++) {
		add_policy(from, CYGNET_FWD, from->number, to->number, inner);
		add_policy(to, CYGNET_OUT, from->number, to->number, inner);
	}
}

/* --- packets --- */

static void write_v4(uint8_t *ip, const struct cygnet_addr *src, const struct cygnet_addr *dst,
		     unsigned int len, uint8_t proto, uint8_t hops)
{
	const uint8_t header[] = {0x45, 0,    (uint8_t)(len >> 8), (uint8_t)len, 0, 1, 0, 0,
				  hops, proto};
	uint16_t sum;

	memset(ip, 0, 20);
	memcpy(ip, header, sizeof(header));
	memcpy(ip + 12, src, 4);
	memcpy(ip + 16, dst, 4);
	sum = peer_checksum(ip, 20);
	memcpy(ip + 10, &sum, sizeof(sum));
}

static void write_v6(uint8_t *ip, const struct cygnet_addr *src, const struct cygnet_addr *dst,
		     unsigned int len, uint8_t proto, uint8_t hops)
{
	const uint8_t header[] = {0x60,	 0,   0, 0, (uint8_t)((len - 40) >> 8), (uint8_t)(len - 40),
				  proto, hops};

	memcpy(ip, header, sizeof(header));
	memcpy(ip + 8, src, 16);
	memcpy(ip + 24, dst, 16);
}

static unsigned int write_ip(uint8_t *ip, bool v6, const struct cygnet_addr *src,
			     const struct cygnet_addr *dst, unsigned int len, uint8_t proto,
			     uint8_t hops)
{
	(v6 ? write_v6 : write_v4)(ip, src, dst, len, proto, hops);
	return v6 ? 40 : 20;
}

void gateway_packet(uint8_t *ip, unsigned int from, unsigned int to, bool v6, unsigned int len,
		    unsigned int id, uint8_t hops)
{
	struct cygnet_addr src = network(from, v6, false), dst = network(to, v6, false);
	const uint8_t ports_of[] = {4, 210, 7, 208};
	unsigned int front;

	((uint8_t *)&src)[v6 ? 15 : 3] = ((uint8_t *)&dst)[v6 ? 15 : 3] = 1;
	front = write_ip(ip, v6, &src, &dst, len, IPPROTO_UDP, hops);
	assert_true(len >= front + 8);
	memcpy(ip + front, ports_of, sizeof(ports_of));
	for (unsigned int i = front + sizeof(ports_of); i < len; i++)
		ip[i] = (uint8_t)(7 * i + id);
}

void gateway_inner(uint8_t *ip, const struct tunnel *t, bool v6, bool out, unsigned int len,
		   unsigned int id, uint8_t hops)
{
	gateway_packet(ip, out ? 1 : t->number, out ? t->number : 1, v6, len, id, hops);
}

unsigned int gateway_seal(uint8_t *ip, const struct tunnel *t, uint64_t seq, const uint8_t *text,
			  unsigned int len)
{
	const struct cygnet_path *path = cygnet_sa_path(t->in);
	unsigned int front = t->v6 ? 40 : 20;

	len = front + peer_seal(&t->peer, IN_SPI(t), seq, text, len, ip + front);
	write_ip(ip, t->v6, &path->src, &path->dst, len, IPPROTO_ESP, 64);
	return len;
}

unsigned int gateway_sealed(uint8_t *ip, const struct tunnel *t, bool v6, unsigned int len,
			    unsigned int id, uint64_t seq)
{
	uint8_t text[GATEWAY_FRAME];

	gateway_inner(text, t, v6, false, len, id, 64);
	len = peer_trailer(text, len, peer_padding(t->peer.algorithm, len),
			   v6 ? IPPROTO_IPV6 : IPPROTO_IPIP);
	return gateway_seal(ip, t, seq, text, len);
}

static void write_ether(uint8_t *frame, const struct rte_ether_addr *dst,
			const struct rte_ether_addr *src, bool v6)
{
	memcpy(frame, dst, 6);
	memcpy(frame + 6, src, 6);
	frame[12] = v6 ? 0x86 : 8;
	frame[13] = v6 ? 0xdd : 0;
}

struct rte_mbuf *gateway_frame_in(const uint8_t *ip, unsigned int len, unsigned int interface,
				  unsigned int headroom, unsigned int tailroom)
{
	uint8_t frame[ETHER + GATEWAY_FRAME];
	struct rte_mbuf *m;

	assert_true(len <= GATEWAY_FRAME);
	write_ether(frame, &macs[interface], &hosts[interface], ip[0] >> 4 == 6);
	memcpy(frame + ETHER, ip, len);
	m = esp_packet(frame, ETHER + len, headroom, tailroom);
	/* Left-over data of an earlier packet. */
	memset(packet(m), 0xa5, sizeof(struct packet));
	return m;
}

struct rte_mbuf *gateway_frame(const uint8_t *ip, unsigned int len, unsigned int interface)
{
	return gateway_frame_in(ip, len, interface, RTE_PKTMBUF_HEADROOM, RTE_PKTMBUF_HEADROOM);
}

/* --- transmitted frames --- */

/* Check the Ethernet header. @return the packet behind it */
static const uint8_t *check_ether(struct rte_mbuf *m, unsigned int interface, bool v6,
				  unsigned int *len)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint8_t expected[ETHER];

	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(rte_pktmbuf_pkt_len(m), rte_pktmbuf_data_len(m));
	*len = rte_pktmbuf_data_len(m) - ETHER;
	write_ether(expected, &hosts[interface], &macs[interface], v6);
	assert_memory_equal(frame, expected, ETHER);
	return frame + ETHER;
}

struct rte_mbuf *gateway_frame_for_missing(const struct tunnel *t, uint8_t seq)
{
	uint8_t ip[GATEWAY_FRAME], text[GATEWAY_FRAME];
	uint16_t sum;

	gateway_inner(text, t, false, false, 64, seq, 64);
	text[19] = GATEWAY_MISSING;
	memset(text + 10, 0, 2);
	sum = peer_checksum(text, 20);
	memcpy(text + 10, &sum, 2);
	return gateway_frame(ip,
			     gateway_seal(ip, t, seq, text,
					  peer_trailer(text, 64, 2, IPPROTO_IPIP)),
			     GATEWAY_WAN);
}

void gateway_check_in(struct rte_mbuf *m, const struct tunnel *t, bool v6, unsigned int len,
		      unsigned int id)
{
	uint8_t expected[GATEWAY_FRAME];
	unsigned int have;
	const uint8_t *ip = check_ether(m, GATEWAY_LAN, v6, &have);

	gateway_inner(expected, t, v6, false, len, id, 63);
	assert_int_equal(have, len);
	assert_memory_equal(ip, expected, len);
}

static void check_outer(const uint8_t *ip, const struct tunnel *t, unsigned int len, uint64_t seq)
{
	const struct cygnet_path *path = cygnet_sa_path(t->out);
	const uint32_t esp[] = {htonl(OUT_SPI(t)), htonl((uint32_t)seq)};
	uint8_t expected[40];
	unsigned int front = write_ip(expected, t->v6, &path->src, &path->dst, len, IPPROTO_ESP,
				      64);

	if (!t->v6) { /* the identification is the gateway's choice, all other fields are given */
		assert_int_equal(peer_checksum(ip, 20), 0);
		memcpy(expected + 4, ip + 4, 2);
		memcpy(expected + 10, ip + 10, 2);
	}
	assert_memory_equal(ip, expected, front);
	assert_memory_equal(ip + front, esp, sizeof(esp));
}

void gateway_check_out(struct rte_mbuf *m, const struct tunnel *t, bool v6, unsigned int len,
		       unsigned int id, uint64_t seq)
{
	uint8_t text[PEER_TEXT_MAX], expected[GATEWAY_FRAME];
	unsigned int have, front = t->v6 ? 40 : 20;
	const uint8_t *ip = check_ether(m, GATEWAY_WAN, t->v6, &have);
	int got;

	check_outer(ip, t, have, seq);
	got = peer_open(&t->peer, (uint32_t)(seq >> 32), ip + front, have - front, text);
	gateway_inner(expected, t, v6, true, len, id, 63);
	len = peer_trailer(expected, len, peer_padding(t->peer.algorithm, len),
			   v6 ? IPPROTO_IPV6 : IPPROTO_IPIP);
	assert_int_equal(got, len);
	assert_memory_equal(text, expected, len);
}

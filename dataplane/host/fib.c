/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include "base/changes.h"
#include "base/log.h"
#include "dpdk_release.h"
#include "host/fib.h"
#include "host/hop_group.h"

#define MAX_HOPS  4096u /* that differ in anything by next_hop_equal() */
#define BATCH	  1024u /* changes between two commits */
#define MEMO_BITS 6	/* log2 of the memos of an lcore */
#define WAIT_US	  50
#define WAIT_MS	  1000 /* a worker without a quiescent state for this long counts as hanging */

/* Numbers of hops. A lookup treats FIB_ABSENT and the placeholder as "no route". */
#define HOP_ABSENT	FIB_ABSENT
#define HOP_PLACEHOLDER 1u
#define HOP_FIRST	2u

/* A change that has been made in one of the two FIBs only. */
struct change {
	struct cygnet_addr dst;
	uint8_t af, bits;
	uint32_t old, new; /* numbers of hops */
};

static struct rte_fib *fibs[2];
static struct rte_fib6 *fib6s[2];
/* How often the FIBs were swapped. Lcores look up in fibs[swaps & 1]. */
static uint64_t swaps;
static struct rte_rcu_qsbr *qsbr;
static bool swapping;  /* the FIBs were swapped, but an lcore may still read the old one */
static bool hanging;   /* a worker exceeded WAIT_MS, and that was logged */
static bool missed;    /* a change was refused while swapping */
static uint64_t token; /* of qsbr: once it has passed, no lcore reads the old FIB */
static struct change pending[BATCH];
static unsigned int npending;
static bool full_logged; /* cleared when a prefix is removed */

/* A hop keeps its number while a prefix in either FIB refers to it. */
static struct next_hop hops[MAX_HOPS];
static uint32_t hop_refs[MAX_HOPS];
static uint32_t hops_used = HOP_FIRST; /* numbers from here on were never used */

/* A cached lookup. Stages look up the same destination several times, for one packet and for
 * several packets. A memo is valid until the FIBs are swapped. */
struct memo {
	uint64_t swaps;
	uint32_t dst, hop;
};
static RTE_DEFINE_PER_LCORE(struct memo, memos[1 << MEMO_BITS]);

/* Index of the FIB that lcores use. Control thread. */
static unsigned int active(void)
{
	return swaps & 1;
}

static const struct next_hop *lookup4(uint32_t dst)
{
	uint64_t now = __atomic_load_n(&swaps, __ATOMIC_ACQUIRE);
	struct memo *memo = &RTE_PER_LCORE(memos)[(dst * 0x9e3779b1u) >> (32 - MEMO_BITS)];
	uint32_t host = ntohl(dst);
	uint64_t index;

	if (memo->dst != dst || memo->swaps != now) {
		rte_fib_lookup_bulk(fibs[now & 1], &host, &index, 1);
		*memo = (struct memo){now, dst, (uint32_t)(index % MAX_HOPS)};
	}
	return &hops[memo->hop];
}

struct next_hop route_lookup(uint8_t af, const void *dst)
{
	struct cygnet_addr addr;
	uint64_t index;
	uint32_t v4;

	if (af == AF_INET) {
		memcpy(&v4, dst, sizeof(v4));
		return *lookup4(v4);
	}
	memcpy(&addr, dst, sizeof(addr));
	rte_fib6_lookup_bulk(fib6s[__atomic_load_n(&swaps, __ATOMIC_ACQUIRE) & 1],
			     DPDK_IP6_LIST(&addr), &index, 1);
	return hops[index % MAX_HOPS];
}

void route_reader_online(unsigned int worker)
{
	rte_rcu_qsbr_thread_online(qsbr, worker);
}

void route_reader_quiescent(unsigned int worker)
{
	rte_rcu_qsbr_quiescent(qsbr, worker);
}

void route_reader_offline(unsigned int worker)
{
	rte_rcu_qsbr_thread_offline(qsbr, worker);
}

static int init_qsbr(unsigned int workers)
{
	size_t size = rte_rcu_qsbr_get_memsize(workers);
	int err;

	qsbr = rte_zmalloc("route qsbr", size, RTE_CACHE_LINE_SIZE);
	if (!qsbr)
		return -ENOMEM;
	err = rte_rcu_qsbr_init(qsbr, workers);
	for (unsigned int w = 0; w < workers && !err; w++)
		err = rte_rcu_qsbr_thread_register(qsbr, w);
	return err ? -EINVAL : 0;
}

/* Number of second-level tables: each /24 that has longer prefixes takes one, of 512 bytes. The
 * index of a table has 15 bits. */
static uint32_t tbl8s(uint32_t routes)
{
	uint32_t n = routes / 2;

	return n < 256 ? 256 : n > 32704 ? 32704 : n;
}

/* IPv6 uses the tree (RTE_FIB6_DUMMY). The table type takes long to update, and DPDK 22.11 miscounts
 * its second-level tables. */
static int init_fib6s(uint32_t routes)
{
	struct rte_fib6_conf conf = {
		.type = RTE_FIB6_DUMMY,
		.default_nh = HOP_ABSENT,
		.max_routes = (int)routes,
	};

	fib6s[0] = rte_fib6_create("fib6-0", SOCKET_ID_ANY, &conf);
	fib6s[1] = rte_fib6_create("fib6-1", SOCKET_ID_ANY, &conf);
	return fib6s[0] && fib6s[1] ? 0 : -ENOMEM;
}

int fib_init(unsigned int workers, uint32_t routes, uint32_t routes6)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.default_nh = HOP_ABSENT,
		.max_routes = (int)routes,
		.dir24_8 =
			{
				.nh_sz = RTE_FIB_DIR24_8_2B,
				.num_tbl8 = tbl8s(routes),
			},
	};

	swaps += 2; /* invalidates all memos; a zeroed memo never matches */
	fibs[0] = rte_fib_create("fib0", SOCKET_ID_ANY, &conf);
	fibs[1] = rte_fib_create("fib1", SOCKET_ID_ANY, &conf);
	if (!fibs[0] || !fibs[1] || init_fib6s(routes6) || init_qsbr(workers)) {
		log_error("no memory for %u routes", routes);
		fib_free();
		return -ENOMEM;
	}
	return 0;
}

void fib_free(void)
{
	rte_fib_free(fibs[0]);
	rte_fib_free(fibs[1]);
	rte_fib6_free(fib6s[0]);
	rte_fib6_free(fib6s[1]);
	rte_free(qsbr);
	fibs[0] = fibs[1] = NULL;
	fib6s[0] = fib6s[1] = NULL;
	qsbr = NULL;
	npending = 0;
	swapping = hanging = missed = false;
	for (uint32_t i = HOP_FIRST; i < hops_used; i++)
		if (hop_refs[i])
			hop_group_put(hops[i].group);
	memset(hop_refs, 0, sizeof(hop_refs));
	hops_used = HOP_FIRST;
}

/* Take a reference to a hop. @return its number; HOP_ABSENT: all numbers are in use */
static uint32_t hop_take(const struct next_hop *hop)
{
	uint32_t spare = HOP_ABSENT;

	for (uint32_t i = HOP_FIRST; i < hops_used; i++) {
		if (hop_refs[i] && next_hop_equal(&hops[i], hop)) {
			hop_refs[i]++;
			return i;
		}
		if (!hop_refs[i] && !spare)
			spare = i;
	}
	if (!spare && hops_used < MAX_HOPS)
		spare = hops_used++;
	if (spare) {
		/* The FIB that lcores use does not refer to this hop before the next commit. */
		hops[spare] = *hop;
		hop_refs[spare] = 1;
		hop_group_hold(hop->group);
	}
	return spare;
}

static void hop_put(uint32_t hop)
{
	if (hop != HOP_ABSENT && !--hop_refs[hop])
		hop_group_put(hops[hop].group);
}

struct next_hop fib_hop(uint32_t index)
{
	return hops[index];
}

static int change_v4(struct rte_fib *fib, const struct change *c)
{
	uint32_t ip = ntohl(c->dst.v4);
	int err = 0;

	if (c->new == HOP_ABSENT)
		return rte_fib_delete(fib, ip, c->bits);
	/* rte_fib counts the /24s that have longer prefixes. It does not count a new prefix that
	 * has the next hop of its parent, but subtracts it when it is deleted. The count then
	 * wraps, and the FIB reports that it is full. Adding the prefix with the placeholder first
	 * avoids this, because no parent has that hop. */
	if (c->old == HOP_ABSENT && c->bits > 24)
		err = rte_fib_add(fib, ip, c->bits, HOP_PLACEHOLDER);
	return err ? err : rte_fib_add(fib, ip, c->bits, c->new);
}

/* @param which  the first or the second FIB of the family */
static int change_one(unsigned int which, const struct change *c)
{
	if (c->af == AF_INET)
		return change_v4(fibs[which], c);
	if (c->new == HOP_ABSENT)
		return rte_fib6_delete(fib6s[which], DPDK_IP6(c->dst.bytes), c->bits);
	return rte_fib6_add(fib6s[which], DPDK_IP6(c->dst.bytes), c->bits, c->new);
}

int fib_set(uint8_t af, const struct cygnet_addr *dst, uint8_t bits, const struct next_hop *hop,
	    uint32_t *index)
{
	struct change c = {.dst = *dst, .af = af, .bits = bits, .old = *index, .new = HOP_ABSENT};
	int err;

	if ((swapping || npending == BATCH) && fib_commit()) {
		missed = true;
		return -EAGAIN;
	}
	if (hop)
		c.new = hop_take(hop);
	if (hop && c.new == HOP_ABSENT) {
		log_error("more than %u different next hops: a route is left out",
			  MAX_HOPS - HOP_FIRST);
		return -ENOSPC;
	}
	if (c.new == c.old) {
		hop_put(c.new);
		return 0;
	}
	err = change_one(!active(), &c);
	if (err) {
		hop_put(c.new);
		if (!full_logged)
			log_error("the FIB cannot take another route: %s", strerror(-err));
		full_logged = true;
		return err;
	}
	pending[npending++] = c;
	*index = c.new;
	if (c.new == HOP_ABSENT)
		full_logged = false;
	return 0;
}

/* Wait until no worker reads the old FIB. A worker passes a quiescent state in every iteration of
 * its loop. Workers may share a CPU with the control thread, so this sleeps instead of spinning.
 * After a wait of WAIT_MS later calls do not wait, because the control thread has other work.
 * @return whether no worker reads the old FIB */
static bool readers_are_out(void)
{
	uint64_t end = rte_get_timer_cycles() + rte_get_timer_hz() * WAIT_MS / 1000;

	while (!rte_rcu_qsbr_check(qsbr, token, false)) {
		if (hanging)
			return false;
		hanging = rte_get_timer_cycles() > end;
		if (hanging)
			log_error("a worker hangs: routes stay as they are");
		usleep(WAIT_US);
	}
	if (hanging)
		log_info("no worker hangs any more: routes are followed again");
	hanging = false;
	return true;
}

bool route_readers_wait(void)
{
	uint64_t end = rte_get_timer_cycles() + rte_get_timer_hz() * WAIT_MS / 1000;
	uint64_t since = rte_rcu_qsbr_start(qsbr);

	while (!rte_rcu_qsbr_check(qsbr, since, false)) {
		if (rte_get_timer_cycles() > end)
			return false;
		usleep(WAIT_US);
	}
	return true;
}

int fib_commit(void)
{
	if (!swapping && !npending)
		return 0;
	if (!swapping) {
		__atomic_store_n(&swaps, swaps + 1, __ATOMIC_RELEASE);
		changes_note();
		token = rte_rcu_qsbr_start(qsbr);
		swapping = true;
	}
	if (!readers_are_out())
		return -EAGAIN;
	swapping = false;
	for (unsigned int i = 0; i < npending; i++) {
		/* The same change succeeded in the other FIB. */
		if (change_one(!active(), &pending[i]))
			log_error("the two FIBs differ: restart cygnetd");
		hop_put(pending[i].old);
	}
	npending = 0;
	return 0;
}

bool fib_missed(void)
{
	bool was = missed;

	missed = false;
	return was;
}

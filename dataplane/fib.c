/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_fib.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include "fib.h"
#include "log.h"

#define MAX_HOPS 4096u /* distinct (kind, port, gateway) */
#define BULK 256u
#define BATCH 1024u /* changes between two commits */
#define WAIT_US 50
#define WAIT_MS 1000 /* a worker that takes longer hangs */

/* Numbers of hops. Both of these are "no route" to a lookup. */
#define HOP_ABSENT FIB_ABSENT
#define HOP_PLACEHOLDER 1u
#define HOP_FIRST 2u

/* A change that one of the two FIBs still lacks. */
struct change {
	uint32_t ip; /* host byte order */
	uint8_t bits;
	uint32_t old, new; /* numbers of hops */
};

static struct rte_fib *fibs[2];
static unsigned int active; /* the one that lcores use */
static struct rte_rcu_qsbr *qsbr;
static bool turning; /* they have changed places, but lcores may still be in the old one */
static bool hanging; /* and it takes too long, as was told */
static bool missed;  /* a change was refused meanwhile */
static uint64_t turn; /* of qsbr: when the lcores are out */
static struct change pending[BATCH];
static unsigned int npending;
static bool told; /* that there is no room; once until something goes */

/* A hop keeps its number while a prefix of either FIB has it. */
static struct next_hop hops[MAX_HOPS];
static uint32_t hop_refs[MAX_HOPS];
static uint32_t hops_used = HOP_FIRST; /* the numbers from here on were never used */

_Static_assert(sizeof(struct next_hop) == sizeof(uint64_t), "a next hop is read in one go");

void route_lookup_bulk(const uint32_t *dst, struct next_hop *out, unsigned int n)
{
	struct rte_fib *fib = fibs[__atomic_load_n(&active, __ATOMIC_ACQUIRE)];
	uint32_t host[BULK];
	uint64_t index[BULK];

	for (unsigned int done = 0; done < n;) {
		unsigned int now = n - done < BULK ? n - done : BULK;

		for (unsigned int i = 0; i < now; i++)
			host[i] = ntohl(dst[done + i]);
		rte_fib_lookup_bulk(fib, host, index, (int)now);
		for (unsigned int i = 0; i < now; i++)
			out[done + i] = hops[index[i] % MAX_HOPS];
		done += now;
	}
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

/* One for each /24 with something longer in it, 512 bytes; their index has 15 bits. */
static uint32_t tbl8s(uint32_t routes)
{
	uint32_t n = routes / 2;

	return n < 256 ? 256 : n > 32704 ? 32704 : n;
}

int fib_init(unsigned int workers, uint32_t routes)
{
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.default_nh = HOP_ABSENT,
		.max_routes = (int)routes,
		.dir24_8 = {
			.nh_sz = RTE_FIB_DIR24_8_2B,
			.num_tbl8 = tbl8s(routes),
		},
	};

	fibs[0] = rte_fib_create("fib0", SOCKET_ID_ANY, &conf);
	fibs[1] = rte_fib_create("fib1", SOCKET_ID_ANY, &conf);
	if (!fibs[0] || !fibs[1] || init_qsbr(workers)) {
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
	rte_free(qsbr);
	fibs[0] = fibs[1] = NULL;
	qsbr = NULL;
	npending = 0;
	turning = hanging = missed = false;
	memset(hop_refs, 0, sizeof(hop_refs));
	hops_used = HOP_FIRST;
}

/* @return the number of a hop, one reference more; HOP_ABSENT if there is none left */
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
		/* No FIB that an lcore can see leads here before the next commit. */
		hops[spare] = *hop;
		hop_refs[spare] = 1;
	}
	return spare;
}

static void hop_put(uint32_t hop)
{
	if (hop != HOP_ABSENT)
		hop_refs[hop]--;
}

static int change_one(struct rte_fib *fib, const struct change *c)
{
	int err = 0;

	if (c->new == HOP_ABSENT)
		return rte_fib_delete(fib, c->ip, c->bits);
	/* rte_fib counts the /24s with something longer in them, but forgets to
	 * when the new prefix leads where its parent does, and so thinks itself
	 * full once that is deleted. No parent leads to the placeholder. */
	if (c->old == HOP_ABSENT && c->bits > 24)
		err = rte_fib_add(fib, c->ip, c->bits, HOP_PLACEHOLDER);
	return err ? err : rte_fib_add(fib, c->ip, c->bits, c->new);
}

int fib_set(uint32_t dst, uint8_t bits, const struct next_hop *hop, uint32_t *index)
{
	struct change c = {.ip = ntohl(dst), .bits = bits, .old = *index, .new = HOP_ABSENT};
	int err;

	if ((turning || npending == BATCH) && fib_commit()) {
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
	err = change_one(fibs[!active], &c);
	if (err) {
		hop_put(c.new);
		if (!told)
			log_error("the FIB cannot take another route: %s", strerror(-err));
		told = true;
		return err;
	}
	pending[npending++] = c;
	*index = c.new;
	if (c.new == HOP_ABSENT)
		told = false;
	return 0;
}

/* Workers pass a quiescent state in every turn of their loop. They may share
 * a CPU with us: sleep, do not spin. One that hangs, with its device, is waited for
 * once: the control thread has other things to do.
 * @return whether they are out of the old FIB */
static bool readers_are_out(void)
{
	uint64_t end = rte_get_timer_cycles() + rte_get_timer_hz() * WAIT_MS / 1000;

	while (!rte_rcu_qsbr_check(qsbr, turn, false)) {
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

int fib_commit(void)
{
	if (!turning && !npending)
		return 0;
	if (!turning) {
		__atomic_store_n(&active, !active, __ATOMIC_RELEASE);
		turn = rte_rcu_qsbr_start(qsbr);
		turning = true;
	}
	if (!readers_are_out())
		return -EAGAIN;
	turning = false;
	for (unsigned int i = 0; i < npending; i++) {
		/* It went well in the twin, so it does here. */
		if (change_one(fibs[!active], &pending[i]))
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

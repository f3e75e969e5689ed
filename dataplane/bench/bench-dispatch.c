/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What moving packets from stage to stage costs: the worker's queues (path/worker/stage.h) beside
 * DPDK's librte_graph. BENCH_STAGES stages do nothing but say for each packet what comes next. Prints TSC
 * cycles a packet and stage, medians of ROUNDS rounds in turn, by packets of a vector.
 *
 * usage: bench-dispatch EAL-ARGUMENTS, as in bench-dispatch --no-huge --no-pci -m 64 */
#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_graph.h>
#include <rte_graph_worker.h>
#include <rte_mbuf.h>

#include "path/worker/stage.h"

#define BENCH_STAGES 8u
#define ROUNDS	     15u
#define WALKS	     20000u

static struct rte_mbuf *packets[STAGE_VECTOR];
static unsigned int npackets;

/* --- the worker's queues --- */

static struct stages queues;

static __rte_noinline void pass(unsigned int stage, struct rte_mbuf **m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		stage_add(&queues, (enum stage)(stage + 1), m[i]);
}

static __rte_noinline void end(unsigned int stage, struct rte_mbuf **m, unsigned int n)
{
	(void)stage;
	(void)m;
	(void)n;
}

static void (*const function[BENCH_STAGES])(unsigned int stage, struct rte_mbuf **m,
					    unsigned int n) = {
	pass, pass, pass, pass, pass, pass, pass, end,
};

static void walk_queues(void)
{
	for (unsigned int i = 0; i < npackets; i++)
		stage_add(&queues, (enum stage)0, packets[i]);
	while (queues.waiting) {
		unsigned int stage = (unsigned int)__builtin_ctz(queues.waiting);
		struct rte_mbuf *m[STAGE_VECTOR];
		unsigned int n = stage_take(&queues, (enum stage)stage, m, STAGE_VECTOR);

		function[stage](stage, m, n);
	}
}

/* --- librte_graph --- */

static uint16_t node_source(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	(void)objs;
	(void)n;
	for (unsigned int i = 0; i < npackets; i++)
		rte_node_enqueue_x1(graph, node, 0, packets[i]);
	return (uint16_t)npackets;
}

static uint16_t node_pass(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		rte_node_enqueue_x1(graph, node, 0, objs[i]);
	return n;
}

static uint16_t node_end(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	(void)graph;
	(void)node;
	(void)objs;
	return n;
}

#define NODE(number, function_, edges, next, flags_) \
	static struct rte_node_register node##number = { \
		.name = "bench" #number, \
		.process = function_, \
		.flags = flags_, \
		.nb_edges = edges, \
		.next_nodes = {next}, \
	}; \
	RTE_NODE_REGISTER(node##number)

NODE(0, node_source, 1, "bench1", RTE_NODE_SOURCE_F);
NODE(1, node_pass, 1, "bench2", 0);
NODE(2, node_pass, 1, "bench3", 0);
NODE(3, node_pass, 1, "bench4", 0);
NODE(4, node_pass, 1, "bench5", 0);
NODE(5, node_pass, 1, "bench6", 0);
NODE(6, node_pass, 1, "bench7", 0);
NODE(7, node_end, 0, NULL, 0);

static struct rte_graph *graph;

static void walk_graph(void)
{
	rte_graph_walk(graph);
}

/* --- measuring --- */

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* @return cycles a packet and stage */
static double measure(void (*walk)(void))
{
	uint64_t began = rte_rdtsc_precise();

	for (unsigned int i = 0; i < WALKS; i++)
		walk();
	return (double)(rte_rdtsc_precise() - began) / WALKS / BENCH_STAGES / npackets;
}

static void compare_both(void)
{
	double ours[ROUNDS], theirs[ROUNDS];

	for (unsigned int i = 0; i < ROUNDS; i++) {
		ours[i] = measure(walk_queues);
		theirs[i] = measure(walk_graph);
	}
	qsort(ours, ROUNDS, sizeof(ours[0]), compare);
	qsort(theirs, ROUNDS, sizeof(theirs[0]), compare);
	printf("%7u %10.1f %12.1f %6.2f\n", npackets, ours[ROUNDS / 2], theirs[ROUNDS / 2],
	       theirs[ROUNDS / 2] / ours[ROUNDS / 2]);
}

int main(int argc, char **argv)
{
	static const char *nodes[] = {"bench*"};
	struct rte_graph_param param = {
		.socket_id = SOCKET_ID_ANY,
		.nb_node_patterns = 1,
		.node_patterns = nodes,
	};
	struct rte_mempool *pool;

	if (rte_eal_init(argc, argv) < 0)
		return 1;
	pool = rte_pktmbuf_pool_create("packets", 255, 0, PACKET_PRIVATE, 2048, SOCKET_ID_ANY);
	if (!pool || rte_pktmbuf_alloc_bulk(pool, packets, STAGE_VECTOR) ||
	    rte_graph_create("bench", &param) == RTE_GRAPH_ID_INVALID) {
		fprintf(stderr, "bench-dispatch: no packets or no graph\n");
		return 1;
	}
	graph = rte_graph_lookup("bench");
	printf("packets of a vector, cycles a packet and stage: queues, librte_graph, ratio\n");
	for (npackets = 1; npackets <= STAGE_VECTOR; npackets *= 2)
		compare_both();
	rte_eal_cleanup();
	return 0;
}

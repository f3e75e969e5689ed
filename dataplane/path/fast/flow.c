/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_ip.h>
#include <rte_malloc.h>

#include "base/random.h"
#include "host/neigh.h"
#include "ip/l4.h"
#include "path/fast/flow.h"

int flows_create(struct flow_table *table, uint32_t flows, flow_renew_session renew_session)
{
	uint64_t usual = rte_get_tsc_hz() * FLOW_HOLDS / 2;

	*table = (struct flow_table){
		.epoch = 1,
		.usual = usual,
		.holds = usual,
		.renew_session = renew_session,
		.mask = rte_align32pow2(RTE_MAX(flows, FLOW_WAYS)) - 1,
	};
	if (random_fill(table->seed, sizeof(table->seed)))
		return -EIO;
	table->flow = rte_zmalloc("flows", (table->mask + FLOW_WAYS) * sizeof(table->flow[0]),
				  RTE_CACHE_LINE_SIZE);
	table->basis = rte_zmalloc("flow bases",
				   (table->mask + FLOW_WAYS) * sizeof(table->basis[0]),
				   RTE_CACHE_LINE_SIZE);
	table->changes = rte_zmalloc("flow changes", (1 + FLOW_SCOPES) * sizeof(table->changes[0]),
				     RTE_CACHE_LINE_SIZE);
	table->watched = rte_zmalloc("flow scopes", (1 + FLOW_SCOPES) * sizeof(table->watched[0]),
				     RTE_CACHE_LINE_SIZE);
	return table->flow && table->basis && table->changes && table->watched ? 0 : -ENOMEM;
}

void flows_free(struct flow_table *table)
{
	rte_free(table->flow);
	rte_free(table->basis);
	rte_free(table->changes);
	rte_free(table->watched);
	table->flow = NULL;
	table->basis = NULL;
	table->changes = NULL;
	table->watched = NULL;
}

/* @return false: cut off */
static inline bool read_upper(const uint8_t *l4, unsigned int len, unsigned int size,
			      uint32_t *upper)
{
	*upper = 0;
	if (len < size)
		return false;
	if (size == L4_PORTS)
		memcpy(upper, l4, L4_PORTS);
	else if (size)
		*upper = (uint32_t)l4[0] << 8 | l4[1];
	return true;
}
_Static_assert(L4_SPI == L4_PORTS, "read_upper() has all sizes");

bool flow_of(const uint8_t *ip, unsigned int len, uint32_t from, struct flow_key *key)
{
	bool v6 = ip[0] >> 4 == 6;
	unsigned int header = v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	uint8_t proto = v6 ? ip[6] : ip[9];
	uint16_t cut;
	uint32_t upper;

	memcpy(&cut, ip + 6, sizeof(cut));
	if (v6 ? l4_is_extension(proto)
	       : ip[0] != RTE_IPV4_VHL_DEF || (cut & rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG |
								      RTE_IPV4_HDR_OFFSET_MASK)))
		return false;
	if (!read_upper(ip + header, len - header, l4_flow(proto), &upper))
		return false;
	if (v6) {
		memcpy(key->word, ip + 8, 32);
	} else {
		memcpy(key->word, ip + 12, 8);
		key->word[1] = key->word[2] = key->word[3] = 0;
	}
	key->word[4] = (uint64_t)upper << 32 | (uint64_t)proto << 24 | from << 1 |
		       (v6 ? FLOW_V6 : 0);
	return true;
}

const struct flow *flow_find_behind(struct flow_table *table, const struct flow_key *key,
				    uint32_t place)
{
	struct flow *f = &table->flow[place];

	/* Places are used in order: behind one that never was, none is read, which a flood would take from memory. */
	for (uint32_t i = 1; i < FLOW_WAYS && f[i - 1].epoch; i++)
		if (flow_holds(table, &f[i], key))
			return &f[i];
	return NULL;
}

void flows_changed(struct flow_table *table, uint16_t scope)
{
	uint16_t index = flow_scope(scope);

	/* Flows and routes that depended on the scope before its last change are void already. */
	if (index && !table->watched[index])
		return;
	table->watched[index] = false;
	table->changes[index]++;
	flows_begin_epoch(table);
}

uint32_t flow_watch_sa(struct flow_table *table, uint32_t sa)
{
	table->watched[flow_scope(cygnet_sa_scope(sa))] = true;
	return flow_sa_changes(table, sa);
}

static void watch(struct flow_table *table, const struct flow_basis *on)
{
	for (unsigned int i = 0; i < CYGNET_FLOW_SCOPES; i++)
		table->watched[on->policy[i]] = true;
	table->watched[on->from_sa] = true;
	if (on->generation)
		table->watched[flow_scope(cygnet_sa_scope(on->sa))] = true;
}

/* All counts only grow, so a change of any of them changes their sum. */
static uint32_t sum_of(const struct flow_table *table, const struct flow_basis *on)
{
	const uint32_t *changes = table->changes;
	uint32_t sum = changes[0] + changes[on->from_sa];

	for (unsigned int i = 0; i < CYGNET_FLOW_SCOPES; i++)
		sum += changes[on->policy[i]];
	if (on->generation)
		sum += changes[flow_scope(cygnet_sa_scope(on->sa))];
	return sum;
}

static bool is_unchanged(struct flow_table *table, const struct flow *f)
{
	const struct flow_basis *on = &table->basis[f - table->flow];
	uint32_t neigh = f->kind == FLOW_FORWARD ? neigh_changes(on->neigh) : 0;

	if (sum_of(table, on) + neigh != on->changes)
		return false;
	return !flow_has_session(f) || table->renew_session(table, f->session, on);
}

bool flow_renew(struct flow_table *table, struct flow *f)
{
	if (!is_unchanged(table, f)) {
		f->until = 0;
		return false;
	}
	f->epoch = table->epoch;
	return true;
}

static bool is_free(const struct flow_table *table, const struct flow *f)
{
	return f->until <= table->now >> FLOW_TICK;
}

/* The place of a flow, or a place for it. If other flows have all places, the first of them stays. */
static struct flow *place_for(struct flow_table *table, const struct flow_key *key)
{
	struct flow *f = &table->flow[flow_place(table, key)];

	for (uint32_t i = 0; i < FLOW_WAYS; i++)
		if (!memcmp(&f[i].key, key, sizeof(*key)))
			return &f[i];
	for (uint32_t i = 0; i < FLOW_WAYS; i++)
		if (is_free(table, &f[i]))
			return &f[i];
	return &f[1 + (table->spread >> 16) % (FLOW_WAYS - 1)];
}

/* While a decision holds, each flow is learned once, or nearly so: that many there are. */
static void adapt(struct flow_table *table)
{
	uint32_t flows = table->learned - table->learned_then;

	if (table->now - table->since < table->holds)
		return;
	table->since = table->now;
	table->learned_then = table->learned;
	table->holds = table->usual * RTE_MIN(1 + flows / FLOW_USUAL, FLOW_HOLDS_MOST / FLOW_HOLDS);
}

void flow_learn(struct flow_table *table, const struct flow *what, const struct flow_basis *on,
		uint64_t until)
{
	struct flow *f = place_for(table, &what->key);
	struct flow_basis *basis = &table->basis[f - table->flow];

	*f = *what;
	*basis = *on;
	basis->changes += sum_of(table, on);
	watch(table, on);
	adapt(table);
	table->learned++;
	f->epoch = table->epoch;
	f->passed = (uint16_t)(table->vector - 1);
	table->spread = table->spread * 1103515245u + 12345u;
	until = RTE_MIN(until,
			table->now + table->holds + table->holds * (table->spread >> 16) / 65536);
	f->until = until >> FLOW_TICK;
}

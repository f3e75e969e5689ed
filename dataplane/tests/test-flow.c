/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flow cache: its keys, and how long its entries are valid. */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_hash_crc.h>

#include "base/random.h"
#include "eal_fixture.h"
#include "esp/session.h"
#include "path/fast/flow.h"

#define PORT PACKET_FROM_INTERFACE(1)

/* A packet in memory of exactly its size. @return whether it has a flow */
static bool key_of(const uint8_t *data, unsigned int len, uint32_t from, struct flow_key *key)
{
	uint8_t *exact = malloc(len);
	bool has;

	assert_non_null(exact);
	memcpy(exact, data, len);
	memset(key, 0x5a, sizeof(*key));
	has = flow_of(exact, len, from, key);
	free(exact);
	return has;
}

static unsigned int packet4(uint8_t *p, uint8_t proto, unsigned int payload)
{
	for (unsigned int i = 0; i < 20 + payload; i++)
		p[i] = (uint8_t)(i * 7 + 1);
	p[0] = 0x45;
	p[6] = 0x40; /* DF is no fragment */
	p[7] = 0;
	p[9] = proto;
	return 20 + payload;
}

static unsigned int packet6(uint8_t *p, uint8_t proto, unsigned int payload)
{
	for (unsigned int i = 0; i < 40 + payload; i++)
		p[i] = (uint8_t)(i * 5 + 1);
	p[0] = 0x60;
	p[6] = proto;
	return 40 + payload;
}

static unsigned int packet_of(bool v6, uint8_t *p, uint8_t proto, unsigned int payload)
{
	return v6 ? packet6(p, proto, payload) : packet4(p, proto, payload);
}

/* How many bytes behind the IP header are part of the key. */
static unsigned int upper_len(unsigned int proto)
{
	switch (proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
	case IPPROTO_ESP:
		return 4;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return 2;
	default:
		return 0;
	}
}

static bool is_extension(unsigned int proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_ROUTING || proto == IPPROTO_FRAGMENT ||
	       proto == IPPROTO_DSTOPTS;
}

/* Each protocol, with each length of data behind the IP header. */
static void cut_off(void **state)
{
	struct flow_key key;
	uint8_t p[64];

	(void)state;
	for (unsigned int proto = 0; proto < 256; proto++) {
		for (unsigned int have = 0; have <= 8; have++) {
			unsigned int len = packet4(p, (uint8_t)proto, have);

			assert_int_equal(key_of(p, len, PORT, &key), have >= upper_len(proto));
			len = packet6(p, (uint8_t)proto, have);
			assert_int_equal(key_of(p, len, PORT, &key),
					 !is_extension(proto) && have >= upper_len(proto));
		}
	}
}

/* Options, later fragments, and first ones. */
static void out_of_the_ordinary(void **state)
{
	struct flow_key key;
	uint8_t p[64];
	unsigned int len = packet4(p, IPPROTO_UDP, 40);

	(void)state;
	for (unsigned int ihl = 0; ihl < 16; ihl++) {
		p[0] = (uint8_t)(0x40 | ihl);
		assert_int_equal(key_of(p, len, PORT, &key), ihl == 5);
	}
	p[0] = 0x45;
	for (unsigned int bit = 0; bit < 16; bit++) {
		p[6] = (uint8_t)(1u << bit >> 8);
		p[7] = (uint8_t)(1u << bit);
		/* DF, and the reserved bit. */
		assert_int_equal(key_of(p, len, PORT, &key), bit >= 14);
	}
}

/* The bits of a packet that select another flow: exactly those that policies and routes use. */
static bool tells_apart(bool v6, unsigned int proto, unsigned int byte)
{
	unsigned int header = v6 ? 40 : 20;

	if (byte >= header)
		return byte - header < upper_len(proto);
	return v6 ? byte >= 8 : byte >= 12;
}

static void every_bit(bool v6, uint8_t proto)
{
	struct flow_key key, other;
	uint8_t p[64];
	unsigned int len = packet_of(v6, p, proto, 8);

	assert_true(key_of(p, len, PORT, &key));
	for (unsigned int bit = 0; bit < len * 8; bit++) {
		unsigned int byte = bit / 8;

		/* Version, fragments and protocol are subject of other tests. */
		if (byte == 0 || (v6 ? byte == 6 : byte == 6 || byte == 7 || byte == 9))
			continue;
		p[byte] ^= (uint8_t)(1u << bit % 8);
		assert_true(key_of(p, len, PORT, &other));
		assert_int_equal(memcmp(&key, &other, sizeof(key)) != 0,
				 tells_apart(v6, proto, byte));
		p[byte] ^= (uint8_t)(1u << bit % 8);
	}
}

static void what_tells_flows_apart(void **state)
{
	static const uint8_t protocols[] = {IPPROTO_TCP,    IPPROTO_UDP,    IPPROTO_ICMP,
					    IPPROTO_ICMPV6, IPPROTO_ESP,    IPPROTO_GRE,
					    IPPROTO_AH,	    IPPROTO_UDPLITE};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(protocols); i++) {
		every_bit(false, protocols[i]);
		every_bit(true, protocols[i]);
	}
}

/* The same packet from each port and many SAs, of each protocol without ports: all keys differ,
 * also those of IPv4 and IPv6. */
static void where_from(void **state)
{
	static struct flow_key key[2 * 256];
	static const uint32_t from[] = {
		PACKET_FROM_INTERFACE(0),
		PACKET_FROM_INTERFACE(1),
		PACKET_FROM_INTERFACE(255),
		PACKET_FROM_SA(0),
		PACKET_FROM_SA(1),
		PACKET_FROM_SA(255),
		PACKET_FROM_SA(CYGNET_MAX_ENTRIES - 1),
	};
	unsigned int n = 0;
	uint8_t p[64] = {0};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(from); i++) {
		for (unsigned int proto = 253; proto < 256; proto++) {
			for (unsigned int v6 = 0; v6 < 2; v6++) {
				p[0] = v6 ? 0x60 : 0x45;
				p[6] = v6 ? (uint8_t)proto : 0;
				p[9] = v6 ? 0 : (uint8_t)proto;
				assert_true(key_of(p, 48, from[i], &key[n++]));
			}
		}
	}
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int j = 0; j < i; j++)
			assert_memory_not_equal(&key[i], &key[j], sizeof(key[i]));
}

/* --- the table --- */

static struct flow_table table;
static bool session_lives;

static struct flow_key numbered(uint64_t n)
{
	return (struct flow_key){{n, 0, 0, 0, 0}};
}

static struct session *session_of(uint64_t n)
{
	static struct session sessions[1024];

	return &sessions[n % RTE_DIM(sessions)];
}

static void learn(uint64_t n)
{
	flow_learn(&table,
		   &(struct flow){
			   .key = numbered(n),
			   .kind = FLOW_PROTECT,
			   .longest = UINT16_MAX,
			   .session = session_of(n),
		   },
		   &(struct flow_basis){0}, UINT64_MAX);
}

static const struct flow *find(uint64_t n)
{
	const struct flow_key key = numbered(n);
	const struct flow *f = flow_find(&table, &key, flow_place(&table, &key));

	if (f)
		assert_ptr_equal(f->session, session_of(n));
	return f;
}

static bool renew_session(struct flow_table *flows, struct session *s, const struct flow_basis *on)
{
	(void)flows;
	(void)s;
	(void)on;
	return session_lives;
}

static int setup(void **state)
{
	(void)state;
	session_lives = true;
	table.now = 0;
	return flows_create(&table, 64, renew_session);
}

static int teardown(void **state)
{
	(void)state;
	flows_free(&table);
	return 0;
}

#define TICK (1u << FLOW_TICK)

/* The lifetime of an entry is half a second to one second. */
static void expires(void **state)
{
	const uint64_t second = rte_get_tsc_hz();
	unsigned int held = 0;

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		uint64_t start = table.now = 10 * second * (i + 1);

		learn(i);
		table.now = start + second / 2 - TICK;
		assert_non_null(find(i));
		table.now = start + second * 3 / 4;
		held += find(i) != NULL;
		table.now = start + second;
		assert_null(find(i));
	}
	/* Entries do not all expire at the same time. */
	assert_in_range(held, 50, 150);
}

static void another_epoch(void **state)
{
	(void)state;
	assert_null(find(0));
	learn(0);
	assert_non_null(find(0));
	flows_changed(&table, CYGNET_SCOPE_ALL);
	assert_null(find(0));
	learn(0);
	assert_non_null(find(0));
}

/* @return an entry with the decision of flow 1 */
static uint64_t colliding(uint64_t after)
{
	const struct flow_key first = numbered(1);
	struct flow_key key;

	do
		key = numbered(++after);
	while (flow_place(&table, &key) != flow_place(&table, &first));
	return after;
}

/* A flow has FLOW_WAYS places. A further one with the same replaces an expired entry, or otherwise any but the
 * first one. */
static void same_places(void **state)
{
	uint64_t flow[FLOW_WAYS + 1] = {1};
	unsigned int found = 0;

	(void)state;
	for (unsigned int i = 1; i <= FLOW_WAYS; i++)
		flow[i] = colliding(flow[i - 1]);
	for (unsigned int i = 0; i < FLOW_WAYS; i++)
		learn(flow[i]);
	for (unsigned int i = 0; i < FLOW_WAYS; i++)
		assert_non_null(find(flow[i]));
	learn(flow[FLOW_WAYS]);
	assert_non_null(find(flow[0]));
	assert_non_null(find(flow[FLOW_WAYS]));
	for (unsigned int i = 1; i < FLOW_WAYS; i++)
		found += find(flow[i]) != NULL;
	assert_int_equal(found, FLOW_WAYS - 2);
	/* The same flow with another decision replaces its entry. */
	learn(flow[0]);
	learn(flow[FLOW_WAYS]);
	for (unsigned int i = 1; i < FLOW_WAYS; i++)
		found -= find(flow[i]) != NULL;
	assert_int_equal(found, 0);
	flows_changed(&table, CYGNET_SCOPE_ALL);
	learn(flow[1]);
	assert_non_null(find(flow[1]));
	assert_null(find(flow[0]));
	assert_null(find(flow[FLOW_WAYS]));
}

/* A flow learned again behind its expired entry has the last decision. */
static void learned_behind(void **state)
{
	const uint64_t second = rte_get_tsc_hz();
	uint64_t b = colliding(1);
	const struct flow *f;

	(void)state;
	table.now = second;
	flow_learn(&table, &(struct flow){.key = numbered(1)}, &(struct flow_basis){0},
		   table.now + TICK);
	learn(b);
	table.now += 2 * TICK;
	assert_null(find(1));
	flow_learn(&table, &(struct flow){.key = numbered(b), .session = session_of(1)},
		   &(struct flow_basis){0}, UINT64_MAX);
	for (uint32_t i = 0; i <= table.mask; i++) {
		f = flow_find(&table, &(struct flow_key){{b}}, i);
		assert_true(!f || f->session == session_of(1));
	}
}

/* An entry does not outlast the limit that its creator set. */
static void ends(void **state)
{
	(void)state;
	table.now = 1000 * TICK;
	flow_learn(&table, &(struct flow){.key = numbered(1), .session = session_of(1)},
		   &(struct flow_basis){0}, 1010 * TICK + 1);
	table.now = 1010 * TICK - 1;
	assert_non_null(find(1));
	table.now = 1010 * TICK + 1;
	assert_null(find(1));
}

/* Seconds that entries last when so many flows are learned again upon expiry. */
static unsigned int holds_with(unsigned int flows)
{
	for (unsigned int round = 0; round < 8; round++) {
		for (unsigned int i = 0; i < flows; i++)
			learn(i);
		table.now += table.holds;
	}
	learn(0);
	return (unsigned int)(table.holds * 2 / rte_get_tsc_hz());
}

static void many(void **state)
{
	(void)state;
	table.now = rte_get_tsc_hz();
	assert_int_equal(holds_with(FLOW_USUAL / 2), FLOW_HOLDS);
	assert_int_equal(holds_with(FLOW_USUAL * 3), 4 * FLOW_HOLDS);
	assert_int_equal(holds_with(FLOW_USUAL * 40), FLOW_HOLDS_MOST);
	assert_int_equal(holds_with(FLOW_USUAL / 2), FLOW_HOLDS);
}

/* Whatever was learned before, a lookup returns the last decision about that flow. */
static void random_flows(void **state)
{
	unsigned int found = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t n = (uint64_t)random() % 200;

		if (random() % 2)
			learn(n);
		else
			found += find(n) != NULL;
	}
	assert_true(found > 1000);
}

/* The sum of those of five numbers, each twice the one before, whose bits are set in n. */
static uint64_t sum_of(uint64_t first, unsigned int n)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < 5; i++)
		sum ^= n >> i & 1 ? first << i : 0;
	return sum;
}

/* Many flows have a place of their own, whatever distinguishes them. The hash's key is random: of 64 places, 16 flows have fewer
 * than 6 once in 10^11 times. */
static void spread(unsigned int word, uint64_t first, bool v6)
{
	bool used[64] = {false};
	unsigned int n = 0;

	for (unsigned int i = 0; i < 16; i++) {
		struct flow_key key = {{1, 2, 3, 4, 6 | v6}};
		uint32_t place;

		key.word[word] ^= sum_of(first, i);
		place = flow_place(&table, &key);
		assert_in_range(place, 0, 63);
		n += !used[place];
		used[place] = true;
	}
	assert_true(n >= 6);
}

static void spreads(void **state)
{
	(void)state;
	for (unsigned int shift = 1; shift < 60; shift += 4) {
		for (unsigned int word = 0; word < 5; word++)
			spread(word, UINT64_C(1) << shift, true);
		spread(0, UINT64_C(1) << shift, false);
		spread(4, UINT64_C(1) << shift, false);
	}
}

/* Words that differ by multiples of CRC-32C's polynomial have the same CRC. */
static void chosen(void **state)
{
	const uint64_t polynomial = UINT64_C(0x105ec76f1);

	(void)state;
	assert_int_equal(rte_hash_crc_8byte(7, 1), rte_hash_crc_8byte(7 ^ polynomial, 1));
	spread(0, polynomial, false);
	spread(0, polynomial << 20, true);
	spread(4, polynomial << 24, false);
}

#define TABLE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Vectors of the reference: key 00 to 0f, data 00, 01, ... of that length. */
static void keyed_hash(void **state)
{
	static const struct {
		unsigned int len;
		uint64_t hash;
	} vectors[] = {
		{0, 0x726fdb47dd0e0e31},
		{1, 0x74f839c593dc67fd},
		{8, 0x93f5f5799a932462},
		{15, 0xa129ca6149be45e5},
	};
	struct random_ids a = {.key = {{0x0706050403020100, 0x0f0e0d0c0b0a0908}}}, b = a;
	uint8_t data[16];

	(void)state;
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)i;
	for (unsigned int i = 0; i < RTE_DIM(vectors); i++)
		assert_true(random_hash(&a.key, data, vectors[i].len) == vectors[i].hash);
	assert_int_equal(random_fill(&b.key, sizeof(b.key)), 0);
	assert_memory_not_equal(&a.key, &b.key, sizeof(a.key));
	assert_int_not_equal(random_id(&a), random_id(&a));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keyed_hash),
		cmocka_unit_test(cut_off),
		cmocka_unit_test(out_of_the_ordinary),
		cmocka_unit_test(what_tells_flows_apart),
		cmocka_unit_test(where_from),
		TABLE(expires),
		TABLE(another_epoch),
		TABLE(same_places),
		TABLE(learned_behind),
		TABLE(ends),
		TABLE(many),
		TABLE(random_flows),
		TABLE(spreads),
		TABLE(chosen),
	};

	(void)argc;
	if (start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

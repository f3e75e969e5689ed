/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "entry.h"
#include "policy_fixture.h"

static void priorities(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params wide = policy(selector("10.0.0.0", 8, "0.0.0.0", 0), 2000,
						  CYGNET_PROTECT);
	struct cygnet_policy_params narrow = policy(selector("10.1.0.0", 16, "0.0.0.0", 0), 1000,
						    CYGNET_PROTECT);
	struct cygnet_policy_params shunt = policy(selector("10.1.2.0", 24, "10.0.0.0", 8), 100,
						   CYGNET_BYPASS);
	struct cygnet_flow flow = flow4("10.1.2.3", "8.8.8.8", 17, 1, 2);
	struct cygnet_flow local = flow4("10.1.2.3", "10.9.9.9", 17, 1, 2);

	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	assert_int_equal(cygnet_policy_add(f->db, &wide), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->priority, 2000);
	assert_int_equal(cygnet_policy_add(f->db, &narrow), 0);
	assert_int_equal(cygnet_policy_add(f->db, &shunt), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->priority, 1000);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &local)->action, CYGNET_BYPASS);
	assert_null(cygnet_spd_lookup(f->db, CYGNET_IN, &flow));
	assert_int_equal(cygnet_policy_delete(f->db, &narrow), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->priority, 2000);
	assert_int_equal(cygnet_policy_delete(f->db, &wide), 0);
	assert_int_equal(cygnet_policy_delete(f->db, &wide), -ENOENT);
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
}

static unsigned int installs_of(struct cygnet_db *db, const struct cygnet_policy_params *p)
{
	struct cygnet_policy_entry entry;

	return cygnet_policy_entry(db, p->dir, &p->sel, &entry) == 0 ? entry.installs : 0;
}

static void rekey_installs_twice(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params sa1 = sa_params(0x1000, false), sa2 = sa_params(0x2000, false);
	struct cygnet_policy_params old = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1000,
						 CYGNET_PROTECT);
	struct cygnet_policy_params new = old;
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1, 2);
	struct cygnet_policy *found;

	assert_int_equal(cygnet_sa_add(f->db, &sa1), 0);
	assert_int_equal(cygnet_sa_add(f->db, &sa2), 0);
	old.spi = sa1.id.spi;
	new.spi = sa2.id.spi;
	assert_int_equal(cygnet_policy_add(f->db, &old), 0);
	assert_int_equal(cygnet_policy_add(f->db, &old), 0); /* the second install */
	found = cygnet_spd_lookup(f->db, CYGNET_OUT, &flow);
	assert_int_equal(cygnet_policy_sa(f->db, found)->spi, sa1.id.spi);
	assert_int_equal(cygnet_policy_add(f->db, &new), 0);
	assert_int_equal(installs_of(f->db, &new), 3);
	found = cygnet_spd_lookup(f->db, CYGNET_OUT, &flow);
	assert_int_equal(cygnet_policy_sa(f->db, found)->spi, sa2.id.spi);
	assert_int_equal(cygnet_policy_delete(f->db, &new), 0);
	found = cygnet_spd_lookup(f->db, CYGNET_OUT, &flow);
	assert_int_equal(cygnet_policy_sa(f->db, found)->spi, sa1.id.spi);
	assert_int_equal(cygnet_policy_delete(f->db, &old), 0);
	found = cygnet_spd_lookup(f->db, CYGNET_OUT, &flow);
	assert_non_null(found);
	assert_int_equal(cygnet_sa_delete(f->db, &sa1.id), 0);
	assert_null(cygnet_policy_sa(f->db, found)); /* its SA has been deleted */
	assert_int_equal(installs_of(f->db, &old), 1);
	assert_int_equal(cygnet_db_hold(f->db), 0);
	assert_int_equal(installs_of(f->db, &old), 0); /* a held policy is nobody's */
	assert_int_equal(cygnet_policy_add(f->db, &old), 0);
	assert_int_equal(cygnet_policy_delete(f->db, &old), 0);
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
}

/* Two peers' policies can be equal but for their end points; a policy is deleted also by other ones. */
static void end_points_of(struct cygnet_db *db, enum cygnet_dir dir)
{
	struct cygnet_policy_params one = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1000,
						 CYGNET_PROTECT);
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1, 2);
	struct cygnet_policy_params two, moved;
	struct cygnet_policy_entry entry;

	one.dir = (uint8_t)dir;
	one.src = addr4("192.0.2.2");
	two = moved = one;
	two.src = addr4("192.0.2.3");
	moved.src = addr4("192.0.2.4");
	assert_int_equal(cygnet_policy_add(db, &one), 0);
	assert_int_equal(cygnet_policy_add(db, &two), 0);
	assert_int_equal(cygnet_policy_entry(db, dir, &one.sel, &entry), 0);
	assert_memory_equal(&entry.first, &two, sizeof(two));
	assert_int_equal(entry.installs, 2);
	assert_memory_equal(&cygnet_spd_lookup(db, dir, &flow)->src, &two.src, sizeof(two.src));
	assert_int_equal(cygnet_policy_delete(db, &two), 0);
	assert_memory_equal(&cygnet_spd_lookup(db, dir, &flow)->src, &one.src, sizeof(one.src));
	assert_int_equal(cygnet_policy_delete(db, &moved), 0);
	assert_null(cygnet_spd_lookup(db, dir, &flow));
}

static void end_points(void **state)
{
	struct fixture *f = *state;

	for (unsigned int dir = 0; dir < CYGNET_DIRS; dir++)
		end_points_of(f->db, (enum cygnet_dir)dir);
}

/* The counters change whenever a cached result of a lookup may be outdated. */
static void changes_are_counted(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa_params sa = sa_params(0x1000, false);
	struct cygnet_policy_params p = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1000,
					       CYGNET_PROTECT);
	uint64_t before = cygnet_spd_changes(f->db), after, all;
	struct cygnet_path moved;

	p.spi = sa.id.spi;
	assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	after = cygnet_spd_changes(f->db);
	assert_true(after > before);
	/* Installed again, now with an SA. */
	assert_int_equal(cygnet_sa_add(f->db, &sa), 0);
	assert_int_equal(cygnet_spd_changes(f->db), after);
	assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	assert_true(cygnet_spd_changes(f->db) > after);
	after = cygnet_spd_changes(f->db);
	/* Moving or deleting an SA does not change the SPD, but the databases. */
	all = cygnet_db_changes(f->db);
	moved = sa.path;
	moved.dport = 4500;
	assert_int_equal(cygnet_sa_update(f->db, &sa.id, &moved, 0), 0);
	assert_true(cygnet_db_changes(f->db) > all);
	all = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_sa_delete(f->db, &sa.id), 0);
	assert_true(cygnet_db_changes(f->db) > all);
	assert_int_equal(cygnet_spd_changes(f->db), after);
	all = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
	assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
	assert_true(cygnet_spd_changes(f->db) > after);
	assert_true(cygnet_db_changes(f->db) > all);
	after = cygnet_spd_changes(f->db);
	assert_int_equal(cygnet_db_flush(f->db), 0);
	assert_true(cygnet_spd_changes(f->db) > after);
}

/* --- what changes concern --- */

static bool is_among(uint16_t scope, const uint16_t *scopes, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (scopes[i] == scope)
			return true;
	return false;
}

/* Whether the changes since a value of cygnet_db_changes() may concern a flow. */
static bool concerns(struct cygnet_db *db, uint64_t since, const struct cygnet_flow *flow)
{
	uint16_t changed[CYGNET_SCOPES], of_flow[CYGNET_FLOW_SCOPES];
	unsigned int n = cygnet_db_changed(db, since, cygnet_db_changes(db), changed);

	cygnet_flow_scopes(db, flow->af, &flow->src, &flow->dst, of_flow);
	for (unsigned int i = 0; i < n; i++)
		if (changed[i] == CYGNET_SCOPE_ALL ||
		    is_among(changed[i], of_flow, CYGNET_FLOW_SCOPES))
			return true;
	return false;
}

/* How many of eight other peers a change concerns. Scopes are hashes, by a key of the file: two can be equal. */
static unsigned int peers_concerned(struct cygnet_db *db, uint64_t since)
{
	struct cygnet_flow other = flow4("10.1.0.5", "10.77.3.4", 6, 1, 2);
	unsigned int n = 0;

	for (unsigned int i = 0; i < 8; i++) {
		other.dst.v4 = htonl(0x0a4d0304 + (i << 16));
		n += concerns(db, since, &other);
	}
	return n;
}

static bool concerns_sa(struct cygnet_db *db, uint64_t since, uint32_t index)
{
	uint16_t changed[CYGNET_SCOPES];
	unsigned int n = cygnet_db_changed(db, since, cygnet_db_changes(db), changed);

	return is_among(CYGNET_SCOPE_ALL, changed, n) ||
	       is_among(cygnet_sa_scope(index), changed, n);
}

/* A policy concerns flows that it matches, however its selector is shaped, and not those of other peers. */
static void policies_have_scopes(void **state)
{
	static const struct {
		const char *src, *dst;
		unsigned int src_bits, dst_bits;
		enum cygnet_dir dir;
		bool others; /* it may concern the flow of another peer */
	} shapes[] = {
		{"10.1.0.0", "10.2.3.4", 16, 32, CYGNET_OUT, false},
		{"10.1.0.0", "10.2.3.0", 16, 24, CYGNET_OUT, false},
		{"10.1.0.0", "10.2.3.0", 24, 27, CYGNET_OUT, false},
		{"10.1.0.5", "10.2.0.0", 32, 16, CYGNET_OUT, false},
		{"0.0.0.0", "10.2.0.0", 0, 15, CYGNET_OUT, true},
		{"10.1.0.0", "0.0.0.0", 16, 0, CYGNET_OUT, true},
		{"0.0.0.0", "0.0.0.0", 0, 0, CYGNET_OUT, true},
		{"0.0.0.0", "0.0.0.0", 0, 7, CYGNET_FWD, true},
		{"10.1.0.5", "0.0.0.0", 32, 0, CYGNET_FWD, true},
		{"10.1.0.0", "10.2.0.0", 8, 16, CYGNET_IN, true},
	};
	struct cygnet_flow own = flow4("10.1.0.5", "10.2.3.4", 6, 1, 2);
	struct fixture *f = *state;

	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct cygnet_policy_params p = policy(selector(shapes[i].src, shapes[i].src_bits,
								shapes[i].dst, shapes[i].dst_bits),
						       1000, CYGNET_DISCARD);
		uint64_t before = cygnet_db_changes(f->db);

		p.dir = (uint8_t)shapes[i].dir;
		assert_int_equal(cygnet_policy_add(f->db, &p), 0);
		assert_true(concerns(f->db, before, &own));
		assert_in_range(peers_concerned(f->db, before), shapes[i].others ? 8 : 0,
				shapes[i].others ? 8 : 1);
		before = cygnet_db_changes(f->db);
		assert_false(concerns(f->db, before, &own));
		assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
		assert_true(concerns(f->db, before, &own));
		assert_in_range(peers_concerned(f->db, before), shapes[i].others ? 8 : 0,
				shapes[i].others ? 8 : 1);
	}
}

/* A new SA for a policy concerns its flows, once; the policy with the old SA has no flows any more. */
static void rekeying_has_a_scope(void **state)
{
	struct cygnet_flow own = flow4("10.1.0.5", "10.2.3.4", 6, 1, 2);
	struct cygnet_sa_params sa1 = sa_params(0x1001, false), sa2 = sa_params(0x1002, false);
	struct cygnet_policy_params old = policy(selector("10.1.0.0", 16, "10.2.0.0", 16), 1000,
						 CYGNET_PROTECT),
				    new = old;
	struct fixture *f = *state;
	uint64_t before;

	old.spi = sa1.id.spi;
	new.spi = sa2.id.spi;
	assert_int_equal(cygnet_sa_add(f->db, &sa1), 0);
	assert_int_equal(cygnet_policy_add(f->db, &old), 0);
	before = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_policy_add(f->db, &old), 0); /* equal */
	assert_int_equal(cygnet_sa_add(f->db, &sa2), 0);
	assert_int_equal(cygnet_db_changes(f->db), before);
	assert_int_equal(cygnet_policy_add(f->db, &new), 0);
	assert_true(concerns(f->db, before, &own));
	assert_in_range(peers_concerned(f->db, before), 0, 1);
	before = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_policy_delete(f->db, &old), 0);
	assert_int_equal(cygnet_policy_delete(f->db, &old), 0);
	assert_true(cygnet_db_changes(f->db) > before);
	assert_false(concerns(f->db, before, &own));
	before = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_sa_delete(f->db, &sa1.id), 0);
	assert_true(concerns_sa(f->db, before, 0));
	assert_false(concerns_sa(f->db, before, 1));
	assert_false(concerns(f->db, before, &own));
	/* Deleting what applies does concern them. */
	before = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_policy_delete(f->db, &new), 0);
	assert_true(concerns(f->db, before, &own));
}

/* Changes of a library without the log, and too many changes, concern everything. */
static void unknown_scopes(void **state)
{
	struct cygnet_flow other = flow4("10.1.0.5", "10.77.3.4", 6, 1, 2);
	struct cygnet_policy_params p = policy(selector("10.1.0.0", 16, "10.2.0.0", 16), 1000,
					       CYGNET_DISCARD);
	struct fixture *f = *state;
	uint64_t before;

	for (unsigned int i = 0; i < CYGNET_SCOPES; i++) {
		before = cygnet_db_changes(f->db);
		f->db->header->spd_changes++;
		assert_true(concerns(f->db, before, &other));
		before = cygnet_db_changes(f->db);
		assert_int_equal(cygnet_policy_add(f->db, &p), 0);
		assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
		assert_false(concerns(f->db, before, &other));
	}
	before = cygnet_db_changes(f->db);
	while (cygnet_db_changes(f->db) - before < CYGNET_SCOPES - 2) {
		assert_false(concerns(f->db, before, &other));
		assert_int_equal(cygnet_policy_add(f->db, &p), 0);
		assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
	}
	assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
	assert_true(concerns(f->db, before, &other));
	before = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_db_flush(f->db), 0);
	assert_true(concerns(f->db, before, &other));
}

static void ports_and_protocols(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params p = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1000,
					       CYGNET_PROTECT);
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1000, 80);

	p.sel.proto = 6;
	p.sel.dport_lo = 80;
	p.sel.dport_hi = 89;
	assert_false(cygnet_spd_uses_ports(f->db, CYGNET_OUT, AF_INET));
	assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	assert_true(cygnet_spd_uses_ports(f->db, CYGNET_OUT, AF_INET));
	assert_false(cygnet_spd_uses_ports(f->db, CYGNET_FWD, AF_INET));
	assert_non_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	flow.dport = 90;
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	flow.dport = 89;
	flow.proto = 17;
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	flow.proto = 6;
	flow.has_ports = 0;
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	flow.has_ports = 1;
	flow.interface = 7;
	assert_non_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
}

static void equal_priorities(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params sa = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 42,
						CYGNET_PROTECT);
	struct cygnet_policy_params trap = sa, newer = sa;
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1000, 80);

	sa.spi = newer.spi = 7;
	newer.reqid = sa.reqid + 1;
	trap.rank = 1;
	assert_int_equal(cygnet_policy_add(f->db, &sa), 0);
	assert_int_equal(cygnet_policy_add(f->db, &trap), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->spi, 7);
	assert_int_equal(cygnet_policy_add(f->db, &newer), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->reqid, newer.reqid);
	assert_int_equal(cygnet_policy_delete(f->db, &newer), 0);
	/* A policy with another rank is another policy. */
	sa.rank = 2;
	assert_int_equal(cygnet_policy_delete(f->db, &sa), -ENOENT);
	sa.rank = 0;
	assert_int_equal(cygnet_policy_delete(f->db, &sa), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->rank, 1);
}

static void interfaces(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params any = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1000,
						 CYGNET_BYPASS);
	struct cygnet_policy_params bound = any;
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1000, 80);

	bound.sel.interface = cygnet_interface("wan");
	bound.priority = 998;
	bound.action = CYGNET_DISCARD;
	assert_int_equal(cygnet_policy_add(f->db, &any), 0);
	assert_false(cygnet_spd_binds(f->db));
	assert_int_equal(cygnet_policy_add(f->db, &bound), 0);
	assert_true(cygnet_spd_binds(f->db));
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->action, CYGNET_BYPASS);
	flow.interface = cygnet_interface("lan");
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->action, CYGNET_BYPASS);
	flow.interface = cygnet_interface("wan");
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->action, CYGNET_DISCARD);
	assert_int_equal(cygnet_policy_delete(f->db, &any), 0);
	flow.interface = 0;
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
}

/* Flows of an interface with an ID match the policies with that ID, and no others. */
static void interface_ids(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params plain = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1000,
						   CYGNET_BYPASS);
	struct cygnet_policy_params bound = plain, tunnel = plain;
	struct cygnet_flow flow = flow4("10.1.2.3", "10.9.9.9", 6, 1000, 80);
	uint64_t used;

	bound.sel.interface = tunnel.sel.interface = 42;
	tunnel.sel.by_if_id = 1;
	tunnel.priority = 1;
	tunnel.action = CYGNET_PROTECT;
	assert_int_equal(cygnet_policy_add(f->db, &plain), 0);
	assert_int_equal(cygnet_policy_add(f->db, &tunnel), 0);
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->action, CYGNET_BYPASS);
	flow.interface = 42;
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->action, CYGNET_BYPASS);
	flow.by_if_id = 1;
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->action, CYGNET_PROTECT);
	flow.interface = 43;
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	/* It is part of what identifies a policy. */
	assert_int_equal(cygnet_policy_add(f->db, &bound), 0);
	assert_int_equal(cygnet_policy_delete(f->db, &bound), 0);
	assert_int_equal(cygnet_policy_delete(f->db, &bound), -ENOENT);
	tunnel.sel.interface = 43;
	assert_int_equal(cygnet_policy_delete(f->db, &tunnel), -ENOENT);
	assert_int_equal(cygnet_policy_query(f->db, CYGNET_OUT, &tunnel.sel, &used), -ENOENT);
	tunnel.sel.interface = 42;
	assert_int_equal(cygnet_policy_query(f->db, CYGNET_OUT, &tunnel.sel, &used), 0);
	/* It is not held. */
	assert_int_equal(cygnet_policy_hold(f->db, &tunnel), -EINVAL);
	assert_int_equal(cygnet_db_hold(f->db), 0);
	assert_int_equal(cygnet_policies_held(f->db), 0);
}

static void invalid_params(void **state)
{
	struct fixture *f = *state;
	const struct cygnet_policy_params good = policy(selector("10.0.0.0", 8, "10.0.0.0", 8), 1,
							CYGNET_PROTECT);
	struct cygnet_policy_params p;

#define BAD(field, value) \
	p = good; \
	p.field = (value); \
	assert_int_equal(cygnet_policy_add(f->db, &p), -EINVAL)
	BAD(dir, CYGNET_DIRS);
	BAD(sel.by_if_id, 1); /* without one */
	BAD(sel.by_if_id, p.sel.interface = 2);
	BAD(action, CYGNET_DISCARD + 1);
	BAD(proto, IPPROTO_TCP);
	BAD(sel.af, 0);
	BAD(sel.sport_lo, 1 + (p.sel.sport_hi = 5));
	BAD(sel.src_hi.v4, 0);
	BAD(sel.src_lo.words[1], 1);
#undef BAD
}

/* An oracle: all policies in an array, searched one by one. */
#define ORACLE_POLICIES 400
static struct {
	struct cygnet_policy_params p;
	unsigned int order;
	bool installed;
} oracle[ORACLE_POLICIES];

static bool between(const struct cygnet_addr *lo, const struct cygnet_addr *x,
		    const struct cygnet_addr *hi)
{
	return memcmp(lo, x, sizeof(*x)) <= 0 && memcmp(x, hi, sizeof(*x)) <= 0;
}

static bool port_in(uint16_t lo, uint16_t hi, uint16_t port, bool known)
{
	return (!lo && hi == UINT16_MAX) || (known && port >= lo && port <= hi);
}

static bool oracle_wins(int a, int b)
{
	const struct cygnet_policy_params *p = &oracle[a].p, *q = &oracle[b].p;

	if (p->priority != q->priority)
		return p->priority < q->priority;
	if (p->rank != q->rank)
		return p->rank < q->rank;
	return oracle[a].order > oracle[b].order;
}

static int oracle_lookup(enum cygnet_dir dir, const struct cygnet_flow *flow)
{
	int best = -1;

	for (int i = 0; i < ORACLE_POLICIES; i++) {
		const struct cygnet_policy_params *p = &oracle[i].p;

		if (!oracle[i].installed || p->dir != dir || p->sel.af != flow->af ||
		    (p->sel.proto && p->sel.proto != flow->proto) ||
		    (p->sel.interface && p->sel.interface != flow->interface) ||
		    p->sel.by_if_id != flow->by_if_id ||
		    !between(&p->sel.src_lo, &flow->src, &p->sel.src_hi) ||
		    !between(&p->sel.dst_lo, &flow->dst, &p->sel.dst_hi) ||
		    !port_in(p->sel.sport_lo, p->sel.sport_hi, flow->sport, flow->has_ports) ||
		    !port_in(p->sel.dport_lo, p->sel.dport_hi, flow->dport, flow->has_ports))
			continue;
		if (best < 0 || oracle_wins(i, best))
			best = i;
	}
	return best;
}

/* Few distinct values, so that policies overlap. */
static struct cygnet_addr random_addr(uint8_t af)
{
	struct cygnet_addr addr = {0};
	unsigned int bytes = af == AF_INET ? 4 : 16;

	for (unsigned int i = 0; i < bytes; i++)
		addr.bytes[i] = (uint8_t)(i < bytes - 2 ? rand() % 2 : rand() % 256);
	return addr;
}

static void random_range(uint8_t af, struct cygnet_addr *lo, struct cygnet_addr *hi)
{
	unsigned int bits = (unsigned int)rand() % (af == AF_INET ? 33 : 129);

	*lo = random_addr(af);
	*hi = rand() % 4 ? *lo : random_addr(af);
	if (memcmp(lo, hi, sizeof(*lo)) > 0) {
		struct cygnet_addr swap = *lo;

		*lo = *hi;
		*hi = swap;
	} else if (!memcmp(lo, hi, sizeof(*lo))) {
		for (unsigned int bit = bits; bit < (af == AF_INET ? 32u : 128u); bit++) {
			lo->bytes[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
			hi->bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
		}
	}
}

static void random_ports(uint16_t *lo, uint16_t *hi)
{
	*lo = 0;
	*hi = UINT16_MAX;
	if (rand() % 2)
		return;
	*lo = (uint16_t)(rand() % 4);
	*hi = (uint16_t)(*lo + (rand() % 2 ? 0 : rand() % 3));
}

static void random_policy(struct cygnet_policy_params *p)
{
	uint8_t af = rand() % 2 ? AF_INET : AF_INET6;

	memset(p, 0, sizeof(*p));
	p->sel.af = af;
	random_range(af, &p->sel.src_lo, &p->sel.src_hi);
	random_range(af, &p->sel.dst_lo, &p->sel.dst_hi);
	p->sel.proto = rand() % 2 ? 0 : rand() % 2 ? 6 : 17;
	random_ports(&p->sel.sport_lo, &p->sel.sport_hi);
	random_ports(&p->sel.dport_lo, &p->sel.dport_hi);
	p->sel.interface = rand() % 8 ? 0 : 2;
	p->sel.by_if_id = p->sel.interface && rand() % 2;
	p->priority = (uint32_t)(rand() % 25);
	p->rank = (uint32_t)(rand() % 2);
	p->reqid = (uint32_t)rand();
	p->dir = (uint8_t)(rand() % CYGNET_DIRS);
	p->action = (uint8_t)(rand() % 3);
	p->proto = IPPROTO_ESP;
}

static struct cygnet_flow random_flow(void)
{
	uint8_t af = rand() % 2 ? AF_INET : AF_INET6;

	return (struct cygnet_flow){
		.src = random_addr(af),
		.dst = random_addr(af),
		.sport = (uint16_t)(rand() % 6),
		.dport = (uint16_t)(rand() % 6),
		.interface = (uint32_t)(rand() % 3),
		.af = af,
		.proto = rand() % 2 ? 6 : 17,
		.has_ports = rand() % 8 != 0,
		.by_if_id = rand() % 4 == 0,
	};
}

/* A policy of a peer that wants as many forms as there are, all for the same two networks. */
static void nested_policy(struct cygnet_policy_params *p)
{
	random_policy(p);
	p->sel.af = AF_INET;
	p->sel.interface = p->sel.by_if_id = 0;
	p->dir = CYGNET_OUT;
	p->sel.src_lo = p->sel.src_hi = addr4("10.1.1.255");
	p->sel.dst_lo = p->sel.dst_hi = addr4("10.2.1.255");
	p->sel.src_lo.v4 &= ~htonl(UINT32_MAX >> (8 + rand() % 24));
	p->sel.dst_lo.v4 &= ~htonl(UINT32_MAX >> (8 + rand() % 24));
}

static struct cygnet_flow nested_flow(void)
{
	struct cygnet_flow flow = random_flow();

	flow.af = AF_INET;
	flow.src = addr4("10.1.1.255");
	flow.dst = addr4("10.2.1.255");
	flow.src.v4 ^= htonl(rand() % 2 ? 0 : 1u << rand() % 24);
	flow.dst.v4 ^= htonl(rand() % 2 ? 0 : 1u << rand() % 24);
	return flow;
}

/* Compare cygnet_policy_entry() with the oracle. */
static void compare_entry(struct fixture *f, const struct cygnet_policy_params *p)
{
	struct cygnet_policy_entry entry;
	unsigned int installs = 0;
	int first = -1;

	for (int i = 0; i < ORACLE_POLICIES; i++) {
		if (!oracle[i].installed || oracle[i].p.dir != p->dir ||
		    memcmp(&oracle[i].p.sel, &p->sel, sizeof(p->sel)) != 0)
			continue;
		installs++;
		if (first < 0 || oracle_wins(i, first))
			first = i;
	}
	assert_int_equal(cygnet_policy_entry(f->db, p->dir, &p->sel, &entry),
			 installs ? 0 : -ENOENT);
	assert_int_equal(entry.installs, installs);
	if (installs)
		assert_memory_equal(&entry.first, &oracle[first].p, sizeof(entry.first));
}

static void compare_with_oracle(struct fixture *f,
				void (*make_policy)(struct cygnet_policy_params *),
				struct cygnet_flow (*make_flow)(void))
{
	unsigned int order = 0, hits = 0;
	char error[256];

	srand(1);
	memset(oracle, 0, sizeof(oracle));
	for (int round = 0; round < 4000; round++) {
		int i = rand() % ORACLE_POLICIES;

		if (oracle[i].installed) {
			assert_int_equal(cygnet_policy_delete(f->db, &oracle[i].p), 0);
		} else {
			make_policy(&oracle[i].p);
			/* Another user of an entry. */
			if (rand() % 4 == 0)
				oracle[i].p.sel = oracle[rand() % ORACLE_POLICIES].p.sel;
			if (!oracle[i].p.sel.af)
				continue;
			oracle[i].order = ++order;
			assert_int_equal(cygnet_policy_add(f->db, &oracle[i].p), 0);
		}
		oracle[i].installed = !oracle[i].installed;
		compare_entry(f, &oracle[i].p);
		for (int j = 0; j < 25; j++) {
			struct cygnet_flow flow = make_flow();
			enum cygnet_dir dir = (enum cygnet_dir)(rand() % CYGNET_DIRS);
			struct cygnet_policy *got = cygnet_spd_lookup(f->db, dir, &flow);
			int want = oracle_lookup(dir, &flow);

			if ((want < 0) != !got || (got && got->reqid != oracle[want].p.reqid))
				fail_msg("round %d, flow %d: not the policy of the oracle", round,
					 j);
			hits += want >= 0;
		}
		if (round % 100 == 0 && cygnet_db_check(f->db, error, sizeof(error)))
			fail_msg("round %d: %s", round, error);
	}
	assert_in_range(hits, 10000, 90000); /* many flows match and many do not */
}

static void against_oracle(void **state)
{
	compare_with_oracle(*state, random_policy, random_flow);
}

/* All policies overlap. */
static void against_oracle_nested(void **state)
{
	compare_with_oracle(*state, nested_policy, nested_flow);
}

/* --- entries with several users --- */

static unsigned int chain_length(struct cygnet_db *db, enum cygnet_dir dir,
				 const struct cygnet_selector *sel)
{
	struct cygnet_policy *policy = chain_follow(db, place_of(db, dir, sel).chain);
	unsigned int n = 0;

	for (; policy; policy = chain_follow(db, &policy->next))
		n++;
	return n;
}

#define USERS 100u

/* The newest of many children with equal selectors sends; when it goes, the newest of the others does. */
static void users_take_over(void **state)
{
	struct cygnet_policy_params p = policy(selector("10.1.0.0", 24, "0.0.0.0", 0), 1000,
					       CYGNET_PROTECT);
	struct cygnet_flow flow = flow4("10.1.0.1", "20.0.0.1", 17, 1, 2);
	struct fixture *f = *state;
	unsigned int left;

	for (p.spi = 1; p.spi <= USERS; p.spi++) {
		struct cygnet_sa_params sa = sa_params(ntohl(p.spi), false);

		assert_int_equal(cygnet_sa_add(f->db, &sa), 0);
		assert_int_equal(cygnet_policy_add(f->db, &p), 0);
		assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->spi, p.spi);
		assert_int_equal(chain_length(f->db, CYGNET_OUT, &p.sel), 1);
	}
	/* Every third one goes first, wherever it is in the list. */
	for (left = USERS, p.spi = 3; p.spi <= USERS; p.spi += 3, left--)
		assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
	for (p.spi = USERS; p.spi; p.spi--) {
		if (p.spi % 3 == 0)
			continue;
		assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->spi, p.spi);
		assert_int_equal(
			cygnet_policy_sa(f->db, cygnet_spd_lookup(f->db, CYGNET_OUT, &flow))->spi,
			p.spi);
		assert_int_equal(chain_length(f->db, CYGNET_OUT, &p.sel), 1);
		assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
		left--;
	}
	assert_int_equal(left, 0);
	assert_null(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow));
	assert_int_equal(chain_length(f->db, CYGNET_OUT, &p.sel), 0);
}

/* A change of users that do not apply concerns no flow. */
static void users_have_no_scope(void **state)
{
	struct cygnet_policy_params p = policy(selector("10.1.0.0", 24, "10.2.0.0", 16), 1000,
					       CYGNET_PROTECT);
	struct cygnet_flow flow = flow4("10.1.0.1", "10.2.0.1", 17, 1, 2);
	struct cygnet_policy_params trap = p;
	struct fixture *f = *state;
	uint64_t before;

	trap.priority = 1001;
	assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	before = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_policy_add(f->db, &trap), 0);
	assert_int_equal(cygnet_policy_delete(f->db, &trap), 0);
	assert_true(cygnet_db_changes(f->db) > before);
	assert_false(concerns(f->db, before, &flow));
	assert_int_equal(cygnet_policy_add(f->db, &trap), 0);
	before = cygnet_db_changes(f->db);
	assert_int_equal(cygnet_policy_delete(f->db, &p), 0);
	assert_true(concerns(f->db, before, &flow));
	assert_int_equal(cygnet_spd_lookup(f->db, CYGNET_OUT, &flow)->priority, 1001);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(priorities),	   TEST(rekey_installs_twice),	TEST(end_points),
		TEST(changes_are_counted), TEST(policies_have_scopes),	TEST(rekeying_has_a_scope),
		TEST(unknown_scopes),	   TEST(ports_and_protocols),	TEST(equal_priorities),
		TEST(interfaces),	   TEST(interface_ids),		TEST(invalid_params),
		TEST(against_oracle),	   TEST(against_oracle_nested), TEST(users_take_over),
		TEST(users_have_no_scope),
	};

	return cmocka_run_group_tests_name("spd", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/wait.h>

#include "fixture.h"
#include "layout.h"
#include "place.h"

static struct cygnet_policy_params policy(const char *src, uint32_t priority,
					  enum cygnet_action action)
{
	return (struct cygnet_policy_params){
		.sel = selector(src, 24, "10.2.0.0", 24),
		.priority = priority,
		.rank = priority,
		.reqid = 1,
		.spi = action == CYGNET_PROTECT ? htonl(0x1000) : 0,
		.dir = CYGNET_OUT,
		.action = (uint8_t)action,
		.proto = IPPROTO_ESP,
		.af = AF_INET,
		.dst = addr4("192.0.2.1"),
	};
}

static const struct cygnet_policy *applies_to(struct fixture *f, enum cygnet_dir dir,
					      const char *src)
{
	struct cygnet_flow flow = flow4(src, "10.2.0.1", IPPROTO_UDP, 1, 2);

	return cygnet_spd_lookup(f->db, dir, &flow);
}

static void assert_held(struct fixture *f, enum cygnet_dir dir, const char *src)
{
	const struct cygnet_policy *found = applies_to(f, dir, src);

	assert_non_null(found);
	assert_true(cygnet_policy_held(found));
	assert_int_equal(found->reqid, 0);
	assert_null(cygnet_policy_sa(f->db, found));
}

/* What a charon leaves that is killed: a tunnel, a trap under it, shunts, SAs, an IKE port. */
static void leave_behind(struct fixture *f)
{
	struct cygnet_policy_params out = policy("10.1.0.0", 1000, CYGNET_PROTECT), in = out,
				    trap = out;
	struct cygnet_policy_params drop = policy("10.3.0.0", 900, CYGNET_DISCARD);
	struct cygnet_policy_params pass = policy("10.4.0.0", 900, CYGNET_BYPASS);
	struct cygnet_sa_params sa = sa_params(0x1000, false), reserved = sa_params(0x2000, true);

	in.dir = CYGNET_FWD;
	in.sel = selector("10.2.0.0", 24, "10.2.0.0", 24);
	trap.spi = 0;
	trap.priority = trap.rank = 1001;
	assert_int_equal(cygnet_sa_add(f->db, &sa), 0);
	assert_int_equal(cygnet_sa_add(f->db, &reserved), 0);
	assert_int_equal(cygnet_policy_add(f->db, &trap), 0);
	assert_int_equal(cygnet_policy_add(f->db, &out), 0);
	assert_int_equal(cygnet_policy_add(f->db, &out), 0); /* the second install */
	assert_int_equal(cygnet_policy_add(f->db, &in), 0);
	assert_int_equal(cygnet_policy_add(f->db, &drop), 0);
	assert_int_equal(cygnet_policy_add(f->db, &pass), 0);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET, 1500, false), 0);
	assert_non_null(cygnet_policy_sa(f->db, applies_to(f, CYGNET_OUT, "10.1.0.1")));
}

static void drops_what_was_protected(void **state)
{
	struct fixture *f = *state;
	uint64_t changes;

	struct cygnet_db_info info;

	leave_behind(f);
	assert_int_equal(cygnet_policies_held(f->db), 0);
	changes = cygnet_spd_changes(f->db);
	assert_int_equal(cygnet_db_hold(f->db), 0);
	assert_true(cygnet_spd_changes(f->db) > changes);
	assert_held(f, CYGNET_OUT, "10.1.0.1");
	assert_held(f, CYGNET_FWD, "10.2.0.1");
	assert_held(f, CYGNET_OUT, "10.3.0.1");
	assert_null(applies_to(f, CYGNET_OUT, "10.4.0.1"));
	assert_int_equal(cygnet_policies_held(f->db), 4);
	cygnet_db_info(f->db, &info);
	assert_int_equal(info.sas, 0);
	assert_int_equal(info.policies, 4);
	assert_int_equal(cygnet_ike_port(f->db, AF_INET, 1500), CYGNET_IKE_NONE);
	/* The next charon crashes, too. */
	assert_int_equal(cygnet_db_hold(f->db), 0);
	assert_int_equal(cygnet_policies_held(f->db), 4);
	assert_int_equal(cygnet_hold_end(f->db), 4);
	assert_null(applies_to(f, CYGNET_OUT, "10.1.0.1"));
	assert_int_equal(cygnet_hold_end(f->db), 0);
}

/* Its priority, reqid and action may be others. Policies of another selector or direction replace nothing. */
static void replaced_by_selector(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params new = policy("10.1.0.0", 5000, CYGNET_PROTECT), other = new;
	const struct cygnet_policy *found;

	leave_behind(f);
	assert_int_equal(cygnet_db_hold(f->db), 0);
	new.reqid = 7;
	new.spi = 0;
	other.sel.proto = IPPROTO_UDP;
	assert_int_equal(cygnet_policy_add(f->db, &other), 0);
	other = new;
	other.dir = CYGNET_IN;
	assert_int_equal(cygnet_policy_add(f->db, &other), 0);
	other = new;
	other.sel.interface = 3;
	assert_int_equal(cygnet_policy_add(f->db, &other), 0);
	assert_int_equal(cygnet_policies_held(f->db), 4);
	assert_held(f, CYGNET_OUT, "10.1.0.1");
	assert_int_equal(cygnet_policy_add(f->db, &new), 0);
	assert_int_equal(cygnet_policies_held(f->db),
			 2); /* both the tunnel's and the trap's are gone */
	found = applies_to(f, CYGNET_OUT, "10.1.0.1");
	assert_false(cygnet_policy_held(found));
	/* Not only hidden by the new one. */
	assert_int_equal(cygnet_policy_delete(f->db, &new), 0);
	assert_true(!applies_to(f, CYGNET_OUT, "10.1.0.1") ||
		    !cygnet_policy_held(applies_to(f, CYGNET_OUT, "10.1.0.1")));
	/* The discarding one is replaced by an equal one, whose count begins anew. */
	new = policy("10.3.0.0", 900, CYGNET_DISCARD);
	new.reqid = 0;
	assert_int_equal(cygnet_policy_add(f->db, &new), 0);
	assert_false(cygnet_policy_held(applies_to(f, CYGNET_OUT, "10.3.0.1")));
	assert_int_equal(cygnet_policy_delete(f->db, &new), 0);
	assert_null(applies_to(f, CYGNET_OUT, "10.3.0.1"));
}

/* Only held policies with the selector and direction are released. */
static void released(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params p = policy("10.1.0.0", 1000, CYGNET_PROTECT);

	leave_behind(f);
	assert_int_equal(cygnet_policy_release(f->db, CYGNET_OUT, &p.sel), 0);
	assert_int_equal(cygnet_db_hold(f->db), 0);
	assert_int_equal(cygnet_policy_release(f->db, CYGNET_IN, &p.sel), 0);
	assert_int_equal(cygnet_policy_release(f->db, CYGNET_DIRS, &p.sel), 0);
	assert_int_equal(cygnet_policy_release(f->db, CYGNET_OUT, &p.sel), 2);
	assert_null(applies_to(f, CYGNET_OUT, "10.1.0.1"));
	assert_held(f, CYGNET_OUT, "10.3.0.1");
	assert_int_equal(cygnet_policies_held(f->db), 2);
}

/* A new policy that precedes a held one applies; one that does not applies when the hold is over. */
static void priorities(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params better = policy("10.1.0.0", 100, CYGNET_BYPASS);
	struct cygnet_policy_params worse = policy("10.1.0.0", 9000, CYGNET_BYPASS);

	leave_behind(f);
	assert_int_equal(cygnet_db_hold(f->db), 0);
	better.sel = selector("10.1.0.0", 25, "10.2.0.0", 24);
	worse.sel = selector("10.0.0.0", 8, "10.2.0.0", 24);
	assert_int_equal(cygnet_policy_add(f->db, &better), 0);
	assert_int_equal(cygnet_policy_add(f->db, &worse), 0);
	assert_int_equal(applies_to(f, CYGNET_OUT, "10.1.0.1")->priority, 100);
	assert_held(f, CYGNET_OUT, "10.1.0.200");
	cygnet_hold_end(f->db);
	assert_int_equal(applies_to(f, CYGNET_OUT, "10.1.0.200")->priority, 9000);
}

/* Charon cannot delete a held policy: it never installed it. */
static void deleted_by_nobody(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params old = policy("10.1.0.0", 1000, CYGNET_PROTECT);

	leave_behind(f);
	assert_int_equal(cygnet_db_hold(f->db), 0);
	assert_int_equal(cygnet_policy_delete(f->db, &old), -ENOENT);
	old.reqid = old.spi = 0;
	assert_int_equal(cygnet_policy_delete(f->db, &old), -ENOENT);
	assert_held(f, CYGNET_OUT, "10.1.0.1");
	assert_int_equal(cygnet_db_flush(f->db), 0);
	assert_null(applies_to(f, CYGNET_OUT, "10.1.0.1"));
}

/* @return what cygnet_policy_hold() gives to another process */
static int hold_elsewhere(struct fixture *f, const struct cygnet_policy_params *p)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct cygnet_db *db;

		_exit(cygnet_db_open_flags(f->path, NULL, CYGNET_OPEN_ON_DISK, &db, NULL, 0)
			      ? 255
			      : -cygnet_policy_hold(db, p));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

/* At boot: the dataplane installs them. */
static void installed_held(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params p = policy("10.1.0.0", 1000, CYGNET_PROTECT);
	struct cygnet_policy_params pass = policy("10.4.0.0", 900, CYGNET_BYPASS);
	struct cygnet_policy_params wrong = p;

	assert_true(cygnet_spd_unused(f->db));
	assert_int_equal(cygnet_policy_hold(f->db, &pass), -EINVAL);
	wrong.proto = IPPROTO_TCP;
	assert_int_equal(cygnet_policy_hold(f->db, &wrong), -EINVAL);
	assert_true(cygnet_spd_unused(f->db));
	assert_int_equal(cygnet_policy_hold(f->db, &p), 0);
	assert_false(cygnet_spd_unused(f->db));
	assert_held(f, CYGNET_OUT, "10.1.0.1");
	p.priority++;
	assert_int_equal(cygnet_policy_hold(f->db, &p), -EEXIST);
	/* The next charon replaces it. */
	assert_int_equal(cygnet_db_hold(f->db), 0);
	assert_held(f, CYGNET_OUT, "10.1.0.1");
	assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	assert_int_equal(cygnet_policies_held(f->db), 0);
	/* What charon has installed is not held. */
	assert_int_equal(cygnet_policy_hold(f->db, &p), -EEXIST);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_CHARON), 0);
	p.sel.proto = IPPROTO_UDP;
	assert_int_equal(hold_elsewhere(f, &p), -EBUSY);
	assert_int_equal(cygnet_policy_hold(f->db, &p), 0);
	assert_int_equal(cygnet_policies_held(f->db), 1);
}

/* A slot that was a held policy's is another policy's. */
static void slots_used_again(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params p = policy("10.1.0.0", 1000, CYGNET_PROTECT);
	uint32_t slot;

	assert_int_equal(cygnet_policy_hold(f->db, &p), 0);
	slot = cygnet_policy_index(f->db, applies_to(f, CYGNET_OUT, "10.1.0.1"));
	assert_int_equal(cygnet_hold_end(f->db), 1);
	cygnet_db_reclaim(f->db);
	assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	assert_int_equal(cygnet_policy_index(f->db, applies_to(f, CYGNET_OUT, "10.1.0.1")), slot);
	assert_false(cygnet_policy_held(applies_to(f, CYGNET_OUT, "10.1.0.1")));
}

static void check_finds(void **state)
{
	struct fixture *f = *state;
	struct cygnet_policy_params p = policy("10.1.0.0", 1000, CYGNET_PROTECT);
	struct cygnet_policy *held;
	char error[256] = "";

	assert_int_equal(cygnet_policy_hold(f->db, &p), 0);
	held = &f->db->policies[0];
	assert_int_equal(cygnet_db_check(f->db, error, sizeof(error)), 0);
	held->action = CYGNET_BYPASS;
	assert_int_equal(cygnet_db_check(f->db, error, sizeof(error)), -EBADMSG);
	assert_non_null(strstr(error, "held"));
	held->action = CYGNET_PROTECT;
	held->reqid = 1;
	assert_int_equal(cygnet_db_check(f->db, error, sizeof(error)), -EBADMSG);
	held->reqid = 0;
}

/* A direction that there is not, whose lists would be in slots that are not used. */
static unsigned int direction_of_slots(struct cygnet_db *db)
{
	const uint8_t *first = (const uint8_t *)&db->sas[1],
		      *end = (const uint8_t *)&db->sas[db->geometry.sas];
	unsigned int dir = CYGNET_DIRS;

	while ((const uint8_t *)place_list(db, (enum cygnet_dir)dir, AF_INET) < first)
		dir++;
	assert_true((const uint8_t *)place_list(db, (enum cygnet_dir)(dir + 1), AF_INET) <= end);
	assert_true(dir <= UINT8_MAX);
	return dir;
}

/* The bypass policy of a damaged file has a direction that there is not: nothing is written to the lists of that. */
static void damaged_direction(void **state)
{
	struct cygnet_policy_params p = policy("10.1.0.0", 1000, CYGNET_BYPASS);
	struct spd_list expected[2];
	struct fixture *f = *state;
	struct spd_list *lists;

	assert_int_equal(cygnet_policy_add(f->db, &p), 0);
	f->db->policies[0].dir = (uint8_t)direction_of_slots(f->db);
	lists = place_list(f->db, (enum cygnet_dir)f->db->policies[0].dir, AF_INET);
	memset(expected, 0xff, sizeof(expected));
	memcpy(lists, expected, sizeof(expected));
	assert_int_equal(cygnet_db_hold(f->db), 0);
	assert_memory_equal(lists, expected, sizeof(expected));
	assert_int_not_equal(f->db->policies[0].state, CYGNET_SLOT_LIVE);
	/* The file fails cygnet_db_check(): close it so that teardown does not check it. */
	cygnet_db_close(f->db);
	f->db = NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(drops_what_was_protected),
		TEST(replaced_by_selector),
		TEST(released),
		TEST(priorities),
		TEST(deleted_by_nobody),
		TEST(installed_held),
		TEST(slots_used_again),
		TEST(check_finds),
		TEST(damaged_direction),
	};

	return cmocka_run_group_tests_name("held", tests, NULL, NULL);
}

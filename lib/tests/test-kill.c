/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kills the writer and the dataplane with SIGKILL at random instructions, some
 * thousand times with one file. After each kill the file passes
 * cygnet_db_check(). No sequence number is reserved twice. In the end no slot and
 * no replay block has leaked.
 *
 * The environment variable KILL_ROUNDS is the number of rounds (2,000).
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "fixture.h"

#define SLOTS 256u
#define SPIS  300u

/* Shared by all processes: the sequence numbers that the dataplanes have used. */
struct journal {
	struct {
		uint32_t generation;
		uint64_t last; /* highest number used */
	} sa[SLOTS];
	uint64_t reserved; /* number of sequence numbers reserved */
	uint64_t lookups, installs;
	uint32_t violations; /* number of sequence numbers reserved twice */
};

static struct journal *journal;

static uint32_t random_state;

static uint32_t rnd(uint32_t n)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % n;
}

/* All overlap, and some have equal selectors. */
static struct cygnet_policy_params random_policy(uint32_t n)
{
	struct cygnet_policy_params p = {
		.sel = selector("10.0.0.0", 8 + n % 3 * 8, "10.0.0.0", 8 + n % 5 * 4),
		.priority = n % 7,
		.spi = htonl(0x1000 + n),
		.dir = (uint8_t)(n % CYGNET_DIRS),
		.proto = IPPROTO_ESP,
		.af = AF_INET,
		.dst = addr4("192.0.2.1"),
	};

	return p;
}

static void write_once(struct cygnet_db *db)
{
	uint32_t n = rnd(SPIS), spi;
	struct cygnet_sa_params p = sa_params(0x1000 + n, n & 1);
	struct cygnet_policy_params policy = random_policy(n);
	struct cygnet_path path = p.path;

	p.replay_window = n % 3 ? 64 : 4096;
	path.dst.v4 ^= htonl(1u << rnd(2));
	switch (rnd(9)) {
	case 0:
	case 1:
		if (!cygnet_sa_add(db, &p))
			journal->installs++;
		break;
	case 2:
		cygnet_sa_delete(db, &p.id);
		break;
	case 3:
		cygnet_sa_update(db, &p.id, &path, 0);
		break;
	case 4:
		if (!cygnet_spi_reserve(db, IPPROTO_ESP, AF_INET, &p.id.dst, 0x1000, 0x1000 + SPIS,
					&spi)) {
			p.id.spi = spi;
			if (rnd(2))
				cygnet_sa_add(db, &p);
		}
		break;
	case 5:
		cygnet_policy_add(db, &policy);
		break;
	case 6:
		cygnet_policy_delete(db, &policy);
		break;
	case 7:
		cygnet_ike_open(db, rnd(2) ? AF_INET : AF_INET6, (uint16_t)(1 + n), n & 1);
		break;
	default:
		if (rnd(25))
			cygnet_db_reclaim(db);
		else if (rnd(2))
			cygnet_db_flush(db);
		else
			cygnet_db_hold(db);
		if (!rnd(25))
			cygnet_hold_end(db);
	}
}

static void use_sequence(struct cygnet_db *db, uint32_t slot)
{
	struct cygnet_sa *sa = cygnet_sa_at(db, slot);
	uint32_t generation = sa->generation, n;
	uint64_t first;

	if (!cygnet_sa_get(db, slot, generation) || (sa->flags & CYGNET_SA_INBOUND))
		return;
	n = cygnet_sa_reserve_seq(sa, 1 + rnd(32), &first);
	if (journal->sa[slot].generation != generation) {
		journal->sa[slot].last = 0;
		journal->sa[slot].generation = generation;
	}
	if (n && first <= journal->sa[slot].last)
		journal->violations++;
	journal->sa[slot].last = first + n - 1;
	journal->reserved += n;
}

static void read_once(struct cygnet_db *db)
{
	struct cygnet_flow flow = flow4("10.0.0.1", "10.0.0.2", 6, 1, 2);
	struct cygnet_event event = {.type = CYGNET_EVENT_ACQUIRE};
	struct cygnet_addr dst = addr4("192.0.2.1");
	struct cygnet_policy *policy;
	struct cygnet_sa *sa;

	sa = cygnet_sad_lookup(db, htonl(0x1000 + rnd(SPIS)), IPPROTO_ESP, AF_INET, &dst);
	if (sa)
		cygnet_replay_update(db, sa, sa->seq + rnd(100));
	policy = cygnet_spd_lookup(db, (enum cygnet_dir)rnd(CYGNET_DIRS), &flow);
	if (policy)
		cygnet_policy_sa(db, policy);
	use_sequence(db, rnd(SLOTS));
	if (!rnd(20))
		cygnet_event_post(db, &event);
	journal->lookups++;
}

static void writer(struct fixture *f)
{
	struct cygnet_db *db = fixture_open(f, SLOTS, SLOTS);
	struct cygnet_event event;

	for (;;) {
		write_once(db);
		if (!rnd(10))
			cygnet_event_wait(db, &event, 0);
	}
}

static void dataplane(struct fixture *f)
{
	struct cygnet_db *db = fixture_open(f, SLOTS, SLOTS);

	/* The killed dataplane may not have released its role yet. */
	while (cygnet_role_take(db, CYGNET_ROLE_DATAPLANE))
		usleep(100);
	cygnet_reader_online(db, 0);
	for (;;) {
		read_once(db);
		cygnet_reader_quiescent(db, 0);
	}
}

static pid_t start(void (*run)(struct fixture *), struct fixture *f, uint32_t seed)
{
	pid_t pid = fork();

	if (!pid) {
		/* Do not outlive a failed test. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		random_state = seed;
		run(f);
	}
	assert_true(pid > 0);
	return pid;
}

static void end_process(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* The process was running, and not ended by abort() or a segmentation fault. */
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void nothing_leaked(struct cygnet_db *db)
{
	struct cygnet_db_info info;

	cygnet_db_flush(db);
	assert_int_equal(cygnet_db_reclaim(db), 0);
	cygnet_db_info(db, &info);
	assert_int_equal(info.sas, 0);
	assert_int_equal(info.policies, 0);
	assert_int_equal(info.replay_blocks_free, info.replay_blocks);
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct cygnet_sa_params p = sa_params(0x5000 + i, i & 1);

		p.replay_window = 4096;
		assert_int_equal(cygnet_sa_add(db, &p), 0);
	}
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct cygnet_policy_params p = random_policy(i);

		p.sel = selector("10.0.0.0", 8, "10.0.0.0", 32);
		p.sel.dst_lo.v4 = p.sel.dst_hi.v4 |= htonl(i);
		assert_int_equal(cygnet_policy_add(db, &p), 0);
	}
}

/* Whether enough has happened: at least one writer was killed while it held the mutex. On a busy
 * machine many processes are killed before they start working, so more rounds may be needed. */
static bool enough(struct cygnet_db *db, int rounds)
{
	struct cygnet_db_info info;

	cygnet_db_info(db, &info);
	return journal->installs > 100 && journal->reserved > 1000 &&
	       (rounds < 500 || info.recoveries > 0);
}

static void kill_at_random(void **state)
{
	const char *text = getenv("KILL_ROUNDS");
	int rounds = text ? atoi(text) : 2000, round;
	struct fixture *f = *state;
	struct cygnet_db *db;
	struct cygnet_db_info info;
	pid_t w, d;

	cygnet_db_close(f->db);
	unlink(f->path);
	db = f->db = fixture_open(f, SLOTS, SLOTS);
	journal = mmap(NULL, sizeof(*journal), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	assert_true(journal != MAP_FAILED);
	random_state = (uint32_t)time(NULL);
	printf("seed %u\n", random_state);
	w = start(writer, f, random_state);
	d = start(dataplane, f, random_state + 1);
	for (round = 0; round < rounds || (round < 10 * rounds && !enough(db, rounds)); round++) {
		uint32_t victim = rnd(3);
		char error[256] = "";

		usleep(rnd(3000 *
			   (1 + (unsigned int)(round / rounds)))); /* longer in additional rounds */
		if (victim != 0)
			end_process(w);
		if (victim != 1)
			end_process(d);
		if (cygnet_db_check(db, error, sizeof(error)))
			fail_msg("round %d: %s", round, error);
		assert_int_equal(journal->violations, 0);
		if (victim != 0)
			w = start(writer, f, random_state ^ (uint32_t)round);
		if (victim != 1)
			d = start(dataplane, f, random_state ^ (uint32_t)~round);
	}
	end_process(w);
	end_process(d);
	cygnet_db_info(db, &info);
	printf("%d rounds, %llu repairs, %llu installs, %llu lookups, %llu sequence numbers\n",
	       round, (unsigned long long)info.recoveries, (unsigned long long)journal->installs,
	       (unsigned long long)journal->lookups, (unsigned long long)journal->reserved);
	assert_true(enough(db, rounds));
	nothing_leaked(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kill_at_random, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("kill", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Death after every write. A child runs one call of the library on a read-only
 * mapping of the file. Each write faults; the signal handler permits it for one
 * instruction. A copy of the file after the write is what a SIGKILL at this
 * instruction would have left. In each copy readers must find what they found
 * before, the next writer must repair it, and nothing may leak. For some of the
 * copies the repair is killed after each of its writes in the same way.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "fixture.h"
#include "layout.h"

#define SLOTS	     8u
#define REPAIR_EVERY 4 /* the repair is killed as well after each 4th death */

/* The flag that makes the processor trap after the next instruction. */
#ifdef __x86_64__
#define TRAP_FLAG      0x100
#define FLAGS(context) (((ucontext_t *)(context))->uc_mcontext.gregs[REG_EFL])
#else
#define TRAP_FLAG      0
static long long no_flags;
#define FLAGS(context) (*((void)(context), &no_flags))
#endif

/* The file, its copy after the death of a caller, the copy of that after the death of a repair. */
enum { ORIGINAL, CRASHED, REPAIRED, LEVELS };

static struct {
	char path[160];
	uint8_t *map;
} level[LEVELS];

/* Parts of the file that the scenarios can change. */
static struct {
	size_t offset, size; /* offset and length, bytes */
} region[32];
static unsigned int regions;

struct scenario {
	void (*before)(struct cygnet_db *db);
	void (*call)(struct cygnet_db *db);
	/* Checks what a reader must find at any time. Called before and after the repair. */
	void (*look)(struct cygnet_db *db);
	bool flushes; /* the call removes the bystanders */
};

static const struct scenario *scenario;
static unsigned int deaths, repair_deaths;

/* ------------------------------------------------------------ the file -- */

static void add_region(struct cygnet_db *db, const void *start, size_t size)
{
	region[regions].offset = (size_t)((const uint8_t *)start - (const uint8_t *)db->header);
	region[regions++].size = size;
}

/* The file is larger than what SLOTS entries can change; copy only the parts that may change. */
static void find_regions(struct cygnet_db *db)
{
	regions = 0;
	add_region(db, db->header, sizeof(struct header));
	add_region(db, db->sa_table, (db->sa_mask + 1) * sizeof(uint32_t));
	add_region(db, db->policy_table, (db->policy_mask + 1) * sizeof(uint32_t));
	add_region(db, db->peer_nets, (db->net_mask + 1) * sizeof(struct peer_net));
	add_region(db, db->sharing, (db->net_mask + 1) * sizeof(uint32_t));
	add_region(db, db->sas, SLOTS * sizeof(struct cygnet_sa));
	add_region(db, db->policies, SLOTS * sizeof(struct cygnet_policy));
	add_region(db, db->replay, db->replay_blocks * sizeof(struct replay_block));
	add_region(db, db->events, 4 * sizeof(struct cygnet_event));
}

static void copy_regions(uint8_t *to, const uint8_t *from)
{
	for (unsigned int i = 0; i < regions; i++)
		memcpy(to + region[i].offset, from + region[i].offset, region[i].size);
}

static void make_level(struct fixture *f, int l)
{
	int fd, flags = l == ORIGINAL ? O_RDWR : O_RDWR | O_CREAT | O_EXCL;
	size_t size = f->db->size;

	snprintf(level[l].path, sizeof(level[l].path), "%s%.*s", f->path, l, "'''");
	fd = open(level[l].path, flags, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	level[l].map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(level[l].map != MAP_FAILED);
	close(fd);
	if (l != ORIGINAL)
		memcpy(level[l].map, level[ORIGINAL].map, size);
}

static void drop_level(int l, size_t size)
{
	munmap(level[l].map, size);
	if (l != ORIGINAL)
		unlink(level[l].path);
}

/* Make the next level the file that is left if the child dies now. */
static void die(int l, pid_t child)
{
	struct header *h = (struct header *)(void *)level[l + 1].map;
	unsigned int *owner = (unsigned int *)&h->mutex.__data.__lock;

	copy_regions(level[l + 1].map, level[l].map);
	/* The kernel does this when the owner of a robust mutex dies. */
	if ((*owner & FUTEX_TID_MASK) == (unsigned int)child)
		*owner = (*owner & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
}

/* ------------------------------------------------------- the bystanders -- */

static struct cygnet_sa *find_in(struct cygnet_db *db, uint32_t spi)
{
	struct cygnet_addr dst = addr4("192.0.2.1");

	return cygnet_sad_lookup(db, htonl(spi), IPPROTO_ESP, AF_INET, &dst);
}

static struct cygnet_policy_params tunnel(uint32_t spi, const char *net)
{
	return (struct cygnet_policy_params){
		.sel = selector(net, 24, "10.0.0.0", 8),
		.priority = 1000,
		.spi = htonl(spi),
		.dir = CYGNET_OUT,
		.proto = IPPROTO_ESP,
		.af = AF_INET,
		.dst = addr4("192.0.2.1"),
	};
}

static struct cygnet_sa_params large(uint32_t spi)
{
	struct cygnet_sa_params p = sa_params(spi, true);

	p.replay_window = 4096;
	return p;
}

/* SAs and a policy that use the same lists, net and pool as the call that is killed. */
static void add_bystanders(struct cygnet_db *db)
{
	struct cygnet_sa_params in = large(0x7000), out = sa_params(0x7001, false);
	struct cygnet_policy_params policy = tunnel(0x7001, "10.7.0.0");

	assert_int_equal(cygnet_sa_add(db, &in), 0);
	assert_int_equal(cygnet_sa_add(db, &out), 0);
	assert_int_equal(cygnet_policy_add(db, &policy), 0);
	for (uint64_t seq = 1; seq <= 64; seq++)
		assert_true(cygnet_replay_update(db, find_in(db, 0x7000), seq));
}

static void look_at_bystanders(struct cygnet_db *db)
{
	struct cygnet_flow flow = flow4("10.7.0.1", "10.9.9.9", 6, 1, 2);
	struct cygnet_policy *policy = cygnet_spd_lookup(db, CYGNET_OUT, &flow);
	struct cygnet_sa *in = find_in(db, 0x7000), *out;

	if (scenario->flushes)
		return;
	assert_non_null(in);
	for (uint64_t seq = 1; seq <= 64; seq++)
		assert_false(cygnet_replay_check(db, in, seq));
	assert_non_null(policy);
	out = cygnet_policy_sa(db, policy);
	assert_non_null(out);
	assert_int_equal(out->spi, htonl(0x7001));
}

static void nothing_leaked(struct cygnet_db *db)
{
	struct cygnet_policy_params policy = tunnel(0, "10.5.0.0");
	struct cygnet_db_info info;

	assert_int_equal(cygnet_db_flush(db), 0);
	assert_int_equal(cygnet_db_reclaim(db), 0);
	cygnet_db_info(db, &info);
	assert_int_equal(info.sas, 0);
	assert_int_equal(info.policies, 0);
	assert_int_equal(info.replay_blocks_free, info.replay_blocks);
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct cygnet_sa_params p = i < info.replay_blocks ? large(0x5000 + i)
								   : sa_params(0x5000 + i, true);

		policy.priority = i;
		assert_int_equal(cygnet_sa_add(db, &p), 0);
		assert_int_equal(cygnet_policy_add(db, &policy), 0);
	}
}

/* Check the file that a death has left. */
static void verify(int l)
{
	char error[256] = "";
	struct cygnet_db *db;

	if (cygnet_db_open_flags(level[l].path, NULL, CYGNET_OPEN_ON_DISK, &db, error,
				 sizeof(error)))
		fail_msg("%s", error);
	look_at_bystanders(db);
	scenario->look(db);
	if (cygnet_db_check(db, error, sizeof(error)))
		fail_msg("death %u, of repair %u: %s", deaths, repair_deaths, error);
	look_at_bystanders(db);
	scenario->look(db);
	/* The next writer repeats the call. */
	scenario->call(db);
	if (cygnet_db_check(db, error, sizeof(error)))
		fail_msg("after death %u and the repeated call: %s", deaths, error);
	nothing_leaked(db);
	assert_int_equal(cygnet_db_check(db, error, sizeof(error)), 0);
	cygnet_db_close(db);
}

/* ---------------------------------------------------------- the stepping -- */

static struct cygnet_db *guarded; /* in the child: mapped read-only */
static int wrote[2];		  /* pipe: the child has written */
static int go_on[2];		  /* pipe: the child may continue */

static void guard(int protection)
{
	if (mprotect(guarded->header, guarded->size, protection))
		_exit(3);
}

/* The child is about to write to the file: permit it for one instruction. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
	size_t offset = (size_t)((uint8_t *)info->si_addr - (uint8_t *)guarded->header);

	(void)signal;
	if (offset >= guarded->size)
		_exit(4); /* a real segmentation fault */
	guard(PROT_READ | PROT_WRITE);
	FLAGS(context) |= TRAP_FLAG;
}

/* The child has written: tell the parent and wait. */
static void on_step(int signal, siginfo_t *info, void *context)
{
	char byte = 0;

	(void)signal;
	(void)info;
	FLAGS(context) &= ~TRAP_FLAG;
	guard(PROT_READ);
	if (write(wrote[1], &byte, 1) != 1 || read(go_on[0], &byte, 1) != 1)
		_exit(5);
}

__attribute__((noreturn)) static void child_main(int l, void (*run)(struct cygnet_db *))
{
	struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	struct sigaction trap = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(wrote[0]);
	close(go_on[1]);
	if (cygnet_db_open_flags(level[l].path, NULL, CYGNET_OPEN_ON_DISK, &guarded, NULL, 0) ||
	    sigaction(SIGSEGV, &fault, NULL) || sigaction(SIGTRAP, &trap, NULL))
		_exit(1);
	guard(PROT_READ);
	run(guarded);
	_exit(0);
}

struct child {
	pid_t pid;
	int wrote, go_on;
};

static pid_t running[LEVELS];

/* A failed test leaves children that hold the mutex. The kernel cannot mark it
 * FUTEX_OWNER_DIED when they die, because their mapping is read-only. */
static int step_teardown(void **state)
{
	struct fixture *f = *state;

	for (int l = 0; l < LEVELS; l++) {
		if (!running[l])
			continue;
		kill(running[l], SIGKILL);
		waitpid(running[l], NULL, 0);
		running[l] = 0;
		if (l + 1 < LEVELS)
			unlink(level[l + 1].path);
		cygnet_db_close(f->db);
		f->db = NULL;
	}
	return fixture_teardown(state);
}

static struct child start(int l, void (*run)(struct cygnet_db *))
{
	struct child child;

	assert_int_equal(pipe(wrote), 0);
	assert_int_equal(pipe(go_on), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (!child.pid)
		child_main(l, run);
	close(wrote[1]);
	close(go_on[0]);
	child.wrote = wrote[0];
	child.go_on = go_on[1];
	running[l] = child.pid;
	return child;
}

/* Wait for the child's next write. @return false: its call has returned */
static bool next_write(int l, const struct child *child)
{
	int status;
	char byte;

	if (read(child->wrote, &byte, 1) == 1)
		return true;
	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
	running[l] = 0;
	close(child->wrote);
	close(child->go_on);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return false;
}

/* Any call that takes the mutex repairs after a death. */
static void repair_it(struct cygnet_db *db)
{
	struct cygnet_sa_params p = large(0x6fff);
	struct cygnet_sa_usage usage;

	if (cygnet_sa_query(db, &p.id, &usage) != -ENOENT)
		_exit(6);
}

static void kill_everywhere(int l, void (*run)(struct cygnet_db *))
{
	struct child child = start(l, run);

	while (next_write(l, &child)) {
		die(l, child.pid);
		if (l == ORIGINAL && deaths++ % REPAIR_EVERY == 0) {
			kill_everywhere(CRASHED, repair_it);
			die(l, child.pid);
		} else if (l == CRASHED) {
			repair_deaths++;
		}
		verify(l + 1);
		assert_int_equal(write(child.go_on, "", 1), 1);
	}
}

/* Run a scenario without a reader, and with one that never reports a quiescent state. */
static void run_scenario(void **state, const struct scenario *s)
{
	struct fixture *f = *state;

	scenario = s;
	deaths = repair_deaths = 0;
	for (int reader = 0; reader < 2; reader++) {
		size_t size;

		cygnet_db_close(f->db);
		unlink(f->path);
		f->db = fixture_open(f, SLOTS, SLOTS);
		size = f->db->size;
		if (reader) {
			assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_DATAPLANE), 0);
			assert_int_equal(cygnet_reader_online(f->db, 0), 0);
		}
		add_bystanders(f->db);
		s->before(f->db);
		find_regions(f->db);
		for (int l = 0; l < LEVELS; l++)
			make_level(f, l);
		kill_everywhere(ORIGINAL, s->call);
		for (int l = 0; l < LEVELS; l++)
			drop_level(l, size);
	}
	printf("killed at %u writes, and %u times in repair\n", deaths, repair_deaths);
	assert_true(deaths >= 2);
}

/* --------------------------------------------------------- the scenarios -- */

static void nothing(struct cygnet_db *db)
{
	(void)db;
}

static void add_large(struct cygnet_db *db)
{
	struct cygnet_sa_params p = large(0x1000);

	cygnet_sa_add(db, &p);
}

static void reserve(struct cygnet_db *db)
{
	struct cygnet_addr dst = addr4("192.0.2.1");
	uint32_t spi;

	cygnet_spi_reserve(db, IPPROTO_ESP, AF_INET, &dst, 0x1000, 0x1000, &spi);
}

/* The SA is complete or not found. */
static void look_for_sa(struct cygnet_db *db)
{
	struct cygnet_sa_params p = large(0x1000);
	struct cygnet_sa *sa = find_in(db, 0x1000);

	if (!sa)
		return;
	assert_memory_equal(sa->cipher_key, p.cipher_key, sizeof(p.cipher_key));
	assert_int_equal(sa->replay_window, p.replay_window);
	assert_true(sa->replay_block < db->replay_blocks);
	assert_int_not_equal(sa->replay_block, find_in(db, 0x7000)->replay_block);
	assert_true(cygnet_replay_check(db, sa, 1));
	assert_int_equal(sa->seq, 0);
}

static void delete_sa(struct cygnet_db *db)
{
	struct cygnet_sa_params p = large(0x1000);

	cygnet_sa_delete(db, &p.id);
}

/* Leave free slots that were used before, and retired slots. */
static void use_slots(struct cygnet_db *db)
{
	add_large(db);
	delete_sa(db);
	cygnet_db_reclaim(db);
	for (uint32_t i = 0; i < 3; i++) {
		struct cygnet_sa_params p = sa_params(0x2000 + i, true);

		assert_int_equal(cygnet_sa_add(db, &p), 0);
		assert_int_equal(cygnet_sa_delete(db, &p.id), 0);
	}
}

static void reclaim(struct cygnet_db *db)
{
	cygnet_db_reclaim(db);
}

static void retire_many(struct cygnet_db *db)
{
	struct cygnet_policy_params policy = tunnel(0, "10.1.0.0");

	add_large(db);
	cygnet_policy_add(db, &policy);
	delete_sa(db);
	cygnet_policy_delete(db, &policy);
}

static void retire_and_let_go(struct cygnet_db *db)
{
	retire_many(db);
	/* No effect if no reader is online. */
	cygnet_reader_offline(db, 0);
}

static void move(struct cygnet_db *db)
{
	struct cygnet_sa_params p = large(0x1000);
	struct cygnet_path path = p.path;

	path.src = path.dst = addr6("2001:db8::1");
	path.af = AF_INET6;
	cygnet_sa_update(db, &p.id, &path, 9);
}

/* The SA is found at its old or at its new destination. */
static void look_for_path(struct cygnet_db *db)
{
	struct cygnet_addr there = addr6("2001:db8::1");
	struct cygnet_sa *sa = find_in(db, 0x1000);

	if (!sa)
		sa = cygnet_sad_lookup(db, htonl(0x1000), IPPROTO_ESP, AF_INET6, &there);
	else
		assert_int_equal(cygnet_sa_path(sa)->src.v4, addr4("192.0.2.2").v4);
	assert_non_null(sa);
}

/* The other bystander's peer moves: its SA, which is outbound, changes its chain. */
static void move_out(struct cygnet_db *db)
{
	struct cygnet_sa_params p = sa_params(0x7001, false);
	struct cygnet_path path = p.path;

	path.src = path.dst = addr6("2001:db8::1");
	path.af = AF_INET6;
	cygnet_sa_update(db, &p.id, &path, 9);
	if (!cygnet_sad_lookup_out(db, p.id.spi, IPPROTO_ESP, AF_INET6, &path.dst))
		abort();
}

static void add_policy(struct cygnet_db *db)
{
	struct cygnet_policy_params p = tunnel(0x7001, "10.1.0.0");

	cygnet_policy_add(db, &p);
}

static void add_policy_by_protocol(struct cygnet_db *db)
{
	struct cygnet_policy_params p = tunnel(0x7001, "10.1.0.0");

	p.sel.proto = IPPROTO_TCP;
	cygnet_policy_add(db, &p);
}

static void delete_policy(struct cygnet_db *db)
{
	struct cygnet_policy_params p = tunnel(0x7001, "10.1.0.0");

	cygnet_policy_delete(db, &p);
}

static void delete_policy_by_protocol(struct cygnet_db *db)
{
	struct cygnet_policy_params p = tunnel(0x7001, "10.1.0.0");

	p.sel.proto = IPPROTO_TCP;
	cygnet_policy_delete(db, &p);
}

/* A policy of lower precedence that always matches, behind the one that is added and deleted. */
static void add_wide_policy(struct cygnet_db *db)
{
	struct cygnet_policy_params p = tunnel(0x7001, "10.1.0.0");

	p.sel = selector("10.0.0.0", 8, "10.0.0.0", 8);
	p.priority = 2000;
	assert_int_equal(cygnet_policy_add(db, &p), 0);
}

static void add_both_policies(struct cygnet_db *db)
{
	add_wide_policy(db);
	add_policy(db);
}

static void add_wide_and_by_protocol(struct cygnet_db *db)
{
	add_wide_policy(db);
	add_policy_by_protocol(db);
}

/* Another user of the entry of add_policy(). @param priority  below 1000: it applies instead */
static void add_user(struct cygnet_db *db, uint32_t priority)
{
	struct cygnet_policy_params p = tunnel(0x7001, "10.1.0.0");

	p.priority = priority;
	cygnet_policy_add(db, &p);
}

static void add_better_user(struct cygnet_db *db)
{
	add_user(db, 500);
}

static void add_worse_user(struct cygnet_db *db)
{
	add_user(db, 1500);
}

static void add_worst_user(struct cygnet_db *db)
{
	add_user(db, 1600);
}

static void add_two_users(struct cygnet_db *db)
{
	add_policy(db);
	add_worst_user(db);
}

static void add_three_users(struct cygnet_db *db)
{
	add_two_users(db);
	add_worse_user(db);
}

static void delete_worse_user(struct cygnet_db *db)
{
	struct cygnet_policy_params p = tunnel(0x7001, "10.1.0.0");

	p.priority = 1500;
	cygnet_policy_delete(db, &p);
}

static void look_for_policy(struct cygnet_db *db)
{
	struct cygnet_flow flow = flow4("10.1.0.1", "10.9.9.9", IPPROTO_TCP, 1, 2);
	struct cygnet_policy *policy = cygnet_spd_lookup(db, CYGNET_OUT, &flow);

	assert_non_null(policy);
	assert_non_null(cygnet_policy_sa(db, policy));
}

/* Another SA of the entry of add_policy(), for CPU 1, and the policy of one of its SAs. */
static void add_own_sa(struct cygnet_db *db)
{
	struct cygnet_sa_params p = sa_params(0x7002, false);

	p.flags |= cygnet_sa_cpu_flags(1);
	assert_int_equal(cygnet_sa_add(db, &p), 0);
}

static struct cygnet_policy_params per_cpu(uint32_t spi)
{
	struct cygnet_policy_params p = tunnel(spi, "10.1.0.0");

	p.per_cpu = 1;
	return p;
}

static void add_own(struct cygnet_db *db)
{
	const struct cygnet_policy_params p = per_cpu(0x7002);

	cygnet_policy_add(db, &p);
}

static void delete_own(struct cygnet_db *db)
{
	const struct cygnet_policy_params p = per_cpu(0x7002);

	cygnet_policy_delete(db, &p);
}

static void add_fallback(struct cygnet_db *db)
{
	const struct cygnet_policy_params p = per_cpu(0x7001);

	cygnet_policy_add(db, &p);
}

static void delete_fallback(struct cygnet_db *db)
{
	const struct cygnet_policy_params p = per_cpu(0x7001);

	cygnet_policy_delete(db, &p);
}

static void add_fallback_before_own(struct cygnet_db *db)
{
	add_own_sa(db);
	add_fallback(db);
}

static void add_fallback_and_own(struct cygnet_db *db)
{
	add_fallback_before_own(db);
	add_own(db);
}

static void add_own_and_fallback(struct cygnet_db *db)
{
	add_own_sa(db);
	add_own(db);
	add_fallback(db);
}

static const struct cygnet_sa *sa_of_worker(struct cygnet_db *db)
{
	struct cygnet_flow flow = flow4("10.1.0.1", "10.9.9.9", IPPROTO_TCP, 1, 2);
	struct cygnet_policy *policy = cygnet_spd_lookup(db, CYGNET_OUT, &flow);
	const struct cygnet_sa *sa;
	int wants;

	assert_non_null(policy);
	sa = cygnet_policy_sa_for(db, policy, 1, 2, &wants);
	assert_non_null(sa);
	assert_int_equal(wants, cygnet_sa_cpu(sa) == 1 ? CYGNET_WANTS_NOTHING : 1);
	return sa;
}

static void look_for_any(struct cygnet_db *db)
{
	sa_of_worker(db);
}

static void look_for_own(struct cygnet_db *db)
{
	assert_int_equal(cygnet_sa_cpu(sa_of_worker(db)), 1);
}

/* A trap below a policy, and a bypass that precedes neither. */
static void add_three_policies(struct cygnet_db *db)
{
	struct cygnet_policy_params p = tunnel(0x7001, "10.1.0.0");

	add_both_policies(db);
	p.sel.dport_lo = p.sel.dport_hi = 99;
	p.action = CYGNET_BYPASS;
	assert_int_equal(cygnet_policy_add(db, &p), 0);
}

static void hold(struct cygnet_db *db)
{
	cygnet_db_hold(db);
}

static void hold_three_policies(struct cygnet_db *db)
{
	add_three_policies(db);
	hold(db);
}

static void end_hold(struct cygnet_db *db)
{
	cygnet_hold_end(db);
}

/* At any time the packets are protected or dropped. */
static void look_for_protection(struct cygnet_db *db)
{
	struct cygnet_flow flow = flow4("10.1.0.1", "10.9.9.9", IPPROTO_TCP, 1, 2);
	struct cygnet_policy *policy = cygnet_spd_lookup(db, CYGNET_OUT, &flow);

	assert_non_null(policy);
	assert_int_equal(policy->action, CYGNET_PROTECT);
	assert_true(!cygnet_policy_held(policy) || !policy->reqid);
}

static void flush(struct cygnet_db *db)
{
	cygnet_db_flush(db);
}

static void receive_some(struct cygnet_db *db)
{
	add_large(db);
	for (uint64_t seq = 3000; seq <= 3100; seq++)
		assert_true(cygnet_replay_update(db, find_in(db, 0x1000), seq));
}

static void receive_ahead(struct cygnet_db *db)
{
	cygnet_replay_update(db, find_in(db, 0x1000), 5000);
}

static void look_for_replays(struct cygnet_db *db)
{
	struct cygnet_sa *sa = find_in(db, 0x1000);

	for (uint64_t seq = 3000; seq <= 3100; seq++)
		assert_false(cygnet_replay_check(db, sa, seq));
	assert_false(cygnet_replay_check(db, sa, 5000) && sa->seq > 5000);
}

static struct cygnet_event numbered(uint32_t n)
{
	struct cygnet_event event = {.type = CYGNET_EVENT_ACQUIRE, .reqid = n};

	event.new_port = (uint16_t)n;
	return event;
}

static void post_one(struct cygnet_db *db)
{
	struct cygnet_event event = numbered(1);

	cygnet_event_post(db, &event);
}

static void post_two(struct cygnet_db *db)
{
	struct cygnet_event event = numbered(2);

	post_one(db);
	cygnet_event_post(db, &event);
}

static void take_one(struct cygnet_db *db)
{
	struct cygnet_event event;

	cygnet_event_wait(db, &event, 0);
}

/* Events are complete and in order. Does not remove them, because it is called twice. */
static void look_for_events(struct cygnet_db *db)
{
	uint32_t n = db->header->event_tail - db->header->event_head;

	assert_true(n <= 2);
	for (uint32_t i = 0; i < n; i++) {
		const struct cygnet_event *e =
			&db->events[(db->header->event_head + i) % LAYOUT_EVENTS];

		assert_int_equal(e->type, CYGNET_EVENT_ACQUIRE);
		assert_int_equal(e->reqid, db->header->event_head + i + 1);
		assert_int_equal(e->new_port, e->reqid);
	}
}

/* ------------------------------------------------ a reader beside a repair -- */

static void repair_and_reclaim(struct cygnet_db *db)
{
	repair_it(db);
	reclaim(db);
}

/*
 * After a write of the repair a reader reports a quiescent state, and then gets an SA by its index
 * and generation. If it gets the SA, its keys must stay until the next quiescent state.
 * @param step           number of the write
 * @param[in,out] found  number of times that the reader got the SA
 * @return               false: the repair has fewer writes
 */
static bool look_while_repaired(struct cygnet_db *reader, uint32_t index, uint32_t generation,
				unsigned int step, unsigned int *found)
{
	struct child child = start(CRASHED, repair_and_reclaim);
	struct cygnet_sa *sa = NULL;
	bool looked = false;

	for (unsigned int n = 0; next_write(CRASHED, &child); n++) {
		if (n == step) {
			cygnet_reader_quiescent(reader, 0);
			sa = cygnet_sa_get(reader, index, generation);
			looked = true;
		}
		assert_int_equal(write(child.go_on, "", 1), 1);
	}
	if (sa) {
		assert_int_equal(sa->state, CYGNET_SLOT_RETIRED);
		assert_int_equal(sa->cipher_key[0], 0xab);
		++*found;
	}
	return looked;
}

/* The writer that deleted an SA died when the SA was out of its chain, but still live. */
static void reader_beside_repair(void **state)
{
	struct fixture *f = *state;
	size_t size = f->db->size;
	uint32_t index, generation;
	unsigned int found = 0;
	struct cygnet_db *reader;
	struct cygnet_sa *sa;
	struct child child;

	add_bystanders(f->db);
	add_large(f->db);
	sa = find_in(f->db, 0x1000);
	index = cygnet_sa_index(f->db, sa);
	generation = sa->generation;
	find_regions(f->db);
	make_level(f, ORIGINAL);
	make_level(f, CRASHED);
	child = start(ORIGINAL, delete_sa);
	while (next_write(ORIGINAL, &child) && find_in(f->db, 0x1000))
		assert_int_equal(write(child.go_on, "", 1), 1);
	assert_int_equal(cygnet_db_open_flags(level[CRASHED].path, NULL, CYGNET_OPEN_ON_DISK,
					      &reader, NULL, 0),
			 0);
	assert_int_equal(cygnet_role_take(reader, CYGNET_ROLE_DATAPLANE), 0);
	for (unsigned int step = 0, more = 1; more; step++) {
		die(ORIGINAL, child.pid);
		assert_int_equal(cygnet_reader_online(reader, 0), 0);
		assert_non_null(cygnet_sa_get(reader, index, generation));
		more = look_while_repaired(reader, index, generation, step, &found);
	}
	assert_true(found);
	do {
		assert_int_equal(write(child.go_on, "", 1), 1);
	} while (next_write(ORIGINAL, &child));
	cygnet_db_close(reader);
	drop_level(ORIGINAL, size);
	drop_level(CRASHED, size);
}

#define SCENARIOS(X) \
	X(sa_add, nothing, add_large, look_for_sa, false) \
	X(sa_add_reserved, reserve, add_large, look_for_sa, false) \
	X(sa_add_used_slot, use_slots, add_large, look_for_sa, false) \
	X(spi_reserve, use_slots, reserve, look_for_sa, false) \
	X(sa_delete, add_large, delete_sa, look_for_sa, false) \
	X(sa_delete_reserved, reserve, delete_sa, look_for_sa, false) \
	X(sa_update, add_large, move, look_for_path, false) \
	X(sa_update_out, nothing, move_out, nothing, false) \
	X(policy_add, add_wide_policy, add_policy, look_for_policy, false) \
	X(policy_add_again, add_both_policies, add_policy, look_for_policy, false) \
	X(policy_add_by_protocol, add_wide_policy, add_policy_by_protocol, look_for_policy, false) \
	X(policy_delete, add_both_policies, delete_policy, look_for_policy, false) \
	X(policy_delete_by_protocol, add_wide_and_by_protocol, delete_policy_by_protocol, \
	  look_for_policy, false) \
	X(user_add_better, add_two_users, add_better_user, look_for_policy, false) \
	X(user_add_between, add_two_users, add_worse_user, look_for_policy, false) \
	X(user_add_last, add_policy, add_worst_user, look_for_policy, false) \
	X(user_delete_first, add_three_users, delete_policy, look_for_policy, false) \
	X(user_delete_between, add_three_users, delete_worse_user, look_for_policy, false) \
	X(own_add, add_fallback_before_own, add_own, look_for_any, false) \
	X(own_delete, add_own_and_fallback, delete_own, look_for_any, false) \
	X(fallback_delete, add_fallback_and_own, delete_fallback, look_for_own, false) \
	X(db_flush, add_both_policies, flush, nothing, true) \
	X(db_hold, add_three_policies, hold, look_for_protection, true) \
	X(hold_replace, hold_three_policies, add_policy, look_for_protection, true) \
	X(hold_end, hold_three_policies, end_hold, nothing, true) \
	X(db_reclaim, retire_and_let_go, reclaim, look_for_sa, false) \
	X(replay_update, receive_some, receive_ahead, look_for_replays, false) \
	X(event_post, nothing, post_two, look_for_events, false) \
	X(event_wait, post_two, take_one, look_for_events, false)

#define DEFINE(name, before, call, look, flushes) \
	static void name(void **state) \
	{ \
		static const struct scenario s = {before, call, look, flushes}; \
\
		run_scenario(state, &s); \
	}
SCENARIOS(DEFINE)
#undef DEFINE

#define TEST(name, ...) cmocka_unit_test_setup_teardown(name, fixture_setup, step_teardown),

int main(void)
{
	const struct CMUnitTest tests[] = {SCENARIOS(TEST) TEST(reader_beside_repair)};

	if (!TRAP_FLAG) {
		printf("needs a processor with a trap flag that a process can set: x86\n");
		return 77;
	}
	return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}

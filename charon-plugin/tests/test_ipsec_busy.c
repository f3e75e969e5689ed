/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Events while charon is busy: they stay in order, and none is lost.
 */

#include "charon.h"

#include <errno.h>
#include <unistd.h>

#include <daemon.h>
#include <processing/jobs/callback_job.h>

/** More events than fit into the ring */
#define MUCH 10000

/** Blocks threads of charon while it is closed */
static struct {
	mutex_t *mutex;
	condvar_t *condvar;
	bool closed;
	int waiting;
} gate;

static void close_gate(void)
{
	gate.mutex->lock(gate.mutex);
	gate.closed = TRUE;
	gate.mutex->unlock(gate.mutex);
}

static void open_gate(void)
{
	gate.mutex->lock(gate.mutex);
	gate.closed = FALSE;
	gate.condvar->broadcast(gate.condvar);
	gate.mutex->unlock(gate.mutex);
}

static void pass_gate(void)
{
	gate.mutex->lock(gate.mutex);
	gate.waiting++;
	gate.condvar->broadcast(gate.condvar);
	while (gate.closed)
	{
		gate.condvar->wait(gate.condvar, gate.mutex);
	}
	gate.waiting--;
	gate.mutex->unlock(gate.mutex);
}

/** Wait until the gate blocks count threads */
static bool await_blocked(int count)
{
	bool blocked;
	int ms = 0;

	gate.mutex->lock(gate.mutex);
	while (gate.waiting < count && ms < LONG_WAIT)
	{
		ms += waits_a_bit(gate.condvar, gate.mutex) ? 0 : BIT;
	}
	blocked = gate.waiting >= count;
	gate.mutex->unlock(gate.mutex);
	return blocked;
}

/** Reqid of the next expected acquire */
static uint32_t next_reqid;
/** Number of acquires with another reqid */
static int disorder;

static bool slow_acquire(kernel_listener_t *this, uint32_t reqid,
						 kernel_acquire_data_t *data)
{
	disorder += reqid != next_reqid++;
	pass_gate();
	return TRUE;
}

static kernel_listener_t slow = {
	.acquire = slow_acquire,
};

static int setup(void **state)
{
	gate.mutex = mutex_create(MUTEX_TYPE_DEFAULT);
	gate.condvar = condvar_create(CONDVAR_TYPE_DEFAULT);
	next_reqid = 1;
	disorder = 0;
	charon->kernel->add_listener(charon->kernel, &slow);
	return charon_test_setup(state);
}

static int teardown(void **state)
{
	open_gate();
	charon->kernel->remove_listener(charon->kernel, &slow);
	gate.condvar->destroy(gate.condvar);
	gate.mutex->destroy(gate.mutex);
	return charon_test_teardown(state);
}

static struct cygnet_event acquire_event(uint32_t reqid)
{
	return (struct cygnet_event){
		.type = CYGNET_EVENT_ACQUIRE,
		.reqid = reqid,
		.flow = {
			.src.v4 = inet_addr("10.1.0.1"),
			.dst.v4 = inet_addr("10.2.0.1"),
			.af = AF_INET,
			.proto = IPPROTO_UDP,
		},
	};
}

static int try_acquire(uint32_t reqid)
{
	struct cygnet_event event = acquire_event(reqid);

	return dataplane_ask(DATAPLANE_POST, &event).result;
}

static void post_sa_event(uint16_t type, bool hard)
{
	struct cygnet_event event = sa_event(type);

	event.hard = hard;
	event.new_addr.v4 = inet_addr("198.51.100.9");
	event.new_port = htons(40001);
	dataplane_post(&event);
}

/* a listener blocks, so that the event ring fills up */
static void test_blocked_handler(void **state)
{
	uint32_t count = 1;
	int err = 0;

	assert_int_equal(add_sa(), SUCCESS);
	close_gate();
	assert_int_equal(try_acquire(1), 0);
	assert_true(await_blocked(1));
	post_sa_event(CYGNET_EVENT_EXPIRE, FALSE);
	post_sa_event(CYGNET_EVENT_MAPPING, FALSE);
	while (count < MUCH && !(err = try_acquire(count + 1)))
	{
		count++;
	}
	assert_int_equal(err, -ENOBUFS);
	assert_in_range(count, 1000, MUCH);
	assert_int_equal(raised.acquires, 1);
	assert_int_equal(raised.expires, 0);
	assert_int_equal(raised.mappings, 0);

	open_gate();
	assert_true(raised_wait(&raised.acquires, count, LONG_WAIT));
	/* the ring has room again for the refused event and for later ones */
	assert_int_equal(try_acquire(count + 1), 0);
	post_sa_event(CYGNET_EVENT_EXPIRE, TRUE);
	assert_true(raised_wait(&raised.expires, 2, LONG_WAIT));
	assert_true(raised.hard);
	assert_int_equal(raised.acquires, count + 1);
	assert_int_equal(raised.mappings, 1);
	assert_int_equal(disorder, 0);
}

static job_requeue_t occupy(void *data)
{
	pass_gate();
	return JOB_REQUEUE_NONE;
}

/** Number of jobs that are queued */
static int waiting_jobs(void)
{
	int prio, jobs = 0;

	for (prio = 0; prio < JOB_PRIO_MAX; prio++)
	{
		jobs += lib->processor->get_job_load(lib->processor, prio);
	}
	return jobs;
}

/** Number of jobs that threads execute, without the critical ones, which never
 * end */
static int running_jobs(void)
{
	int prio, jobs = 0;

	for (prio = JOB_PRIO_CRITICAL + 1; prio < JOB_PRIO_MAX; prio++)
	{
		jobs += lib->processor->get_working_threads(lib->processor, prio);
	}
	return jobs;
}

/** Wait until jobs() is count */
static bool await_jobs(int (*jobs)(void), int count)
{
	int i;

	for (i = 0; jobs() != count; i++)
	{
		if (i == LONG_WAIT / 10)
		{
			return FALSE;
		}
		usleep(10000);
	}
	return TRUE;
}

static void occupy_threads(void)
{
	int idle, i;

	/* wait for charon's jobs of the test before */
	assert_true(await_jobs(waiting_jobs, 0));
	assert_true(await_jobs(running_jobs, 0));
	close_gate();
	idle = lib->processor->get_idle_threads(lib->processor);
	assert_true(idle > 0);
	for (i = 0; i < idle; i++)
	{
		lib->processor->queue_job(lib->processor,
				(job_t*)callback_job_create(occupy, NULL, NULL, NULL));
	}
	assert_true(await_blocked(idle));
	assert_int_equal(lib->processor->get_idle_threads(lib->processor), 0);
	assert_int_equal(waiting_jobs(), 0);
}

/* all threads of charon are blocked: jobs stay queued, timers are late */
static void test_busy_threads(void **state)
{
	charon->kernel->remove_listener(charon->kernel, &slow);
	occupy_threads();
	sa.lifetime.time.rekey = 1;
	sa.lifetime.time.life = 2;
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(try_acquire(1), 0);
	assert_int_equal(try_acquire(2), 0);
	post_sa_event(CYGNET_EVENT_MAPPING, FALSE);
	post_sa_event(CYGNET_EVENT_EXPIRE, FALSE);
	assert_true(raised_wait(&raised.expires, 1, LONG_WAIT));
	assert_int_equal(raised.acquires, 2);
	assert_int_equal(raised.mappings, 1);
	assert_false(raised_wait(&raised.expires, 2, 2000 + SHORT_WAIT));
	/* a job of charon for each event, and the plugin's for the timers */
	assert_true(await_jobs(waiting_jobs, 5));

	open_gate();
	assert_true(raised_wait(&raised.expires, 3, LONG_WAIT));
	assert_string_equal(raised.limits, "ssh");
	assert_false(raised_wait(&raised.expires, 4, SHORT_WAIT));
	assert_true(await_jobs(waiting_jobs, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_blocked_handler, setup, teardown),
		cmocka_unit_test_setup_teardown(test_busy_threads, setup, teardown),
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}

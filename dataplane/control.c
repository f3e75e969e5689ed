/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "control.h"
#include "lifetime.h"
#include "log.h"
#include "netlink.h"

#define EVENTS 4096u
#define TICK_MS 10
#define WIPE_TICKS 10

struct cygnet_db *sadb;
uint64_t control_now;
int control_charon;
bool control_stopping;

static struct rte_ring *events;
static struct cygnet_event unposted;
static bool have_unposted;
static int signals = -1;
static pthread_mutex_t mirror = PTHREAD_MUTEX_INITIALIZER;

_Static_assert(sizeof(struct cygnet_event) % 4 == 0, "rte_ring wants words");

bool control_event(const struct cygnet_event *event)
{
	return rte_ring_mp_enqueue_elem(events, (void *)(uintptr_t)event, sizeof(*event)) == 0;
}

static void update_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	__atomic_store_n(&control_now, (uint64_t)ts.tv_sec, __ATOMIC_RELAXED);
}

static int charon_pid(void)
{
	struct cygnet_db_info info;

	cygnet_db_info(sadb, &info);
	return info.charon_pid;
}

/* What was raised for a charon that has gone is nothing to its successor, which
 * has other SAs and policies. */
static void forget_events_of_another(void)
{
	int now = charon_pid();

	if (now == control_charon)
		return;
	__atomic_store_n(&control_charon, now, __ATOMIC_RELAXED);
	have_unposted = false;
	while (rte_ring_sc_dequeue_elem(events, &unposted, sizeof(unposted)) == 0)
		;
}

/* What does not fit into the shared ring now waits in ours, in order. */
void control_post_events(void)
{
	forget_events_of_another();
	for (;;) {
		if (!have_unposted &&
		    rte_ring_sc_dequeue_elem(events, &unposted, sizeof(unposted)))
			return;
		have_unposted = cygnet_event_post(sadb, &unposted) != 0;
		if (have_unposted)
			return;
	}
}

void control_lock(void)
{
	pthread_mutex_lock(&mirror);
}

void control_unlock(void)
{
	pthread_mutex_unlock(&mirror);
}

int control_init(void)
{
	sigset_t set;

	/* Whoever reads our log may go away. */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	/* Before other threads exist, so that they inherit it. */
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		return -errno;
	update_clock();
	return 0;
}

int control_events_init(void)
{
	events = rte_ring_create_elem("events", sizeof(struct cygnet_event), EVENTS,
				      SOCKET_ID_ANY, RING_F_SC_DEQ);
	if (!events) {
		log_error("no memory for the event queue");
		return -ENOMEM;
	}
	__atomic_store_n(&control_charon, charon_pid(), __ATOMIC_RELAXED);
	return 0;
}

void control_events_free(void)
{
	rte_ring_free(events);
	events = NULL;
}

int control_start(void)
{
	int err = control_events_init();

	if (err)
		return err;
	err = netlink_start();
	if (err)
		control_events_free();
	return err;
}

static void serve_netlink(void)
{
	control_lock();
	netlink_process();
	control_unlock();
}

/* Keys of deleted SAs are charon's to wipe, as soon as our lcores are past them. A
 * charon that died did not get to it. */
static void wipe_for_charon(void)
{
	static unsigned int ticks;
	struct cygnet_db_info info;

	if (++ticks % WIPE_TICKS)
		return;
	cygnet_db_info(sadb, &info);
	if ((info.sas_waiting || info.policies_waiting) &&
	    !cygnet_role_held(sadb, CYGNET_ROLE_CHARON))
		cygnet_db_reclaim(sadb);
}

void control_run(void (*report)(void))
{
	struct pollfd fds[] = {
		{.fd = netlink_fd(), .events = POLLIN},
		{.fd = signals, .events = POLLIN},
	};
	struct signalfd_siginfo info;

	while (!control_stopping) {
		if (poll(fds, 2, TICK_MS) > 0 && (fds[1].revents & POLLIN) &&
		    read(signals, &info, sizeof(info)) > 0) {
			log_info("%s: draining", strsignal((int)info.ssi_signo));
			__atomic_store_n(&control_stopping, true, __ATOMIC_RELEASE);
		}
		update_clock();
		serve_netlink();
		netlink_solicit_wanted();
		control_post_events();
		lifetime_tell_again();
		wipe_for_charon();
		report();
	}
}

void control_stop(void)
{
	control_post_events();
	netlink_stop();
	control_events_free();
}

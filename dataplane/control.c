/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/acquire.h"
#include "base/audit.h"
#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/peers.h"
#include "base/sadb.h"
#include "base/stats.h"
#include "control.h"
#include "esp/lifetime.h"
#include "host/carrier.h"
#include "host/netlink.h"
#include "host/tunnel_end.h"
#include "host/wire.h"
#include "path/loop.h"
#include "takeover.h"

#define TICK_MS	   10
#define WIPE_TICKS 10

static int signals = -1;
static pthread_mutex_t mirror = PTHREAD_MUTEX_INITIALIZER;

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

	/* The reader of a log pipe may exit. */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR2);
	/* Before other threads are created, so that they inherit the mask. */
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		return -errno;
	clock_update();
	return 0;
}

/* What lcores and charon do not wait for: time, acquires, audit records. */
static void keep_up(void)
{
	clock_update();
	events_post();
	audit_post();
}

int control_start(void)
{
	int err = events_init();

	if (err)
		return err;
	err = acquires_init();
	if (!err)
		err = audit_init();
	if (!err)
		err = peers_init();
	if (!err)
		err = netlink_start(keep_up);
	/* Workers find marked the ports that tunnels end at. */
	while (!err && peers_update(tunnel_end_note))
		;
	if (err) {
		peers_free();
		audit_free();
		events_free();
	}
	return err;
}

static void serve_netlink(void)
{
	control_lock();
	netlink_process();
	control_unlock();
}

/* Charon wipes the keys of deleted SAs once no lcore uses them. If charon has died, cygnetd wipes
 * them. */
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

/* Workers do not log. */
static void log_unusable_routes(void)
{
	static bool logged;

	for (unsigned int w = 0; w < CONF_MAX_WORKERS && !logged; w++) {
		logged = __atomic_load_n(&stats[w].drop[DROP_ROUTE_UNUSABLE], __ATOMIC_RELAXED);
		if (logged)
			log_warn("protected packets are dropped as %s: %s; cygnetctl trace shows the route of a packet",
				 drop_name[DROP_ROUTE_UNUSABLE], drop_help[DROP_ROUTE_UNUSABLE]);
	}
}

static void take_signal(void (*reload)(void))
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP) {
		reload();
		return;
	}
	if (info.ssi_signo == SIGUSR2) {
		takeover_begin();
		return;
	}
	log_info("%s: draining", strsignal((int)info.ssi_signo));
	__atomic_store_n(&workers_stopping, true, __ATOMIC_RELEASE);
}

void control_run(void (*turn)(void), void (*reload)(void))
{
	struct pollfd fds[] = {
		{.fd = netlink_fd(), .events = POLLIN},
		{.fd = signals, .events = POLLIN},
	};

	while (!workers_stopping) {
		if (takeover_turn())
			__atomic_store_n(&workers_stopping, true, __ATOMIC_RELEASE);
		if (poll(fds, 2, TICK_MS) > 0 && (fds[1].revents & POLLIN))
			take_signal(reload);
		if (takeover_old_ended())
			reload();
		keep_up();
		serve_netlink();
		netlink_solicit_wanted();
		wires_watch();
		carriers_follow();
		peers_update(tunnel_end_note);
		log_unusable_routes();
		lifetime_tell_again();
		wipe_for_charon();
		turn();
	}
}

void control_stop(void)
{
	events_post();
	audit_post();
	netlink_stop();
	peers_free();
	audit_free();
	events_free();
}

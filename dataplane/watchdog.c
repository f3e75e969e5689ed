/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sadb.h"
#include "base/stats.h"
#include "host/notify.h"
#include "watchdog.h"

static unsigned int nworkers;
static uint64_t limit_us;		 /* 0: no watchdog */
static uint64_t notified_us;		 /* when systemd was notified last */
static bool logged;			 /* that a worker stands still */
static uint64_t turns[CONF_MAX_WORKERS]; /* at the last notification */
static uint64_t status_s;		 /* clock_seconds() of the last look at the status */
static char status[160];		 /* as systemd has it */

/* A decimal number of the environment. @return it, or 0 if it is not set or is no number */
static uint64_t number_of(const char *name)
{
	const char *text = getenv(name);
	char *end;
	uint64_t number;

	if (!text || text[0] < '0' || text[0] > '9')
		return 0;
	number = strtoull(text, &end, 10);
	return *end ? 0 : number;
}

static uint64_t turns_of(unsigned int worker)
{
	return __atomic_load_n(&stats[worker].turns, __ATOMIC_RELAXED);
}

/* @return a worker that has not begun a turn since the last notification, nworkers if there is none */
static unsigned int standing_worker(void)
{
	unsigned int w = 0;

	while (w < nworkers && turns_of(w) != turns[w])
		w++;
	return w;
}

static void notify_alive(uint64_t now)
{
	for (unsigned int w = 0; w < nworkers; w++)
		turns[w] = turns_of(w);
	if (logged)
		log_info("all workers move again");
	logged = false;
	notified_us = now;
	notify_send("WATCHDOG=1");
}

static void watch(void)
{
	uint64_t now = clock_read_us(CLOCK_MONOTONIC), silence = now - notified_us;
	unsigned int standing;

	if (!limit_us || silence < limit_us / 4)
		return;
	standing = standing_worker();
	if (standing == nworkers) {
		notify_alive(now);
	} else if (!logged && silence >= limit_us / 2) {
		log_error("worker %u has not moved for %" PRIu64
			  " ms: systemd restarts cygnetd after %" PRIu64,
			  standing, silence / 1000, limit_us / 1000);
		logged = true;
	}
}

static void tell_status(void)
{
	struct cygnet_db_info info;
	char text[sizeof(status)];

	if (clock_seconds() == status_s)
		return;
	status_s = clock_seconds();
	cygnet_db_info(sadb, &info);
	snprintf(text, sizeof(text), "STATUS=Forwarding: %u worker%s, %u SAs, %u policies, %s",
		 nworkers, nworkers == 1 ? "" : "s", info.sas, info.policies,
		 info.charon_pid ? "charon is connected" : "no charon");
	if (!strcmp(text, status))
		return;
	memcpy(status, text, sizeof(status));
	notify_send(status);
}

void watchdog_start(unsigned int workers)
{
	uint64_t pid = number_of("WATCHDOG_PID");

	nworkers = workers;
	logged = false;
	status[0] = '\0';
	status_s = 0;
	limit_us = pid && pid != (uint64_t)getpid() ? 0 : number_of("WATCHDOG_USEC");
	notified_us = clock_read_us(CLOCK_MONOTONIC);
	for (unsigned int w = 0; w < workers; w++)
		turns[w] = turns_of(w);
}

void watchdog_turn(void)
{
	watch();
	tell_status();
}

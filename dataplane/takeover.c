/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/end_signal.h"
#include "base/log.h"
#include "host/notify.h"
#include "starter.h"
#include "takeover.h"

#define WAIT_S 60    /* for the other process */
#define TELL_S 5     /* for the old process to tell systemd */
#define END_MS 1000u /* for a new process to end that has closed its end of the connection */

enum message { READY = 'r', GRANTED = 'g', SERVING = 's' };

static char program[PATH_MAX];
static const char *conf_path;
static pid_t new_pid; /* 0: there is no new process */
static int to_new = -1, to_old = -1;
static int old_end = -1; /* the new process's end of the connection, until the old one has ended */
static bool wanted;

static int say(int fd, enum message message)
{
	const char byte = (char)message;

	return send(fd, &byte, 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

/* @return 0, -EAGAIN (nothing yet), or -ECONNRESET (the other process has ended, or says something else) */
static int hear(int fd, enum message message)
{
	char byte = 0;
	ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	return n == 1 && byte == (char)message ? 0 : -ECONNRESET;
}

/* Meanwhile systemd's watchdog hears from the main process; from another one nothing is taken.
 * @return as hear(), with -ETIMEDOUT instead of -EAGAIN */
static int await(int fd, enum message message, unsigned int limit_s)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	uint64_t end = clock_read_us(CLOCK_MONOTONIC) + limit_s * 1000000ull;
	int err;

	while ((err = hear(fd, message)) == -EAGAIN && clock_read_us(CLOCK_MONOTONIC) < end) {
		poll(&pollfd, 1, 1000);
		if (fd == to_new)
			notify_send("WATCHDOG=1");
	}
	return err == -EAGAIN ? -ETIMEDOUT : err;
}

/* --- the old process --- */

/* The path by which this program was started, so that the program that is installed there now is
 * started. Of a program that was found by PATH, the path of its file. */
void takeover_init(const char *name, const char *conf)
{
	ssize_t len = (ssize_t)strlen(name);

	conf_path = conf;
	if (strchr(name, '/') && len < (ssize_t)sizeof(program))
		memcpy(program, name, (size_t)len);
	else
		len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	program[len > 0 ? len : 0] = '\0';
}

int takeover_prepare(void)
{
	int err = starter_open(program, conf_path);

	if (err)
		log_error("cannot fork the process that starts another cygnetd: %s",
			  strerror(-err));
	return err;
}

static void forget_new(void)
{
	close(to_new);
	to_new = -1;
	new_pid = 0;
	wanted = false;
}

void takeover_begin(void)
{
	int pair[2], pid;

	if (new_pid) {
		log_warn("process %d is to take over already", (int)new_pid);
		return;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		log_error("no other cygnetd can take over: %s", strerror(errno));
		return;
	}
	to_new = pair[0];
	/* Descriptors of TAPs and ports do not go along: they would keep the old process's queues there. */
	pid = starter_start(pair[1]);
	close(pair[1]);
	if (pid > 0) {
		new_pid = pid;
		log_info("process %d, %s, is to take over", (int)new_pid, program);
		return;
	}
	log_error("%s: cannot be started to take over: %s", program, strerror(-pid));
	forget_new();
}

/* The new process ends by itself within the time, or is killed. @return its wait status or -errno */
static int end_new(unsigned int patience_ms)
{
	int status = starter_end(patience_ms);

	forget_new();
	return status;
}

/* @param patience_ms  for the new process to end */
static void fail(const char *why, unsigned int patience_ms)
{
	pid_t pid = new_pid;
	int status = end_new(patience_ms);

	if (status < 0) {
		log_error(
			"process %d does not take over: %s (its starter is gone): this one serves on",
			(int)pid, why);
		return;
	}
	log_error("process %d does not take over: %s (%s %d): this one serves on", (int)pid, why,
		  WIFEXITED(status) ? "exit status" : "signal",
		  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

bool takeover_turn(void)
{
	int err;

	if (!new_pid || wanted)
		return wanted;
	err = hear(to_new, READY);
	if (err == -ECONNRESET)
		fail("it has ended while it initialised", END_MS);
	wanted = !err;
	if (wanted)
		log_info("process %d takes over", (int)new_pid);
	return wanted;
}

bool takeover_wanted(void)
{
	return wanted;
}

int takeover_grant(void)
{
	char text[32];
	int err = say(to_new, GRANTED);

	if (!err)
		err = await(to_new, SERVING, WAIT_S);
	if (err) {
		if (err == -ETIMEDOUT)
			fail("its TAPs and workers do not start", 0);
		else
			fail("it has ended before it served", END_MS);
		return err;
	}
	snprintf(text, sizeof(text), "MAINPID=%d", (int)new_pid);
	notify_send(text);
	log_info("process %d has taken over", (int)new_pid);
	/* The connection stays until the process ends, which the new one notices. */
	say(to_new, SERVING);
	return 0;
}

void takeover_cancel(void)
{
	if (new_pid)
		end_new(0);
}

/* --- the new process --- */

int takeover_join(void)
{
	int type = 0, domain = 0;
	socklen_t len = sizeof(int);
	char text[16];

	if (getsockopt(TAKEOVER_FD, SOL_SOCKET, SO_TYPE, &type, &len) < 0 ||
	    type != SOCK_SEQPACKET ||
	    getsockopt(TAKEOVER_FD, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0 ||
	    domain != AF_UNIX || fcntl(TAKEOVER_FD, F_SETFD, FD_CLOEXEC) < 0) {
		fprintf(stderr, "cygnetd: --take-over is for a process that cygnetd starts: send "
				"SIGUSR2 to the one that serves\n");
		return -EBADF;
	}
	to_old = TAKEOVER_FD;
	/* systemd's watchdog is to hear from this process once it is the main process. */
	snprintf(text, sizeof(text), "%d", (int)getpid());
	if (getenv("WATCHDOG_PID"))
		setenv("WATCHDOG_PID", text, 1);
	return 0;
}

bool takeover_joined(void)
{
	return to_old >= 0;
}

int takeover_request(void)
{
	int err;

	if (!takeover_joined())
		return 0;
	/* An old process that has ended, killed say, is noticed below. */
	say(to_old, READY);
	log_info("initialised: the cygnetd that serves is asked to let go");
	err = await(to_old, GRANTED, WAIT_S);
	if (!err)
		return 0;
	if (end_signal_pending())
		return -EINTR;
	if (err == -ETIMEDOUT) {
		log_error("the cygnetd that is to be replaced does not answer");
		return err;
	}
	log_warn("the cygnetd that was to be replaced has ended: starting in its place");
	return 0;
}

void takeover_abandon(void)
{
	if (takeover_joined())
		_exit(1);
}

void takeover_serving(void)
{
	if (!takeover_joined())
		return;
	if (!say(to_old, SERVING))
		await(to_old, SERVING, TELL_S);
	old_end = to_old;
	to_old = -1;
}

bool takeover_old_ended(void)
{
	if (old_end < 0 || hear(old_end, SERVING) == -EAGAIN)
		return false;
	close(old_end);
	old_end = -1;
	return true;
}

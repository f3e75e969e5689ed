/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "starter.h"
#include "takeover.h"

#define STARTER_FD 3 /* the starter's end of the connection, in the starter */

struct request {
	enum { START, END } what;
	uint32_t patience_ms;
};

static int to_starter = -1;

/* A message with a descriptor. */
struct envelope {
	struct msghdr head;
	struct iovec text;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
};

static void address(struct envelope *envelope, struct request *request)
{
	memset(envelope, 0, sizeof(*envelope));
	envelope->text = (struct iovec){.iov_base = request, .iov_len = sizeof(*request)};
	envelope->head = (struct msghdr){
		.msg_iov = &envelope->text,
		.msg_iovlen = 1,
		.msg_control = envelope->control.bytes,
		.msg_controllen = sizeof(envelope->control.bytes),
	};
}

/* --- the starter --- */

/* The new process gets standard input, output, error and TAKEOVER_FD.
 * @return its process ID or -errno */
static int spawn(const char *program, const char *conf, int fd)
{
	char *const argv[] = {(char *)(uintptr_t)program, (char *)"--take-over", (char *)"-c",
			      (char *)(uintptr_t)conf, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid = 0;
	int err;

	sigemptyset(&none);
	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return -err;
	err = posix_spawnattr_init(&attr);
	if (err)
		goto actions;
	err = posix_spawn_file_actions_adddup2(&actions, fd, TAKEOVER_FD);
	if (!err)
		err = posix_spawn_file_actions_addclosefrom_np(&actions, TAKEOVER_FD + 1);
	if (!err)
		err = posix_spawnattr_setsigmask(&attr, &none);
	if (!err)
		err = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	if (!err)
		err = posix_spawn(&pid, program, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
actions:
	posix_spawn_file_actions_destroy(&actions);
	return err ? -err : (int)pid;
}

/* @return wait status */
static int end(pid_t pid, uint32_t patience_ms)
{
	int status = 0;

	for (uint32_t ms = 0; ms < patience_ms; ms += 10) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(10000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return status;
}

/* @param fd  receives the descriptor that came with the request; -1: none
 * @return false: cygnetd has ended */
static bool receive(struct request *request, int *fd)
{
	struct envelope envelope;
	struct cmsghdr *control;

	address(&envelope, request);
	*fd = -1;
	if (recvmsg(STARTER_FD, &envelope.head, MSG_CMSG_CLOEXEC) != sizeof(*request))
		return false;
	control = CMSG_FIRSTHDR(&envelope.head);
	if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
	    control->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(control), sizeof(*fd));
	return true;
}

static void serve(const char *program, const char *conf)
{
	struct request request;
	pid_t pid = 0; /* 0: there is no new process */
	int fd;

	while (receive(&request, &fd)) {
		int answer = -EINVAL;

		if (request.what == START && !pid && fd >= 0) {
			answer = spawn(program, conf, fd);
			pid = answer > 0 ? answer : 0;
		} else if (request.what == END && pid) {
			answer = end(pid, request.patience_ms);
			pid = 0;
		}
		if (fd >= 0)
			close(fd);
		if (send(STARTER_FD, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
			return;
	}
}

/* Signals for cygnetd may be sent to all its processes: the starter ends by the end of the connection. */
__attribute__((noreturn)) static void run(int fd, const char *program, const char *conf)
{
	sigset_t all;

	prctl(PR_SET_NAME, "cygnet-starter");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	if (dup2(fd, STARTER_FD) != STARTER_FD)
		_exit(1);
	closefrom(STARTER_FD + 1);
	serve(program, conf);
	_exit(0);
}

/* --- cygnetd --- */

/* @param fd  goes with the request; -1: none
 * @return the starter's answer or -errno */
static int ask(struct request request, int fd)
{
	struct envelope envelope;
	int answer;

	address(&envelope, &request);
	if (fd < 0) {
		envelope.head.msg_control = NULL;
		envelope.head.msg_controllen = 0;
	} else {
		struct cmsghdr *control = CMSG_FIRSTHDR(&envelope.head);

		control->cmsg_level = SOL_SOCKET;
		control->cmsg_type = SCM_RIGHTS;
		control->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(control), &fd, sizeof(fd));
	}
	if (sendmsg(to_starter, &envelope.head, MSG_NOSIGNAL) != sizeof(request) ||
	    recv(to_starter, &answer, sizeof(answer), 0) != sizeof(answer))
		return -ECONNRESET;
	return answer;
}

int starter_open(const char *program, const char *conf)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		run(pair[1], program, conf);
	close(pair[1]);
	if (pid < 0) {
		int err = -errno;

		close(pair[0]);
		return err;
	}
	to_starter = pair[0];
	return 0;
}

int starter_start(int fd)
{
	return ask((struct request){.what = START}, fd);
}

int starter_end(unsigned int patience_ms)
{
	return ask((struct request){.what = END, .patience_ms = patience_ms}, -1);
}

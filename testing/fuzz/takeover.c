/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A take-over whose other side sends anything: as the process that serves, and as the one that takes over. The
 * input is what the other side sends before it closes the connection, and what the starter answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_log.h>

#include "base/log.h"
#include "input.h"
#include "starter.h"
#include "takeover.h"

#define MESSAGES 8u
#define TURNS	 4u
#define NEW_SIDE 1u
#define BROKEN	 2u /* the starter or the connection */
#define STAYS	 4u /* the other side closes its end only when this one waits for it */

static struct input *in;
static uint8_t choice;
static int peer = -1;

/* The starter's, whose process is not needed. */
int starter_open(const char *name, const char *conf)
{
	(void)name;
	(void)conf;
	return choice & BROKEN ? -EAGAIN : 0;
}

static void send_messages(int fd)
{
	for (unsigned int i = 0; i < MESSAGES && in->left; i++) {
		uint8_t message[4];
		size_t len = input_bytes(in, message, input_byte(in) % 4);

		send(fd, message, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

int starter_start(int fd)
{
	if (choice & BROKEN)
		return -ECONNRESET;
	peer = dup(fd);
	send_messages(peer);
	if (choice & STAYS)
		return 1;
	close(peer);
	peer = -1;
	return 1;
}

int starter_end(unsigned int patience_ms)
{
	(void)patience_ms;
	return choice & BROKEN ? -ECONNRESET : input_word(in);
}

static void end_peer(void)
{
	if (peer >= 0)
		close(peer);
	peer = -1;
}

static void serve(void)
{
	takeover_prepare();
	takeover_begin();
	for (unsigned int i = 0; i < TURNS; i++)
		if (takeover_turn() != takeover_wanted())
			abort();
	takeover_begin();
	end_peer();
	if (takeover_wanted())
		takeover_grant();
	else
		takeover_turn();
	takeover_cancel();
	if (takeover_wanted())
		abort();
}

static void take_over(void)
{
	int pair[2], type = choice & BROKEN ? SOCK_STREAM : SOCK_SEQPACKET;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0 ||
	    dup2(pair[1], TAKEOVER_FD) != TAKEOVER_FD)
		abort();
	close(pair[1]);
	send_messages(pair[0]);
	close(pair[0]);
	if (takeover_join() == 0) {
		if (choice & BROKEN)
			abort();
		takeover_request();
		takeover_serving();
	} else {
		close(TAKEOVER_FD);
	}
	if (takeover_joined())
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)freopen("/dev/null", "w", stdout);
	log_level = RTE_LOG_EMERG;
	takeover_init((*argv)[0], "conf");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};

	fuzz_ignore_clock();
	in = &input;
	choice = input_byte(in);
	if (choice & NEW_SIDE)
		take_over();
	else
		serve();
	return 0;
}

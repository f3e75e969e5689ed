/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file dialogue.h
 * What a server at a Unix socket, such as charon's or cygnetd's, says to one client, in a thread of its own.
 */
#ifndef CYGNETD_TESTS_DIALOGUE_H
#define CYGNETD_TESTS_DIALOGUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define DIALOGUE_MAX 5

struct dialogue {
	const char *path;
	int type;    /* of the socket: SOCK_STREAM, SOCK_SEQPACKET */
	bool greets; /* the first answer does not wait for a request */
	struct {
		const void *data; /* NULL: the server closes the connection */
		size_t len;
	} answer[DIALOGUE_MAX];
	unsigned int delay_us;	      /* before each answer */
	const pthread_t *interrupted; /* gets signals while it waits for an answer; NULL: none */
	/* What was asked before each answer, with a zero at its end. */
	char asked[DIALOGUE_MAX][512];
	bool met; /* a client has come */
	int listener;
	pthread_t thread;
};

/** Listen. Everything above `asked` is set. */
void dialogue_start(struct dialogue *dialogue);
/** End, also if no client has come. */
void dialogue_end(struct dialogue *dialogue);

#endif

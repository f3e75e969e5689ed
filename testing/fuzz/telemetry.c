/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of cygnetd's telemetry to cygnet-exporter and cygnetctl. The input is the answers, with a zero behind each;
 * the first is the greeting. A thread is cygnetd; it answers in that order, whatever it is asked.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <jansson.h>

#include "client.h"
#include "exporter/metrics.h"
#include "input.h"

#define ANSWERS 16u

static const char path[] = "./telemetry.sock";
static int listener;

/* The answers of the next connection. */
static struct input answers;
static sem_t ended; /* posted at the end of each connection */

static void answer(int fd)
{
	struct input in = answers;
	char request[1024];

	for (unsigned int i = 0; i < ANSWERS && in.left; i++) {
		const uint8_t *end = memchr(in.next, 0, in.left);
		size_t len = end ? (size_t)(end - in.next) : in.left;

		if (send(fd, in.next, len, MSG_NOSIGNAL) < 0)
			return;
		in.next += len + !!end;
		in.left -= len + !!end;
		if (recv(fd, request, sizeof(request), 0) <= 0)
			return;
	}
}

static void *serve(void *arg)
{
	(void)arg;
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			abort();
		answer(fd);
		close(fd);
		sem_post(&ended);
	}
	return NULL;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	pthread_t thread;

	(void)argc;
	(void)argv;
	/* What the exporter says about answers that it does not understand. */
	(void)freopen("/dev/null", "w", stdout);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	unlink(path);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(listener, 4) < 0 ||
	    sem_init(&ended, 0, 0) || pthread_create(&thread, NULL, serve, NULL))
		abort();
	return 0;
}

/* All rows of one table, as cygnetctl asks for them. */
static void read_table(void)
{
	char error[256] = "";
	int fd = client_connect(path, error, sizeof(error));
	json_t *rows = fd < 0 ? NULL : client_table(fd, "/cygnet/sas", error, sizeof(error));

	if (!rows && !error[0])
		abort();
	json_decref(rows);
	if (fd >= 0)
		close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t choice = input_byte(&in);
	const struct metrics metrics = {
		.options.prefix = path,
		.sas = choice >> 3,
		.tunnels = choice & 4,
		.policies = choice & 8,
		.stages = choice & 2,
	};
	size_t len = 0;
	char *text;

	fuzz_ignore_clock();
	answers = in;
	text = metrics_text(&metrics, choice & 1, &len);
	if (!text || strlen(text) != len)
		abort();
	free(text);
	sem_wait(&ended);
	read_table();
	sem_wait(&ended);
	return 0;
}

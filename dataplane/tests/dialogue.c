/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "dialogue.h"

/* @return false: the client has gone */
static bool answer(struct dialogue *dialogue, int fd, unsigned int i)
{
	if (i || !dialogue->greets) {
		ssize_t n = recv(fd, dialogue->asked[i], sizeof(dialogue->asked[i]) - 1, 0);

		if (n <= 0)
			return false;
	}
	for (unsigned int k = 0; i && dialogue->interrupted && k < 10; k++) {
		usleep(1000);
		pthread_kill(*dialogue->interrupted, SIGUSR1);
	}
	usleep(dialogue->delay_us);
	return send(fd, dialogue->answer[i].data, dialogue->answer[i].len, MSG_NOSIGNAL) >= 0;
}

static void *serve(void *arg)
{
	struct dialogue *dialogue = arg;
	int fd = accept(dialogue->listener, NULL, NULL);

	if (fd < 0)
		return NULL;
	dialogue->met = true;
	for (unsigned int i = 0; i < DIALOGUE_MAX && dialogue->answer[i].data; i++)
		if (!answer(dialogue, fd, i))
			break;
	close(fd);
	return NULL;
}

void dialogue_start(struct dialogue *dialogue)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", dialogue->path);
	unlink(dialogue->path);
	dialogue->listener = socket(AF_UNIX, dialogue->type, 0);
	assert_int_equal(bind(dialogue->listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(dialogue->listener, 1), 0);
	assert_int_equal(pthread_create(&dialogue->thread, NULL, serve, dialogue), 0);
}

void dialogue_end(struct dialogue *dialogue)
{
	shutdown(dialogue->listener, SHUT_RDWR);
	pthread_join(dialogue->thread, NULL);
	close(dialogue->listener);
	unlink(dialogue->path);
}

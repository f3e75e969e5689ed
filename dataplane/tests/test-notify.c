/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages of cygnetd to systemd. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/log.h"
#include "host/notify.h"

#define SOCKET "./test-notify.sock"

/* Listen as systemd does. The first byte of an abstract name is zero. */
static int listen_at(const char *name, size_t len)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memcpy(addr.sun_path, name, len);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
			 0);
	return fd;
}

static void assert_hears(int fd)
{
	char text[64] = "";

	assert_int_equal(recv(fd, text, sizeof(text) - 1, 0), 7);
	assert_string_equal(text, "READY=1");
	assert_int_equal(recv(fd, text, sizeof(text) - 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
}

static void path(void **state)
{
	int fd;

	(void)state;
	unlink(SOCKET);
	fd = listen_at(SOCKET, strlen(SOCKET));
	setenv("NOTIFY_SOCKET", SOCKET, 1);
	notify_send("READY=1");
	assert_hears(fd);
	close(fd);
	unlink(SOCKET);
}

static void abstract(void **state)
{
	char name[64];
	int fd;

	(void)state;
	snprintf(name, sizeof(name), "@test-notify-%d", getpid());
	setenv("NOTIFY_SOCKET", name, 1);
	name[0] = '\0';
	fd = listen_at(name, 1 + strlen(name + 1));
	notify_send("READY=1");
	assert_hears(fd);
	close(fd);
}

/* cygnetd serves without systemd, and when systemd has closed its socket. */
static void no_systemd(void **state)
{
	char name[256];

	(void)state;
	unsetenv("NOTIFY_SOCKET");
	notify_send("READY=1");
	setenv("NOTIFY_SOCKET", "./nothing.sock", 1);
	notify_send("READY=1");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	setenv("NOTIFY_SOCKET", name, 1);
	notify_send("READY=1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path),
		cmocka_unit_test(abstract),
		cmocka_unit_test(no_systemd),
	};

	return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}

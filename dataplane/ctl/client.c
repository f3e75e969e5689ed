/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "client.h"
#include "text.h"

/* DPDK answers with one packet of at most 16 KiB. */
#define ANSWER_MAX (16 * 1024)
#define TIMEOUT_S  5
#define PAGES_MAX  100000
#define NO_ANSWER  "cygnetd does not answer at %s: %s"

/* The EAL chooses its runtime folder by the same rule. */
void client_socket_path(const char *prefix, char *path, size_t size)
{
	const char *folder = getenv("RUNTIME_DIRECTORY");

	if (strchr(prefix, '/')) {
		snprintf(path, size, "%s", prefix);
		return;
	}
	if (!folder)
		folder = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	snprintf(path, size, "%s/dpdk/%s/dpdk_telemetry.v2", folder ? folder : "/tmp", prefix);
}

/* @return length, or -errno; -EPROTO for an answer that is empty or too long */
static ssize_t receive(int fd, char *answer)
{
	/* A signal ends a command between two requests, not during an answer. */
	ssize_t len = TEMP_FAILURE_RETRY(recv(fd, answer, ANSWER_MAX + 1, 0));

	if (len < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return len == 0 || len > ANSWER_MAX ? -EPROTO : len;
}

int client_open(const char *path, int type, char *error, size_t size)
{
	const struct timeval timeout = {.tv_sec = TIMEOUT_S};
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = -1, err = ENAMETOOLONG;

	if (strlen(path) < sizeof(addr.sun_path)) {
		strcpy(addr.sun_path, path);
		fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
		if (fd >= 0 &&
		    !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) &&
		    !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) &&
		    !connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
			return fd;
		err = errno;
	}
	if (fd >= 0)
		close(fd);
	snprintf(error, size, NO_ANSWER, path, strerror(err));
	return -err;
}

int client_connect(const char *path, char *error, size_t size)
{
	int fd = client_open(path, SOCK_SEQPACKET, error, size), err;
	char greeting[ANSWER_MAX + 1];

	if (fd < 0)
		return fd;
	err = (int)receive(fd, greeting);
	if (err > 0)
		return fd;
	close(fd);
	snprintf(error, size, NO_ANSWER, path, strerror(-err));
	return err;
}

/* @return the value of the answer's only field, or NULL */
static json_t *ask(int fd, const char *command, char *error, size_t size)
{
	char answer[ANSWER_MAX + 1];
	json_t *root, *value;
	ssize_t len;

	if (send(fd, command, strlen(command), MSG_NOSIGNAL) < 0) {
		snprintf(error, size, "%s: cannot send: %s", command, strerror(errno));
		return NULL;
	}
	len = receive(fd, answer);
	if (len < 0) {
		snprintf(error, size, "%s: no answer: %s", command, strerror((int)-len));
		return NULL;
	}
	root = json_loadb(answer, (size_t)len, 0, NULL);
	if (!root) {
		/* Names of interfaces and files need not be UTF-8. */
		text_make_ascii(answer, (size_t)len);
		root = json_loadb(answer, (size_t)len, 0, NULL);
	}
	value = json_object_iter_value(json_object_iter(root));
	value = json_is_object(value) ? json_incref(value) : NULL;
	if (!value)
		snprintf(error, size,
			 "%s: not understood: cygnetd of another version, or one that is starting or ending",
			 command);
	json_decref(root);
	return value;
}

/* The fields of an answer that are objects are rows, in order; other fields describe the page. */
static int add_page(json_t *rows, const json_t *page, size_t most)
{
	json_t *row;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)page, key, row)
	{
		if (json_array_size(rows) == most)
			break;
		if (json_is_object(row) && json_array_append(rows, row))
			return -ENOMEM;
	}
	return 0;
}

json_t *client_rows(int fd, const char *command, size_t most, char *error, size_t size)
{
	json_t *rows = json_array(), *page, *next;
	char request[1024];

	snprintf(request, sizeof(request), "%s", command);
	for (unsigned int i = 0; i < PAGES_MAX; i++) {
		bool more;

		page = ask(fd, request, error, size);
		if (!page || add_page(rows, page, most))
			goto fail;
		next = json_object_get(page, "next");
		more = json_is_integer(next) && json_array_size(rows) < most;
		snprintf(request, sizeof(request), "%s,%" JSON_INTEGER_FORMAT, command,
			 json_integer_value(next));
		json_decref(page);
		if (!more)
			return rows;
	}
	page = NULL;
	snprintf(error, size, "%s: the answer does not end", command);
fail:
	json_decref(page);
	json_decref(rows);
	return NULL;
}

json_t *client_table(int fd, const char *command, char *error, size_t size)
{
	return client_rows(fd, command, SIZE_MAX, error, size);
}

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
#define TRIES	   3 /* of a table that changes while its pages are read */
#define NO_ANSWER  "cygnetd does not answer at %s: %s"
#define NOT_UNDERSTOOD \
	"%s: not understood: cygnetd of another version, or one that is starting or ending"

static void path_below(const char *folder, const char *prefix, char *path, size_t size)
{
	snprintf(path, size, "%s/dpdk/%s/dpdk_telemetry.v2", folder, prefix);
}

/* The EAL chooses its runtime folder by the same rule. Other users than root ask a cygnetd of their own, if there is one,
 * or root's, whose socket may be readable for a group. */
void client_socket_path(const char *prefix, char *path, size_t size)
{
	const char *folder = getenv("RUNTIME_DIRECTORY"), *own = getenv("XDG_RUNTIME_DIR");

	if (strchr(prefix, '/')) {
		snprintf(path, size, "%s", prefix);
		return;
	}
	if (!folder && own && getuid()) {
		path_below(own, prefix, path, size);
		if (!access(path, F_OK))
			return;
	}
	path_below(folder ? folder : "/var/run", prefix, path, size);
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

/* The value of the answer's only field, whose name is the command without its parameter. An answer that comes late is to
 * another command. @return NULL: the answer is another one */
static json_t *value_of(const json_t *root, const char *command)
{
	size_t len = strcspn(command, ",");
	const char *name = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)root));

	if (!name || strlen(name) != len || memcmp(name, command, len))
		return NULL;
	return json_object_get(root, name);
}

/* @return the value of the answer, of any type, or NULL */
static json_t *ask_any(int fd, const char *command, char *error, size_t size)
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
	value = json_incref(value_of(root, command));
	if (!value)
		snprintf(error, size, NOT_UNDERSTOOD, command);
	json_decref(root);
	return value;
}

/* @return the value of the answer, if it is an object, or NULL */
static json_t *ask(int fd, const char *command, char *error, size_t size)
{
	json_t *value = ask_any(fd, command, error, size);

	if (!value || json_is_object(value))
		return value;
	snprintf(error, size, NOT_UNDERSTOOD, command);
	json_decref(value);
	return NULL;
}

int client_knows(int fd, const char *command)
{
	char request[1024], error[1024 + 128];
	json_t *help;
	int knows;

	snprintf(request, sizeof(request), "/help,%s", command);
	help = ask_any(fd, request, error, sizeof(error));
	if (!help)
		return -EPROTO;
	knows = !json_is_null(help);
	json_decref(help);
	return knows;
}

/* The fields of an answer that are objects are rows; other fields describe the page.
 * @return whether the page is what was asked for */
static bool is_whole(const char *command, const json_t *page, char *error, size_t size)
{
	const json_t *wanted = json_object_get(page, "rows"), *row;
	const char *reason = json_string_value(json_object_get(page, "error")), *key;
	json_int_t rows = 0;

	json_object_foreach((json_t *)(uintptr_t)page, key, row)
	{
		rows += json_is_object(row);
	}
	if (!reason && json_is_integer(wanted) && json_integer_value(wanted) != rows)
		reason = "rows are missing";
	if (reason)
		snprintf(error, size, "%s: cygnetd cannot answer: %s", command, reason);
	return !reason;
}

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

/* @param again  receives whether a page after the first one is not what was asked for: what is listed may have changed */
static json_t *read_rows(int fd, const char *command, size_t most, bool *again, char *error,
			 size_t size)
{
	json_t *rows = json_array(), *page, *next;
	char request[1024];

	*again = false;
	snprintf(request, sizeof(request), "%s", command);
	for (unsigned int i = 0; i < PAGES_MAX; i++) {
		bool more;

		page = ask(fd, request, error, size);
		if (!page)
			goto fail;
		if (!is_whole(command, page, error, size)) {
			*again = i > 0;
			goto fail;
		}
		if (add_page(rows, page, most)) {
			snprintf(error, size, "%s: out of memory", command);
			goto fail;
		}
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

json_t *client_rows(int fd, const char *command, size_t most, char *error, size_t size)
{
	json_t *rows = NULL;
	bool again = true;

	for (unsigned int i = 0; i < TRIES && again; i++)
		rows = read_rows(fd, command, most, &again, error, size);
	return rows;
}

json_t *client_table(int fd, const char *command, char *error, size_t size)
{
	return client_rows(fd, command, SIZE_MAX, error, size);
}

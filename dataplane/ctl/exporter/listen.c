/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "exporter/listen.h"

#define BACKLOG 16

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un un;
};

static bool parse_port(const char *text, in_port_t *port)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	*port = htons((uint16_t)number);
	return *text >= '0' && *text <= '9' && !*end && number > 0 && number <= UINT16_MAX;
}

/* Split "HOST:PORT" or "[HOST]:PORT". @return 0 or -EINVAL */
static int split(const char *where, char *host, size_t size, in_port_t *port)
{
	const char *colon = strrchr(where, ':');
	size_t len = colon ? (size_t)(colon - where) : 0;
	bool brackets = len > 2 && where[0] == '[' && colon[-1] == ']';

	if (!colon || len >= size || !parse_port(colon + 1, port))
		return -EINVAL;
	snprintf(host, size, "%.*s", (int)(brackets ? len - 2 : len), where + brackets);
	return 0;
}

/* @return length of address; -EINVAL, or -EPERM for an address that other hosts can reach */
static int parse_ip(const char *where, union address *address)
{
	char host[INET6_ADDRSTRLEN];
	in_port_t port;

	if (split(where, host, sizeof(host), &port))
		return -EINVAL;
	if (inet_pton(AF_INET, host, &address->v4.sin_addr) == 1) {
		address->v4.sin_family = AF_INET;
		address->v4.sin_port = port;
		return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
			       ? (int)sizeof(address->v4)
			       : -EPERM;
	}
	if (inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1) {
		address->v6.sin6_family = AF_INET6;
		address->v6.sin6_port = port;
		return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr) ? (int)sizeof(address->v6)
								    : -EPERM;
	}
	return -EINVAL;
}

static int parse_path(const char *path, union address *address)
{
	struct stat stat;

	if (strlen(path) >= sizeof(address->un.sun_path))
		return -ENAMETOOLONG;
	address->un.sun_family = AF_UNIX;
	strcpy(address->un.sun_path, path);
	if (lstat(path, &stat) == 0 && S_ISSOCK(stat.st_mode))
		unlink(path);
	return (int)sizeof(address->un);
}

static int open_socket(const union address *address, socklen_t len)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
	    on = 1;
	mode_t mask;
	int err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* A Unix socket is for its user and group. */
	mask = umask(0117);
	err = bind(fd, &address->any, len) || listen(fd, BACKLOG) ? -errno : 0;
	umask(mask);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int listen_open(const char *where, char *error, size_t size)
{
	union address address;
	int len, fd;

	memset(&address, 0, sizeof(address));
	len = where[0] == '/' ? parse_path(where, &address) : parse_ip(where, &address);
	fd = len < 0 ? len : open_socket(&address, (socklen_t)len);
	if (fd == -EINVAL)
		snprintf(error, size,
			 "%s: neither ADDRESS:PORT, [ADDRESS]:PORT nor a path that begins with /",
			 where);
	else if (len == -EPERM)
		snprintf(error, size,
			 "%s: not a loopback address; a proxy with TLS and passwords has to be "
			 "in front of the exporter where other hosts read it",
			 where);
	else if (fd < 0)
		snprintf(error, size, "%s: %s", where, strerror(-fd));
	return fd;
}

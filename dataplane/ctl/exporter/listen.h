/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file listen.h
 * The socket of the exporter: on a loopback address, or a Unix socket.
 */
#ifndef CYGNET_EXPORTER_LISTEN_H
#define CYGNET_EXPORTER_LISTEN_H

#include <stddef.h>

/**
 * Open a listening socket.
 * @param where  "127.0.0.1:9760", "[::1]:9760", or the path of a Unix socket (begins with '/'), which
 *		 replaces a socket that is left there
 * @param error  receives the reason
 * @return the socket, or -errno; -EINVAL: not an address, -EPERM: not a loopback address
 */
int listen_open(const char *where, char *error, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file client.h
 * Requests to a running cygnetd over DPDK's telemetry socket (version 2).
 */
#ifndef CYGNETCTL_CLIENT_H
#define CYGNETCTL_CLIENT_H

#include <jansson.h>
#include <stddef.h>

/**
 * The path of the telemetry socket of a file prefix.
 * @param prefix  a prefix, or the path of the socket itself (anything with a '/')
 */
void client_socket_path(const char *prefix, char *path, size_t size);

/** @param type  of the socket, such as SOCK_STREAM
 * @return a connected socket with a time limit for answers, or -errno with the reason in error */
int client_open(const char *path, int type, char *error, size_t size);
/** Connect to the telemetry socket. @return a connected socket, or -errno with the reason in error */
int client_connect(const char *path, char *error, size_t size);

/**
 * Request all pages of a table, from the beginning again if it has changed meanwhile.
 * @param command  "/cygnet/ports"
 * @return an array of objects, or NULL with the reason in error
 */
json_t *client_table(int fd, const char *command, char *error, size_t size);
/** @return 1: there is a command of this name; 0: there is none, as in an older cygnetd; -EPROTO: no answer */
int client_knows(int fd, const char *command);
/** Request pages of a table until `most` rows are read; ignore further rows. */
json_t *client_rows(int fd, const char *command, size_t most, char *error, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file vici.h
 * Requests to charon over its vici socket. Cygnet has a client of its own: libvici is a part of strongSwan's package
 * for swanctl, without a header, and only for programs of the same release.
 */
#ifndef CYGNETCTL_VICI_H
#define CYGNETCTL_VICI_H

#include <jansson.h>
#include <stddef.h>

/** charon's default. */
#define VICI_SOCKET "/run/charon.vici"

/** Connect. @param socket  path, or "unix://" and the path
 * @return a socket, or -errno with the reason in error */
int vici_connect(const char *socket, char *error, size_t size);
/** Send a command without arguments. @return its answer, or NULL with the reason in error */
json_t *vici_ask(int fd, const char *command, char *error, size_t size);
/**
 * Send a command that answers by events.
 * @param key    its only argument, with the value "yes"; NULL: none
 * @param event  "list-sa"
 * @param each   is given the message of each event in turn. @return 0, or what is not 0 to end
 * @return 0, or -EPROTO with the reason in error
 */
int vici_list(int fd, const char *command, const char *key, const char *event,
	      int (*each)(void *context, json_t *message), void *context, char *error, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file http.h
 * The HTTP server: GET /metrics, by libmicrohttpd, in the calling thread.
 */
#ifndef CYGNET_EXPORTER_HTTP_H
#define CYGNET_EXPORTER_HTTP_H

#include "exporter/metrics.h"

struct MHD_Daemon;

/** Start to serve. @param listener  a listening socket, taken over. @return NULL: it cannot start */
struct MHD_Daemon *http_start(int listener, const struct metrics *metrics);
/** Serve for some time, or until a signal comes. @return false: the server has failed */
bool http_serve(struct MHD_Daemon *daemon, int ms);
void http_stop(struct MHD_Daemon *daemon);

#endif

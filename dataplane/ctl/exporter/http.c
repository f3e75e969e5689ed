/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/exposition.h"
#include "exporter/http.h"

#define CONNECTIONS 16u
#define TIMEOUT_S   10u
#define MEMORY	    (16 * 1024) /* of a connection's request, bytes */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
			      const char *type, const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(strlen(text),
									(void *)(uintptr_t)text,
									MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_metrics(struct MHD_Connection *connection,
				      const struct metrics *metrics)
{
	const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_ACCEPT);
	bool openmetrics = accept && strstr(accept, "application/openmetrics-text");
	struct MHD_Response *response;
	enum MHD_Result result;
	size_t length;
	char *text = metrics_text(metrics, openmetrics, &length);

	if (!text)
		return answer(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "text/plain",
			      "out of memory\n");
	response = MHD_create_response_from_buffer(length, text, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				exposition_type(openmetrics));
	MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
	result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

/* Called once for the headers of a request, then for each part of its body, which is ignored, and once
 * more at its end. An answer before the end of a body would close the connection. */
static enum MHD_Result handle(void *arg, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *body,
			      size_t *body_len, void **request)
{
	static int seen;

	(void)version;
	(void)body;
	if (!*request) {
		*request = &seen;
		return MHD_YES;
	}
	if (*body_len) {
		*body_len = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", "only GET\n");
	if (!strcmp(url, "/metrics"))
		return answer_metrics(connection, arg);
	if (!strcmp(url, "/"))
		return answer(connection, MHD_HTTP_OK, "text/html",
			      "<a href=\"/metrics\">Metrics of cygnetd</a>\n");
	return answer(connection, MHD_HTTP_NOT_FOUND, "text/plain", "see /metrics\n");
}

struct MHD_Daemon *http_start(int listener, const struct metrics *metrics)
{
	return MHD_start_daemon(MHD_USE_ERROR_LOG, 0, NULL, NULL, handle,
				(void *)(uintptr_t)metrics, MHD_OPTION_LISTEN_SOCKET, listener,
				MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
				MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_END);
}

bool http_serve(struct MHD_Daemon *daemon, int ms)
{
	return MHD_run_wait(daemon, ms) == MHD_YES;
}

void http_stop(struct MHD_Daemon *daemon)
{
	MHD_stop_daemon(daemon);
}

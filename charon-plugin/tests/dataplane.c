/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "dataplane.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/** Time without a quiescent state after DATAPLANE_LAG, ms */
#define LAG 50

/*
 * Described in header.
 */
char dataplane_path[] = "/tmp/cygnet-test-ipsec-XXXXXX/sadb";

typedef struct {
	dataplane_op_t op;
	struct cygnet_event event;
} request_t;

static int dataplane_fd;
static pid_t dataplane_pid;

/** Set counters of an inbound SA */
static int count_traffic(struct cygnet_db *db, struct cygnet_sa_id *id)
{
	struct cygnet_sa *sa;

	sa = cygnet_sad_lookup(db, id->spi, id->proto, id->af, &id->dst);
	if (!sa)
	{
		return -ENOENT;
	}
	sa->bytes = 1400;
	sa->packets = 3;
	sa->use_time = 77;
	cygnet_reader_quiescent(db, 0);
	return 0;
}

/** Look up policy and SA of an outbound packet, and count the packet */
static int send_packet(struct cygnet_db *db, const struct cygnet_event *event,
					   dataplane_response_t *response)
{
	uint32_t worker = event->cpu ? event->cpu - 1 : CYGNET_NONE;
	struct cygnet_policy *policy;
	struct cygnet_sa *sa;

	policy = cygnet_spd_lookup(db, CYGNET_OUT, &event->flow);
	sa = policy ? cygnet_policy_sa_for(db, policy, worker, DATAPLANE_WORKERS,
									   &response->wants) : NULL;
	if (!sa || cygnet_sa_reserve_seq(sa, 1, &response->seq) != 1)
	{
		return -ENOENT;
	}
	sa->bytes += 100;
	sa->packets++;
	sa->use_time = policy->use_time = 88;
	response->policy_reqid = policy->reqid;
	response->sa_reqid = sa->reqid;
	response->spi = sa->spi;
	response->path = *cygnet_sa_path(sa);
	return 0;
}

/** Count the keys in the file that are not zero, also of deleted SAs */
static uint32_t count_keys(struct cygnet_db *db)
{
	static const uint8_t zero[CYGNET_KEY_MAX];
	struct cygnet_sa *sa;
	uint32_t i, keys = 0;

	for (i = 0; (sa = cygnet_sa_at(db, i)); i++)
	{
		keys += memcmp(sa->cipher_key, zero, sizeof(zero)) != 0;
		keys += memcmp(sa->auth_key, zero, sizeof(zero)) != 0;
	}
	return keys;
}

static void respond(int fd, const dataplane_response_t *response)
{
	if (write(fd, response, sizeof(*response)) != sizeof(*response))
	{
		_exit(1);
	}
}

static void serve(int fd)
{
	struct cygnet_db_info info;
	struct cygnet_db *db;
	request_t request;
	dataplane_response_t response;
	struct pollfd next = {.fd = fd, .events = POLLIN};
	bool late;

	/* the first request comes after charon has created the file */
	while (read(fd, &request, sizeof(request)) == sizeof(request))
	{
		if (cygnet_db_open_flags(dataplane_path, NULL, CYGNET_OPEN_ON_DISK, &db, NULL, 0) ||
			cygnet_role_take(db, CYGNET_ROLE_DATAPLANE) ||
			cygnet_mark_set(db, CYGNET_MARK_SERVING, TRUE) ||
			cygnet_reader_online(db, 0))
		{
			_exit(1);
		}
		memset(&response, 0, sizeof(response));
		switch (request.op)
		{
			case DATAPLANE_COUNT:
				response.result = count_traffic(db, &request.event.id);
				break;
			case DATAPLANE_SEND:
				response.result = send_packet(db, &request.event, &response);
				break;
			case DATAPLANE_POST:
				response.result = cygnet_event_post(db, &request.event);
				break;
			case DATAPLANE_PORT:
				response.result = cygnet_ike_port(db, request.event.flow.af,
												  request.event.flow.dport);
				break;
			case DATAPLANE_INFO:
			case DATAPLANE_LAG:
			case DATAPLANE_STALL:
				break;
		}
		cygnet_db_info(db, &info);
		response.sas = info.sas;
		response.policies = info.policies;
		response.keys = count_keys(db);
		late = request.op == DATAPLANE_LAG || request.op == DATAPLANE_STALL;
		if (late)
		{
			respond(fd, &response);
			poll(&next, 1, request.op == DATAPLANE_LAG ? LAG : -1);
		}
		cygnet_reader_offline(db, 0);
		cygnet_db_close(db);
		if (!late)
		{
			respond(fd, &response);
		}
	}
	_exit(0);
}

/*
 * Described in header.
 */
void dataplane_start(void)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	dataplane_pid = fork();
	assert_true(dataplane_pid >= 0);
	if (!dataplane_pid)
	{
		close(fds[0]);
		serve(fds[1]);
	}
	close(fds[1]);
	dataplane_fd = fds[0];
}

/*
 * Described in header.
 */
dataplane_response_t dataplane_ask(dataplane_op_t op,
								   struct cygnet_event *event)
{
	request_t request = {
		.op = op,
	};
	dataplane_response_t response;

	if (event)
	{
		request.event = *event;
	}
	assert_int_equal(write(dataplane_fd, &request, sizeof(request)),
					 sizeof(request));
	assert_int_equal(read(dataplane_fd, &response, sizeof(response)),
					 sizeof(response));
	return response;
}

/*
 * Described in header.
 */
void dataplane_post(struct cygnet_event *event)
{
	assert_int_equal(dataplane_ask(DATAPLANE_POST, event).result, 0);
}

/*
 * Described in header.
 */
bool dataplane_stop(void)
{
	int status;

	close(dataplane_fd);
	waitpid(dataplane_pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

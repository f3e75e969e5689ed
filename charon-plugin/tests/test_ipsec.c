/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The whole interface: this process is charon, with libcharon's kernel
 * interface and its threads, a forked one is the dataplane.
 */

#include "fixture.h"
#include "../kernel_cygnet_ipsec.h"

#include <cygnet.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <daemon.h>
#include <threading/condvar.h>
#include <threading/mutex.h>

/** Longest wait for something that is to happen, ms */
#define LONG_WAIT 5000
/** Wait for something that is not to happen, ms */
#define SHORT_WAIT 300

/** How long a busy dataplane holds what it has looked up, ms */
#define LAG 50

static char path[] = "/tmp/cygnet-test-ipsec-XXXXXX/sadb";

/* ----------------------------------------------------------- dataplane -- */

typedef enum {
	/** count traffic on the inbound SA that the event names */
	DATAPLANE_COUNT,
	/** post the event */
	DATAPLANE_POST,
	/** tell how many SAs and policies there are */
	DATAPLANE_INFO,
	/** be busy with what it has looked up for a while */
	DATAPLANE_LAG,
} dataplane_op_t;

typedef struct {
	dataplane_op_t op;
	struct cygnet_event event;
} request_t;

typedef struct {
	int result;
	uint32_t sas, policies, keys;
} response_t;

static int dataplane_fd;
static pid_t dataplane_pid;

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

static void respond(int fd, const response_t *response)
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
	response_t response;

	/* the first request comes once charon has created the file */
	while (read(fd, &request, sizeof(request)) == sizeof(request))
	{
		if (cygnet_db_open(path, NULL, &db, NULL, 0) ||
			cygnet_role_take(db, CYGNET_ROLE_DATAPLANE) ||
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
			case DATAPLANE_POST:
				response.result = cygnet_event_post(db, &request.event);
				break;
			case DATAPLANE_INFO:
			case DATAPLANE_LAG:
				break;
		}
		cygnet_db_info(db, &info);
		response.sas = info.sas;
		response.policies = info.policies;
		response.keys = count_keys(db);
		if (request.op == DATAPLANE_LAG)
		{
			respond(fd, &response);
			usleep(LAG * 1000);
		}
		cygnet_reader_offline(db, 0);
		cygnet_db_close(db);
		if (request.op != DATAPLANE_LAG)
		{
			respond(fd, &response);
		}
	}
	_exit(0);
}

static void start_dataplane(void)
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

static response_t ask_dataplane(dataplane_op_t op, struct cygnet_event *event)
{
	request_t request = {
		.op = op,
	};
	response_t response;

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

static void post(struct cygnet_event *event)
{
	assert_int_equal(ask_dataplane(DATAPLANE_POST, event).result, 0);
}

/* -------------------------------------------------------------- charon -- */

/** What the plugin raised last */
static struct {
	mutex_t *mutex;
	condvar_t *condvar;
	int acquires, expires, mappings;
	uint32_t reqid, spi;
	bool hard;
	char text[256];
} raised;

/** Note what was raised; fmt has strongSwan's conversions */
static void note(int *counter, char *fmt, ...)
{
	va_list args;

	raised.mutex->lock(raised.mutex);
	va_start(args, fmt);
	vsnprintf(raised.text, sizeof(raised.text), fmt, args);
	va_end(args);
	(*counter)++;
	raised.condvar->broadcast(raised.condvar);
	raised.mutex->unlock(raised.mutex);
}

static bool on_acquire(kernel_listener_t *this, uint32_t reqid,
					   kernel_acquire_data_t *data)
{
	raised.reqid = reqid;
	note(&raised.acquires, "%R === %R", data->src, data->dst);
	return TRUE;
}

static bool on_expire(kernel_listener_t *this, uint8_t protocol, uint32_t spi,
					  host_t *dst, bool hard)
{
	raised.spi = spi;
	raised.hard = hard;
	note(&raised.expires, "%H", dst);
	return TRUE;
}

static bool on_mapping(kernel_listener_t *this, uint8_t protocol, uint32_t spi,
					   host_t *dst, host_t *remote)
{
	raised.spi = spi;
	note(&raised.mappings, "%H from %#H", dst, remote);
	return TRUE;
}

static kernel_listener_t listener = {
	.acquire = on_acquire,
	.expire = on_expire,
	.mapping = on_mapping,
};

/** Wait until a counter of what was raised gets to a value */
static bool wait_for(int *counter, int value, int ms)
{
	timeval_t deadline;
	bool reached;

	time_monotonic(&deadline);
	timeval_add_ms(&deadline, ms);
	raised.mutex->lock(raised.mutex);
	while (*counter < value &&
		   !raised.condvar->timed_wait_abs(raised.condvar, raised.mutex,
										   deadline))
	{
		/* woken up, look again */
	}
	reached = *counter >= value;
	raised.mutex->unlock(raised.mutex);
	return reached;
}

/** What was logged on level 1 */
static int log_lines;
static char log_text[512];

static void log_line(logger_t *this, debug_t group, level_t level, int thread,
					 ike_sa_t *ike_sa, const char *message)
{
	snprintf(log_text, sizeof(log_text), "%s", message);
	log_lines++;
}

static level_t log_level(logger_t *this, debug_t group)
{
	return LEVEL_CTRL;
}

static logger_t logger = {
	.log = log_line,
	.get_level = log_level,
};

static fixture_sa_t sa;
static fixture_policy_t policy;

static kernel_ipsec_query_sa_t query;
static kernel_ipsec_del_sa_t del;

static int setup(void **state)
{
	fixture_sa_init(&sa);
	fixture_policy_init(&policy);
	sa.data.inbound = TRUE;
	memset(&sa.lifetime, 0, sizeof(sa.lifetime));
	raised.acquires = raised.expires = raised.mappings = 0;
	log_lines = 0;
	return 0;
}

static int teardown(void **state)
{
	response_t left;

	charon->kernel->flush_sas(charon->kernel);
	charon->kernel->flush_policies(charon->kernel);
	left = ask_dataplane(DATAPLANE_INFO, NULL);
	fixture_sa_deinit(&sa);
	fixture_policy_deinit(&policy);
	return left.sas || left.policies;
}

static status_t add_sa(void)
{
	return charon->kernel->add_sa(charon->kernel, &sa.id, &sa.data);
}

static status_t del_sa(void)
{
	return charon->kernel->del_sa(charon->kernel, &sa.id, &del);
}

static status_t query_sa(uint64_t *bytes, uint64_t *packets, time_t *use)
{
	return charon->kernel->query_sa(charon->kernel, &sa.id, &query, bytes,
									packets, use);
}

/** An event about the SA of the fixture */
static struct cygnet_event sa_event(uint16_t type)
{
	struct cygnet_event event;

	memset(&event, 0, sizeof(event));
	event.type = type;
	event.id.spi = sa.id.spi;
	event.id.proto = IPPROTO_ESP;
	event.id.af = AF_INET;
	memcpy(event.id.dst.bytes, sa.id.dst->get_address(sa.id.dst).ptr, 4);
	return event;
}

/* --------------------------------------------------------------- tests -- */

static void test_spi(void **state)
{
	uint32_t spi[2];
	int i;

	for (i = 0; i < 2; i++)
	{
		assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi[i]), SUCCESS);
		assert_in_range(ntohl(spi[i]), CYGNET_SPI_MIN, CYGNET_SPI_MAX);
	}
	assert_int_not_equal(spi[0], spi[1]);
	/* one is used, the other one not */
	sa.id.spi = spi[0];
	sa.data.update = TRUE;
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
	sa.id.spi = spi[1];
	assert_int_equal(query_sa(NULL, NULL, NULL), NOT_FOUND);
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(del_sa(), NOT_FOUND);
	assert_int_equal(ask_dataplane(DATAPLANE_INFO, NULL).sas, 0);
}

static void test_spi_range(void **state)
{
	uint32_t spi;

	lib->settings->set_int(lib->settings, "%s.spi_min", 0x1001, lib->ns);
	lib->settings->set_int(lib->settings, "%s.spi_max", 0x1000, lib->ns);
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi), SUCCESS);
	assert_in_range(ntohl(spi), 0x1000, 0x1001);
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi), SUCCESS);
	/* used up */
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi), FAILED);
	assert_int_equal(log_lines, 1);
	lib->settings->set_int(lib->settings, "%s.spi_min", 0xff, lib->ns);
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_ESP, &spi), FAILED);
	assert_non_null(strstr(log_text, "spi_min is 0x000000ff"));
	lib->settings->set_int(lib->settings, "%s.spi_min", CYGNET_SPI_MIN,
						   lib->ns);
	lib->settings->set_int(lib->settings, "%s.spi_max", CYGNET_SPI_MAX,
						   lib->ns);
}

static void test_usage(void **state)
{
	struct cygnet_event event = sa_event(0);
	uint64_t bytes = 1, packets = 1;
	time_t use = 1;

	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(query_sa(&bytes, &packets, &use), SUCCESS);
	assert_int_equal(bytes, 0);
	assert_int_equal(packets, 0);
	assert_int_equal(use, 0);
	assert_int_equal(ask_dataplane(DATAPLANE_COUNT, &event).result, 0);
	assert_int_equal(query_sa(&bytes, &packets, &use), SUCCESS);
	assert_int_equal(bytes, 1400);
	assert_int_equal(packets, 3);
	assert_int_equal(use, 77);
}

static void test_twice(void **state)
{
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(add_sa(), FAILED);
	assert_int_equal(log_lines, 1);
	assert_int_equal(del_sa(), SUCCESS);
	assert_int_equal(query_sa(NULL, NULL, NULL), NOT_FOUND);
}

static void test_update(void **state)
{
	struct cygnet_event event = sa_event(0);
	kernel_ipsec_update_sa_t update = {
		.new_encap = TRUE,
	};
	uint64_t bytes = 0;

	update.new_src = host_create_from_string("192.0.2.7", 4500);
	update.new_dst = host_create_from_string("192.0.2.8", 4500);
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 NOT_SUPPORTED);
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(ask_dataplane(DATAPLANE_COUNT, &event).result, 0);
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 SUCCESS);
	assert_int_equal(query_sa(&bytes, NULL, NULL), NOT_FOUND);
	sa.id.dst->destroy(sa.id.dst);
	sa.id.dst = update.new_dst->clone(update.new_dst);
	assert_int_equal(query_sa(&bytes, NULL, NULL), SUCCESS);
	assert_int_equal(bytes, 1400);
	/* and back, several times in a row */
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 SUCCESS);
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 SUCCESS);
	/* not to another family: the SA stays where it is */
	update.new_src->destroy(update.new_src);
	update.new_dst->destroy(update.new_dst);
	update.new_src = host_create_from_string("2001:db8::7", 4500);
	update.new_dst = host_create_from_string("2001:db8::8", 4500);
	log_lines = 0;
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 NOT_SUPPORTED);
	assert_int_equal(log_lines, 1);
	assert_int_equal(query_sa(&bytes, NULL, NULL), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
	update.new_src->destroy(update.new_src);
	update.new_dst->destroy(update.new_dst);
}

static void test_refused(void **state)
{
	uint32_t spi;
	uint16_t cpi;

	sa.data.mode = MODE_BEET;
	assert_int_equal(add_sa(), NOT_SUPPORTED);
	assert_int_equal(log_lines, 1);
	assert_non_null(strstr(log_text, "BEET mode"));
	assert_non_null(strstr(log_text, "c0000123"));

	policy.sa.mode = MODE_BEET;
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), NOT_SUPPORTED);
	assert_int_equal(log_lines, 2);
	assert_non_null(strstr(log_text, "BEET mode"));
	assert_non_null(strstr(log_text, "c0000123"));
	/* charon deletes it all the same */
	assert_int_equal(charon->kernel->del_policy(charon->kernel, &policy.id,
												&policy.data), NOT_FOUND);
	assert_int_equal(log_lines, 2);

	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
								sa.id.dst, IPPROTO_COMP, &spi), NOT_SUPPORTED);
	assert_int_equal(log_lines, 3);
	assert_int_equal(charon->kernel->get_cpi(charon->kernel, sa.id.src,
								sa.id.dst, &cpi), NOT_SUPPORTED);
	assert_int_equal(log_lines, 4);
}

static void test_ah(void **state)
{
	kernel_ipsec_update_sa_t update = {};
	uint64_t bytes;
	uint32_t spi;

	sa.id.proto = IPPROTO_AH;
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
									sa.id.dst, IPPROTO_AH, &spi), SUCCESS);
	sa.id.spi = spi;
	sa.data.inbound = TRUE;
	sa.data.enc_alg = ENCR_UNDEFINED;
	sa.data.enc_key = chunk_empty;
	assert_int_equal(add_sa(), SUCCESS);
	/* a NAT that charon finds later does not put it into UDP */
	update.new_src = host_create_from_string("192.0.2.7", 4500);
	update.new_dst = host_create_from_string("192.0.2.8", 4500);
	update.new_encap = TRUE;
	log_lines = 0;
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 NOT_SUPPORTED);
	assert_int_equal(log_lines, 1);
	assert_non_null(strstr(log_text, "AH in UDP"));
	assert_int_equal(query_sa(&bytes, NULL, NULL), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
	update.new_src->destroy(update.new_src);
	update.new_dst->destroy(update.new_dst);
}

static void test_time_expiry(void **state)
{
	kernel_ipsec_update_sa_t update = {};

	sa.lifetime.time.rekey = 1;
	sa.lifetime.time.life = 2;
	assert_int_equal(add_sa(), SUCCESS);
	/* the timers follow the SA to another address */
	update.new_src = host_create_from_string("192.0.2.7", 0);
	update.new_dst = host_create_from_string("192.0.2.8", 0);
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 SUCCESS);
	assert_true(wait_for(&raised.expires, 1, LONG_WAIT));
	assert_int_equal(raised.spi, sa.id.spi);
	assert_false(raised.hard);
	assert_string_equal(raised.text, "192.0.2.8");
	assert_true(wait_for(&raised.expires, 2, LONG_WAIT));
	assert_true(raised.hard);
	update.new_src->destroy(update.new_src);
	update.new_dst->destroy(update.new_dst);
}

static void test_timer_of_another(void **state)
{
	sa.lifetime.time.life = 1;
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
	sa.lifetime.time.life = 1000;
	assert_int_equal(add_sa(), SUCCESS);
	assert_false(wait_for(&raised.expires, 1, 1000 + SHORT_WAIT));
}

static void test_earlier_timer(void **state)
{
	/* three wait already when one comes that is due before them */
	sa.lifetime.time.rekey = 900;
	sa.lifetime.time.life = 1000;
	assert_int_equal(add_sa(), SUCCESS);
	sa.id.spi = htonl(0xc0000124);
	sa.lifetime.time.rekey = 1;
	assert_int_equal(add_sa(), SUCCESS);
	assert_true(wait_for(&raised.expires, 1, LONG_WAIT));
	assert_int_equal(raised.spi, sa.id.spi);
	assert_false(raised.hard);
	/* and another, after that one */
	sa.id.spi = htonl(0xc0000125);
	assert_int_equal(add_sa(), SUCCESS);
	assert_true(wait_for(&raised.expires, 2, LONG_WAIT));
	assert_int_equal(raised.spi, sa.id.spi);
}

static void test_expire_event(void **state)
{
	struct cygnet_event event = sa_event(CYGNET_EVENT_EXPIRE);

	post(&event);
	assert_false(wait_for(&raised.expires, 1, SHORT_WAIT));
	assert_int_equal(add_sa(), SUCCESS);
	post(&event);
	assert_true(wait_for(&raised.expires, 1, LONG_WAIT));
	assert_int_equal(raised.spi, sa.id.spi);
	assert_false(raised.hard);
	assert_string_equal(raised.text, SUN);
	event.hard = 1;
	post(&event);
	assert_true(wait_for(&raised.expires, 2, LONG_WAIT));
	assert_true(raised.hard);
}

static void test_mapping_event(void **state)
{
	struct cygnet_event event = sa_event(CYGNET_EVENT_MAPPING);

	event.new_addr.v4 = inet_addr("198.51.100.9");
	event.new_port = htons(40001);
	post(&event);
	assert_false(wait_for(&raised.mappings, 1, SHORT_WAIT));
	assert_int_equal(add_sa(), SUCCESS);
	post(&event);
	assert_true(wait_for(&raised.mappings, 1, LONG_WAIT));
	assert_int_equal(raised.spi, sa.id.spi);
	assert_string_equal(raised.text, SUN " from 198.51.100.9[40001]");
}

static void test_acquire_event(void **state)
{
	struct cygnet_event event;

	memset(&event, 0, sizeof(event));
	event.type = CYGNET_EVENT_ACQUIRE;
	event.reqid = 9;
	event.flow.af = AF_INET;
	event.flow.proto = IPPROTO_TCP;
	event.flow.src.v4 = inet_addr("10.1.0.1");
	event.flow.dst.v4 = inet_addr("10.2.0.1");
	event.flow.sport = 40000;
	event.flow.dport = 80;
	event.flow.has_ports = 1;
	post(&event);
	assert_true(wait_for(&raised.acquires, 1, LONG_WAIT));
	assert_int_equal(raised.reqid, 9);
	assert_string_equal(raised.text,
						"10.1.0.1/32[tcp/40000] === 10.2.0.1/32[tcp/http]");

	event.flow.proto = IPPROTO_ICMP;
	event.flow.sport = 8;
	event.flow.dport = 0;
	post(&event);
	assert_true(wait_for(&raised.acquires, 2, LONG_WAIT));
	assert_string_equal(raised.text,
						"10.1.0.1/32[icmp/8] === 10.2.0.1/32[icmp/8]");

	event.flow.proto = IPPROTO_UDP;
	event.flow.has_ports = 0;
	post(&event);
	assert_true(wait_for(&raised.acquires, 3, LONG_WAIT));
	assert_string_equal(raised.text, "10.1.0.1/32[udp] === 10.2.0.1/32[udp]");
}

/* a dataplane that is broken, or somebody else's */
static void test_bad_events(void **state)
{
	struct cygnet_event event;

	memset(&event, 0xff, sizeof(event));
	post(&event);
	event.type = CYGNET_EVENT_ACQUIRE;
	post(&event);
	event.type = CYGNET_EVENT_EXPIRE;
	post(&event);
	event.type = CYGNET_EVENT_MAPPING;
	post(&event);
	memset(&event, 0, sizeof(event));
	post(&event);
	event.type = CYGNET_EVENT_ACQUIRE;
	event.flow.af = AF_INET;
	post(&event);
	/* still serving */
	test_expire_event(state);
	assert_int_equal(raised.acquires, 0);
	assert_int_equal(raised.mappings, 0);
}

static void test_policies(void **state)
{
	kernel_ipsec_query_policy_t policy_query = {};
	time_t use = 1;

	assert_int_equal(charon->kernel->query_policy(charon->kernel, &policy.id,
											&policy_query, &use), NOT_FOUND);
	/* as while rekeying: twice the same, once with another SA */
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
	assert_int_equal(ask_dataplane(DATAPLANE_INFO, NULL).policies, 1);
	policy.sa.esp.spi = htonl(0xc0000124);
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
	assert_int_equal(ask_dataplane(DATAPLANE_INFO, NULL).policies, 2);
	assert_int_equal(charon->kernel->query_policy(charon->kernel, &policy.id,
											&policy_query, &use), SUCCESS);
	assert_int_equal(use, 0);
	assert_int_equal(charon->kernel->del_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
	assert_int_equal(charon->kernel->del_policy(charon->kernel, &policy.id,
												&policy.data), NOT_FOUND);
	/* the one that is installed twice is left to flush_policies() */
}

/* on a loopback address that other processes don't use */
static int open_udp(uint16_t port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0x7f000000 | (getpid() & 0x3fffff) << 2 | 1),
		.sin_port = htons(port),
	};
	int fd;

	fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr*)&addr, sizeof(addr)), 0);
	return fd;
}

static void test_sockets(void **state)
{
	int fd;

	fd = open_udp(4500);
	assert_true(charon->kernel->bypass_socket(charon->kernel, fd, AF_INET));
	close(fd);
	assert_true(charon->kernel->enable_udp_decap(charon->kernel, -1, AF_INET,
												 4500));
	assert_int_equal(log_lines, 0);

	/* the dataplane knows IKE and ESP in UDP by their ports */
	fd = open_udp(4501);
	assert_false(charon->kernel->bypass_socket(charon->kernel, fd, AF_INET));
	close(fd);
	assert_int_equal(log_lines, 1);
	assert_non_null(strstr(log_text, "4501"));
	assert_false(charon->kernel->enable_udp_decap(charon->kernel, -1, AF_INET,
												  4501));
	assert_int_equal(log_lines, 2);
	assert_false(charon->kernel->bypass_socket(charon->kernel, -1, AF_INET));
	assert_int_equal(log_lines, 3);
}

static void test_second_charon(void **state)
{
	/* libcygnet allows a file to be opened once per process, so ask another */
	pid_t pid;
	int status;

	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
	{
		struct cygnet_db *db;

		_exit(cygnet_db_open(path, NULL, &db, NULL, 0) ? 1 :
			  cygnet_role_take(db, CYGNET_ROLE_CHARON) == -EBUSY ? 42 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
}

/* what is installed when charon ends does not outlive it, least of all keys */
static void test_destroy(void **state)
{
	kernel_ipsec_constructor_t create;

	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(charon->kernel->add_policy(charon->kernel, &policy.id,
												&policy.data), SUCCESS);
	lib->processor->cancel(lib->processor);
	lib->scheduler->flush(lib->scheduler);
	assert_int_not_equal(ask_dataplane(DATAPLANE_LAG, NULL).keys, 0);
	create = (kernel_ipsec_constructor_t)kernel_cygnet_ipsec_create;
	assert_true(charon->kernel->remove_ipsec_interface(charon->kernel, create));
	assert_int_equal(ask_dataplane(DATAPLANE_INFO, NULL).sas, 0);
	assert_int_equal(ask_dataplane(DATAPLANE_INFO, NULL).policies, 0);
	assert_int_equal(ask_dataplane(DATAPLANE_INFO, NULL).keys, 0);
	fixture_sa_deinit(&sa);
	fixture_policy_deinit(&policy);
}

/** A process that has damaged the databases; a dataplane, or one that is gone */
static pid_t start_vandal(bool dataplane)
{
	struct cygnet_db *db;
	int ready[2];
	pid_t pid;
	char done;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
	{
		if (cygnet_db_open(path, NULL, &db, NULL, 0) ||
			(dataplane && cygnet_role_take(db, CYGNET_ROLE_DATAPLANE)))
		{
			_exit(1);
		}
		/* installed, but no lookup would find it */
		cygnet_sa_at(db, 0)->state = CYGNET_SA_LIVE;
		if (write(ready[1], "", 1) != 1 || !dataplane)
		{
			_exit(0);
		}
		pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &done, 1), 1);
	close(ready[0]);
	return pid;
}

static void start_and_end(void)
{
	kernel_cygnet_ipsec_t *ipsec;

	ipsec = kernel_cygnet_ipsec_create();
	assert_non_null(ipsec);
	assert_non_null(strstr(log_text, "kernel-cygnet uses"));
	assert_int_equal(ask_dataplane(DATAPLANE_INFO, NULL).sas, 0);
	ipsec->interface.destroy(&ipsec->interface);
}

/** A damaged file is not worked with, nor taken from under a dataplane */
static void test_damaged(void **state)
{
	pid_t vandal;

	vandal = start_vandal(TRUE);
	assert_null(kernel_cygnet_ipsec_create());
	assert_int_equal(log_lines, 2);
	assert_non_null(strstr(log_text, "in use"));
	kill(vandal, SIGKILL);
	waitpid(vandal, NULL, 0);
	start_and_end();
	assert_int_equal(log_lines, 5);

	/* this one leaves what cannot even be opened */
	waitpid(start_vandal(FALSE), NULL, 0);
	assert_int_equal(truncate(path, 4096), 0);
	start_and_end();
	assert_int_equal(log_lines, 8);
	fixture_sa_deinit(&sa);
	fixture_policy_deinit(&policy);
}

static void test_impossible_room(void **state)
{
	lib->settings->set_int(lib->settings, "%s.plugins.kernel-cygnet.sas", -1,
						   lib->ns);
	assert_null(kernel_cygnet_ipsec_create());
	assert_non_null(strstr(log_text, "sas is -1"));
	lib->settings->set_int(lib->settings, "%s.plugins.kernel-cygnet.sas", 64,
						   lib->ns);
	fixture_sa_deinit(&sa);
	fixture_policy_deinit(&policy);
}

static int group_setup(void **state)
{
	kernel_ipsec_constructor_t create;

	*strrchr(path, '/') = '\0';
	assert_non_null(mkdtemp(path));
	path[strlen(path)] = '/';
	start_dataplane();

	assert_true(library_init("", "test-ipsec"));
	lib->settings->set_str(lib->settings, "%s.plugins.kernel-cygnet.path", path,
						   lib->ns);
	lib->settings->set_int(lib->settings, "%s.plugins.kernel-cygnet.sas", 64,
						   lib->ns);
	lib->settings->set_int(lib->settings, "%s.plugins.kernel-cygnet.policies",
						   64, lib->ns);
	assert_true(libcharon_init());
	charon->bus->add_logger(charon->bus, &logger);
	raised.mutex = mutex_create(MUTEX_TYPE_DEFAULT);
	raised.condvar = condvar_create(CONDVAR_TYPE_DEFAULT);
	/* charon's own listener asks it whose SA it is */
	charon->child_sa_manager = child_sa_manager_create();
	charon->kernel->add_listener(charon->kernel, &listener);
	create = (kernel_ipsec_constructor_t)kernel_cygnet_ipsec_create;
	assert_true(charon->kernel->add_ipsec_interface(charon->kernel, create));
	assert_int_equal(log_lines, 1);
	assert_non_null(strstr(log_text, path));
	assert_non_null(strstr(log_text, "not yet attached"));
	lib->processor->set_threads(lib->processor, 4);
	return 0;
}

static int group_teardown(void **state)
{
	int status;

	charon->kernel->remove_listener(charon->kernel, &listener);
	raised.condvar->destroy(raised.condvar);
	raised.mutex->destroy(raised.mutex);
	charon->bus->remove_logger(charon->bus, &logger);
	DESTROY_IF(charon->child_sa_manager);
	libcharon_deinit();
	library_deinit();
	close(dataplane_fd);
	waitpid(dataplane_pid, &status, 0);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_spi),
		TEST(test_spi_range),
		TEST(test_usage),
		TEST(test_twice),
		TEST(test_update),
		TEST(test_refused),
		TEST(test_ah),
		TEST(test_time_expiry),
		TEST(test_timer_of_another),
		TEST(test_earlier_timer),
		TEST(test_expire_event),
		TEST(test_mapping_event),
		TEST(test_acquire_event),
		TEST(test_bad_events),
		TEST(test_policies),
		TEST(test_sockets),
		TEST(test_second_charon),
		cmocka_unit_test_setup(test_destroy, setup),
		cmocka_unit_test_setup(test_damaged, setup),
		cmocka_unit_test_setup(test_impossible_room, setup),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}

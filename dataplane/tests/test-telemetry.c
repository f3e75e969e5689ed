/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Telemetry over the socket: answers are complete, and there are none once shutdown has begun. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include <rte_eal.h>
#include <rte_mbuf.h>
#include <rte_telemetry.h>

#include "base/event_log.h"
#include "base/log.h"
#include "base/sadb.h"
#include "base/stats.h"
#include "base/tunnels.h"
#include "client.h"
#include "conf/conf.h"
#include "crypto/device/engine.h"
#include "crypto/device/pool.h"
#include "base/clock.h"
#include "path/worker/stage.h"
#include "stages.h"
#include "telemetry.h"

#define WORKERS CONF_MAX_WORKERS
#define SAS	160u

static char folder[] = "/tmp/cygnet-telemetry-XXXXXX", path[128];

static int start_eal(const char *program)
{
	const char *args[] = {
		program,	  "--no-huge",	   "-m",       "32",
		"--no-shconf",	  "--no-pci",	   "--lcores", "0",
		"--iova-mode=va", "--file-prefix", "test",     "--log-level=lib.eal:error",
	};

	log_level = RTE_LOG_EMERG;
	return rte_eal_init(RTE_DIM(args), (char **)(uintptr_t)args) < 0 ? -1 : 0;
}

static int start(void **state)
{
	const struct cygnet_geometry geometry = {.sas = SAS, .policies = 16};
	char sadb_path[sizeof(folder) + 8], error[256];

	(void)state;
	snprintf(sadb_path, sizeof(sadb_path), "%s/sadb", folder);
	client_socket_path("test", path, sizeof(path));
	return cygnet_db_open_flags(sadb_path, &geometry, CYGNET_OPEN_ON_DISK, &sadb, error,
				    sizeof(error)) ||
	       telemetry_start(WORKERS);
}

static int finish(void **state)
{
	char command[sizeof(folder) + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

/* DPDK's functions, which fail if a test wants that. */
static unsigned int allocations = UINT_MAX; /* of rows, that do not fail */

struct rte_tel_data *rte_tel_data_alloc(void)
{
	static struct rte_tel_data *(*allocate)(void);

	if (!allocate)
		*(void **)&allocate = dlsym(RTLD_NEXT, "rte_tel_data_alloc");
	if (!allocations)
		return NULL;
	allocations--;
	return allocate();
}

static bool no_reading; /* there is no memory for a reading of the SAD */

void *realloc(void *memory, size_t size)
{
	static void *(*allocate)(void *memory, size_t size);

	if (!allocate)
		*(void **)&allocate = dlsym(RTLD_NEXT, "realloc");
	if (no_reading && size % sizeof(struct tunnel_sa) == 0)
		return NULL;
	return allocate(memory, size);
}

static int connected(void)
{
	char error[256];
	int fd = client_connect(path, error, sizeof(error));

	assert_true(fd >= 0);
	return fd;
}

/* @return NULL: no answer */
static json_t *ask(int fd, const char *command)
{
	char error[256];

	return client_table(fd, command, error, sizeof(error));
}

/* 500 and 4500, for IPv4 and IPv6. */
static void ike(void **state)
{
	int fd = connected();
	json_t *rows = ask(fd, "/cygnet/ike");

	(void)state;
	assert_int_equal(json_array_size(rows), 4);
	json_decref(rows);
	close(fd);
}

/* Counters as large as cygnetctl can read them. */
static void count_much(struct stats *s)
{
	*s = (struct stats){
		.forwarded = INT64_MAX,
		.encapsulated = INT64_MAX,
		.decapsulated = INT64_MAX,
		.dummies = INT64_MAX,
		.keepalives = INT64_MAX,
		.waited_for_sa = INT64_MAX,
		.reassembled = INT64_MAX,
		.too_big_learned = INT64_MAX,
		.too_big_ignored = INT64_MAX,
		.handed_off = INT64_MAX,
		.crypto_cores = INT64_MAX,
		.shortcut = INT64_MAX,
		.turns = INT64_MAX,
		.busy_cycles = INT64_MAX,
		.drop = {INT64_MAX},
	};
}

/* A table without all of its rows is none, whatever table it is. */
static void no_memory(void **state)
{
	static const char *const commands[] = {"/cygnet/info",	     "/cygnet/drops",
					       "/cygnet/stages",     "/cygnet/ike",
					       "/cygnet/stats",	     "/cygnet/tunnel_counts",
					       "/cygnet/event_kinds"};
	int fd = connected();

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(commands); i++) {
		json_t *rows = ask(fd, commands[i]);
		char error[256] = "";

		assert_non_null(rows);
		allocations = (unsigned int)json_array_size(rows) - 1;
		json_decref(rows);
		assert_null(client_table(fd, commands[i], error, sizeof(error)));
		assert_non_null(strstr(error, "no memory for a row"));
		allocations = UINT_MAX;
		assert_int_equal(client_knows(fd, commands[i]), 1);
	}
	assert_int_equal(client_knows(fd, "/cygnet/of_another_version"), 0);
	close(fd);
}

static json_int_t number(const json_t *row, const char *key)
{
	assert_true(json_is_integer(json_object_get(row, key)));
	return json_integer_value(json_object_get(row, key));
}

/* Buffers that a worker has not returned to its mempool, also while others are in the cache of an lcore. */
static void buffers(void **state)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("packets", 255, 32, 0, 128,
							   SOCKET_ID_ANY);
	struct rte_mbuf *mbuf[3];
	int fd = connected();
	json_t *rows;

	(void)state;
	assert_non_null(pool);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, mbuf, 3), 0);
	packet_pool[1] = pool;
	rows = ask(fd, "/cygnet/stats");
	packet_pool[1] = NULL;
	assert_int_equal(number(json_array_get(rows, 0), "buffers"), 0);
	assert_int_equal(number(json_array_get(rows, 0), "buffers_max"), 0);
	assert_int_equal(number(json_array_get(rows, 1), "buffers_max"), 255);
	assert_int_equal(number(json_array_get(rows, 1), "buffers"), 3);
	json_decref(rows);
	rte_pktmbuf_free_bulk(mbuf, 3);
	rte_mempool_free(pool);
	close(fd);
}

/* No entry is left out. */
static void all_workers(void **state)
{
	int fd = connected();
	json_t *rows;

	(void)state;
	for (unsigned int w = 0; w < WORKERS; w++)
		count_much(&stats[w]);
	rows = ask(fd, "/cygnet/stats");
	assert_int_equal(json_array_size(rows), WORKERS);
	for (unsigned int w = 0; w < WORKERS; w++) {
		const json_t *row = json_array_get(rows, w);

		assert_int_equal(number(row, "worker"), w);
		assert_int_equal(number(row, "forwarded"), INT64_MAX);
		assert_int_equal(number(row, "dropped"), INT64_MAX);
	}
	json_decref(rows);
	close(fd);
}

static void all_reasons(void **state)
{
	int fd = connected();
	json_t *rows;

	(void)state;
	memset(stats, 0, sizeof(stats));
	for (unsigned int i = 0; i < DROP_REASON_COUNT; i++)
		stats[0].drop[i] = INT64_MAX;
	rows = ask(fd, "/cygnet/drops");
	assert_int_equal(json_array_size(rows), DROP_REASON_COUNT);
	for (unsigned int i = 0; i < DROP_REASON_COUNT; i++)
		assert_int_equal(number(json_array_get(rows, i), "packets"), INT64_MAX);
	json_decref(rows);
	close(fd);
}

static void all_engines(void **state)
{
	struct rte_mempool *sessions = rte_mempool_create("sessions", 1, 8, 0, 0, NULL, NULL, NULL,
							  NULL, 0, 0);
	int fd = connected();
	json_t *rows;

	(void)state;
	assert_non_null(sessions);
	memset(stats, 0, sizeof(stats));
	for (unsigned int d = 0; d < STATS_MAX_DEVICES; d++) {
		struct engine_device *device = &engine_device[d];

		*device = (struct engine_device){.driver = device->name,
						 .engine = "hardware",
						 .sessions = sessions};
		memset(device->name, 'a' + (int)d, sizeof(device->name) - 1);
		stats[0].device[d] = (struct stats_device){INT64_MAX, 0, INT64_MAX, INT64_MAX};
	}
	engine_devices = STATS_MAX_DEVICES;
	rows = ask(fd, "/cygnet/engines");
	engine_devices = 0;
	rte_mempool_free(sessions);
	assert_int_equal(json_array_size(rows), STATS_MAX_DEVICES);
	for (unsigned int d = 0; d < STATS_MAX_DEVICES; d++)
		assert_int_equal(number(json_array_get(rows, d), "packets"), INT64_MAX);
	json_decref(rows);
	close(fd);
}

static unsigned int answered, unanswered;

/* Until there has been no answer for some time. */
static void *asker(void *unused)
{
	int fd = connected();

	(void)unused;
	while (unanswered < 20) {
		json_t *rows = ask(fd, "/cygnet/ike");

		__atomic_add_fetch(rows ? &answered : &unanswered, 1, __ATOMIC_RELEASE);
		json_decref(rows);
	}
	close(fd);
	return NULL;
}

static void assert_number(const json_t *row, const char *key, json_int_t expected)
{
	assert_int_equal(json_integer_value(json_object_get(row, key)), expected);
}

/* A question enables the workers' counting for some time. */
static void all_stages(void **state)
{
	int fd = connected();
	json_t *rows, *after, *between;

	(void)state;
	stats[0].stage[STAGE_LOCAL] = (struct stats_stage){30, 2, 3000};
	stats[1].stage[STAGE_LOCAL] = (struct stats_stage){10, 2, 1000};
	clock_now = 100;
	rows = ask(fd, "/cygnet/stages");
	assert_int_equal(json_array_size(rows), STAGE_COUNTED);
	assert_true(stats_stages_asked > clock_now && stats_stages_asked < clock_now + 60);
	assert_number(json_array_get(rows, STAGE_LOCAL), "packets", 40);
	stats[0].stage[STAGE_LOCAL].packets += 20;
	stats[0].stage[STAGE_LOCAL].vectors += 2;
	stats[0].stage[STAGE_LOCAL].cycles += 5000;
	after = ask(fd, "/cygnet/stages");
	between = stages_between(rows, after);
	assert_int_equal(json_array_size(between), STAGE_COUNTED);
	assert_number(json_array_get(between, STAGE_LOCAL), "packets", 20);
	assert_number(json_array_get(between, STAGE_LOCAL), "packets_per_vector", 10);
	assert_number(json_array_get(between, STAGE_LOCAL), "cycles_per_packet", 250);
	assert_true(json_is_null(
		json_object_get(json_array_get(between, STAGE_FORWARD), "cycles_per_packet")));
	json_decref(rows);
	json_decref(after);
	json_decref(between);
	close(fd);
}

/* As many SAs as fit, on several pages, without keys. */
static void all_sas(void **state)
{
	struct cygnet_sa_params params = {
		.id = {.proto = IPPROTO_ESP, .af = AF_INET, .dst = cygnet_addr4(htonl(0xc0000202))},
		.path = {.af = AF_INET,
			 .src = cygnet_addr4(htonl(0xc0000201)),
			 .dst = cygnet_addr4(htonl(0xc0000202))},
		.cipher = CYGNET_CIPHER_AES_GCM,
		.icv_len = 16,
		.cipher_key_len = 16,
		.salt_len = 4,
		.replay_window = 32,
		.reqid = 7,
	};
	int fd = connected();
	json_t *rows;
	char *text;

	(void)state;
	memset(params.cipher_key, 'K', 20);
	for (uint32_t i = 0; i < SAS; i++) {
		params.id.spi = htonl(0xc0000000 + i);
		assert_int_equal(cygnet_sa_add(sadb, &params), 0);
	}
	rows = ask(fd, "/cygnet/sas");
	assert_int_equal(json_array_size(rows), SAS);
	assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "dst")),
			    "192.0.2.2");
	text = json_dumps(rows, 0);
	assert_null(strstr(text, "KKK"));
	free(text);
	json_decref(rows);
	rows = ask(fd, "/cygnet/info");
	assert_int_equal(json_array_size(rows), 1);
	assert_int_equal(number(json_array_get(rows, 0), "sas"), SAS);
	assert_int_equal(number(json_array_get(rows, 0), "sas_max"), SAS);
	assert_int_equal(number(json_array_get(rows, 0), "workers"), WORKERS);
	json_decref(rows);
	close(fd);
}

static void add_sa(uint32_t spi, uint32_t reqid, bool inbound, uint8_t proto)
{
	const struct cygnet_addr local = cygnet_addr4(htonl(0xc0000201));
	const struct cygnet_addr peer = cygnet_addr4(htonl(0xc0000202));
	struct cygnet_sa_params params = {
		.id = {.spi = htonl(spi),
		       .proto = proto,
		       .af = AF_INET,
		       .dst = inbound ? local : peer},
		.path = {.af = AF_INET,
			 .src = inbound ? peer : local,
			 .dst = inbound ? local : peer},
		.flags = inbound ? CYGNET_SA_INBOUND : 0,
		.cipher = CYGNET_CIPHER_AES_GCM,
		.icv_len = 16,
		.cipher_key_len = 16,
		.salt_len = 4,
		.replay_window = 32,
		.reqid = reqid,
	};

	if (proto == IPPROTO_AH) {
		params.cipher = CYGNET_CIPHER_NULL;
		params.cipher_key_len = params.salt_len = 0;
		params.auth = CYGNET_AUTH_HMAC_SHA1;
		params.auth_key_len = 20;
		params.icv_len = 12;
	}
	assert_int_equal(cygnet_sa_add(sadb, &params), 0);
}

static void assert_counts(int fd, json_int_t tunnels, json_int_t up)
{
	json_t *rows = ask(fd, "/cygnet/tunnel_counts");

	assert_int_equal(json_array_size(rows), 1);
	assert_int_equal(number(json_array_get(rows, 0), "tunnels"), tunnels);
	assert_int_equal(number(json_array_get(rows, 0), "up"), up);
	json_decref(rows);
}

/* Tunnels on several pages, of which one is being rekeyed, one changes its protocol and one has one direction only. The
 * SAD is read once a second at most. */
static void all_tunnels(void **state)
{
	int fd = connected();
	const json_t *row;
	json_t *rows;

	(void)state;
	for (uint32_t reqid = 1; reqid <= 70; reqid++) {
		add_sa(0xc0000000 + reqid, reqid, true, IPPROTO_ESP);
		if (reqid != 70)
			add_sa(0x0a000000 + reqid, reqid, false, IPPROTO_ESP);
	}
	add_sa(0xc0001001, 1, true, IPPROTO_ESP);
	add_sa(0xc0001002, 2, true, IPPROTO_AH);
	for (uint32_t slot = 0; slot < 139; slot++)
		cygnet_sa_at(sadb, slot)->install_time -= 1;
	assert_counts(fd, 70, 69);
	add_sa(0xc0002003, 71, true, IPPROTO_ESP);
	assert_counts(fd, 70, 69);
	rows = ask(fd, "/cygnet/tunnels");
	assert_int_equal(json_array_size(rows), 70);
	row = json_array_get(rows, 0);
	assert_int_equal(number(row, "reqid"), 1);
	assert_int_equal(number(row, "up"), 1);
	assert_string_equal(json_string_value(json_object_get(row, "local")), "192.0.2.1");
	assert_string_equal(json_string_value(json_object_get(row, "peer")), "192.0.2.2");
	assert_string_equal(json_string_value(json_object_get(row, "spi_in")), "0xc0001001");
	assert_string_equal(json_string_value(json_object_get(row, "spi_out")), "0x0a000001");
	row = json_array_get(rows, 69);
	assert_int_equal(number(row, "up"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "spi_out")), "");
	json_decref(rows);
	assert_int_equal(cygnet_db_flush(sadb), 0);
	close(fd);
}

static void assert_error(int fd, const char *command, const char *expected)
{
	char error[256] = "";

	assert_null(client_table(fd, command, error, sizeof(error)));
	assert_non_null(strstr(error, expected));
}

/* The next listing is of another reading of the SAD. */
static void grow_old(void)
{
	usleep(1100000);
}

/* Where the page after the first one begins. */
static json_int_t next_of(int fd, const char *command)
{
	char answer[16384];
	json_t *root;
	json_int_t next;
	ssize_t len;

	assert_true(send(fd, command, strlen(command), 0) > 0);
	len = recv(fd, answer, sizeof(answer), 0);
	assert_true(len > 0);
	root = json_loadb(answer, (size_t)len, 0, NULL);
	next = number(json_object_get(root, command), "next");
	json_decref(root);
	return next;
}

/* Pages of a listing are of one reading of the SAD: the rest of an older one is an error. */
static void listings(void **state)
{
	json_int_t next;
	const struct cygnet_sa_id first = {.spi = htonl(0xc0000001),
					   .proto = IPPROTO_ESP,
					   .af = AF_INET,
					   .dst = cygnet_addr4(htonl(0xc0000201))};
	char command[64];
	int fd = connected();
	json_t *rows;

	(void)state;
	grow_old();
	for (uint32_t reqid = 1; reqid <= 70; reqid++)
		add_sa(0xc0000000 + reqid, reqid, true, IPPROTO_ESP);
	next = next_of(fd, "/cygnet/tunnels");
	snprintf(command, sizeof(command), "/cygnet/tunnels,%" JSON_INTEGER_FORMAT, next);
	rows = ask(fd, command);
	assert_int_equal(json_array_size(rows), 70 - 64);
	json_decref(rows);

	/* A tunnel in front goes, and another client has the SAD read again. */
	grow_old();
	assert_int_equal(cygnet_sa_delete(sadb, &first), 0);
	assert_counts(fd, 69, 0);
	assert_error(fd, command, "read again");
	assert_error(fd, "/cygnet/tunnels,64", "read again");
	assert_true(next_of(fd, "/cygnet/tunnels") > next);

	/* Without memory for a reading there are no tunnels, and not those of before. */
	grow_old();
	no_reading = true;
	assert_error(fd, "/cygnet/tunnel_counts", "no memory");
	assert_error(fd, "/cygnet/tunnels", "no memory");
	no_reading = false;
	assert_counts(fd, 69, 0);
	assert_int_equal(cygnet_db_flush(sadb), 0);
	close(fd);
}

/* The last EVENT_LOG events in order, from a given one. */
static void last_events(void **state)
{
	const struct cygnet_event event = {
		.type = CYGNET_EVENT_EXPIRE,
		.hard = 1,
		.reqid = 3,
		.id = {.spi = htonl(0xc0000001), .af = AF_INET6},
	};
	int fd = connected();
	json_t *rows, *row;
	char command[64];
	size_t i;

	(void)state;
	rows = ask(fd, "/cygnet/events");
	assert_int_equal(json_array_size(rows), 0);
	json_decref(rows);
	for (i = 0; i < EVENT_LOG + 5; i++)
		event_log_add(&event);
	rows = ask(fd, "/cygnet/events");
	assert_int_equal(json_array_size(rows), EVENT_LOG);
	json_array_foreach(rows, i, row) assert_int_equal(number(row, "number"), i + 5);
	row = json_array_get(rows, 0);
	assert_string_equal(json_string_value(json_object_get(row, "event")), "expire");
	assert_string_equal(json_string_value(json_object_get(row, "limit")), "hard");
	assert_string_equal(json_string_value(json_object_get(row, "spi")), "0xc0000001");
	json_decref(rows);
	rows = ask(fd, "/cygnet/event_kinds");
	assert_int_equal(json_array_size(rows), EVENT_KIND_COUNT);
	row = json_array_get(rows, EVENT_KIND_HARD);
	assert_string_equal(json_string_value(json_object_get(row, "kind")), "expire-hard");
	assert_int_equal(number(row, "events"), EVENT_LOG + 5);
	assert_int_equal(number(json_array_get(rows, EVENT_KIND_SOFT), "events"), 0);
	json_decref(rows);
	snprintf(command, sizeof(command), "/cygnet/events,%u", EVENT_LOG + 3);
	rows = ask(fd, command);
	assert_int_equal(json_array_size(rows), 2);
	json_decref(rows);
	close(fd);
}

/* A table is freed during a question about it. */
static void ended(void **state)
{
	static const char *const commands[] = {"ports",		"routes",	"ike",
					       "engines",	"measured",	"stats",
					       "drops",		"stages",	"info",
					       "sas",		"policies",	"events",
					       "event_kinds",	"crypto_cores", "conf",
					       "policies_named"};
	pthread_t thread;
	int fd;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, asker, NULL), 0);
	while (__atomic_load_n(&answered, __ATOMIC_ACQUIRE) < 10)
		usleep(1000);
	telemetry_stop();
	cygnet_db_close(sadb);
	sadb = NULL;
	assert_int_equal(pthread_join(thread, NULL), 0);
	fd = connected();
	for (unsigned int i = 0; i < RTE_DIM(commands); i++) {
		char command[32];

		snprintf(command, sizeof(command), "/cygnet/%s", commands[i]);
		assert_null(ask(fd, command));
	}
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ike),	       cmocka_unit_test(buffers),
		cmocka_unit_test(all_workers), cmocka_unit_test(all_reasons),
		cmocka_unit_test(all_engines), cmocka_unit_test(all_stages),
		cmocka_unit_test(all_tunnels), cmocka_unit_test(listings),
		cmocka_unit_test(all_sas),     cmocka_unit_test(last_events),
		cmocka_unit_test(no_memory),   cmocka_unit_test(ended),
	};

	(void)argc;
	if (!mkdtemp(folder) || setenv("RUNTIME_DIRECTORY", folder, 1) || start_eal(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, start, finish);
}

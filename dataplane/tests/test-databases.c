/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cygnetctl: the databases as rows, rates, and what has changed between two samples. */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/selector_text.h"
#include "busiest.h"
#include "changed.h"
#include "cygnet.h"
#include "databases.h"
#include "rates.h"
#include "row_asserts.h"

static char folder[32], sadb[64];
static struct cygnet_db *db;

static int open_db(void **state)
{
	const struct cygnet_geometry geometry = {64, 64};

	(void)state;
	strcpy(folder, "./test-databases-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(sadb, sizeof(sadb), "%s/sadb", folder);
	return cygnet_db_open_flags(sadb, &geometry, CYGNET_OPEN_ON_DISK, &db, NULL, 0);
}

static int close_db(void **state)
{
	(void)state;
	cygnet_db_close(db);
	unlink(sadb);
	return rmdir(folder);
}

static void set_addr(struct cygnet_addr *addr, const char *text)
{
	memset(addr, 0, sizeof(*addr));
	assert_int_equal(inet_pton(strchr(text, ':') ? AF_INET6 : AF_INET, text, addr->bytes), 1);
}

static void sad(void **state)
{
	struct cygnet_sa_params params = {
		.id = {.spi = htonl(0xc0000001), .proto = IPPROTO_ESP, .af = AF_INET},
		.path = {.encap = 1, .sport = htons(4500), .dport = htons(61234), .af = AF_INET},
		.flags = CYGNET_SA_INBOUND | CYGNET_SA_ESN,
		.reqid = 3,
		.cipher = CYGNET_CIPHER_AES_CBC,
		.auth = CYGNET_AUTH_HMAC_SHA256,
		.icv_len = 16,
		.cipher_key_len = 16,
		.auth_key_len = 32,
		.replay_window = 32,
	};
	json_t *rows, *row;
	char *text;

	(void)state;
	set_addr(&params.path.src, "192.0.2.1");
	set_addr(&params.path.dst, "192.0.2.2");
	params.id.dst = params.path.dst;
	memset(params.cipher_key, 'K', 16);
	memset(params.auth_key, 'K', 32);
	rows = databases_sad(db, &(struct sa_filter){0}, NULL, 1000);
	assert_int_equal(json_array_size(rows), 0);
	json_decref(rows);
	assert_int_equal(cygnet_sa_add(db, &params), 0);
	rows = databases_sad(db, &(struct sa_filter){0}, NULL, 1000);
	assert_int_equal(json_array_size(rows), 1);
	row = json_array_get(rows, 0);
	assert_text(row, "spi", "0xc0000001");
	assert_text(row, "dir", "in");
	assert_text(row, "state", "live");
	assert_text(row, "src", "192.0.2.1");
	assert_text(row, "dst", "192.0.2.2");
	assert_text(row, "proto", "esp");
	assert_text(row, "mode", "tunnel");
	assert_text(row, "encap", "udp");
	assert_number(row, "sport", 4500);
	assert_number(row, "dport", 61234);
	assert_text(row, "cipher", "aes-cbc");
	assert_number(row, "key_bits", 128);
	assert_text(row, "auth", cygnet_auth_name(CYGNET_AUTH_HMAC_SHA256));
	assert_number(row, "icv", 16);
	assert_number(row, "reqid", 3);
	assert_true(json_is_true(json_object_get(row, "esn")));
	assert_number(row, "seq", 0);
	assert_number(row, "packets", 0);
	assert_number(row, "bytes", 0);
	assert_number(row, "window", 32);
	assert_number(row, "replay_drops", 0);
	assert_number(row, "auth_drops", 0);
	assert_true(json_is_null(json_object_get(row, "last_used")));
	assert_true(json_is_null(json_object_get(row, "path_mtu")));
	assert_true(json_is_null(json_object_get(row, "cpu")));
	text = json_dumps(rows, 0);
	assert_null(strstr(text, "KKK"));
	free(text);
	json_decref(rows);
}

static void cpu_of_an_sa(void **state)
{
	struct cygnet_sa_params params = {
		.id = {.spi = htonl(0xc0000009), .proto = IPPROTO_ESP, .af = AF_INET},
		.path = {.af = AF_INET},
		.flags = cygnet_sa_cpu_flags(0),
		.cipher = CYGNET_CIPHER_AES_GCM,
		.icv_len = 16,
	};
	json_t *rows;

	(void)state;
	assert_int_equal(cygnet_sa_add(db, &params), 0);
	rows = databases_sad(db, &(struct sa_filter){.spi = params.id.spi}, NULL, 1000);
	assert_int_equal(json_array_size(rows), 1);
	assert_text(json_array_get(rows, 0), "dir", "out");
	assert_number(json_array_get(rows, 0), "cpu", 0);
	json_decref(rows);
	assert_int_equal(cygnet_sa_delete(db, &params.id), 0);
}

static void add_policy(struct cygnet_policy_params *params, const char *src_lo, const char *src_hi,
		       const char *dst_lo, const char *dst_hi)
{
	params->sel.af = strchr(src_lo, ':') ? AF_INET6 : AF_INET;
	set_addr(&params->sel.src_lo, src_lo);
	set_addr(&params->sel.src_hi, src_hi);
	set_addr(&params->sel.dst_lo, dst_lo);
	set_addr(&params->sel.dst_hi, dst_hi);
	assert_int_equal(cygnet_policy_add(db, params), 0);
}

static const json_t *find_row(const json_t *rows, const char *key, json_int_t value)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) if (json_integer_value(json_object_get(row, key)) ==
					     value) return row;
	fail_msg("no row with %s %lld", key, (long long)value);
	return NULL;
}

static void spd(void **state)
{
	struct cygnet_policy_params params = {
		.sel = {.sport_hi = 65535, .dport_hi = 65535},
		.priority = 100,
		.reqid = 7,
		.spi = htonl(0xc0000002),
		.dir = CYGNET_OUT,
		.action = CYGNET_PROTECT,
		.proto = IPPROTO_ESP,
		.af = AF_INET,
	};
	const json_t *row;
	json_t *rows;

	(void)state;
	add_policy(&params, "10.1.0.0", "10.1.255.255", "10.2.0.5", "10.2.0.5");
	params.priority = 200;
	params.sel.proto = IPPROTO_TCP;
	params.sel.dport_lo = params.sel.dport_hi = 80;
	params.sel.sport_hi = 1023;
	params.action = CYGNET_DISCARD;
	params.dir = CYGNET_FWD;
	params.spi = params.reqid = 0;
	add_policy(&params, "0.0.0.0", "255.255.255.255", "10.0.0.1", "10.0.0.9");
	params.priority = 300;
	params.action = CYGNET_BYPASS;
	params.dir = CYGNET_IN;
	add_policy(&params, "2001:db8::", "2001:db8::ffff", "::1", "::1");
	params.priority = 400;
	params.action = CYGNET_DISCARD;
	params.dir = CYGNET_OUT;
	assert_int_equal(cygnet_policy_hold(db, &params), 0);
	rows = databases_spd(db, 50);
	assert_int_equal(json_array_size(rows), 4);

	assert_true(json_is_true(json_object_get(find_row(rows, "priority", 400), "held")));

	row = find_row(rows, "priority", 100);
	assert_text(row, "dir", "out");
	assert_text(row, "selector", "10.1.0.0/16 === 10.2.0.5/32");
	assert_text(row, "src", "10.1.0.0/16");
	assert_text(row, "dst", "10.2.0.5/32");
	assert_text(row, "proto", "any");
	assert_text(row, "sport", "any");
	assert_text(row, "dport", "any");
	assert_text(row, "action", "protect");
	assert_true(json_is_false(json_object_get(row, "held")));
	assert_number(row, "reqid", 7);
	assert_text(row, "spi", "0xc0000002");
	assert_text(row, "sa_proto", "esp");
	assert_text(row, "mode", "tunnel");
	assert_number(row, "refs", 1);
	assert_true(json_is_null(json_object_get(row, "last_used")));

	row = find_row(rows, "priority", 200);
	assert_text(row, "dir", "fwd");
	assert_text(row, "selector", "0.0.0.0/0 === 10.0.0.1-10.0.0.9 tcp 0-1023 80");
	assert_text(row, "action", "discard");
	assert_true(json_is_null(json_object_get(row, "spi")));

	row = find_row(rows, "priority", 300);
	assert_text(row, "selector", "2001:db8::/112 === ::1/128 tcp 0-1023 80");
	assert_text(row, "action", "bypass");
	json_decref(rows);
}

/* Replaces libc's interfaces of this host. */
static struct if_nameindex interfaces[] = {{1, (char *)"lo"},
					   {7, (char *)"wan0"},
					   {9, (char *)"l\xe4n"},
					   {0, NULL}};
static unsigned int asked_for, given_back;

struct if_nameindex *if_nameindex(void)
{
	asked_for++;
	return interfaces;
}

void if_freenameindex(struct if_nameindex *list)
{
	assert_ptr_equal(list, interfaces);
	given_back++;
}

/* The kernel is asked only once about an interface, however many policies are bound to it. */
static void bound_policies(void **state)
{
	static const char *const names[] = {"wan0", "gone0", "lo", "l\xe4n"};
	struct cygnet_policy_params params = {
		.sel = {.sport_hi = 65535, .dport_hi = 65535},
		.action = CYGNET_BYPASS,
	};
	const json_t *row;
	char gone[16];
	json_t *rows;

	(void)state;
	for (; params.priority < 4; params.priority++) {
		params.sel.interface = cygnet_interface(names[params.priority]);
		add_policy(&params, "10.1.0.0", "10.1.255.255", "0.0.0.0", "255.255.255.255");
	}
	asked_for = given_back = 0;
	rows = databases_spd(db, 50);
	assert_int_equal(asked_for, 1);
	assert_int_equal(given_back, 1);
	row = find_row(rows, "priority", 0);
	assert_text(row, "interface", "wan0");
	assert_text(row, "selector", "10.1.0.0/16 === 0.0.0.0/0 dev wan0");
	/* A name that is no UTF-8. */
	row = find_row(rows, "priority", 3);
	assert_text(row, "interface", "l?n");
	assert_text(row, "selector", "10.1.0.0/16 === 0.0.0.0/0 dev l?n");
	/* An interface that this host does not have is shown by its number. */
	snprintf(gone, sizeof(gone), "0x%08x", cygnet_interface("gone0"));
	assert_text(find_row(rows, "priority", 1), "interface", gone);
	assert_text(find_row(rows, "priority", 2), "interface", "lo");
	json_decref(rows);
}

/* --- rates --- */

static void rates(void **state)
{
	static const char *const fields[] = {"a", NULL};
	json_t *before =
		json_loads("[{\"id\": \"x\", \"a\": 10, \"b\": 1}, {\"id\": \"y\", \"a\": 50},"
			   " {\"id\": \"z\", \"a\": 1}]",
			   0, NULL);
	json_t *after =
		json_loads("[{\"id\": \"new\", \"a\": 8}, {\"id\": \"x\", \"a\": 1010, \"b\": 2},"
			   " {\"id\": \"y\", \"a\": 20}]",
			   0, NULL);
	json_t *rows = rates_between(before, after, "id", fields, 0.5);

	(void)state;
	assert_int_equal(json_array_size(rows), 3);
	assert_number(json_array_get(rows, 0), "a", 0);
	assert_number(json_array_get(rows, 1), "a", 2000);
	assert_number(json_array_get(rows, 1), "b", 2);
	assert_number(json_array_get(rows, 2), "a", 0);
	assert_number(json_array_get(after, 1), "a", 1010);
	rates_add_mbit(rows, "a", "mbit");
	assert_true(json_real_value(json_object_get(json_array_get(rows, 1), "mbit")) == 0.016);
	rates_keep(rows, "a");
	assert_int_equal(json_array_size(rows), 1);
	assert_text(json_array_get(rows, 0), "id", "x");
	json_decref(before);
	json_decref(after);
	json_decref(rows);
}

static void busy(void **state)
{
	json_t *before = json_loads("[{\"worker\": 0, \"busy_cycles\": 100, \"cycles\": 1000},"
				    " {\"worker\": 1, \"busy_cycles\": 5, \"cycles\": 1000}]",
				    0, NULL);
	json_t *after = json_loads("[{\"worker\": 0, \"busy_cycles\": 350, \"cycles\": 2000},"
				   " {\"worker\": 1, \"busy_cycles\": 1007, \"cycles\": 2000}]",
				   0, NULL);
	json_t *rows = json_deep_copy(after);

	(void)state;
	rates_add_busy(rows, before, after);
	assert_true(json_real_value(json_object_get(json_array_get(rows, 0), "busy")) == 25);
	assert_true(json_real_value(json_object_get(json_array_get(rows, 1), "busy")) == 100);
	json_decref(before);
	json_decref(after);
	json_decref(rows);
}

static void add_sa(uint32_t spi)
{
	struct cygnet_sa_params params = {
		.id = {.spi = htonl(spi), .proto = IPPROTO_ESP, .af = AF_INET},
		.path = {.af = AF_INET},
		.cipher = CYGNET_CIPHER_AES_GCM,
		.icv_len = 16,
		.cipher_key_len = 16,
		.salt_len = 4,
	};

	set_addr(&params.path.src, "192.0.2.1");
	set_addr(&params.path.dst, "192.0.2.2");
	params.id.dst = params.path.dst;
	assert_int_equal(cygnet_sa_add(db, &params), 0);
}

/* Two old SAs and a new one. The first sample has no rates. */
static void busiest(void **state)
{
	struct looks looks = {0};
	json_t *rows;

	(void)state;
	add_sa(0xc0000001);
	add_sa(0xc0000002);
	cygnet_sa_at(db, 0)->packets = 7;
	cygnet_sa_at(db, 0)->bytes = 700;
	rows = busiest_sas(db, &looks, 2, 1);
	assert_int_equal(json_array_size(rows), 0);
	json_decref(rows);
	add_sa(0xc0000003);
	for (uint32_t slot = 0; slot < 3; slot++) {
		cygnet_sa_at(db, slot)->packets += 10 * (slot + 1);
		cygnet_sa_at(db, slot)->bytes += 1000 * (slot + 1);
	}
	rows = busiest_sas(db, &looks, 2, 2);
	assert_int_equal(json_array_size(rows), 2);
	assert_text(json_array_get(rows, 0), "spi", "0xc0000003");
	assert_number(json_array_get(rows, 0), "bytes", 1500);
	assert_text(json_array_get(rows, 1), "spi", "0xc0000002");
	assert_number(json_array_get(rows, 1), "packets", 10);
	json_decref(rows);
	busiest_free(&looks);
}

/* --- watch --- */

/* A device fails, another one is new, a third stays. */
static void changed(void **state)
{
	json_t *before = json_loads("[{\"device\": \"a\", \"engine\": \"cpu\", \"state\": \"up\"},"
				    " {\"device\": \"b\", \"engine\": \"cpu\", \"state\": \"up\"}]",
				    0, NULL);
	json_t *after =
		json_loads("[{\"device\": \"a\", \"engine\": \"cpu\", \"state\": \"up\"},"
			   " {\"device\": \"b\", \"engine\": \"cpu\", \"state\": \"failed\"},"
			   " {\"device\": \"c\", \"engine\": \"cpu\", \"state\": \"up\"}]",
			   0, NULL);
	json_t *events = json_array();

	(void)state;
	changed_rows(NULL, after, "engine", "device", "state", "engine", events);
	assert_int_equal(json_array_size(events), 0);
	changed_rows(before, after, "engine", "device", "state", "engine", events);
	assert_int_equal(json_array_size(events), 1);
	assert_text(json_array_get(events, 0), "event", "engine");
	assert_text(json_array_get(events, 0), "device", "b");
	assert_text(json_array_get(events, 0), "state", "failed");
	assert_text(json_array_get(events, 0), "engine", "cpu");
	json_array_clear(events);
	changed_rows(before, after, "engine", "device", "state", NULL, events);
	assert_int_equal(json_object_size(json_array_get(events, 0)), 3);
	json_decref(before);
	json_decref(after);
	json_decref(events);
}

/* A slot that has another SA at the second sample counts as one SA deleted and one added. */
static void changed_slots(void **state)
{
	struct sad_seen seen = {0};
	json_t *events = json_array();

	(void)state;
	add_sa(0xc0000001);
	assert_int_equal(changed_sas(db, &seen, events), 0);
	assert_int_equal(changed_sas(db, &seen, events), 0);
	assert_int_equal(json_array_size(events), 0);
	cygnet_db_flush(db);
	add_sa(0xc0000002);
	assert_int_equal(changed_sas(db, &seen, events), 0);
	assert_int_equal(json_array_size(events), 2);
	assert_text(json_array_get(events, 0), "event", "sa-delete");
	assert_text(json_array_get(events, 0), "spi", "0xc0000001");
	assert_text(json_array_get(events, 1), "event", "sa-add");
	assert_text(json_array_get(events, 1), "spi", "0xc0000002");
	sad_seen_free(&seen);
	json_decref(events);
}

/* Numbers of a damaged file have no name. */
static void names(void **state)
{
	char spi[SPI_TEXT];

	(void)state;
	assert_string_equal(policy_dir_text(CYGNET_FWD), "fwd");
	assert_string_equal(policy_dir_text(CYGNET_DIRS), "?");
	assert_string_equal(policy_action_text(CYGNET_DISCARD), "discard");
	assert_string_equal(policy_action_text(CYGNET_DISCARD + 1), "?");
	assert_string_equal(spi_text(htonl(0xffffffff), spi), "0xffffffff");
	assert_string_equal(spi_text(htonl(0x100), spi), "0x00000100");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed),
		cmocka_unit_test_setup_teardown(changed_slots, open_db, close_db),
		cmocka_unit_test(names),
		cmocka_unit_test(rates),
		cmocka_unit_test(busy),
		cmocka_unit_test_setup_teardown(busiest, open_db, close_db),
		cmocka_unit_test_setup_teardown(sad, open_db, close_db),
		cmocka_unit_test_setup_teardown(cpu_of_an_sa, open_db, close_db),
		cmocka_unit_test_setup_teardown(spd, open_db, close_db),
		cmocka_unit_test_setup_teardown(bound_policies, open_db, close_db),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

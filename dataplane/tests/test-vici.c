/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cygnetctl's client of charon: messages of vici, also damaged ones, and the names of SAs and tunnels. */
#include <arpa/inet.h>
#include <netinet/in.h>
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

#include "charon.h"
#include "databases.h"
#include "dialogue.h"
#include "row_asserts.h"
#include "sa_filter.h"
#include "tunnels.h"
#include "vici.h"
#include "vici_bytes.h"
#include "vici_message.h"

/* --- messages --- */

/* As charon has it. One child is being negotiated and has no SPIs. */
static const char *const list_sa[] = {
	"gw-gw{",
	"uniqueid=7",
	"remote-host=192.0.2.2",
	"remote-id=right.example",
	"tasks-active[",
	"=CHILD_REKEY",
	"]",
	"child-sas{",
	"net-1{",
	"name=net",
	"uniqueid=3",
	"reqid=1",
	"spi-in=c0000001",
	"spi-out=0a0b0c0d",
	"}",
	"other-2{",
	"name=other",
	"uniqueid=4",
	"}",
	"}",
	"}",
	NULL,
};

static void message(void **state)
{
	struct bytes bytes = {0};
	json_t *parsed;
	char *text;

	(void)state;
	put_elements(&bytes, list_sa);
	parsed = vici_message_parse(bytes.data, bytes.len);
	assert_non_null(parsed);
	text = json_dumps(parsed, JSON_COMPACT);
	assert_string_equal(
		text,
		"{\"gw-gw\":{\"uniqueid\":\"7\",\"remote-host\":\"192.0.2.2\",\"remote-id\":\"right.example\","
		"\"tasks-active\":[\"CHILD_REKEY\"],\"child-sas\":{\"net-1\":{\"name\":\"net\",\"uniqueid\":\"3\","
		"\"reqid\":\"1\",\"spi-in\":\"c0000001\",\"spi-out\":\"0a0b0c0d\"},"
		"\"other-2\":{\"name\":\"other\",\"uniqueid\":\"4\"}}}}");
	free(text);
	json_decref(parsed);
}

static void assert_refused(const char *bytes, size_t len)
{
	assert_null(vici_message_parse((const uint8_t *)bytes, len));
}

static void no_messages(void **state)
{
	char deep[3 * (VICI_DEPTH + 1)];
	json_t *empty;

	(void)state;
	empty = vici_message_parse((const uint8_t *)"", 0);
	assert_int_equal(json_object_size(empty), 0);
	json_decref(empty);
	assert_refused("\x00", 1);			     /* no element */
	assert_refused("\x07", 1);			     /* the same */
	assert_refused("\x02", 1);			     /* the end of no section */
	assert_refused("\x06", 1);			     /* the end of no list */
	assert_refused("\x01\x01s", 3);			     /* a section that does not end */
	assert_refused("\x05\x00\x01v", 4);		     /* an item without a list */
	assert_refused("\x04\x01l\x03\x01k\x00\x00\x06", 8); /* a value in a list */
	assert_refused("\x04\x01l\x02", 4);		     /* a list that ends as a section */
	assert_refused("\x01\x01s\x06", 4);		     /* a section that ends as a list */
	assert_refused("\x04\x01l\x04\x01m\x06\x06", 8);     /* a list in a list */
	assert_refused("\x03\x02k\x00\x00\x00", 6);	     /* a zero in a name */
	assert_refused("\x03\x01\xff\x00\x00", 5);	     /* a name beyond ASCII */
	assert_refused("\x03\xffk", 3);			     /* a name longer than the message */
	assert_refused("\x03\x01k\xff\xffv", 6);	     /* a value longer than the message */
	for (size_t i = 0; i <= VICI_DEPTH; i++)
		memcpy(deep + 3 * i, "\x01\x01s", 3);
	assert_refused(deep, sizeof(deep));
}

/* A message that is cut anywhere, or has another byte anywhere: it is refused or understood, and read within its end. */
static void damaged_messages(void **state)
{
	struct bytes bytes = {0};

	(void)state;
	put_elements(&bytes, list_sa);
	for (size_t len = 0; len < bytes.len; len++) {
		uint8_t *copy = malloc(len + 1);

		memcpy(copy, bytes.data, len);
		json_decref(vici_message_parse(copy, len));
		free(copy);
	}
	for (size_t at = 0; at < bytes.len; at++) {
		for (unsigned int byte = 0; byte < 256; byte++) {
			uint8_t *copy = malloc(bytes.len);

			memcpy(copy, bytes.data, bytes.len);
			copy[at] = (uint8_t)byte;
			json_decref(vici_message_parse(copy, bytes.len));
			free(copy);
		}
	}
}

/* A value may be anything, such as a peer's identity. */
static void strange_values(void **state)
{
	static const char bytes[] = "\x03\x01k\x00\x04"
				    "a\xff\x1b"
				    "b";
	json_t *parsed = vici_message_parse((const uint8_t *)bytes, sizeof(bytes) - 1);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(parsed, "k")), "a?\x1b"
									     "b");
	json_decref(parsed);
}

/* --- the socket --- */

static const char path[] = "./test-vici.sock";

/* Ask a charon that sends these packets, one after each request; NULL ends them. @param asked  receives the second
 * request; may be NULL */
static json_t *ask(const struct bytes *const packets[4], bool wait, char *asked, char *error,
		   size_t size)
{
	struct dialogue dialogue = {.path = path, .type = SOCK_STREAM};
	json_t *children;

	for (unsigned int i = 0; i < 4 && packets[i]; i++) {
		dialogue.answer[i].data = packets[i]->data;
		dialogue.answer[i].len = packets[i]->len;
	}
	dialogue_start(&dialogue);
	children = charon_children("unix://./test-vici.sock", wait, error, size);
	dialogue_end(&dialogue);
	if (asked)
		memcpy(asked, dialogue.asked[1], sizeof(dialogue.asked[1]));
	return children;
}

static void names(void **state)
{
	struct bytes confirm = packet_of(5), answer = list_of(list_sa);
	const struct bytes *const packets[4] = {&confirm, &answer, &confirm};
	struct cygnet_addr right, other;
	char error[256] = "", asked[512];
	json_t *children;

	(void)state;
	children = ask(packets, false, asked, error, sizeof(error));
	assert_string_equal(error, "");
	assert_memory_equal(asked, "\x00\x00\x00\x18\x00\x08list-sas\x03\x07noblock\x00\x03yes",
			    28);
	json_decref(children);
	children = ask(packets, true, asked, error, sizeof(error));
	assert_memory_equal(asked, "\x00\x00\x00\x0a\x00\x08list-sas", 15);
	right = cygnet_addr4(inet_addr("192.0.2.2"));
	other = cygnet_addr4(inet_addr("192.0.2.3"));
	assert_string_equal(json_string_value(
				    json_object_get(charon_child(children, true, htonl(0xc0000001),
								 AF_INET, &other),
						    "ike")),
			    "gw-gw");
	assert_string_equal(json_string_value(
				    json_object_get(charon_child(children, false, htonl(0x0a0b0c0d),
								 AF_INET, &right),
						    "child")),
			    "net");
	/* Another peer has chosen the same SPI. */
	assert_null(charon_child(children, false, htonl(0x0a0b0c0d), AF_INET, &other));
	assert_null(charon_child(children, true, htonl(0x0a0b0c0d), AF_INET, &right));
	assert_null(charon_child(NULL, true, htonl(0xc0000001), AF_INET, &other));
	json_decref(children);
}

/* charon ends, refuses, or is something else. */
static void no_names(void **state)
{
	static const struct bytes none = {{0, 0, 0, 0}, 4}, huge = {{0xff, 0xff, 0xff, 0xff}, 4},
				  nameless = {{0, 0, 0, 1, 7}, 5}, part = {{0, 0, 0, 9, 1}, 5},
				  wrong = {{0, 0, 0, 2, 1, 2}, 6};
	struct bytes confirm = packet_of(5), unknown = packet_of(6), refused = packet_of(2);
	struct bytes longer = {{0, 0, 0, 3, 7, 9, 'a'}, 7};
	const struct bytes *const first[] = {&unknown, &none, &huge, &part};
	const struct bytes *const second[] = {&refused, &none,	   &huge,  &part,
					      &wrong,	&nameless, &longer};
	char error[256];

	(void)state;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		const struct bytes *const packets[4] = {first[i]};

		assert_null(ask(packets, true, NULL, error, sizeof(error)));
		assert_string_equal(error, "charon does not answer list-sas");
	}
	for (size_t i = 0; i < sizeof(second) / sizeof(second[0]); i++) {
		const struct bytes *const packets[4] = {&confirm, second[i]};

		/* The response itself is not read. */
		if (second[i] == &wrong)
			continue;
		assert_null(ask(packets, true, NULL, error, sizeof(error)));
		assert_string_equal(error, "charon does not answer list-sas");
	}
	assert_null(charon_children("./no-such.sock", true, error, sizeof(error)));
	assert_string_equal(error,
			    "charon does not answer at ./no-such.sock: No such file or directory");
}

/* --- SAs with names --- */

static char folder[32], sadb[64];
static struct cygnet_db *db;

static int open_db(void **state)
{
	const struct cygnet_geometry geometry = {64, 64};

	(void)state;
	strcpy(folder, "./test-vici-XXXXXX");
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

static void add_sa(uint32_t spi, const char *peer, bool inbound, uint32_t reqid)
{
	struct cygnet_sa_params params = {
		.id = {.spi = htonl(spi), .proto = IPPROTO_ESP, .af = AF_INET},
		.path = {.af = AF_INET},
		.flags = inbound ? CYGNET_SA_INBOUND : 0,
		.reqid = reqid,
		.cipher = CYGNET_CIPHER_AES_GCM,
		.icv_len = 16,
		.cipher_key_len = 16,
		.salt_len = 4,
		.lifetime = {.soft_seconds = 3600, .hard_seconds = 4000, .hard_bytes = 99},
	};
	struct cygnet_addr local = cygnet_addr4(inet_addr("192.0.2.1"));

	params.path.src = inbound ? cygnet_addr4(inet_addr(peer)) : local;
	params.path.dst = inbound ? local : cygnet_addr4(inet_addr(peer));
	params.id.dst = params.path.dst;
	assert_int_equal(cygnet_sa_add(db, &params), 0);
	cygnet_sa_at(db, 0)->install_time = 100;
}

static json_t *filtered(json_t *(*rows)(struct cygnet_db *, const struct sa_filter *,
					const json_t *, uint64_t),
			const json_t *children, int argc, const char *const *argv)
{
	const struct options options = {0};
	struct sa_filter filter;

	assert_int_equal(sa_filter_parse(&filter, &options, argc, (char **)(uintptr_t)argv), 0);
	return rows(db, &filter, children, 1100);
}

static void assert_count(const json_t *children, size_t sas, size_t tunnels, const char *keyword,
			 const char *value)
{
	const char *const argv[] = {keyword, value, NULL};
	json_t *rows = filtered(databases_sad, children, keyword ? 2 : 0, argv);

	assert_int_equal(json_array_size(rows), sas);
	json_decref(rows);
	rows = filtered(tunnels_rows, children, keyword ? 2 : 0, argv);
	assert_int_equal(json_array_size(rows), tunnels);
	json_decref(rows);
}

static json_t *known_children(void)
{
	struct bytes bytes = {0};
	json_t *children = json_object(), *parsed;

	put_elements(&bytes, list_sa);
	parsed = vici_message_parse(bytes.data, bytes.len);
	assert_int_equal(charon_add(children, parsed), 0);
	json_decref(parsed);
	return children;
}

/* A tunnel with one name, and one of another peer that has only an outbound SA. */
static void filters(void **state)
{
	json_t *children = known_children(), *rows;

	(void)state;
	add_sa(0xc0000001, "192.0.2.2", true, 1);
	add_sa(0x0a0b0c0d, "192.0.2.2", false, 1);
	add_sa(0x0a0b0c0d, "192.0.2.3", false, 2);
	assert_count(children, 3, 2, NULL, NULL);
	assert_count(children, 2, 1, "peer", "192.0.2.2");
	assert_count(children, 0, 0, "peer", "2001:db8::2");
	assert_count(children, 2, 2, "spi", "0x0a0b0c0d");
	assert_count(children, 1, 1, "spi", "c0000001");
	assert_count(children, 1, 1, "reqid", "2");
	assert_count(children, 2, 1, "name", "gw-gw");
	assert_count(children, 2, 1, "name", "net");
	assert_count(children, 0, 0, "name", "other");
	assert_count(NULL, 0, 0, "name", "net");
	rows = filtered(databases_sad, children, 0, NULL);
	assert_text(json_array_get(rows, 0), "ike", "gw-gw");
	assert_text(json_array_get(rows, 0), "child", "net");
	assert_number(json_array_get(rows, 0), "ike_id", 7);
	assert_number(json_array_get(rows, 0), "child_id", 3);
	assert_text(json_array_get(rows, 0), "remote_id", "right.example");
	assert_text(json_array_get(rows, 0), "peer", "192.0.2.2");
	assert_number(json_array_get(rows, 0), "age", 1000);
	assert_number(json_array_get(rows, 0), "rekey_in", 2600);
	assert_number(json_array_get(rows, 0), "expires_in", 3000);
	assert_number(json_array_get(rows, 0), "hard_bytes", 99);
	assert_true(json_is_null(json_object_get(json_array_get(rows, 0), "soft_bytes")));
	assert_true(json_is_null(json_object_get(json_array_get(rows, 2), "ike")));
	json_decref(rows);
	json_decref(children);
}

static void wrong_filters(void **state)
{
	static const char *const wrong[][2] = {{"peer", "192.0.2"},  {"peer", ""},
					       {"spi", "0"},	     {"spi", "xyz"},
					       {"spi", "1c0000001"}, {"reqid", "-1"},
					       {"reqid", "0"},	     {"pear", "x"}};
	const struct options options = {.json = true};
	struct sa_filter filter;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(sa_filter_parse(&filter, &options, 2,
						 (char **)(uintptr_t)wrong[i]),
				 2);
	assert_int_equal(sa_filter_parse(&filter, &options, 1, (char **)(uintptr_t)wrong[0]), 2);
}

/* A rekeyed tunnel is one row: the newest SA's age and SPI, and the counters of all. */
static void rekeyed(void **state)
{
	struct cygnet_policy_params policy = {
		.sel = {.af = AF_INET, .sport_hi = 65535, .dport_hi = 65535},
		.reqid = 1,
		.dir = CYGNET_OUT,
		.action = CYGNET_PROTECT,
		.proto = IPPROTO_ESP,
		.af = AF_INET,
	};
	json_t *children = known_children(), *rows;
	const json_t *row;

	(void)state;
	add_sa(0xc0000001, "192.0.2.2", true, 1);
	add_sa(0x0a0b0c0d, "192.0.2.2", false, 1);
	add_sa(0xc0000009, "192.0.2.2", true, 1);
	add_sa(0x0a0b0c0e, "192.0.2.2", false, 1);
	for (uint32_t slot = 0; slot < 4; slot++) {
		cygnet_sa_at(db, slot)->install_time = slot < 2 ? 100 : 600;
		cygnet_sa_at(db, slot)->packets = 1u << slot;
		cygnet_sa_at(db, slot)->use_time = 1000 + slot;
	}
	policy.sel.src_hi = policy.sel.dst_hi = cygnet_addr4(0xffffffff);
	assert_int_equal(cygnet_policy_add(db, &policy), 0);
	rows = filtered(tunnels_rows, children, 0, NULL);
	assert_int_equal(json_array_size(rows), 1);
	row = json_array_get(rows, 0);
	assert_text(row, "state", "up");
	assert_text(row, "ike", "gw-gw");
	assert_number(row, "sas_in", 2);
	assert_number(row, "sas_out", 2);
	assert_text(row, "spi_in", "0xc0000009");
	assert_text(row, "spi_out", "0x0a0b0c0e");
	assert_number(row, "age", 500);
	assert_number(row, "packets_in", 5);
	assert_number(row, "packets_out", 10);
	assert_number(row, "last_used", 97);
	assert_string_equal(json_string_value(json_array_get(json_object_get(row, "selectors"), 0)),
			    "0.0.0.0/0 === 0.0.0.0/0");
	json_decref(rows);
	json_decref(children);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(message),
		cmocka_unit_test(no_messages),
		cmocka_unit_test(damaged_messages),
		cmocka_unit_test(strange_values),
		cmocka_unit_test(names),
		cmocka_unit_test(no_names),
		cmocka_unit_test_setup_teardown(filters, open_db, close_db),
		cmocka_unit_test_setup_teardown(rekeyed, open_db, close_db),
		cmocka_unit_test(wrong_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

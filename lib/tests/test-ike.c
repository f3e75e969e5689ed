/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of charon's ports and of the addresses that it sends IKE to. */
#include <limits.h>

#include "fixture.h"
#include "layout.h"

static void assert_ports(struct cygnet_db *db, uint16_t port, enum cygnet_ike v4,
			 enum cygnet_ike v6)
{
	assert_int_equal(cygnet_ike_port(db, AF_INET, port), v4);
	assert_int_equal(cygnet_ike_port(db, AF_INET6, port), v6);
}

/* 500 and 4500 until a port is registered; then only registered ports, for their family. */
static void ike_ports(void **state)
{
	struct fixture *f = *state;

	assert_ports(f->db, 500, CYGNET_IKE_PLAIN, CYGNET_IKE_PLAIN);
	assert_ports(f->db, 4500, CYGNET_IKE_ENCAP, CYGNET_IKE_ENCAP);
	assert_ports(f->db, 0, CYGNET_IKE_NONE, CYGNET_IKE_NONE);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET6, 1500, false), 0);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET6, 5500, true), 0);
	assert_ports(f->db, 500, CYGNET_IKE_NONE, CYGNET_IKE_NONE);
	assert_ports(f->db, 4500, CYGNET_IKE_NONE, CYGNET_IKE_NONE);
	assert_ports(f->db, 0, CYGNET_IKE_NONE, CYGNET_IKE_NONE);
	assert_ports(f->db, 1500, CYGNET_IKE_NONE, CYGNET_IKE_PLAIN);
	assert_ports(f->db, 5500, CYGNET_IKE_NONE, CYGNET_IKE_ENCAP);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET, 5500, false), 0);
	assert_ports(f->db, 5500, CYGNET_IKE_PLAIN, CYGNET_IKE_ENCAP);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET, 5500, true), 0);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET, 5500, false), 0);
	assert_ports(f->db, 5500, CYGNET_IKE_ENCAP, CYGNET_IKE_ENCAP);
	cygnet_db_flush(f->db);
	assert_ports(f->db, 500, CYGNET_IKE_PLAIN, CYGNET_IKE_PLAIN);
	assert_ports(f->db, 5500, CYGNET_IKE_NONE, CYGNET_IKE_NONE);
}

/* 500, 4500 and the registered ports, in ascending order. */
static void list_of_ike_ports(void **state)
{
	static const uint16_t want[] = {500, 1500, 4500, 5500};
	struct fixture *f = *state;
	uint16_t ports[CYGNET_IKE_PORTS + 2];

	assert_int_equal(cygnet_ike_ports(f->db, ports), 2);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET6, 5500, true), 0);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET, 4500, true), 0);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET, 1500, false), 0);
	assert_int_equal(cygnet_ike_ports(f->db, ports), 4);
	assert_memory_equal(ports, want, sizeof(want));
	for (uint16_t i = 3; i < CYGNET_IKE_PORTS; i++)
		assert_int_equal(cygnet_ike_open(f->db, AF_INET, (uint16_t)(7000 - i), false), 0);
	assert_int_equal(cygnet_ike_ports(f->db, ports), CYGNET_IKE_PORTS + 1);
	for (unsigned int i = 0; i < CYGNET_IKE_PORTS; i++)
		assert_true(ports[i] < ports[i + 1]);
}

static void invalid_ike_ports(void **state)
{
	static const uint32_t bad[] = {1500, 1u << 16, 1u << 16 | 1u << 20 | 1500, 5u << 16 | 500,
				       6u << 16 | 4500};
	struct fixture *f = *state;
	uint32_t *word = f->db->header->ike_port;

	assert_int_equal(cygnet_ike_open(f->db, AF_UNIX, 1500, false), -EINVAL);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET, 0, false), -EINVAL);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET, 500, true), -EINVAL);
	assert_ports(f->db, 4500, CYGNET_IKE_ENCAP, CYGNET_IKE_ENCAP);
	for (uint16_t i = 0; i < CYGNET_IKE_PORTS; i++)
		assert_int_equal(cygnet_ike_open(f->db, AF_INET, (uint16_t)(500 + i), false), 0);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET, 4500, true), -ENOSPC);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET6, 501, true), 0);
	assert_int_equal(cygnet_db_check(f->db, NULL, 0), 0);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		word[1] = bad[i];
		assert_int_equal(cygnet_db_check(f->db, NULL, 0), -EBADMSG);
	}
	word[1] = word[0];
	assert_int_equal(cygnet_db_check(f->db, NULL, 0), -EBADMSG);
	cygnet_db_flush(f->db);
	/* Damaged words do not count as registered ports. */
	memcpy(word, bad, sizeof(bad));
	assert_ports(f->db, 500, CYGNET_IKE_PLAIN, CYGNET_IKE_PLAIN);
	assert_ports(f->db, 4500, CYGNET_IKE_ENCAP, CYGNET_IKE_ENCAP);
	assert_ports(f->db, 1500, CYGNET_IKE_NONE, CYGNET_IKE_NONE);
	assert_int_equal(cygnet_ike_open(f->db, AF_INET, 1500, false), 0);
	assert_ports(f->db, 1500, CYGNET_IKE_PLAIN, CYGNET_IKE_NONE);
	assert_ports(f->db, 500, CYGNET_IKE_NONE, CYGNET_IKE_NONE);
	assert_int_equal(cygnet_db_check(f->db, NULL, 0), -EBADMSG);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_CHARON), 0);
	assert_int_equal(cygnet_db_check(f->db, NULL, 0), 0);
}

static void ike_ports_of_a_dead_charon(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(cygnet_ike_open(f->db, AF_INET, 5500, true), 0);
	assert_true(cygnet_ike_exempt(f->db, AF_INET, 5500, true));
	assert_false(cygnet_ike_exempt(f->db, AF_INET, 500, true));
	assert_false(cygnet_ike_exempt(f->db, AF_INET, 5500, false));
	assert_true(cygnet_ike_exempt(f->db, AF_INET, 500, false));
	assert_true(cygnet_ike_exempt(f->db, AF_INET6, 4500, false));
	/* ESP in UDP is received at the port until another charon takes the role. */
	assert_ports(f->db, 5500, CYGNET_IKE_ENCAP, CYGNET_IKE_NONE);
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_CHARON), 0);
	assert_ports(f->db, 5500, CYGNET_IKE_NONE, CYGNET_IKE_NONE);
}

static struct cygnet_addr address(uint32_t number)
{
	return (struct cygnet_addr){.words = {0x20010db8, number}};
}

/* Until a charon notes where it sends IKE, it may send anywhere. */
static void ike_destinations(void **state)
{
	struct fixture *f = *state;
	struct cygnet_addr a = address(1), b = address(2);

	assert_true(cygnet_ike_noted(f->db, AF_INET6, &a, 100));
	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_CHARON), 0);
	assert_true(cygnet_ike_noted(f->db, AF_INET6, &a, 100));
	cygnet_ike_notes(f->db);
	assert_false(cygnet_ike_noted(f->db, AF_INET6, &a, 100));
	cygnet_ike_note(f->db, AF_INET6, &a, 100);
	assert_true(cygnet_ike_noted(f->db, AF_INET6, &a, 99));
	assert_true(cygnet_ike_noted(f->db, AF_INET6, &a, 100 + CYGNET_IKE_SENT_S));
	assert_false(cygnet_ike_noted(f->db, AF_INET6, &a, 101 + CYGNET_IKE_SENT_S));
	assert_false(cygnet_ike_noted(f->db, AF_INET, &a, 100));
	assert_false(cygnet_ike_noted(f->db, AF_INET6, &b, 100));
	cygnet_ike_note(f->db, AF_INET6, &a, 200);
	assert_true(cygnet_ike_noted(f->db, AF_INET6, &a, 200 + CYGNET_IKE_SENT_S));
	assert_int_equal(cygnet_db_check(f->db, NULL, 0), 0);
	/* A charon whose library does not know the table takes the role. */
	f->db->header->role_pid[CYGNET_ROLE_CHARON]++;
	assert_true(cygnet_ike_noted(f->db, AF_INET6, &b, 300));
}

/* A file with room for few SAs has room for many peers with which there is none yet. */
static void ike_destinations_of_small_file(void **state)
{
	const struct cygnet_geometry geometry = {.sas = 1, .policies = 1};
	struct fixture *f = *state;
	struct cygnet_addr addr;
	struct cygnet_db *db;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s-small", f->path);
	assert_int_equal(cygnet_db_open_flags(path, &geometry, CYGNET_OPEN_ON_DISK, &db, NULL, 0),
			 0);
	assert_int_equal(cygnet_role_take(db, CYGNET_ROLE_CHARON), 0);
	cygnet_ike_notes(db);
	for (uint32_t i = 0; i < 256; i++) {
		addr = address(i);
		cygnet_ike_note(db, AF_INET6, &addr, 1);
	}
	for (uint32_t i = 0; i < 256; i++) {
		addr = address(i);
		assert_true(cygnet_ike_noted(db, AF_INET6, &addr, 1));
	}
	assert_int_equal(cygnet_db_check(db, NULL, 0), 0);
	cygnet_db_close(db);
	unlink(path);
}

/* The newest addresses stay, however many there are. SAs are not concerned. */
static void many_ike_destinations(void **state)
{
	struct cygnet_sa_params params = sa_params(0x1000, false);
	struct fixture *f = *state;
	struct cygnet_db_info info;
	struct cygnet_addr addr;
	unsigned int found = 0;

	assert_int_equal(cygnet_role_take(f->db, CYGNET_ROLE_CHARON), 0);
	assert_int_equal(cygnet_sa_add(f->db, &params), 0);
	cygnet_ike_notes(f->db);
	cygnet_db_info(f->db, &info);
	for (uint32_t i = 0; i < 10 * info.geometry.sas; i++) {
		addr = address(i);
		cygnet_ike_note(f->db, AF_INET6, &addr, 1 + i / info.geometry.sas);
		assert_true(cygnet_ike_noted(f->db, AF_INET6, &addr, 11));
	}
	for (uint32_t i = 9 * info.geometry.sas; i < 10 * info.geometry.sas; i++) {
		addr = address(i);
		found += cygnet_ike_noted(f->db, AF_INET6, &addr, 11);
	}
	assert_true(found > info.geometry.sas / 10 * 8);
	assert_int_equal(cygnet_sa_delete(f->db, &params.id), 0);
	assert_int_equal(cygnet_db_check(f->db, NULL, 0), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ike_ports),
		TEST(list_of_ike_ports),
		TEST(invalid_ike_ports),
		TEST(ike_ports_of_a_dead_charon),
		TEST(ike_destinations),
		TEST(ike_destinations_of_small_file),
		TEST(many_ike_destinations),
	};

	return cmocka_run_group_tests_name("ike", tests, NULL, NULL);
}

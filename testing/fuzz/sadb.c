/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared file as a faulty process may leave it: a valid one with SAs and policies, of which bytes are changed
 * before or after it is opened. Neither readers nor writers may crash or loop for ever.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "fixture.h"
#include "input.h"
#include "layout.h"

#define SLOTS	16u
#define CHANGES 64u

static struct fixture f;
static uint8_t *valid, *map;
static size_t bytes;

static void fill(struct cygnet_db *db)
{
	for (uint32_t i = 0; i < 8; i++) {
		struct cygnet_sa_params sa = sa_params(0x1000 + i, i & 1);
		struct cygnet_policy_params policy = {
			.sel = selector("10.1.0.0", 16, "10.2.0.0", 16 + i),
			.priority = i,
			.reqid = 1,
			.dir = CYGNET_OUT,
			.proto = IPPROTO_ESP,
			.af = AF_INET,
			.spi = htonl(0x1000 + i),
			.dst = addr4("192.0.2.1"),
		};

		if (i > 4)
			sa.replay_window = 1024;
		assert_int_equal(cygnet_sa_add(db, &sa), 0);
		assert_int_equal(cygnet_policy_add(db, &policy), 0);
	}
	for (uint32_t i = 0; i < 2; i++) {
		const struct cygnet_sa_params sa = sa_params(0x1000 + i, i & 1);

		assert_int_equal(cygnet_sa_delete(db, &sa.id), 0);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct stat st;
	int fd;

	(void)argc;
	(void)argv;
	setenv("CMOCKA_TEST_ABORT", "1", 1);
	fixture_path(&f);
	f.db = fixture_open(&f, SLOTS, SLOTS);
	assert_int_equal(cygnet_role_take(f.db, CYGNET_ROLE_DATAPLANE), 0);
	assert_int_equal(cygnet_reader_online(f.db, 0), 0);
	fill(f.db);
	cygnet_db_close(f.db);
	fd = open(f.path, O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	bytes = (size_t)st.st_size;
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	valid = malloc(bytes);
	assert_non_null(valid);
	assert_true(map != MAP_FAILED);
	memcpy(valid, map, bytes);
	return 0;
}

/* The mutex is not changed: a process may hold it for ever, and then the other side waits, which is no crash. */
static bool is_mutex(size_t offset)
{
	return offset - offsetof(struct header, mutex) < sizeof(pthread_mutex_t);
}

/* Most of the file is unused, so half of the changes are made at its start, and in used slots. */
static void change(struct input *in)
{
	for (unsigned int i = 0; i < CHANGES && in->left; i++) {
		uint8_t where = input_byte(in), n = input_byte(in) % 8 + 1;
		size_t offset = input_word(in);

		if (where & 1)
			offset += offsetof(struct header, event_tail);
		else if (where & 2)
			offset += bytes - offset - 1 - (size_t)where * 251;
		else if (where & 4)
			offset = ((const struct fixed *)valid)->sas +
				 offset % (SLOTS * sizeof(struct cygnet_sa));
		else if (where & 8)
			offset = ((const struct fixed *)valid)->policies +
				 offset % (SLOTS * sizeof(struct cygnet_policy));
		else if (where & 16)
			offset = ((const struct fixed *)valid)->sa_table + offset % 256;
		else if (where & 32)
			offset = ((const struct fixed *)valid)->policy_table + offset % 256;
		for (; n && offset < bytes; n--, offset++)
			if (!is_mutex(offset))
				input_bytes(in, map + offset, 1);
	}
}

static void read_all(struct cygnet_db *db)
{
	struct cygnet_addr dst = addr4("192.0.2.1");
	struct cygnet_flow flow = flow4("10.1.0.1", "10.2.0.1", IPPROTO_UDP, 7, 8);
	uint16_t ports[CYGNET_IKE_PORTS + 2];
	struct cygnet_policy policy;
	struct cygnet_db_info info;
	struct cygnet_event event;
	struct cygnet_sa copy;

	cygnet_db_info(db, &info);
	cygnet_ike_ports(db, ports);
	cygnet_reader_quiescent(db, 0);
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct cygnet_sa *sa = cygnet_sad_lookup(db, htonl(0x1000 + i), IPPROTO_ESP,
							 AF_INET, &dst);
		uint64_t first;

		cygnet_sad_lookup_out(db, htonl(0x1000 + i), IPPROTO_ESP, AF_INET, &dst);
		cygnet_sa_snapshot(db, i, &copy);
		cygnet_policy_snapshot(db, i, &policy);
		if (!sa)
			sa = cygnet_sa_at(db, i);
		cygnet_replay_check(db, sa, cygnet_replay_seq(sa, i * 77));
		cygnet_replay_update(db, sa, cygnet_replay_seq(sa, i * 77));
		cygnet_sa_reserve_seq(sa, 3, &first);
	}
	for (enum cygnet_dir dir = CYGNET_IN; dir < CYGNET_DIRS; dir++) {
		struct cygnet_policy *found = cygnet_spd_lookup(db, dir, &flow);

		int wants;

		if (found)
			cygnet_policy_sa_for(db, found, 1, 3, &wants);
		cygnet_spd_uses_ports(db, dir, AF_INET);
	}
	cygnet_event_wait(db, &event, 0);
	cygnet_event_post(db, &event);
}

static void write_all(struct cygnet_db *db)
{
	struct cygnet_addr dst = addr4("192.0.2.1");
	struct cygnet_sa_params sa = sa_params(0x2000, true);
	struct cygnet_policy_params policy = {
		.sel = selector("10.3.0.0", 16, "10.4.0.0", 16),
		.dir = CYGNET_OUT,
		.proto = IPPROTO_ESP,
		.af = AF_INET,
		.dst = dst,
	};
	struct cygnet_sa_usage usage;
	char error[256];
	uint32_t spi;

	cygnet_db_check(db, error, sizeof(error));
	sa.replay_window = 512;
	cygnet_spi_reserve(db, IPPROTO_ESP, AF_INET, &dst, 0, 0, &spi);
	cygnet_sa_add(db, &sa);
	cygnet_sa_query(db, &sa.id, &usage);
	cygnet_sa_update(db, &sa.id, &sa.path, 5);
	cygnet_policy_add(db, &policy);
	cygnet_policy_delete(db, &policy);
	cygnet_sa_delete(db, &sa.id);
	sa = sa_params(0x1003, true);
	cygnet_sa_delete(db, &sa.id);
	cygnet_db_reclaim(db);
	cygnet_ike_open(db, AF_INET, 600, true);
	cygnet_db_flush(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t choice = input_byte(&in);
	struct cygnet_db *db;
	char error[256] = "";

	memcpy(map, valid, bytes);
	if (choice & 1)
		change(&in);
	if (cygnet_db_open_flags(f.path, NULL, CYGNET_OPEN_ON_DISK, &db, error, sizeof(error))) {
		if (!error[0] || !(choice & 1))
			abort();
		return 0;
	}
	if (cygnet_role_take(db, CYGNET_ROLE_DATAPLANE) || cygnet_reader_online(db, 0))
		abort();
	if (!(choice & 1))
		change(&in);
	read_all(db);
	if (choice & 2)
		write_all(db);
	read_all(db);
	cygnet_db_close(db);
	return 0;
}

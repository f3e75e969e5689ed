/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fixture.h"

static struct cygnet_sa *make(struct fixture *f, uint32_t window, uint32_t flags)
{
	struct cygnet_sa_params p = sa_params(0x1000, true);

	p.replay_window = window;
	p.flags |= flags;
	assert_int_equal(cygnet_sa_add(f->db, &p), 0);
	return cygnet_sad_lookup(f->db, p.id.spi, IPPROTO_ESP, AF_INET, &p.id.dst);
}

#define T(seq, expected) assert_int_equal(cygnet_replay_update(f->db, sa, seq), expected)

static void window_32(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa *sa = make(f, 32, 0);

	T(0, false);
	T(1, true);
	T(1, false);
	T(9, true);
	T(8, true);
	T(7, true);
	T(7, false);
	T(9, false);
	T(40, true);
	T(8, false); /* left of the window */
	T(9, false);
	T(10, true);
	T(10, false);
	T(41, true);
	T(100000, true);
	T(99968, false);
	T(99969, true);
	T(99969, false);
	T(UINT32_MAX, true);
	T(UINT32_MAX, false);
	T(UINT32_MAX - 31, true);
	T(UINT32_MAX - 32, false);
}

static void check_does_not_advance(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa *sa = make(f, 64, 0);

	assert_true(cygnet_replay_check(f->db, sa, 1000000));
	assert_int_equal(sa->seq, 0);
	T(1, true);
	assert_false(cygnet_replay_check(f->db, sa, 1));
}

static void no_window(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa *sa = make(f, 0, 0);

	T(5, true);
	T(5, true);
	T(1, true);
	assert_int_equal(sa->seq, 5);
}

static void esn_across_wraps(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa *sa = make(f, 128, CYGNET_SA_ESN);

#define RECEIVE(lo, full, expected) \
	assert_true(cygnet_replay_seq(sa, lo) == (full)); \
	T(full, expected)
	RECEIVE(1, 1, true);
	RECEIVE(0xffffff00, 0xffffff00, true);
	RECEIVE(0xfffffff0, 0xfffffff0, true);
	RECEIVE(5, 0x100000005, true);
	RECEIVE(0xfffffff1, 0xfffffff1, true); /* late: sent before the wrap */
	RECEIVE(0xfffffff1, 0xfffffff1, false);
	RECEIVE(0, 0x100000000, true);
	RECEIVE(0x80000000, 0x180000000, true);
	RECEIVE(0xffffffff, 0x1ffffffff, true);
	RECEIVE(0, 0x200000000, true);
#undef RECEIVE
}

/* Without replay protection, packets out of order around a wrap. */
static void esn_without_window(void **state)
{
	struct fixture *f = *state;
	struct cygnet_sa *sa = make(f, 0, CYGNET_SA_ESN);

	sa->seq = 0x2fffffff0;
	assert_true(cygnet_replay_seq(sa, 0xffffffef) == 0x2ffffffef);
	assert_true(cygnet_replay_seq(sa, 0x80000000) == 0x280000000);
	assert_true(cygnet_replay_seq(sa, 3) == 0x300000003);
	T(0x300000003, true);
	assert_true(cygnet_replay_seq(sa, 0xfffffff1) == 0x2fffffff1);
	assert_true(cygnet_replay_seq(sa, 2) == 0x300000002);
}

/* Compare with an oracle that remembers each sequence number received. */
static void against_oracle(void **state)
{
	static const uint32_t windows[] = {1, 32, 63, 64, 65, 128, 192, 193, 1024, 4095, 4096};
	static uint8_t seen[1 << 20];
	struct fixture *f = *state;

	srand(2);
	for (unsigned int w = 0; w < sizeof(windows) / sizeof(*windows); w++) {
		struct cygnet_sa *sa = make(f, windows[w], 0);
		struct cygnet_sa_id id = {sa->spi, IPPROTO_ESP, AF_INET, addr4("192.0.2.1")};
		int64_t top = 0;

		memset(seen, 0, sizeof(seen));
		for (int i = 0; i < 60000; i++) {
			int64_t step = rand() % 50 ? rand() % 8 : rand() % 6000;
			int64_t seq = rand() % 2 ? top + step : top - rand() % (windows[w] + 70);
			bool fresh;

			if (seq < 1 || seq >= (int64_t)sizeof(seen))
				continue;
			fresh = !seen[seq] && seq > top - (int64_t)windows[w];
			if (cygnet_replay_update(f->db, sa, (uint64_t)seq) != fresh)
				fail_msg("window %u, step %d, number %lld, top %lld", windows[w], i,
					 (long long)seq, (long long)top);
			if (fresh)
				seen[seq] = 1;
			if (fresh && seq > top)
				top = seq;
		}
		assert_int_equal(cygnet_sa_delete(f->db, &id), 0);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(window_32),	TEST(check_does_not_advance), TEST(no_window),
		TEST(esn_across_wraps), TEST(esn_without_window),     TEST(against_oracle),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}

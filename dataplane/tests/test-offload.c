/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice of devices by offload.c alone, with made-up measurements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include <rte_common.h>

#include "crypto/auto/measured.h"
#include "crypto/auto/offload.h"
#include "crypto/device/engine.h"
#include "crypto/device/suite.h"

/* latency in us, Gbps at full load, CPU time of a packet in ns */
/* clang-format off */
#define CPU {1, 30, 250}
#define SLOW_CPU {4, 5, 1600}
#define GPU {30, 300, 40}
#define SMALL_GPU {30, 20, 40}
#define POCL {40, 1, 8000}
#define NO {0, 0, 0}
/* clang-format on */

static const struct {
	struct measured m[3];
	uint32_t usable;
	uint8_t light, full;
	bool pays, spills;
} choices[] = {
	{{CPU, SLOW_CPU, POCL}, 7, 0, 0, false, false},
	{{SLOW_CPU, CPU, POCL}, 7, 1, 1, false, false},
	{{CPU, CPU, NO}, 7, 0, 0, false, false}, /* of equal devices the first one */
	{{CPU, SLOW_CPU, GPU}, 7, 0, 2, true, false},
	{{SLOW_CPU, NO, GPU}, 7, 0, 2, true, false},
	{{CPU, NO, SMALL_GPU}, 7, 0, 2, true, true}, /* less throughput, but for little CPU time */
	{{SMALL_GPU, GPU, CPU}, 7, 2, 1, true, false},
	{{CPU, SLOW_CPU, GPU}, 3, 0, 0, false, false}, /* the other devices failed */
	{{CPU, SLOW_CPU, GPU}, 6, 1, 2, true, false},
	{{CPU, SLOW_CPU, GPU}, 4, 2, 2, false, false},
	{{CPU, SLOW_CPU, GPU}, 0, OFFLOAD_NONE, OFFLOAD_NONE, false, false},
	{{NO, NO, NO}, 7, OFFLOAD_NONE, OFFLOAD_NONE, false, false},
};

static void chosen(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(choices); i++) {
		const struct measured *m[3] = {&choices[i].m[0], &choices[i].m[1],
					       &choices[i].m[2]};
		struct offload_class class = offload_choose(m, 3, choices[i].usable);

		assert_int_equal(class.light, choices[i].light);
		assert_int_equal(class.full, choices[i].full);
		assert_int_equal(class.pays, choices[i].pays);
		assert_int_equal(class.spills, choices[i].spills);
	}
}

/* Whatever numbers a file has, no value exceeds its field. */
static void absurd(void **state)
{
	static const float numbers[] = {1e-30f, 1, 3e38f};
	const struct measured slow = {1, 1e-30f, 3e38f};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(numbers) * RTE_DIM(numbers); i++) {
		float a = numbers[i % RTE_DIM(numbers)], b = numbers[i / RTE_DIM(numbers)];
		const struct measured other = {a, b, a}, *m[] = {&slow, &other};
		struct offload_class class = offload_choose(m, 2, 3);

		assert_true(class.light < 2 && class.full < 2);
		assert_true(isfinite(offload_pays_from(&class, 1024)));
	}
}

/* --- load --- */

static const struct offload_class two = {.light = 0,
					 .full = 2,
					 .pays = true,
					 .spills = true,
					 .cost = 1000};

#define WINDOWS_FIRST 16 /* as in offload.c */

static void set_class(struct offload_class class)
{
	for (unsigned int a = 0; a <= ALGORITHMS_MAX; a++)
		for (unsigned int l = 0; l < LENGTH_CLASSES; l++)
			offload_class[a][l] = class;
}

/* A window with n packets. @return whether it changed the state */
static bool window(struct offload *o, unsigned int n, bool backlog)
{
	uint32_t waiting[STATS_MAX_DEVICES] = {0};

	for (unsigned int i = 0; i < n; i++)
		offload_packet(o, 0, 100, waiting, 0, 0);
	offload_received(o, backlog ? 32 : 1, 32);
	return offload_decide(o, OFFLOAD_WINDOW_US * 1000);
}

static unsigned int windows_until_change(struct offload *o, unsigned int n, bool backlog)
{
	for (unsigned int i = 1; i <= 1000; i++)
		if (window(o, n, backlog))
			return i;
	return 0;
}

/* At 1000 ns a packet, 200 packets fill a window of 200 us: 150 begin offloading, fewer than 80
 * end it. */
static void hysteresis(void **state)
{
	struct offload o = {0};

	(void)state;
	set_class(two);
	assert_int_equal(windows_until_change(&o, 1, false), 0);
	assert_int_equal(windows_until_change(&o, 149, false), 0);
	assert_int_equal(windows_until_change(&o, 150, false), WINDOWS_FIRST);
	assert_true(o.full);
	assert_int_equal(windows_until_change(&o, 149, false), 0);
	assert_int_equal(windows_until_change(&o, 80, false), 0);
	assert_int_equal(windows_until_change(&o, 79, false), 8);
	assert_false(o.full);
	assert_int_equal(o.switches, 2);
	/* A single window changes nothing in either direction. */
	for (unsigned int i = 0; i < 100; i++)
		assert_false(window(&o, i % 2 ? 200 : 10, false));
}

/* Full bursts show a backlog beyond the measured load. A batch still has to be full. */
static void backlog(void **state)
{
	struct offload o = {0};

	(void)state;
	set_class(two);
	assert_int_equal(windows_until_change(&o, 31, true), 0);
	assert_int_equal(windows_until_change(&o, 32, true), 2);
	assert_int_equal(windows_until_change(&o, 32, true), 0);
	assert_int_equal(windows_until_change(&o, 15, false), 8);
}

/* If a worker processes only 40 packets in 200 us, a packet takes 5 us in all, though only 1 us
 * of that at the device. From then on 30 packets are three quarters of its time. */
static void whole_time(void **state)
{
	struct offload o = {0};

	(void)state;
	set_class(two);
	assert_int_equal(windows_until_change(&o, 40, true), WINDOWS_FIRST);
	assert_int_equal(o.scale, 5 * OFFLOAD_SCALE);
	assert_int_equal(windows_until_change(&o, 15, false), 8);
	assert_int_equal(windows_until_change(&o, 31, false), 0); /* less than a batch */
	assert_int_equal(windows_until_change(&o, 32, false), 2);
	assert_int_equal(windows_until_change(&o, 16, false), 0);
	/* Packets that wait for other devices take no time of the worker. */
	o = (struct offload){.cost = 1000,
			     .packets = 32,
			     .bursts = 1,
			     .full_bursts = 1,
			     .mixed = true};
	offload_decide(&o, OFFLOAD_WINDOW_US * 1000);
	assert_int_equal(o.learned, 0);
	/* Dropped packets, which an attacker may send, are not counted either. */
	o = (struct offload){.cost = 1000,
			     .protected = 10,
			     .frames = 21,
			     .bursts = 1,
			     .full_bursts = 1};
	offload_decide(&o, OFFLOAD_WINDOW_US * 1000);
	assert_int_equal(o.learned, 0);
	/* Windows in which another process had the core hardly change the scale. */
	for (unsigned int i = 0; i < 32; i++) {
		o.cost = 40000;
		o.bursts = o.full_bursts = 1;
		offload_decide(&o, OFFLOAD_WINDOW_US * 1000 * (i % 4 ? 1 : 10));
	}
	assert_in_range(o.scale, 5 * OFFLOAD_SCALE, 6 * OFFLOAD_SCALE);
}

#define BEATEN 512 /* windows */

/* While packets wait, `full` has processed fewer than `light` did before. It is not tried again
 * for some time, which doubles each time until `full` has processed more. */
static void beaten(void **state)
{
	struct offload o = {0};
	unsigned int pause = BEATEN;

	(void)state;
	set_class(two);
	for (unsigned int i = 0; i < 10; i++) {
		assert_int_equal(windows_until_change(&o, 100, true), i ? 2 : WINDOWS_FIRST);
		for (unsigned int k = 1; k < BEATEN; k++)
			assert_false(window(&o, 74, true));
		assert_true(window(&o, 74, true));
		assert_false(o.full);
		assert_int_equal(o.pause, pause);
		for (unsigned int k = 0; k < pause; k++)
			assert_false(window(&o, 100, true));
		pause = RTE_MIN(2 * pause, 32u * BEATEN);
	}
	assert_int_equal(windows_until_change(&o, 100, true), 2);
	for (unsigned int k = 0; k < 2 * BEATEN; k++) {
		assert_false(window(&o, 74, true));
		assert_false(window(&o, 76, true)); /* not for long */
	}
	for (unsigned int k = 0; k < 2 * BEATEN; k++)
		assert_false(window(&o, 76, true));
	for (unsigned int k = 0; k < BEATEN; k++)
		window(&o, 74, true);
	assert_int_equal(o.pause, BEATEN);
}

/* The same holds if `full` keeps all buffers, so that ports receive nothing. */
static void starved(void **state)
{
	struct offload o = {.full = true, .scale = 2 * OFFLOAD_SCALE, .learned = WINDOWS_FIRST};

	(void)state;
	set_class(two);
	for (unsigned int k = 1; k < BEATEN; k++) {
		o.starved = true;
		assert_false(window(&o, 74, false));
	}
	o.starved = true;
	assert_true(window(&o, 74, false));
	assert_int_equal(o.pause, BEATEN);
}

/* A device that does not pay is not used under any load. */
static void nothing_pays(void **state)
{
	struct offload o = {0};

	(void)state;
	set_class((struct offload_class){.light = 0, .full = 0, .cost = 1000});
	assert_int_equal(windows_until_change(&o, 1000, true), 0);
	assert_int_equal(offload_pays_from(&offload_class[0][0], 64), 0);
}

/* A long iteration is a long window, not a busy one. */
static void long_turn(void **state)
{
	struct offload o = {.cost = 150000, .packets = 128};

	(void)state;
	assert_false(offload_decide(&o, OFFLOAD_WINDOW_US * 1000 * 100));
	assert_int_equal(o.streak, 0);
	assert_false(offload_decide(&o, 0));
}

static void spill(void **state)
{
	uint32_t waiting[STATS_MAX_DEVICES] = {0};
	struct offload o = {0};

	(void)state;
	set_class(two);
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 0, 0), 0);
	o.full = true;
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 0, 0), 2);
	waiting[2] = 60000; /* as many as the device accepts */
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 0, 0), 2);
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 1 << 1, 0), 2);
	waiting[2] = 512; /* the device does not keep up */
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 1 << 2, 0), 0);
	waiting[2] = 257; /* enough packets for a run */
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 0, 0), 0);
	waiting[2] = 256;
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 0, 0), 2);
	waiting[2] = 512;
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 0, 0), 2);
	waiting[2] = 1; /* spilling ends, however few packets the device had */
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 1 << 2, 0), 0);
	waiting[2] = 0;
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 0, 0), 2);
}

/* The device has completed no packet for long. */
static void stalled(void **state)
{
	struct offload_class any = two;
	uint32_t waiting[STATS_MAX_DEVICES] = {0};
	struct offload o = {.full = true};

	(void)state;
	any.spills = false;
	set_class(any);
	waiting[2] = 60000;
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 1 << 2, 0), 2);
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 1 << 2, 1 << 1), 2);
	assert_int_equal(offload_packet(&o, 0, 64, waiting, 0, 1 << 2), 0);
}

static void pays_from(void **state)
{
	(void)state;
	/* 0.75 packets a microsecond of 1,000 bytes; the rate for a batch, 32 in 200 us, is
	 * lower. */
	assert_true(fabsf(offload_pays_from(&two, 1000) - 6) < 0.01f);
}

static void failed_device(void **state)
{
	static const struct measured cpu = CPU, gpu = GPU;

	(void)state;
	engine_devices = 2;
	for (unsigned int l = 0; l < LENGTH_CLASSES; l++) {
		measured[0][0][l] = cpu;
		measured[1][0][l] = gpu;
	}
	offload_choose_all(); /* not measured to the end */
	assert_int_equal(offload_class[0][0].light, OFFLOAD_NONE);
	measured_algorithms = algorithm_count;
	offload_choose_all();
	assert_int_equal(offload_class[0][0].full, 1);
	assert_int_equal(offload_class[1][0].light, OFFLOAD_NONE);
	assert_int_equal(offload_class[ALGORITHM_NONE][0].light, OFFLOAD_NONE);
	engine_take_out(1);
	engine_take_out(0); /* the last device stays */
	offload_choose_all();
	assert_true(engine_lost(1) && !engine_lost(0));
	assert_int_equal(offload_class[0][0].light, 0);
	assert_int_equal(offload_class[0][0].full, 0);
	engine_devices = engines_lost = 0;
}

/* Each combination of algorithms that an SA can have has a number, also without encryption.
 * Combinations of the same speed share a number. Each number has a name of its own. */
static void numbers(void **state)
{
	bool has[ALGORITHMS_MAX] = {false};
	unsigned int numbered = 0;

	(void)state;
	for (unsigned int i = 0; i < CYGNET_CIPHERS * CYGNET_AUTHS; i++) {
		struct cygnet_sa sa = {.cipher = (uint8_t)(i / CYGNET_AUTHS),
				       .auth = (uint8_t)(i % CYGNET_AUTHS)};

		for (unsigned int key = 0; suite_lengths(&sa, key); key++) {
			struct cygnet_sa other = sa;
			unsigned int number = algorithm_of(&sa);

			assert_true(number < algorithm_count);
			numbered += !has[number];
			has[number] = true;
			other.icv_len = 8;
			assert_int_equal(algorithm_of(&other), number);
			other.auth = sa.auth == CYGNET_AUTH_HMAC_SHA384 ? CYGNET_AUTH_HMAC_SHA512
									: sa.auth;
			other.cipher_key_len = sa.cipher == CYGNET_CIPHER_AES_GMAC
						       ? 24
						       : sa.cipher_key_len;
			assert_int_equal(algorithm_of(&other), number);
		}
	}
	assert_int_equal(numbered, algorithm_count);
	assert_int_equal(algorithm_count, 62);
	for (unsigned int a = 0; a < algorithm_count * algorithm_count; a++) {
		char one[ALGORITHM_NAME], other[ALGORITHM_NAME];

		algorithm_name(a / algorithm_count, one);
		algorithm_name(a % algorithm_count, other);
		assert_int_equal(!strcmp(one, other), a / algorithm_count == a % algorithm_count);
	}
	assert_int_equal(algorithm_of(&(struct cygnet_sa){.cipher = CYGNET_CIPHER_AES_GCM,
							  .cipher_key_len = 20}),
			 ALGORITHM_NONE);
	assert_int_equal(algorithm_of(&(struct cygnet_sa){.cipher = 200, .auth = 200}),
			 ALGORITHM_NONE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(chosen),	 cmocka_unit_test(absurd),
		cmocka_unit_test(hysteresis),	 cmocka_unit_test(backlog),
		cmocka_unit_test(nothing_pays),	 cmocka_unit_test(long_turn),
		cmocka_unit_test(spill),	 cmocka_unit_test(pays_from),
		cmocka_unit_test(failed_device), cmocka_unit_test(whole_time),
		cmocka_unit_test(beaten),	 cmocka_unit_test(stalled),
		cmocka_unit_test(starved),	 cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

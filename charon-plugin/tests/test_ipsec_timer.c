/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Time limits of SAs.
 */

#include "charon.h"

#include <unistd.h>

#include <daemon.h>

/** Longest wait for a timer of a few seconds, ms, on a busy machine */
#define TIMER_WAIT (15000 * (int)slowdown())

/** Wait for count expires; the last one must not occur earlier than ms after
 * begun */
static void await_expires(int count, const timeval_t *begun, int ms)
{
	timeval_t now, earliest = *begun;

	assert_true(raised_wait(&raised.expires, count, TIMER_WAIT));
	time_monotonic(&now);
	timeval_add_ms(&earliest, ms);
	assert_true(timercmp(&now, &earliest, >=));
}

/** Whether a timer of 4 seconds may have fired, as after a machine's standstill */
static bool may_have_fired(const timeval_t *begun)
{
	timeval_t now;

	time_monotonic(&now);
	return now.tv_sec - begun->tv_sec >= 3;
}

static void test_time_expiry(void **state)
{
	kernel_ipsec_update_sa_t update = {};
	timeval_t begun;
	bool late;

	sa.lifetime.time.rekey = 4;
	sa.lifetime.time.life = 5;
	time_monotonic(&begun);
	assert_int_equal(add_sa(), SUCCESS);
	/* the timers follow the SA to another address */
	update.new_src = host_create_from_string("2001:db8::7", 0);
	update.new_dst = host_create_from_string("2001:db8::8", 0);
	assert_int_equal(charon->kernel->update_sa(charon->kernel, &sa.id, &update),
					 SUCCESS);
	late = may_have_fired(&begun);
	/* timers count whole seconds of the clock */
	await_expires(1, &begun, 3000);
	await_expires(2, &begun, 4000);
	assert_int_equal(raised.spi, sa.id.spi);
	assert_true(late || streq(raised.text, "2001:db8::8"));
	assert_string_equal(raised.limits, "sh");
	update.new_src->destroy(update.new_src);
	update.new_dst->destroy(update.new_dst);
}

static void test_timer_of_deleted_sa(void **state)
{
	timeval_t begun;
	bool late;

	sa.lifetime.time.life = 4;
	time_monotonic(&begun);
	assert_int_equal(add_sa(), SUCCESS);
	assert_int_equal(del_sa(), SUCCESS);
	late = may_have_fired(&begun);
	sa.lifetime.time.life = 1000;
	assert_int_equal(add_sa(), SUCCESS);
	assert_true(!raised_wait(&raised.expires, 1, 4000 + SHORT_WAIT) || late);
}

static void test_earlier_timer(void **state)
{
	/* three timers are pending when one is added that is due before them */
	sa.lifetime.time.rekey = 900;
	sa.lifetime.time.life = 1000;
	assert_int_equal(add_sa(), SUCCESS);
	sa.id.spi = htonl(0xc0000124);
	sa.lifetime.time.rekey = 1;
	assert_int_equal(add_sa(), SUCCESS);
	assert_true(raised_wait(&raised.expires, 1, TIMER_WAIT));
	assert_int_equal(raised.spi, sa.id.spi);
	assert_false(raised.hard);
	/* another timer, added after the earliest one has fired */
	sa.id.spi = htonl(0xc0000125);
	assert_int_equal(add_sa(), SUCCESS);
	assert_true(raised_wait(&raised.expires, 2, TIMER_WAIT));
	assert_int_equal(raised.spi, sa.id.spi);
}

/* Two SPIs are reserved, one of them gets an SA. */
static void test_reserved_spis(void **state)
{
	uint32_t spi;
	int ms;

	lib->settings->set_int(lib->settings,
						   "%s.plugins.kernel-cygnet.spi_lifetime", 1, lib->ns);
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
							sa.id.dst, IPPROTO_ESP, &sa.id.spi), SUCCESS);
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
							sa.id.dst, IPPROTO_ESP, &spi), SUCCESS);
	assert_int_equal(add_sa(), SUCCESS);
	for (ms = 0; ms < TIMER_WAIT &&
		 dataplane_ask(DATAPLANE_INFO, NULL).sas == 2; ms += 100)
	{
		usleep(100000);
	}
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, 1);
	assert_int_equal(query_sa(NULL, NULL, NULL), SUCCESS);
	/* the released SPI can be reserved again, with a new lifetime */
	lib->settings->set_int(lib->settings,
						   "%s.plugins.kernel-cygnet.spi_lifetime", 1000,
						   lib->ns);
	assert_int_equal(charon->kernel->get_spi(charon->kernel, sa.id.src,
							sa.id.dst, IPPROTO_ESP, &spi), SUCCESS);
	usleep(1500000);
	assert_int_equal(dataplane_ask(DATAPLANE_INFO, NULL).sas, 2);
	sa.id.spi = spi;
	assert_int_equal(add_sa(), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_time_expiry),
		TEST(test_timer_of_deleted_sa),
		TEST(test_earlier_timer),
		TEST(test_reserved_spis),
	};

	return cmocka_run_group_tests(tests, charon_setup, charon_teardown);
}

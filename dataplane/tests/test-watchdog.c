/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What systemd's watchdog hears from cygnetd, with a time limit of 20 ms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sadb.h"
#include "base/stats.h"
#include "watchdog.h"

#define LIMIT	 "20000"
#define LIMIT_MS 20
#define WORKERS	 2u

int log_type;
static char folder[] = "./test-watchdog.XXXXXX";
static char sadb_path[64], socket_path[64];
static int systemd = -1;

static void wait_ms(unsigned int ms)
{
	const struct timespec t = {.tv_nsec = (long)ms * 1000000};

	nanosleep(&t, NULL);
}

/* Run the watchdog for ms; worker w moves if bit w of moving is set.
 * @param[out] last  the last status that systemd received
 * @return number of WATCHDOG=1 that systemd received */
static unsigned int run(unsigned int ms, unsigned int moving, char *last, size_t size)
{
	unsigned int alive = 0;
	char text[256];
	ssize_t len;

	for (unsigned int i = 0; i < ms; i++) {
		for (unsigned int w = 0; w < WORKERS; w++)
			stats[w].turns += moving >> w & 1;
		watchdog_turn();
		while ((len = recv(systemd, text, sizeof(text) - 1, 0)) > 0) {
			text[len] = '\0';
			alive += !strcmp(text, "WATCHDOG=1");
			if (last && !strncmp(text, "STATUS=", 7))
				snprintf(last, size, "%s", text + 7);
		}
		wait_ms(1);
	}
	return alive;
}

static int start(void **state)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	(void)state;
	systemd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", socket_path);
	unlink(socket_path);
	setenv("NOTIFY_SOCKET", socket_path, 1);
	setenv("WATCHDOG_USEC", LIMIT, 1);
	unsetenv("WATCHDOG_PID");
	return bind(systemd, (struct sockaddr *)&addr, sizeof(addr));
}

static int finish(void **state)
{
	(void)state;
	return close(systemd);
}

static void all_move(void **state)
{
	(void)state;
	watchdog_start(WORKERS);
	assert_true(run(3 * LIMIT_MS, 3, NULL, 0) > 0);
}

static void one_stands(void **state)
{
	(void)state;
	for (unsigned int moving = 0; moving < 3; moving++) {
		watchdog_start(WORKERS);
		assert_int_equal(run(3 * LIMIT_MS, moving, NULL, 0), 0);
	}
}

static void moves_again(void **state)
{
	(void)state;
	watchdog_start(WORKERS);
	assert_int_equal(run(LIMIT_MS, 1, NULL, 0), 0);
	assert_true(run(3 * LIMIT_MS, 3, NULL, 0) > 0);
}

/* Without a time limit, with an invalid one, and with one for another process. */
static void nobody_watches(void **state)
{
	(void)state;
	unsetenv("WATCHDOG_USEC");
	watchdog_start(WORKERS);
	assert_int_equal(run(LIMIT_MS, 3, NULL, 0), 0);
	setenv("WATCHDOG_USEC", "20000s", 1);
	watchdog_start(WORKERS);
	assert_int_equal(run(LIMIT_MS, 3, NULL, 0), 0);
	setenv("WATCHDOG_USEC", LIMIT, 1);
	setenv("WATCHDOG_PID", "1", 1);
	watchdog_start(WORKERS);
	assert_int_equal(run(LIMIT_MS, 3, NULL, 0), 0);
}

static void status(void **state)
{
	char text[256] = "";

	(void)state;
	clock_now = 1;
	watchdog_start(WORKERS);
	run(1, 0, text, sizeof(text));
	assert_string_equal(text, "Forwarding: 2 workers, 0 SAs, 0 policies, no charon");
	assert_int_equal(cygnet_role_take(sadb, CYGNET_ROLE_CHARON), 0);
	run(1, 0, text, sizeof(text));
	assert_string_equal(text, "Forwarding: 2 workers, 0 SAs, 0 policies, no charon");
	clock_now = 2;
	run(1, 0, text, sizeof(text));
	assert_string_equal(text, "Forwarding: 2 workers, 0 SAs, 0 policies, charon is connected");
	text[0] = '\0';
	clock_now = 3;
	run(1, 0, text, sizeof(text));
	assert_string_equal(text, "");
}

static int make_folder(void **state)
{
	const struct cygnet_geometry geometry = {16, 16};
	char error[256];

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(sadb_path, sizeof(sadb_path), "%s/sadb", folder);
	snprintf(socket_path, sizeof(socket_path), "%s/notify", folder);
	return cygnet_db_open_flags(sadb_path, &geometry, CYGNET_OPEN_ON_DISK, &sadb, error,
				    sizeof(error));
}

static int remove_folder(void **state)
{
	(void)state;
	cygnet_db_close(sadb);
	unlink(socket_path);
	unlink(sadb_path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_move, start, finish),
		cmocka_unit_test_setup_teardown(one_stands, start, finish),
		cmocka_unit_test_setup_teardown(moves_again, start, finish),
		cmocka_unit_test_setup_teardown(nobody_watches, start, finish),
		cmocka_unit_test_setup_teardown(status, start, finish),
	};

	return cmocka_run_group_tests_name("watchdog", tests, make_folder, remove_folder);
}

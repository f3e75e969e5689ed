/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @file charon.h
 * Tests of the whole interface: this process is charon, with libcharon's kernel
 * interface and its threads, a forked one is the dataplane.
 */

#ifndef CHARON_H_
#define CHARON_H_

#include "dataplane.h"
#include "fixture.h"

#include <threading/condvar.h>
#include <threading/mutex.h>

/** Longest wait for something that is to happen, ms */
#define LONG_WAIT 30000
/** Wait for something that is not to happen, ms */
#define SHORT_WAIT 300

/** How often the plugin raised what in this test, and the last of it */
typedef struct {
	mutex_t *mutex;
	condvar_t *condvar;
	int acquires, expires, mappings;
	uint32_t reqid, spi;
	bool hard, any_cpu;
	char text[256];
	/* of expires, the first ones: 's'oft and 'h'ard */
	char limits[4];
} raised_t;

extern raised_t raised;

/** What was logged on level 1 in this test: how many lines, the last of them */
extern int log_lines;
extern char log_text[512];

/** An inbound SA without lifetimes, and a policy; anew for each test */
extern fixture_sa_t sa;
extern fixture_policy_t policy;

/**
 * Setup and teardown of a program's tests: charon with the plugin's interface
 */
int charon_setup(void **state);
int charon_teardown(void **state);

/**
 * Setup and teardown of a test. Fails if flushing leaves an SA or a policy.
 */
int charon_test_setup(void **state);
int charon_test_teardown(void **state);

/**
 * What happens to the interface when charon ends, the threads first. The
 * program's last test may, others would miss it.
 *
 * @return			FALSE if it has been removed before
 */
bool charon_remove_ipsec(void);

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, charon_test_setup, charon_test_teardown)

/**
 * Wait until a counter of what was raised gets to a value
 *
 * @param counter	one of those in raised
 * @param value		it is to reach
 * @param ms		to wait at the most
 * @return			FALSE if it did not
 */
bool raised_wait(int *counter, int value, int ms);

/**
 * Add, delete or query the SA
 */
status_t add_sa(void);
status_t del_sa(void);
status_t query_sa(uint64_t *bytes, uint64_t *packets, time_t *use);

/**
 * An event about the SA
 */
struct cygnet_event sa_event(uint16_t type);

#endif /** CHARON_H_ */

/* SPDX-License-Identifier: GPL-2.0-or-later */

/**
 * @file charon.h
 * Fixture for tests of the whole plugin: this process is charon, with
 * libcharon's kernel interface and threads. A forked process is the dataplane.
 */

#ifndef CHARON_H_
#define CHARON_H_

#include "../../testing/slowdown.h"
#include "dataplane.h"
#include "fixture.h"

#include <threading/condvar.h>
#include <threading/mutex.h>
#include <sa/ike_sa.h>

/** Longest wait for an expected event, ms */
#define LONG_WAIT (30000 * (int)slowdown())
/** Wait for an event that must not occur, ms */
#define SHORT_WAIT 300
/** What is waited for at a time, ms */
#define BIT 50

/** Events that the plugin raised to charon in this test */
typedef struct {
	mutex_t *mutex;
	condvar_t *condvar;
	/* numbers of events */
	int acquires, expires, mappings;
	/* parameters of the last event */
	uint32_t reqid, spi, cpu;
	bool hard;
	char text[256];
	/* the first expires: 's'oft or 'h'ard */
	char limits[4];
} raised_t;

extern raised_t raised;

/** Whether SAs need a dataplane; to be set before charon_setup() */
extern bool charon_closed;

/** Number of lines logged at level 1 in this test */
extern int log_lines;
/** The last line logged at level 1 in this test */
extern char log_text[512];

/** An inbound SA without lifetimes; initialised for each test */
extern fixture_sa_t sa;
/** A policy; initialised for each test */
extern fixture_policy_t policy;

/**
 * Setup and teardown of a program's tests: charon with the plugin's kernel
 * interface
 */
int charon_setup(void **state);
int charon_teardown(void **state);

/**
 * Setup and teardown of a test. Fails if flushing leaves an SA or a policy.
 */
int charon_test_setup(void **state);
int charon_test_teardown(void **state);

/**
 * Stop the threads and remove the kernel interface, as charon does when it
 * ends. Only the last tests of a program may call it.
 *
 * @return			FALSE if it has been removed before
 */
bool charon_remove_ipsec(void);

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, charon_test_setup, charon_test_teardown)

/**
 * Wait for a signal for BIT, so that a longer wait counts tries: time in which
 * the machine stands still does not count
 *
 * @return			FALSE if there was none
 */
bool waits_a_bit(condvar_t *condvar, mutex_t *mutex);

/**
 * Wait until a counter reaches a value
 *
 * @param counter	one of the counters of raised
 * @param value		value to reach
 * @param ms		longest wait, ms
 * @return			FALSE if the counter did not reach the value in time
 */
bool raised_wait(int *counter, int value, int ms);

/**
 * Create an IKE_SA of a connection with a peer of that identity
 */
ike_sa_t *create_peer(char *id, char *connection);

/**
 * Add a CHILD_SA with that reqid to an IKE_SA. It has no SAs and policies.
 */
void add_child(ike_sa_t *ike_sa, uint32_t reqid);

/**
 * Set the IKE_SA of this thread, NULL for none
 */
void use_peer(ike_sa_t *ike_sa);

/**
 * Add, delete or query the SA
 */
status_t add_sa(void);
status_t del_sa(void);
status_t query_sa(uint64_t *bytes, uint64_t *packets, time_t *use);

/**
 * Create an event about the SA
 */
struct cygnet_event sa_event(uint16_t type);

#endif /** CHARON_H_ */

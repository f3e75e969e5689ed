/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file sa_wait_fixture.h
 * A worker without routes, a packet for a policy, and the acquires that charon gets. A protected packet is dropped, as it has no
 * route.
 */
#ifndef SA_WAIT_FIXTURE_H
#define SA_WAIT_FIXTURE_H

#include "esp_fixture.h"
#include "path/worker/worker.h"

#define WAITING_REQID 42

/** The selectors of the packet of waiting_send_one(). Charon narrows the SA to them. */
extern const struct cygnet_flow waiting_sent;

/** Group setup and teardown for cmocka. */
int waiting_start(void **state);
int waiting_stop(void **state);
/** Teardown of a test: the initial state, in another second. */
int waiting_clean(void **state);

/** A policy for all packets, which is not added. Without an SA it is a trap. */
struct cygnet_policy_params waiting_policy(const struct cygnet_sa *sa);
/** Add a trap for all packets. */
struct cygnet_policy_params waiting_trap(void);
/** Have a packet from the kernel pass the policies. */
void waiting_send(const uint8_t *inner, unsigned int len);
void waiting_send_one(void);

void waiting_assert_flow(const struct cygnet_flow *flow, const struct cygnet_flow *wanted);
/** @return number of acquires with these selectors, for all CPUs; there are no others */
unsigned int waiting_acquires_of(const struct cygnet_flow *wanted);
/** The same, with those of waiting_send_one(). */
unsigned int waiting_acquires(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file selftest.h
 * Known-answer tests of the crypto devices: before a device serves an SA, it computes each combination
 * of algorithms that it supports both ways, by queue and by call, for one packet and for a batch of packets of
 * several SAs and lengths (known_answers.h), and has to refuse those with a wrong ICV.
 */
#ifndef CYGNETD_SELFTEST_H
#define CYGNETD_SELFTEST_H

#include <stdbool.h>

#include "crypto/device/known_answers.h"

/** KNOWN_ANSWERS answers that devices have to give: known_answers[], or those of a unit test. */
extern const struct known_answer *selftest_answers;

/**
 * Test a device, which is started and not in use. Algorithms that it offers but does not set
 * up, or not with ESN, are marked in engine_device[].denied. Control thread, before workers run.
 * @return false: it gave a wrong answer, failed, or gave none within ten seconds; logged. It must not
 *	   be used: packets may still be in its queues
 */
bool selftest(unsigned int device);

#endif
